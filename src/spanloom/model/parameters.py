"""Parameters and a score, which all estimators share, as scikit-learn asks for them."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, fields
from numbers import Integral, Real
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, Self, TypeVar, overload
from weakref import WeakKeyDictionary

import numpy as np

from spanloom.document import Batch, Document, Mention, batches
from spanloom.document.arrays import MentionArrays
from spanloom.document.markup import shorten, table
from spanloom.errors import LostWarning, UsageError, check_number, meant, not_fitted
from spanloom.evaluate.compare import score as compare_mentions
from spanloom.evaluate.measures import Learning
from spanloom.evaluate.scorers import extend_scikit_learn
from spanloom.formats.inputs import Given, One, Several, answer, documents_of, training_of
from spanloom.learn.folds import spread
from spanloom.model.arrays import arrays_of
from spanloom.model.fields import (
    LAMBDAS,
    MOST_WHOLE,
    Choice,
    Folder,
    Lambdas,
    Number,
    Parameter,
    Probability,
    Switch,
    Texts,
    Whole,
    declared,
    documented,
)
from spanloom.model.profile import Profile, ShiftWatch
from spanloom.model.protocol import Annotation, Capability
from spanloom.modelfile import LARGEST, ModelPart, save
from spanloom.structures import Structure
from spanloom.text import prepare_all

if TYPE_CHECKING:
    from spanloom.model.corpus import Lost, Notice

_OF_THE_MACHINE = ("n_jobs", "checkpoint")  # no model depends on them
_PLAIN = (bool, int, float, str, list, tuple, dict, type(None))  # what JSON has
LEAST: Final = 0.05
"""The probability below which a mention is not worth a look."""
FLOOR: Final = 0.001
"""The probability from which on a mention is a candidate."""
_PENALTIES: Final = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0)  # with 7, a mention at odds of 1 to 1,000 is found
_AT_ONCE: Final = 20_000  # tokens
M = TypeVar("M")
_WATCHES: WeakKeyDictionary[Any, ShiftWatch] = WeakKeyDictionary()
"""Watches by model; not attributes, because prediction must not change an estimator."""


class Parameters(Generic[M]):
    """Base class of estimators, beside the dataclass of their parameters.

    `sklearn.base.clone`, and with it searches and cross-validation, make an untrained copy with the same parameters.
    They need nothing of scikit-learn to be imported here, but for the tags, for which only scikit-learn asks.
    """

    kind: ClassVar[str]
    annotates: ClassVar[frozenset[Annotation]]
    capable: ClassVar[frozenset[Capability]] = frozenset()
    report_: Any
    lost_: tuple[Lost, ...]
    model_: M

    def __init_subclass__(cls) -> None:
        if hasattr(cls, "__dataclass_fields__") and cls.__doc__:  # docstrings may be stripped
            cls.__doc__ = documented(cls.__doc__, cls)

    def __post_init__(self) -> None:
        extend_scikit_learn()

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters of the constructor."""
        return {name: getattr(self, name) for name, _, _ in declared(self)}

    def set_params(self, **params: Any) -> Self:
        """Change parameters.

        Raises:
            UsageError: a name that the constructor does not know.
        """
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise UsageError(f"no parameter {name!r}; there are {', '.join(known)}{meant(name, known)}")
            setattr(self, name, value)
        return self

    def describe(self) -> dict[str, Any]:
        """Describe the model and what it learned, ready for JSON, in the order in which `spanloom inspect` shows it.

        Raises:
            NotFittedError: it is not trained.
        """
        own = self._description()
        given = {name: value for name, value in self.get_params().items() if name not in _OF_THE_MACHINE}
        shown = {  # a model among them is ``None``, as it is in the file and reported separately
            name: str(value) if isinstance(value, Path | Structure) else value if isinstance(value, _PLAIN) else None
            for name, value in given.items()
        }
        described = {"kind": self.kind, "parameters": shown, **own, "training": asdict(self.report_)}
        if hasattr(self, "strongest_"):
            strongest = self.strongest_.items()
            described["strongest"] = {role: [list(feature) for feature in features] for role, features in strongest}
        return described

    def _description(self) -> dict[str, Any]:
        """Describe the model, apart from its parameters and training."""
        raise NotImplementedError

    def summary(self) -> Iterator[str]:
        """Return some lines on what training saw, chose and could not hold."""
        lines: Iterator[str] = self.report_.lines(self.lost_)
        return lines

    def predict(self, X: Any) -> Any:
        """Annotate documents."""
        raise NotImplementedError

    @overload
    def __call__(self, X: One) -> Document: ...  # type: ignore[overload-overlap]

    @overload
    def __call__(self, X: Several) -> list[Document]: ...

    def __call__(self, X: Given) -> Document | list[Document]:
        """Return what `predict` returns: of one text or document one document, of several a list."""
        found: Document | list[Document] = self.predict(X)
        return found

    def __repr__(self) -> str:
        call = f"{type(self).__name__}({', '.join(f'{name}={value}' for name, value in self._chosen())})"
        state = self._state()
        return f"<{call}, trained on {state}>" if state else call

    def _repr_html_(self) -> str:
        """The table that a notebook shows: parameters that are not the default's, and what training saw."""
        state = self._state()
        seen = [
            (part.name.replace("_", " "), f"{value:,}" if isinstance(value, int) else f"{value:.4g}")
            for part in (fields(vars(self)["report_"]) if state else ())
            if isinstance(value := getattr(vars(self)["report_"], part.name), int | float)
        ]
        title = f"{type(self).__name__}, {f'trained on {state}' if state else 'not trained'}"
        return table(title, [*self._chosen(), *seen])

    def _chosen(self) -> list[tuple[str, str]]:
        """Parameters that are not those of the default, as text."""
        values = ((name, getattr(self, name), default) for name, _, default in declared(self))
        return [
            (name, shorten(repr(value))) for name, value, default in values if _compared(value) != _compared(default)
        ]

    def _state(self) -> str:
        """Return a short description of the training data; empty if the model is not trained."""
        report = vars(self).get("report_")
        if report is None:
            return ""
        found = vars(self).get("types_") or getattr(self, "tags_", ())
        return f"{report.documents:,} documents: {shorten(', '.join(found or ()))}"

    def __sklearn_clone__(self) -> Self:
        # the values themselves, not copies: a trained tagger that is a parameter stays trained
        return type(self)(**self.get_params())

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags

        extend_scikit_learn()
        documents = InputTags(two_d_array=False)
        return Tags(
            estimator_type=None, target_tags=TargetTags(required=False), input_tags=documents, no_validation=True
        )

    @property
    def fitted(self) -> M:
        """The learned model.

        Raises:
            NotFittedError: it is not trained.
        """
        if "model_" not in vars(self):
            raise not_fitted(self.kind)
        return self.model_

    def to_part(self) -> ModelPart:
        """All that it is, as a part of a model file."""
        raise NotImplementedError

    @classmethod
    def from_part(cls, part: ModelPart) -> Self:
        """The trained model that `to_part` gave; any exception is reported as a damaged file."""
        raise NotImplementedError

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write the model as a folder of two files. The same data and seed give the same bytes.

        A checkpoint of its training is removed then.

        Args:
            path: the folder.
            force: replace a model that is there.

        Raises:
            UsageError: the folder is there, or the model is not trained.
            DataError: the system refused to write.
        """
        save(self, path, force=force)
        given = self.get_params()
        if kept := given.get("checkpoint"):
            remove: Callable[..., None] = resolve_name("spanloom.learn.checkpoints:remove_checkpoints")
            remove(kept, range(given["random_state"], given["random_state"] + given["seeds"]))

    def check_stored(self) -> Self:
        """Check the parameters of a model file; how many threads there are is no matter of the file, and set to 1.

        Raises:
            UsageError: a value is not valid.
        """
        self.check()
        return self.set_params(n_jobs=1)

    def check(self) -> None:
        """Check that the parameters have valid values.

        Raises:
            UsageError: one has not.
        """
        for name, parameter, _ in declared(self):
            check_value(name, getattr(self, name), parameter)


class MentionEstimator(Parameters[M]):
    """An estimator that finds mentions.

    A subclass gives `stream` and `with_penalty`; all else follows from these, unless it has a faster way.
    """

    types_: tuple[str, ...]

    def with_penalty(self, penalty: float) -> Self:
        """A copy with another mention penalty: the larger it is, the more mentions are found."""
        raise NotImplementedError

    def stream_arrays(
        self, X: Given, *, threshold: float = 0.0, notice: Notice = warnings.warn
    ) -> Iterator[MentionArrays]:
        """What `stream` finds, as arrays of types, spans, heads and scores; lazily, for some documents at a time.

        The arguments are those of `stream`. Documents keep their order.
        """
        return arrays_of(self.stream(X, threshold=threshold, notice=notice), self.types_)

    def sweep(self, X: Given, penalties: Sequence[float]) -> list[list[Document]]:
        """The documents with what is found with each of some mention penalties, in place of the tuned one."""
        documents = list(documents_of(X))
        return [list(self.with_penalty(penalty).stream(documents)) for penalty in checked_penalties(penalties)]

    def plausible(self, X: Given, *, notice: Notice = warnings.warn) -> Iterator[Document]:
        """Documents with all mentions of a probability of about 0.001 or more, found or not; lazily.

        The arguments are those of `stream`.
        """
        for found, others in self._considered(X, notice, FLOOR):
            yield found.copy(mentions=[*found.mentions, *others])

    def alternatives(self, X: Given) -> Iterator[Document]:
        """Documents with mentions that are considered, but not found, of a probability of at least 0.05; lazily."""
        for found, others in self._considered(X, lambda _: None, LEAST):
            yield found.copy(mentions=others)

    def _considered(self, X: Given, notice: Notice, least: float) -> Iterator[tuple[Document, list[Mention]]]:
        """Yield documents with what is found, and the mentions of a least probability that larger penalties find.

        A mention that several penalties find has the probability under the smallest.
        """
        larger = [self.with_penalty(penalty) for penalty in _PENALTIES]
        for some in batches(documents_of(X), _AT_ONCE, prepare_all):
            runs = [list(own.stream(some, threshold=least, notice=lambda _: None)) for own in larger]
            for found, *others in zip(self.stream(some, notice=notice), *runs, strict=True):
                known = {mention.key for mention in found.mentions}
                more = {m.key: m for other in reversed(others) for m in other.mentions if m.key not in known}
                yield found, sorted(more.values(), key=lambda mention: (mention.start, -mention.end, mention.type))

    def learning(self) -> Learning:
        """Return the learning curve of each chain, step by step."""
        return Learning({name: [f1 for _, f1 in chain.history] for name, chain in self.report_.chains.items()})

    def stream(self, X: Given, *_: Any, **options: Any) -> Iterator[Document]:
        """Documents with the mentions that are found."""
        raise NotImplementedError

    @overload
    def predict(self, X: One, **options: Any) -> Document: ...

    @overload
    def predict(self, X: Several, **options: Any) -> list[Document]: ...

    def predict(self, X: Given, **options: Any) -> Document | list[Document]:
        """Annotate a text or a document, which gives a document, or several, which gives a list.

        The options are the arguments of `stream`.
        """
        return answer(X, list(self.stream(X, **options)))

    profile_: Profile | None = None

    def _learn_profile(self, train: Batch) -> None:
        """Keep a profile of the training text, or of a part of it if it is large."""
        self.profile_ = Profile.of(spread(train.documents, len(train.tokens)))
        _WATCHES.pop(self, None)

    def _watched(self, documents: Iterable[Document], notice: Notice) -> Iterator[Document]:
        """Yield the documents, and warn once if their text differs from the training text."""
        watch = _WATCHES.get(self) or _WATCHES.setdefault(self, ShiftWatch(self.profile_))
        return watch.over(documents, notice)

    def _warn_lost(self, stacklevel: int = 3) -> None:
        """Warn once of the training mentions that the model cannot hold; the level is that of who called `fit`."""
        report = vars(self)["report_"]
        if not report.lost:
            return
        reasons = sorted(report.lost.items(), key=lambda item: -item[1])
        parts = ", ".join(f"{count:,} ({reason})" for reason, count in reasons)
        lost = sum(report.lost.values())
        message = f"{lost:,} of {report.mentions:,} training mentions cannot be held and are left out: {parts}"
        warnings.warn(f"{message}; the model's attribute lost_ lists them", LostWarning, stacklevel=stacklevel)

    def score(self, X: Given, y: Iterable[Any] | None = None) -> float:
        """Compute the F1 of the mentions that are found, from 0 to 1; a mention is correct if its type and spans are.

        Args:
            X: documents with their own mentions, which are gold, or texts.
            y: for texts: the mentions of each, as `fit` takes them.
        """
        gold = list(training_of(X, y))
        return compare_mentions(gold, list(self.stream(gold))).f1


def renamed(old: str) -> Any:
    """Return a property for the name that the learned model had before it was ``model_`` in all estimators."""

    def get(estimator: Parameters[M]) -> M:
        if "model_" not in vars(estimator):
            raise AttributeError(f"{type(estimator).__name__!r} object has no attribute {old!r}")
        warnings.warn(f"{old} is now model_, and goes with version 0.3", DeprecationWarning, stacklevel=2)
        return estimator.fitted

    return property(get, doc="Deprecated: ``model_``.")


def check_value(name: str, value: Any, parameter: Parameter) -> None:
    """Check that a parameter has a value that it may have.

    Raises:
        UsageError: it has not.

    >>> check_value("epochs", 0, Whole("Passes over the data."))
    Traceback (most recent call last):
        ...
    spanloom.errors.UsageError: epochs is 0, expected a whole number from 1
    """
    match parameter:
        case Whole(none=True) if value is None:
            pass
        case Whole(none=none):
            whole = isinstance(value, Integral) and not isinstance(value, bool)
            if not whole or not parameter.least <= int(value) <= parameter.most:
                bounds = _bounds(parameter, value)
                raise UsageError(f"{name} is {value!r}, expected a whole number{bounds}{', or None' if none else ''}")
        case Switch(toml=None):
            if not isinstance(value, Integral | np.bool_) or value not in (0, 1):
                raise UsageError(f"{name} is {value!r}, expected True or False")
        case Folder() if value is not None:
            if not isinstance(value, str | Path) or not str(value).strip():
                raise UsageError(f"{name} is {value!r}, expected the path of a folder, or None")
        case Number(zero=zero, share=share):
            number = isinstance(value, Real) and not isinstance(value, bool)
            if not number or not 0 <= _as_float(value) < math.inf or not (zero or value):
                raise UsageError(f"{name} is {value!r}, expected a number {'from' if zero else 'above'} 0")
            check_size(name, value, LARGEST * share)
        case Probability():
            if not isinstance(value, Real) or not 0 < _as_float(value) < 1:
                raise UsageError(f"{name} is {value!r}, expected a probability between 0 and 1")
        case Lambdas():
            lambdas(value)
        case Choice(templates=templates) if not isinstance(value, str) and templates:
            if not len(value):
                raise UsageError(f"{name} is empty, expected {templates} or at least one template")
        case Choice(known=known):
            if value not in known:
                raise UsageError(f"{name} is {value!r}, expected one of {', '.join(known)}{meant(value, known)}")
        case Texts(none=none) if value is not None or not none:
            if isinstance(value, str) or not all(isinstance(item, str) for item in value):
                raise UsageError(f"{name} is {value!r}, expected a list of texts")


def _compared(value: object) -> str:
    """A value as text that is the same for a tuple and for the list that a model file makes of it."""
    return repr(list(value) if isinstance(value, tuple) else value)


def _bounds(parameter: Whole, value: Any) -> str:
    """Return between what a whole number must be; a remote bound is shown only when it is exceeded."""
    if parameter.most < MOST_WHOLE or (isinstance(value, Integral) and int(value) > parameter.most):
        return f" from {parameter.least} to {parameter.most}"
    return f" from {parameter.least}" if abs(parameter.least) < 2**31 else ""


def _as_float(value: Real) -> float:
    """The number, infinite where it is an integer too large for a float."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def lambdas(l2: float | Sequence[float] | None, default: tuple[float, ...] = LAMBDAS) -> tuple[float, ...]:
    """The weights of the L2 penalty to choose from: one, or several; the default ones where none is given.

    Raises:
        UsageError: no number from 0.

    >>> lambdas(1), lambdas([0.1, 1])
    ((1.0,), (0.1, 1.0))
    """
    if l2 is None:
        return default
    try:
        given = np.ravel(np.asarray(l2))
        grid = () if given.dtype.kind in "bSU" else tuple(given.astype(float).tolist())
    except (TypeError, ValueError, OverflowError):
        grid = ()
    if not grid or not all(0 <= value < math.inf for value in grid):
        raise UsageError(f"l2 is {l2!r}, expected a number from 0, or several")
    for value in grid:
        check_size("l2", value)
    return grid


def checked_penalties(penalties: Any) -> list[float]:
    """Return mention penalties, which are finite numbers.

    Raises:
        UsageError: one is not, or they are no list.
    """
    found = penalties if isinstance(penalties, Iterable) and not isinstance(penalties, str) else [penalties]
    found = list(found)
    for number, penalty in enumerate(found):
        check_number(f"penalties[{number}]", penalty)
    return found


def check_size(name: str, value: Any, most: float = LARGEST) -> None:
    """Check that a parameter that weights grow with is no larger than a weight may be.

    Raises:
        UsageError: it is larger.

    >>> check_size("rate", 1e20)
    Traceback (most recent call last):
        ...
    spanloom.errors.UsageError: rate is 1e+20, expected at most 1e+12; take a smaller one
    """
    if float(value) > most:
        raise UsageError(f"{name} is {float(value):g}, expected at most {most:g}; take a smaller one")

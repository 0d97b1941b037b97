"""Stages that add to mentions what is known of each: a list of them follows whatever finds mentions.

A stage is trained and immutable. It takes documents with mentions and returns them with more: concepts, attributes.
What a document gets depends on that document alone. A new stage is a module and a line in `STAGES`, which also lists
those that estimators have before these.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from pkgutil import resolve_name
from string import digits
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, Protocol

from spanloom.document import Document, Mention, batches
from spanloom.errors import ModelError, UsageError, clip
from spanloom.evaluate.concepts import Resolver
from spanloom.learn.folds import Fitting
from spanloom.learn.platt import IDENTITY, Platt
from spanloom.model.overlaps import OverlapRules
from spanloom.model.protocol import Annotation, Capability
from spanloom.model.report import PassReport
from spanloom.modelfile import Described, ModelPart
from spanloom.parallel import Executor
from spanloom.scoring.explanation import Candidate, Explanation
from spanloom.text import prepare_all

if TYPE_CHECKING:
    from spanloom.vocabulary import Vocabulary

STAGES: Final[Mapping[str, tuple[str, str, tuple[str, ...], str]]] = MappingProxyType(
    {
        "profile": ("profile_", "spanloom.model.profile:Profile.from_part", (), ""),
        "tagger": ("pos_", "spanloom.tag.filling:filler_of", (), ""),
        "split": ("splitter_", "spanloom.text.splitting:Splitter.from_part", (), ""),
        "first_pass": ("pass_", "spanloom.passes:DocumentPass.from_part", ("columns", "types"), ""),
        "overlaps": ("overlaps_", "spanloom.model.overlaps:OverlapRules.from_part", ("kinds",), ""),
        "concepts": ("", "spanloom.concepts.stage:ConceptStage.from_part", (), "spanloom.concepts.fitting:fit_stage"),
        "second_stage": (
            "second_",
            "spanloom.rescoring:Rescorer.from_part",
            ("features", "overlaps", "concepts", "types"),
            "",
        ),
        "attributes": (
            "",
            "spanloom.attributes.model:AttributeModel.from_part",
            (),
            "spanloom.attributes.fitting:fit_stage",
        ),
    }
)
"""Stages that several kinds of models have, by their names in model files.

Of each: the attribute of the estimator, empty for one of `Staged.stages_`; what reads its part; further arguments of
that, of what is known of the model: ``types``, their number ``kinds``, ``columns``, ``features``, earlier stages; and,
of one of `Staged.stages_`, what trains it: a function from `Fitting` to the stage and its entry in the training report,
or ``None``.
"""


class Stage(Protocol):
    """A trained stage."""

    name: ClassVar[str]
    gives: ClassVar[frozenset[Annotation]]

    def run(self, documents: Sequence[Document]) -> Iterable[Document]:
        """Return the documents with more known of their mentions."""

    @property
    def resolver(self) -> Resolver | None:
        """The concepts that it gives, by their identifiers; ``None`` if it gives none."""

    def candidates(self, document: Document) -> list[list[Candidate]]:
        """Return what it chose from for each mention, the best first; nothing where it does not choose."""

    def describe(self) -> dict[str, Any]:
        """Describe the stage; ready for JSON."""

    def to_part(self) -> ModelPart:
        """Return it as a part of a model file; the class method ``from_part`` takes it."""


def run_stages(stages: Sequence[Stage], documents: Iterable[Document]) -> Iterable[Document]:
    """Return what the stages, one after the other, make of documents with mentions."""
    for stage in stages:
        documents = stage.run(list(documents))
    return documents


def explained(
    stages: Sequence[Stage], document: Document, found: Sequence[Mention], explanations: Iterable[Explanation]
) -> Iterator[Explanation]:
    """Yield explanations whose mentions have what stages add, with the concepts that were compared.

    Args:
        stages: that follow recognition.
        document: its text, prepared.
        found: the mentions that are recognized in it.
        explanations: of some of them, and of others.
    """

    def marked(mentions: Sequence[Mention]) -> list[tuple[Mention, tuple[Candidate, ...]]]:
        [document_marked] = run_stages(stages, [document.copy(mentions=mentions)])
        compared = [stage.candidates(document_marked) for stage in stages]
        every = (tuple(chain.from_iterable(own)) for own in zip(*compared, strict=True))
        return list(zip(document_marked.mentions, every, strict=True))

    known = {(mention.key, mention.head): pair for (mention, pair) in zip(found, marked(found), strict=True)}
    for one in explanations:
        own = known.get((one.mention.key, one.mention.head))
        mention, candidates = own or marked([*found, one.mention])[-1]
        yield replace(one, mention=mention.replace(score=one.mention.score), candidates=candidates)


class Linked(NamedTuple):
    """What mentions are linked to.

    Args:
        vocabularies: to link to.
        types: type of mentions -> number of its vocabulary.
        encoder: the folder of one that compares mentions with names.
    """

    vocabularies: Sequence[Vocabulary]
    types: Mapping[str, int]
    encoder: str | Path | None = None

    @classmethod
    def of(cls, link: Any, documents: Sequence[Document], encoder: str | Path | None = None) -> Linked | None:
        """Return the vocabularies of the parameter ``link``, and those of the types of training mentions.

        Raises:
            DataError: a vocabulary cannot be read, or no training mention has a concept of any.
            UsageError: there is an encoder without a vocabulary.
        """
        if link is None:
            if encoder is not None:
                raise UsageError("link_encoder compares mentions with the names of a vocabulary; give link, too")
            return None
        vocabularies = resolve_name("spanloom.concepts.fitting:linked_vocabularies")(link)
        return cls(vocabularies, resolve_name("spanloom.concepts.fitting:assigned")(documents, vocabularies), encoder)


def learn_stages(
    known: Sequence[Document], held: Sequence[Document] | None, linked: Linked | None, attributes: str, tokens: int,
    seed: int, run: Executor, callback: Callable[[str], object],
) -> tuple[list[Stage], dict[str, Any]]:  # fmt: skip
    """Train the stages that follow recognition, for any kind of model that finds mentions.

    Args:
        known: training documents.
        held: development documents; ``None`` if the training documents are cross-validated.
        linked: vocabularies, if mentions are linked.
        attributes: the parameter of this name.
        tokens: of the training documents.
        seed: deals documents to folds.
        run: how pieces of the work are run; the result does not depend on it.
        callback: called with the name of each step.

    Returns:
        The stages, and their entries in the training report.
    """
    stages: list[Stage] = []
    report: dict[str, Any] = {}
    fitting = Fitting(known, held, linked, attributes, tokens, seed, run, callback)
    for name, (*_, fit) in STAGES.items():
        if fit and (learned := resolve_name(fit)(fitting)) is not None:
            stage, entry = learned
            stages.append(stage)
            report |= {} if entry is None else {name: entry}
    return stages, report


class Staged:
    """Base class of estimators whose mentions stages add to.

    Attributes:
        stages_: those that follow recognition.
    """

    annotates: ClassVar[frozenset[Annotation]]
    capable: ClassVar[frozenset[Capability]]
    stages_: tuple[Stage, ...] = ()
    types_: tuple[str, ...]
    stream: Callable[..., Iterator[Document]]

    def _as_part(self, values: Described, own: Mapping[str, ModelPart | None]) -> ModelPart:
        """Return the model as a part whose parts are its stages.

        Args:
            values: the model's own values.
            own: stages that are not in `STAGES`.
        """
        kept = {name: getattr(self, attribute, None) for name, (attribute, *_) in STAGES.items() if attribute}
        kept |= {stage.name: stage for stage in self.stages_}
        return values.part({}, {**{name: one.to_part() for name, one in kept.items() if one is not None}, **own})

    def _restore(self, part: ModelPart, types: tuple[str, ...], own: Collection[str] = (), **known: Any) -> None:
        """Take over the types of a model, and the stages of its file that are in `STAGES`.

        Args:
            part: the file.
            types: of mentions.
            own: stages that the model reads itself, besides those of all models.
            known: more of what `STAGES` names.

        Raises:
            ModelError: one is damaged or of another kind of model, or the first pass is missing.
        """
        shared = {name for name, of in STAGES.items() if hasattr(self, of[0] or "stages_")}
        for name in part.parts:
            if name.rstrip(digits) not in shared.union(own, ("structure", "columns")):
                raise ModelError(f"found the stage {clip(name)}, which a {type(self).__name__} does not have")
        free = OverlapRules.free(len(types))
        known = {"types": types, "kinds": len(types), "overlaps": free, "concepts": None, **known}
        self.types_ = types
        for name, (attribute, reader, needs, _) in STAGES.items():
            if name in part.parts and hasattr(self, attribute or "stages_"):
                known[name] = resolve_name(reader)(part.part(name), *(known[need] for need in needs))
                if attribute:
                    setattr(self, attribute, known[name])
        passes = getattr(vars(self)["report_"], "passes", None)
        if isinstance(passes, PassReport) and passes.kept and "first_pass" not in part.parts:
            raise ModelError("two passes over documents, but there is no first pass")
        self._follow([known[name] for name, (attribute, *_) in STAGES.items() if name in part.parts and not attribute])

    @property
    def resolver(self) -> Resolver:
        """The concepts that mentions are linked to.

        Raises:
            UsageError: it does not link.
        """
        for stage in self.stages_:
            if stage.resolver is not None:
                return stage.resolver
        raise UsageError("the model does not link mentions; train one with link")

    @property
    def document_scaling(self) -> Platt:
        """From the largest probability of a mention with a concept to that of the document; the identity, if unknown.

        It is learned where the model links by ``link`` and development data were given.
        """
        return next((stage.document_scaling for stage in self._linking()), IDENTITY)

    def _linking(self) -> list[Any]:
        return [stage for stage in self.stages_ if stage.name == "concepts"]

    def _marking(
        self, attributes: Sequence[str] | str | None
    ) -> tuple[Sequence[Stage], Callable[[Iterable[Document]], Iterator[Document]]]:
        """Return the stages that run, and a function that gives mentions the attributes that are asked for."""
        if attributes is None:
            return self.stages_, iter
        marked = resolve_name("spanloom.attributes:attributing")(self.stages_, attributes)
        return tuple(stage for stage in self.stages_ if stage.name != "attributes"), marked

    def _of_given(
        self, documents: Iterable[Document], attributes: Sequence[str] | str | None, tokens: int
    ) -> Iterator[Document]:
        """Yield documents with the additions of stages to their own mentions, some tokens at a time.

        Raises:
            UsageError: nothing is added to them.
        """
        stages, marked = self._marking(attributes)
        if not self.stages_ and attributes is None:
            expected = "train one with link, name attributes, or let it find mentions"
            raise UsageError(f"the model adds nothing to given mentions; {expected}")
        return marked(chain.from_iterable(run_stages(stages, own) for own in batches(documents, tokens, prepare_all)))

    def _follow(self, stages: Sequence[Stage], held: Sequence[Document] | None = None) -> None:
        """Let stages follow, which add to the mentions that are found, and to given ones.

        Args:
            stages: in their order.
            held: development documents, which show how probable concepts of documents are.
        """
        own, self.stages_ = type(self), tuple(stages)
        given = {"given_mentions"} if stages else set[Capability]()
        left_out = {"arrays"} if stages else set[Capability]()  # which hold spans and types alone
        vars(self).update(
            annotates=own.annotates.union(*(stage.gives for stage in stages)), capable=own.capable - left_out | given
        )
        if held is None or not self._linking() or any("annotation" in document.meta for document in held):
            return
        fit = resolve_name("spanloom.concepts.report:fit_document_scaling")
        scaling = fit(self.stream(held, notice=lambda *_: None), held, self.resolver)
        linking = [replace(stage, document_scaling=scaling) for stage in self._linking()]
        self.stages_ = (*linking, *(stage for stage in self.stages_ if stage.name != "concepts"))

"""The segmenter: words and mentions of text without spaces. Its conventions are those of scikit-learn's estimators."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import monotonic, process_time
from typing import Any, ClassVar, Literal, NamedTuple, Self, overload

import numpy as np

from spanloom import modelfile
from spanloom.document import Batch, Document, Mention, batches
from spanloom.errors import ModelError, UsageError, check_number
from spanloom.features import FeatureSet
from spanloom.formats.inputs import (
    Dev,
    Given,
    One,
    Several,
    answer,
    documents_of,
    one_of,
    requested_mentions,
)
from spanloom.learn import Listener, Progress
from spanloom.model.calibration import answered, fit_scalings
from spanloom.model.choices import ExecutorName, WhichMentions
from spanloom.model.corpus import Lost, Notice
from spanloom.model.overlaps import OverlapRules
from spanloom.model.parameters import MentionEstimator
from spanloom.model.protocol import Annotation, Capability
from spanloom.model.stages import Stage, Staged, explained, learn_stages, run_stages
from spanloom.model.store import near_encoder, shared_of
from spanloom.model.strongest import Strongest, names_from
from spanloom.model.structured import AnyModel, of_structures
from spanloom.model.work import Work, check_executor, check_on_disk
from spanloom.modelfile import ModelPart
from spanloom.parallel import Executor, threads
from spanloom.passes import DocumentPass, PassData, PassSettings, choose_passes
from spanloom.recognize.constrained import constrained
from spanloom.recognize.constraints import Constraints
from spanloom.recognize.constraints import constraints_of as constraint_demands
from spanloom.recognize.parameters import check_encoder_training, check_one_pass
from spanloom.recognize.recognizer import BATCH_TOKENS
from spanloom.rescoring import Rescorer
from spanloom.scoring.explanation import Explanation
from spanloom.segment.chains import taggings
from spanloom.segment.characters import Characters, split, word_starts, words_at
from spanloom.segment.constraints import parse
from spanloom.segment.corpus import Corpus, with_words
from spanloom.segment.dictionary import Dictionary, Words
from spanloom.segment.explain import SegmenterExplainer
from spanloom.segment.feature_sets import own_columns
from spanloom.segment.model import Decoded, SegmenterModel, differing
from spanloom.segment.parameters import SegmenterParameters
from spanloom.segment.placing import placed, requested_table
from spanloom.segment.preparing import Prepared, prepared
from spanloom.segment.report import SegmenterReport, chain_names, make_report
from spanloom.segment.second import features_of_chains, fit_second, rescored
from spanloom.segment.store import SegmenterValues, model_of, parts_of
from spanloom.segment.training import Settings, Trained, held_out_models, learn_chains, train_stack
from spanloom.structures.product import MENTION_CHAIN
from spanloom.text import prepare, prepare_all
from spanloom.text.splitting import split_at_mentions


class Probabilities(NamedTuple):
    """Probabilities under a model of a document's own words and mentions.

    Args:
        words: one for each token.
        mentions: one for each mention; 0 for a mention that it cannot hold.
    """

    words: list[float]
    mentions: list[float]


class _Learned(NamedTuple):
    """What was trained on some features.

    Args:
        trained: parts, in their order.
        model: of them.
        known, tuning: training and development data, with the columns that the features read.
        held_out: gives models of folds of the training data; ``None`` with an encoder or for ``incremental``.
        decoded: the output of the method for the development data.
        seconds: of the processor, for the joint penalty.
    """

    trained: list[Trained]
    model: SegmenterModel
    known: Corpus
    tuning: Corpus
    held_out: Callable[[], list[tuple[SegmenterModel, list[int]]]] | None
    decoded: Decoded
    seconds: float


class Segmenter(SegmenterParameters, MentionEstimator[SegmenterModel], Staged):
    """A trainable segmenter and recognizer for text without spaces (Xu et al. 2014).

    One chain tags characters with words, another with mentions; the methods differ in how the two come together.

    - Finds: words, and mentions of them that do not overlap, each with its probability.
    - Cannot: hold nested or discontinuous mentions.
    - Use: it for Chinese and other text without spaces; `Recognizer` for text with words.

    {parameters}

    Attributes after fitting: ``types_``, ``model_``, ``report_``, ``strongest_``, ``pass_``, ``second_``, ``stages_``;
    and, not saved, ``lost_``, the mentions that the model cannot hold, and ``seconds_``, how long the processor worked
    on what.

    >>> from spanloom import Document, Mention, Segmenter
    >>> tokens = [[0, 2], [2, 3], [3, 5], [5, 7]]
    >>> document = Document("患者无关节疼痛", tokens=tokens, mentions=[Mention("problem", [(3, 7)])])
    >>> segmenter = Segmenter(features=["bias", "w[-1..1]"]).fit([document] * 50)
    >>> found = segmenter.predict("无疼痛")
    >>> found.words, [mention.text(found.text) for mention in found.mentions]
    (['无', '疼痛'], ['疼痛'])
    """

    kind: ClassVar[Literal["segmenter"]] = "segmenter"
    annotates: ClassVar = frozenset[Annotation](("mentions", "words"))
    capable: ClassVar = frozenset[Capability](
        ("scores", "explain", "alternatives", "compact", "attributes", "constraints", "dictionary", "guarantees")
    )

    def fit(
        self, X: Given, y: Iterable[Any] | None = None, *, dev: Dev | None = None, progress: Listener | None = None,
        work: str | Path | Work | None = None, executor: ExecutorName | Executor = "threads",
    ) -> Self:  # fmt: skip
        """Train.

        Args:
            X: documents whose tokens are words, with mentions; sentences are made where they are missing.
            y: the mentions of each, as `Mention` or ``(type, start, end)``, in place of the documents' own.
            dev: tunes what has to be tuned: documents, or a pair of X and y; a tenth of the training data, drawn by the
                seed, when ``None``.
            progress: called at each step.
            work, executor: as for `Recognizer.fit`; not with what trains on folds of the text, the method
                ``incremental`` and a second stage behind features.

        Raises:
            DataError: no words, no mentions, or words that do not add up to the text.
            UsageError: a parameter whose value is not valid, or one that a folder or an executor has no place for.
        """
        self.check()
        check_executor(self, executor, work)
        began = monotonic()
        callback = progress or (lambda _: None)
        callback(Progress("reading"))
        settings = Settings(self, threads(self.n_jobs), callback, began)
        if work is None:
            return self._fit(prepared(self, X, y, dev, None), settings)
        check_on_disk(self)
        self._check_no_folds()
        with Work.opened(work) as folder:
            ready = prepared(self, X, y, dev, folder)
            with folder.worked_on_by(executor, self.n_jobs):
                return self._fit(ready, settings._replace(room=folder))

    def _fit(self, ready: Prepared, settings: Settings) -> Self:
        """Train on prepared data."""
        types, phrases, known, tuning, run = ready.types, ready.phrases, ready.known, ready.tuning, settings.run

        def learn(batch: Batch, unseen: Batch, features: FeatureSet) -> _Learned:
            empty = SegmenterModel(types, ready.constraints, (), phrases)
            return self._learned(known.on(batch), tuning.on(unseen), empty, features, settings)

        learned, first_pass, passes = choose_passes(
            self.passes if self.encoder is None else "one",
            PassData(
                known.text.batch, tuning.text.batch,
                lambda: MENTION_CHAIN.mentions_of(known.labels.mentions, known.text.offsets), types, ready.features,
            ),
            PassSettings(0.1, rate=self.rate, min_count=self.min_count, seed=self.random_state),
            learn, lambda learned: learned.tuning.f1(learned.decoded.labels), run,
        )  # fmt: skip
        trained, model, known, tuning, held_out, decoded, seconds = learned
        second, rescoring = None, None
        if self.rescore:
            settings.report("second stage")
            second, rescoring, scored = fit_second(
                model, known, tuning, decoded, [] if held_out is None else held_out(), self.method, self.weight,
                self.random_state, run, every=self.rescore_all,
            )  # fmt: skip
            decoded = decoded if second is None else rescored(decoded, second, scored, run)
        self.types_ = types
        self.strongest_ = {role: found for each in trained for role, found in each.strongest.items()}
        self.lost_ = ready.gold.lost
        self.pass_ = first_pass
        self.seconds_ = {"joint penalty": seconds}
        for each, names in zip(trained, chain_names(trained), strict=True):
            both = " and ".join(names)
            self.seconds_ |= {f"features of {both}": each.seconds["features"], both: each.seconds["chains"]}
        characters = ready.gold_dev.batch.batch
        predicted = list(placed(characters, decoded, decoded.chances(decoded.mentions, run), types, 0.0))
        wrong = np.zeros(len(characters.sentences) - 1, np.bool_)
        wrong[differing(decoded.labels, tuning.labels, characters.sentences)] = True
        scalings, checked = fit_scalings(ready.dev, predicted, decoded.log_answers(), wrong=wrong)
        self.model_ = model if second is not None else replace(model, scalings=scalings)
        self.second_ = None if second is None else replace(second, scalings=scalings)
        report = make_report(ready.train, ready.gold, tuning, decoded, trained, checked)
        # of few documents the sentences are dealt, as if each were one
        documents = min(ready.documents, report.documents)
        self.report_ = replace(report, documents=documents, passes=passes, rescoring=rescoring)
        following, reports = learn_stages(
            ready.train, ready.dev, ready.linked, self.attributes, report.words, self.random_state, run,
            settings.report,
        )  # fmt: skip
        self.report_ = replace(self.report_, **reports)
        self._follow(following, ready.dev)
        self._learn_profile(known.text.batch)
        self._warn_lost()
        return self

    def _learned(
        self, known: Corpus, tuning: Corpus, empty: SegmenterModel, features: FeatureSet, settings: Settings
    ) -> _Learned:
        """Train the chains on some features; of the model the types, the constraints and the phrases are known."""
        tagged = taggings(empty.types, empty.constraints, pairs=self.method == "joint_labels")
        trained = [learn_chains(tagged, features, known, tuning, settings)]
        model = replace(empty, parts=(trained[0].chains,))
        held_out = None
        if self.encoder is None and self.method != "incremental":
            held_out = partial(held_out_models, trained[0], model, tagged, known, tuning, settings, features)
        if self.method == "incremental":
            trained += train_stack(trained[0], model, tagged, features, known, tuning, settings)
            model = replace(empty, parts=tuple(each.chains for each in trained))
        start = process_time()
        if self.tune_penalty and self.method != "joint_labels":
            model = model.tuned(tuning, self.weight, settings.run)
        seconds = process_time() - start
        decoded = self._solve(model, tuning.text, settings.run)
        return _Learned(trained, model, known, tuning, held_out, decoded, seconds)

    def stream(
        self, X: Given, *, threshold: float = 0.0, scores: bool = True, answers: bool = False,
        notice: Notice = warnings.warn, mentions: WhichMentions = "find",
        attributes: Sequence[str] | str | None = None, dictionary: Words | Mapping[str, Words] | None = None,
        constraints: Constraints | Mapping[str, Any] | None = None,
    ) -> Iterator[Document]:  # fmt: skip
        """Documents with the words and mentions that the model finds, in place of their own; lazily, in batches.

        Sentences are kept; columns, which were those of other tokens, are not. For the method ``dual``,
        ``meta["dual"]`` holds for each sentence whether its answer is ``optimal``, the ``gap`` to the bound where it is
        not, and the number of ``iterations``.

        Args:
            X: a text, a document, several of them, or a column of texts; sentences are made where they are missing.
            threshold: leave out mentions with a lower score.
            scores: whether mentions get scores: calibrated probabilities, of exact marginals, for ``exact`` and
                ``dual`` given that words and mentions keep to the constraints, or of the second stage. They take as
                long as everything else.
            answers: as for `Recognizer.stream`; an answer is right if all its words and mentions are.
            notice, mentions, attributes: as for `Recognizer.stream`; documents with given mentions keep their words.
            dictionary: words that stay whole wherever they occur, the longest from the left: a file with one word a
                line, or a list. Or a mapping to such from ``word`` and mention types; a word of a type is a mention of
                it, with the score 1. All else is the best that agrees with them; a second stage is left out.
            constraints: as for `Recognizer.stream`; they decide among candidates, see `spanloom.recognize.constrained`,
                and a word is cut where a mention then begins or ends. Without answers or a dictionary.

        Raises:
            UsageError: the threshold is not a probability, or is given without scores; the model adds nothing to given
                mentions, or a dictionary is given with them; a dictionary cannot be read or does not fit the model.
            DataError: a file of a dictionary is not UTF-8, or has no word.

        >>> from spanloom import Document, Mention, Segmenter
        >>> tokens = [[0, 2], [2, 3], [3, 5], [5, 7]]
        >>> known = [Document("患者无关节疼痛", tokens=tokens, mentions=[Mention("problem", [(3, 7)])])] * 50
        >>> segmenter = Segmenter(features=["bias", "w[-1..1]"]).fit(known)
        >>> segmenter.predict("患者无疼痛", dictionary=["无疼痛"]).words
        ['患者', '无疼痛']
        """
        check_number("threshold", threshold, 0, 1)
        if threshold and not scores:
            raise UsageError(f"threshold is {threshold}, but there are no scores; leave threshold out, or scores=False")
        documents = self._watched(documents_of(X), notice)
        if mentions == "given":
            if dictionary is not None:
                raise UsageError("a dictionary finds words, which documents with given mentions keep; leave one out")
            return self._of_given(documents, attributes, BATCH_TOKENS)
        model = self.fitted
        if queried := constraint_demands(constraints, self.types_, mentions):
            if dictionary is not None or not scores:
                raise UsageError("constraints decide by scores, and without a dictionary; leave one of the two out")
            stages, marked = self._marking(attributes)
            found = constrained(self, documents, queried, stages, threshold, notice, flat=True, answers=answers)
            return marked(map(split_at_mentions, found))
        # the chains of these methods are independent, without constraints between them
        allowed = np.ones_like(model.allowed) if self.method in ("independent", "incremental") else model.allowed
        kept = None if dictionary is None else Dictionary(dictionary, model.types, allowed)
        stages, marked = self._marking(attributes)
        return marked(self._stream(model, documents, threshold, scores, answers, kept, stages))

    def _stream(
        self, model: SegmenterModel, documents: Iterable[Document], threshold: float, scores: bool, answers: bool,
        dictionary: Dictionary | None = None, stages: Sequence[Stage] = (),
    ) -> Iterator[Document]:  # fmt: skip
        run = threads(self.n_jobs)
        for ready in batches(documents, BATCH_TOKENS, prepare_all):
            characters = split(ready) if dictionary is None else dictionary.within(split(ready))
            decoded = self._decode(model, characters, run)
            chances = decoded.probabilities(decoded.mentions, words=False, run=run) if scores else None
            if chances is not None and characters.kept:  # calibration does not know what is certain
                begins = characters.offsets[decoded.mentions.sentence] + decoded.mentions.first
                chances[np.isin(begins, [first for first, _, kind in characters.kept if kind is not None])] = 1.0
            marked = placed(characters.batch, decoded, chances, model.types, threshold)
            yield from run_stages(stages, answered(marked, decoded.answers()) if answers else marked)

    def with_penalty(self, penalty: float) -> Self:
        """A copy with another mention penalty."""
        check_number("penalty", penalty)
        other, model = copy(self), self.fitted
        other.model_ = model.with_penalty(penalty)
        if self.second_ is not None:
            other.second_ = self.second_.with_penalty(penalty - model.penalty)
        return other

    def _decode(self, model: SegmenterModel, characters: Characters, run: Executor) -> Decoded:
        found = self._solve(model, self._seen(model, characters, run), run)
        return found if self.second_ is None or characters.kept else rescored(found, self.second_, run=run)

    def _seen(self, model: SegmenterModel, characters: Characters, run: Executor) -> Characters:
        """Return the text with the columns that the model reads."""
        text = characters.with_own_columns(own_columns(model.parts[0].scorer), model.phrases)
        return text if self.pass_ is None else text._replace(batch=self.pass_.fill(text.batch, run))

    def _solve(self, model: SegmenterModel, text: Characters, run: Executor) -> Decoded:
        return model.decode(text, self.method, weight=self.weight, iterations=self.dual_iterations, run=run)

    @overload
    def marginals(self, X: One, *, calibrated: bool = ...) -> Probabilities: ...  # type: ignore[overload-overlap]

    @overload
    def marginals(self, X: Several, *, calibrated: bool = ...) -> list[Probabilities]: ...

    def marginals(self, X: Given, *, calibrated: bool = True) -> Probabilities | list[Probabilities]:
        """The probability of each of the documents' own words and mentions, in their order.

        One document gives one answer, several give a list.

        Args:
            X: with words and mentions.
            calibrated: whether the probabilities of mentions are as the scores of `predict`, or exact marginals of the
                trained model, in the same order. Those of words are exact marginals.

        Raises:
            DataError: words that do not add up to the text.
        """
        model, run = self.fitted, threads(self.n_jobs)
        characters = split(list(map(with_words, documents_of(X))))
        batch = characters.batch
        starts = word_starts(batch)
        decoded = self._decode(model, characters, run)
        words = decoded.probabilities(words_at(batch, starts), words=True, run=run)
        queried, held = requested_table(batch, model.types)
        mentions = np.zeros(len(held))
        mentions[held] = decoded.probabilities(queried, words=False, run=run, calibrated=calibrated)
        result = []
        w = m = 0
        for document in batch.documents:
            tokens = document.token_count
            own = words[w : w + tokens].tolist(), mentions[m : m + len(document.mentions)].tolist()
            result.append(Probabilities(*own))
            w, m = w + tokens, m + len(document.mentions)
        return answer(X, result)

    @property
    def structured(self) -> tuple[AnyModel, ...]:
        """The trained models of its chains."""
        return tuple(chain for part in self.fitted.parts for chain in part.models.values())

    def _description(self) -> dict[str, Any]:
        own = of_structures(self.types_, self.structured)
        return {**own, **{one.name: one.describe() for one in self.stages_}}

    def explain(self, X: One, mentions: Sequence[Mention] | None = None) -> list[Explanation]:
        """Explain why the model finds mentions, or not: roles and features that carry each, and what would be instead.

        Args:
            X: a text or a document, whose own words and mentions are not looked at.
            mentions: those to explain; what the model predicts when ``None``.

        Raises:
            UsageError: a mention that the model cannot hold, or of a type that it does not know.
        """
        model, document = self.fitted, prepare(one_of(X)).copy(mentions=[])
        queried, characters = requested_mentions(document, mentions), split([document])
        decoded = self._decode(model, characters, threads(self.n_jobs))
        why = SegmenterExplainer(model, characters, decoded).explain(queried)
        [found] = placed(characters.batch, decoded, None, model.types, 0.0)
        return list(explained(self.stages_, found, found.mentions, why)) if self.stages_ else why

    def to_part(self) -> ModelPart:
        """See `spanloom.modelfile.save`."""
        values = SegmenterValues.of(self, **vars(self.fitted), strongest=self.strongest_)
        return self._as_part(values, parts_of(self.fitted))

    @classmethod
    def from_part(cls, part: ModelPart) -> Self:
        """See `spanloom.modelfile.load`."""
        values = part.read(SegmenterValues)
        shared = shared_of(part.parts.get("columns"))
        model = model_of(near_encoder(part, values.params), values, shared)
        made = values.restored(cls, model)
        if not model.serves(made.method):
            raise ModelError(f"its chains are not those of the method {made.method!r}")
        made.strongest_ = values.strongest
        features, rules = features_of_chains(model.parts[-1]), OverlapRules.of_ways((), len(model.types))
        made._restore(part, model.types, {"dictionaries"}, columns=shared, features=features, overlaps=rules)
        return made

    def check(self) -> None:
        """Check that the parameters have valid values.

        Raises:
            UsageError: one has not.
        """
        super().check()
        for text in self.constraints:
            parse(text)
        if self.encoder is not None:
            check_one_pass(self.encoder, self.passes)
            for name in ("dictionaries", "vocabulary", "clusters", "vectors"):
                if getattr(self, name) is not None:
                    raise UsageError(f"{name} beside an encoder, which is trained in place of features; leave it out")
        check_encoder_training(self, several=self.method == "incremental")
        names_from(self.names)

    def _check_no_folds(self) -> None:
        """Check that nothing trains on folds of the text, which are in memory.

        Raises:
            UsageError: something does.
        """
        for name, value, folds in (
            ("method", self.method, self.method == "incremental"),
            ("rescore", self.rescore, self.rescore and self.encoder is None),
        ):
            if folds:
                raise UsageError(
                    f"{name} is {value!r}, but a segmenter with a folder (work) has no chains of folds of the text; "
                    f"take another {name}, or train in memory"
                )

    types_: tuple[str, ...]
    report_: SegmenterReport
    lost_: tuple[Lost, ...]
    strongest_: Strongest
    seconds_: dict[str, float]
    pass_: DocumentPass | None = None
    second_: Rescorer | None = None


def load_segmenter(path: str | Path) -> Segmenter:
    """A segmenter that was saved.

    Raises:
        ModelError: the folder holds no segmenter, or a damaged one, or one of another format.
    """
    return modelfile.load(Segmenter, path)

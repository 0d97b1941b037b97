"""The parameters of linkers; see `spanloom.model.fields`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from spanloom.model.choices import Preset, SearchMethod, Task
from spanloom.model.fields import JOBS, SEED, TYPES, Choice, Number, Parameter, Probability, Switch, Whole
from spanloom.recognize.parameters import CLUSTERS, FEATURES, IGNORE, POS

if TYPE_CHECKING:
    from spanloom.link.columns import WordModel
    from spanloom.tag.filling import Source


@dataclass(eq=False, repr=False)
class LinkerParameters:
    """Parameters of a `Linker`; the paper is Lou et al. (2017)."""

    features: Preset | Sequence[str] = replace(
        FEATURES, doc="of the words around a token: a key of `PRESETS`, or templates."
    )("biomedical")
    _: KW_ONLY
    task: Task = Choice(
        "joint; recognize: mentions alone; normalize: given mentions.",
        "``joint``; ``recognize`` for mentions alone; ``normalize`` to link mentions that are given.",
        names=Task,
    )("joint")
    types: Sequence[str] | None = TYPES(None)
    candidates: int = Whole(
        "Concepts of a mention, at most.",
        "concepts that a mention is compared with, at most; K of the paper, section 3.3.1.",
    )(10)
    method: SearchMethod = Choice(
        "Candidates by: best, trigram, edit.",
        "how they are searched, see `spanloom.vocabulary.candidates`.",
        names=SearchMethod,
    )("best")
    beam: int = Whole("Derivations kept.", "derivations that are kept; B of the paper.")(16)
    iterations: int = Whole(
        "Passes over the data, at most.",
        "passes over the training data, at most; the best on development data is kept.",
    )(36)
    patience: int = Whole(
        "Passes without a better one, at most.", "passes without a better one before training stops."
    )(5)
    runs: int = Whole(
        "Trainings whose weights are averaged.", "trainings in different orders, whose weights are averaged."
    )(1)
    margin: float = Number(
        "By how much gold must win; 0 is the plain perceptron.",
        "by how much the gold derivation must win; 0 is the perceptron of the paper.",
        zero=True,
        share=0.1,  # the bias is up to twice as large
    )(50.0)
    word_rate: float = Number(
        "The step of words' weights, beside 1 of others.",
        "how far an update moves the weights of the words around a token, where it moves all others by 1.",
    )(0.1)
    state_features: bool = Switch(
        "The words of earlier entities and of concepts, as in the paper.",
        "templates 2, 4b and 6 to 10 of the paper's Table 2.",
    )(False)
    nonlocal_features: bool = Switch(
        "The last two segments with their labels, as in the paper.", "templates 11 to 14."
    )(False)
    segments: bool = Switch(
        "Features of whole mentions.", "features of whole spans and of candidates, beyond the paper."
    )(True)
    history: bool = Switch(
        "The document's earlier concepts.", "features of concepts that the document was linked to before."
    )(True)
    nil: bool = Switch(
        "No concept, where there are candidates.",
        "whether a mention that has candidates may be linked to none of them; learning is the same.",
    )(True)
    composites: bool = Switch(
        "Several concepts at once.", "whether combinations of concepts that training mentions have are candidates."
    )(True)
    evidence: bool = Switch(
        "What a tagging chain finds.",
        "features of the probabilities that a tagging chain, trained first, gives to spans.",
    )(True)
    dictionary: bool = Switch(
        "Names of the vocabulary in text.", "whether templates of the column ``dictionary`` are added."
    )(True)
    language_words: bool = Switch(
        "The language model's ranges as features of words.",
        "whether templates of the columns ``bigram`` and ``trigram`` are added; they are not the paper's.",
    )(True)
    gold_candidates: bool = Switch(
        "While training, each mention's concept is a candidate.",
        "whether training adds a mention's concept to candidates that lack it.",
    )(False)
    own_memory: bool = Switch(
        "A training mention is in the memory that it is seen with, as in the paper.",
        "whether the memory of training mentions is of all parts, the one that is seen among them, as in section 2.3 "
        "of the paper.",
    )(False)
    tune_bias: bool = Switch(
        "A bias of mentions by dev.", "whether development data choose a bias of beginning an entity."
    )(True)
    folds: int = Whole(
        "Parts that see only what others teach.",
        "parts of the training data; each is seen as by a chain and a memory of the others.",
        least=2,
    )(5)
    least: float = Probability(
        "Probability of a span to be looked at.", "probability from which on the chain proposes a span."
    )(0.01)
    clusters: str | int | None = CLUSTERS(None)
    ignore: Sequence[str] | None = IGNORE(None)
    pos: Source = POS("auto")
    language_model: str | Path | WordModel | None = Parameter(
        "A language model, whose probabilities become features.",
        "a `LanguageModel` of spanloom-lab, or the path of one: template 15, and columns ``bigram`` and ``trigram``.",
        metavar="LM",
    )(None)
    n_jobs: int | None = JOBS(1)
    random_state: int = SEED(0)

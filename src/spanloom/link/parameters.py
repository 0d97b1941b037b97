"""The parameters of linkers; see `spanloom.model.fields`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from spanloom.model.choices import Attributes, Preset, SearchMethod, Task
from spanloom.model.fields import (
    CLUSTERS,
    JOBS,
    SEED,
    SPLIT_TOKENS,
    TYPES,
    VECTORS,
    Choice,
    Number,
    Parameter,
    Probability,
    Switch,
    Whole,
)
from spanloom.recognize.parameters import ATTRIBUTES, FEATURES, IGNORE, POS

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
        "Maximum candidate concepts per mention.",
        "concepts that a mention is compared with, at most; K of the paper, section 3.3.1.",
    )(10)
    method: SearchMethod = Choice(
        "Candidate search: best, trigram or edit.",
        "how they are searched, see `spanloom.vocabulary.candidates`.",
        names=SearchMethod,
    )("best")
    beam: int = Whole("Beam size.", "derivations that are kept; B of the paper.")(16)
    iterations: int = Whole(
        "Maximum passes over the data.",
        "passes over the training data, at most; the best on development data is kept.",
    )(36)
    patience: int = Whole(
        "Passes without improvement before stopping.", "passes without a better one before training stops."
    )(5)
    runs: int = Whole(
        "Number of training runs to average.", "trainings in different orders, whose weights are averaged."
    )(1)
    margin: float = Number(
        "Margin; 0 is the plain perceptron.",
        "by how much the gold derivation must win; 0 is the perceptron of the paper.",
        zero=True,
        share=0.1,  # the bias is up to twice as large
    )(50.0)
    word_rate: float = Number(
        "Step size of word weights, relative to other weights.",
        "how far an update moves the weights of the words around a token, where it moves all others by 1.",
    )(0.1)
    state_features: bool = Switch(
        "Use words of earlier entities and concepts, as in the paper.",
        "templates 2, 4b and 6 to 10 of the paper's Table 2.",
    )(False)
    nonlocal_features: bool = Switch(
        "Use the last two segments with their labels, as in the paper.", "templates 11 to 14."
    )(False)
    segments: bool = Switch(
        "Use features of whole mentions.", "features of whole spans and of candidates, beyond the paper."
    )(True)
    history: bool = Switch(
        "Use earlier concepts of the document.", "features of concepts that the document was linked to before."
    )(True)
    nil: bool = Switch(
        "Allow mentions without a concept (NIL).",
        "whether a mention that has candidates may be linked to none of them; learning is the same.",
    )(True)
    composites: bool = Switch(
        "Allow composite mentions (several concepts).",
        "whether combinations of concepts that training mentions have are candidates.",
    )(True)
    evidence: bool = Switch(
        "Use the spans of a tagging chain.",
        "features of the probabilities that a tagging chain, trained first, gives to spans.",
    )(True)
    dictionary: bool = Switch(
        "Use names of the vocabulary in the text.", "whether templates of the column ``dictionary`` are added."
    )(True)
    language_words: bool = Switch(
        "Use language model probabilities as word features.",
        "whether templates of the columns ``bigram`` and ``trigram`` are added; they are not the paper's.",
    )(True)
    gold_candidates: bool = Switch(
        "Add the gold concept to the candidates in training.",
        "whether training adds a mention's concept to candidates that lack it.",
    )(False)
    own_memory: bool = Switch(
        "Include a training mention in its own memory, as in the paper.",
        "whether the memory of training mentions is of all parts, the one that is seen among them, as in section 2.3 "
        "of the paper.",
    )(False)
    tune_bias: bool = Switch(
        "Tune the mention bias on --dev.", "whether development data choose a bias of beginning an entity."
    )(True)
    folds: int = Whole(
        "Number of cross-validation folds.",
        "parts of the training data; each is seen as by a chain and a memory of the others.",
        least=2,
    )(5)
    least: float = Probability(
        "Minimum probability of a candidate span.", "probability from which on the chain proposes a span."
    )(0.01)
    clusters: str | int | None = CLUSTERS(None)
    vectors: str | Path | None = VECTORS(None)
    ignore: Sequence[str] | None = IGNORE(None)
    pos: Source = POS("auto")
    split_tokens: bool = SPLIT_TOKENS(False)
    language_model: str | Path | WordModel | None = Parameter(
        "A language model, whose probabilities become features.",
        "a `LanguageModel` of spanloom-lab, or the path of one: template 15, and columns ``bigram`` and ``trigram``.",
        metavar="LM",
    )(None)
    attributes: Attributes = ATTRIBUTES("auto")
    n_jobs: int | None = JOBS(1)
    random_state: int = SEED(0)

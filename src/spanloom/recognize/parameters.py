"""The parameters of recognizers; see `spanloom.model.fields`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, get_args

from spanloom.errors import UsageError
from spanloom.model.choices import (
    Attributes,
    Completeness,
    Counting,
    Device,
    Headless,
    Optimizer,
    Overlap,
    Passes,
    Pooling,
    Precision,
    Preset,
    Reading,
    StructureName,
)
from spanloom.model.fields import (
    CLUSTERS,
    EPOCHS,
    ITERATIONS,
    JOBS,
    L2,
    LINK,
    LINK_ENCODER,
    MIN_COUNT,
    NAMES,
    OPTIMIZER,
    PASSES,
    RATE,
    SEED,
    SPLIT_TOKENS,
    TUNE_PENALTY,
    TYPES,
    VECTORS,
    VOCABULARY,
    VOCABULARY_COLUMNS,
    Choice,
    Folder,
    Number,
    Parameter,
    Switch,
    Texts,
    Whole,
    declared,
    given_vectors,
)

if TYPE_CHECKING:
    from spanloom.structures import Structure
    from spanloom.tag.filling import Source
    from spanloom.vocabulary import Vocabulary

FEATURES = Choice(
    f"Preset: {', '.join(get_args(Preset))}.", "a key of `PRESETS`, or templates.",
    names=Preset, templates="a preset's name", toml=str | list[str],
)  # fmt: skip
RUNS = Whole(
    "Number of adagrad runs to average.",
    "of AdaGrad, each in an order of its own, whose weights are averaged: a little more accurate, and as fast to use.",
)
IGNORE = Texts(
    "Column not to use, such as pos; repeatable.",
    "columns that a preset shall do without, such as ``pos`` where the texts to come have none.",
    metavar="COLUMN",
    none=True,
)
SECTIONS = Parameter(
    "Custom rules for section names and note types.",
    "rules that name sections and note types, for the columns ``section`` and ``note``: a TOML file, or the same as a "
    "mapping; ``None`` for those that come with Spanloom.",
    metavar="TOML",
    toml=str | dict[str, dict[str, str]],
)
POS = Parameter(
    "Part-of-speech tagger for text without the column pos: auto (trained on the training data), none, a model, or "
    "spacy:NAME.",
    "what gives documents that lack the column ``pos`` the column; it is kept in the model. ``auto`` for a tagger that "
    "is trained on the column of the training data, where they have it and a template names it; development data are "
    "then looked at with its tags, as new text will be. A trained `PosTagger`, or the folder of one; ``spacy:NAME`` "
    "for a pipeline of spaCy, of which the model keeps the name; ``None`` for nothing.",
    metavar="MODEL",
    words=("auto", "none"),
)
STRUCTURE = Parameter(
    f"auto, or {', '.join(get_args(StructureName))}; perhaps with parameters, as in semi_markov(longest=6).",
    "``auto``, which chooses by the annotation: ``separators``, ``shared`` if enough mentions have gaps, or ``split`` "
    "if that represents clearly more of them; or a key of `STRUCTURES`, perhaps with parameters, as in "
    "``semi_markov(longest=6)``; or a `Structure`, also of a class of your own, which `load` must then be given again. "
    "The attribute ``structure_`` has the one of the trained model.",
    words=("auto", *get_args(StructureName)),
)
ANNOTATION = Choice(
    "Completeness of the training annotation, if the data do not state it: complete, at-least or unknown.",
    'completeness of the annotation of training text that does not declare it (in ``meta["annotation"]``, see '
    "`spanloom.document.annotation`): ``complete``; ``at-least``, where mentions that are not annotated may be; or "
    "``unknown``. What is missing is filled in by models of other parts of the text, up to a density.",
    names=Completeness,
)
DENSITY = Parameter(
    "Mentions per 1,000 tokens of all types together, or TYPE=NUMBER, if annotation is incomplete.",
    "mentions per 1,000 tokens, if annotation is not complete: a number for all types together, which are then as "
    "frequent among each other as they are marked, or a mapping from types to numbers; ``None`` to estimate it from "
    "parts that are complete, or from development data.",
    metavar="NUMBER",
    several=True,
    toml=float | list[str] | dict[str, float],
)
ATTRIBUTES = Choice(
    "Whether attributes of training mentions are learned: auto, if there are any, or off.",
    "``auto``, which learns the attributes that training mentions have, such as ``negated``, so that mentions that "
    "are found get them (see `spanloom.attributes`); or ``off``.",
    names=Attributes,
)
RESCORE_ALL = Switch(
    "Rescore all candidates (no early exit).",
    "whether the second stage scores all candidates. Otherwise it skips those of which the first stage is confident, "
    "if that costs at most 0.05 points of development F1.",
)
ENCODER = Folder(
    "Folder of an encoder to fine-tune instead of features (extra torch).",
    "a folder with an encoder of Hugging Face's form, which is trained together with a linear layer in place of "
    "features, or by a recognizer beside them (``with_features``); ``None`` for features alone. There is then "
    "one pass over documents; without features, their other parameters are not used.",
)
CHECKPOINT = Folder(
    "Checkpoint folder of an encoder's training; an interrupted training resumes from it.",
    "a folder that keeps the state of an encoder's training, after each pass and every ten minutes; the same training "
    "resumes from it, and gives the same weights as if it had never been interrupted. It is removed when the model is "
    "saved. ``None`` for none.",
)
_NOT_OF_ENCODERS_ALONE: Final = frozenset(("encoder", "checkpoint", "n_jobs", "random_state"))


@dataclass(eq=False, repr=False)
class _OfRecognizers:
    """Parameters of a `Recognizer` that are not those of `EncoderParameters`."""

    structure: Literal["auto"] | StructureName | Structure = STRUCTURE("auto")
    features: Preset | Sequence[str] = FEATURES("biomedical")
    _: KW_ONLY
    components: int = Whole(
        "Maximum number of parts of a discontinuous mention.",
        "short for the parameter of structures that hold gaps: how many parts a mention has at most.",
    )(3)
    longest: int | None = Whole(
        "Maximum tokens of a mention (semi_markov).",
        "short for the parameter of ``semi_markov``: how many tokens a mention has at most.",
        none=True,
        shown="any number",
    )(None)
    counting: Counting = Choice(
        "subgraphs or derivations.", "``subgraphs`` or ``derivations`` (see `spanloom.hypergraph`).", names=Counting
    )("subgraphs")
    optimizer: Optimizer = OPTIMIZER("adagrad")
    l2: float | Sequence[float] | None = L2(None)
    epochs: int = EPOCHS(30)
    runs: int = RUNS(1)
    iterations: int = ITERATIONS(200)
    rate: float = RATE(0.1)
    clusters: str | int | None = CLUSTERS(None)
    ignore: Sequence[str] | None = IGNORE(None)
    sections: str | Path | Mapping[str, Mapping[str, str]] | None = SECTIONS(None)
    vocabulary: str | Path | None = VOCABULARY(None)
    vocabulary_columns: str | None = VOCABULARY_COLUMNS(None)
    link: str | Path | Vocabulary | Sequence[str | Path | Vocabulary] | None = LINK(None)
    link_encoder: str | Path | None = LINK_ENCODER(None)
    vectors: str | Path | None = replace(
        VECTORS,
        help=f"{VECTORS.help} Or english, which come with Spanloom; auto, these if development F1 prefers them; none.",
        doc=f"{VECTORS.doc} Or ``english``, which come with Spanloom: 64 numbers of 67,000 words. Or ``auto``: these, "
        "if a short training with them has the better development F1; they are tried with the presets ``biomedical``, "
        "``best`` and ``fast``, and 20,000 to 250,000 tokens of English text in memory, completely annotated, and "
        "not by `teach`. Or ``none``, as ``None``.",
        words=("english", "auto", "none"),
    )("auto")
    pos: Source = POS("auto")
    split_tokens: bool = SPLIT_TOKENS(True)
    passes: Passes = PASSES("one")
    min_count: int = MIN_COUNT(1)
    hash_bits: int | None = Whole(
        "Hash features into 2^N rows of weights.",
        "bits of a feature's number, where there are to be at most 2 to the power of so many rows of weights, however "
        "much text there is; features that get the same number share a weight. ``None`` for a number of each feature's "
        "own.",
        least=8,  # as `FeatureSet` takes
        most=32,
        none=True,
        shown="no bound",
    )(None)
    names: bool | int = NAMES(False)
    tune_penalty: bool = TUNE_PENALTY(True)
    annotation: Completeness = ANNOTATION("complete")
    density: float | str | Mapping[str, float] | Sequence[str] | None = DENSITY(None)
    types: Sequence[str] | None = TYPES(None)
    reading: Reading = Choice(
        "Interpretation of overlaps: enough or all.",
        "how ambiguous structures are read, ``enough`` or ``all``.",
        names=Reading,
    )("enough")
    headless: Headless = Choice(
        "Mentions without a head: error, or whole to use the mention as its head.",
        "what becomes of a mention without a head, where the structure has heads: an ``error``, or its head is "
        "the ``whole`` mention.",
        names=Headless,
    )("error")
    rescore: bool = Switch(
        "Rescore candidate mentions with a second stage.",
        "whether a second stage scores candidate mentions as wholes (see `spanloom.rescoring`). It is trained where "
        "there are 100 mentions, on candidates of first stages that did not see them, and is used where development F1 "
        "is better with it. The mention penalty is then no longer what decides. Behind an encoder it is trained on the "
        "development data, and judged by cross-validation.",
    )(True)
    rescore_all: bool = RESCORE_ALL(False)
    overlap: Overlap = Choice(
        "Which mentions may overlap: as training shows (learned), all (free), those that nest (nested), or none.",
        "which types of mentions may have the same tokens, nest, cross, share a part or have gaps: as training shows "
        "(``learned``), or all (``free``); or mentions may nest, but not cross (``nested``), or not overlap at all "
        "(``none``), whatever training shows.",
        names=Overlap,
    )("learned")
    attributes: Attributes = ATTRIBUTES("auto")
    with_features: bool = Switch(
        "Average the scores of encoder and features.",
        "whether the scores of an encoder are averaged with those of features, each trained by itself; development F1 "
        "chooses the share of either. The encoder learns what they have learned, also of incomplete annotation.",
        metavar="with-features/without-features",
    )(False)


@dataclass(eq=False, repr=False, kw_only=True)
class EncoderParameters:
    """Parameters of an encoder's training, for all estimators that can take their scores from one."""

    encoder: str | Path | None = ENCODER(None)
    encoder_epochs: int | None = Whole(
        "Maximum passes over the training data with an encoder.",
        "passes with an encoder, at most; the one with the best development F1 is kept. ``None`` for as many as take "
        "about 1,500 steps, from 4 to 30.",
        none=True,
        shown="4 to 30",
    )(None)
    encoder_rate: float = Number(
        "Learning rate of the encoder's last layer.", "the highest rate of the encoder's last layer."
    )(1e-4)
    head_rate: float = Number(
        "Learning rate of the layer on top of the encoder.", "the highest rate of the linear layer on the encoder."
    )(2e-3)
    adapters: int = Whole(
        "Rank of low-rank adapters, trained instead of the encoder; 0 for none.",
        "rank of low-rank adapters on the encoder's attention, which are trained in place of the encoder; 0 for none. "
        "The model then holds only these, and needs the encoder's folder.",
        least=0,
        most=1 << 16,  # above the width of any encoder
    )(0)
    layer_decay: float = Number(
        "Decay of the learning rate per layer, from top to bottom.",
        "the rate of an encoder's layer, as a share of that of the layer above it; 1 for the same.",
    )(0.9)
    seeds: int = Whole(
        "Number of seeds; the weights of the best are averaged.",
        "seeds that an encoder is trained with, from ``random_state`` on, one after the other; the mean of the weights "
        "of the best is kept, of as many as development F1 gains by.",
    )(1)
    step_subwords: int = Whole(
        "Sub-words per training step of an encoder.",
        "sub-words of a step of an encoder's training, about; fewer where a pass would have fewer than 100 steps.",
    )(1024)
    accumulate: int = Whole(
        "Gradient accumulation steps.",
        "parts that a step of an encoder's training is read in, one after the other, so that a large one needs no more "
        "memory than a small one; the gradient is the same.",
    )(1)
    recompute: bool = Switch(
        "Gradient checkpointing: less memory, more time.",
        "whether an encoder's layers are computed again for the gradient in place of being kept: memory for one layer "
        "in place of all, and a third more time; the gradient is the same.",
        metavar="recompute/no-recompute",
    )(False)
    window: int = Whole(
        "Window of an encoder, in sub-words.",
        "sub-words that an encoder reads at once, at most; a longer sentence is read in windows that overlap.",
        least=16,
        most=1 << 20,
    )(256)
    context: bool = Switch(
        "Encode sentences with neighbouring sentences.",
        "whether an encoder reads a sentence together with its neighbours in the document; it never does after "
        "training on documents of one sentence each.",
        metavar="context/no-context",
    )(True)
    pooling: Pooling = Choice(
        "Token representation: first or last sub-word, or the mean.",
        "which of a token's sub-words make its vector: ``first``, ``last``, or the ``mean`` of all.",
        names=Pooling,
    )("first")
    precision: Precision = Choice(
        "Precision of the encoder: float32, bfloat16 or auto.",
        "of an encoder's products: ``float32``, ``bfloat16``, or ``auto`` for 16 bits where the machine is made for "
        "them.",
        names=Precision,
    )("auto")
    device: Device = Choice(
        "Device of the encoder: cpu, cuda or auto.",
        "where an encoder computes while it is trained: ``cpu``, ``cuda``, or ``auto`` for a graphics card where there "
        "is one. A model that is loaded takes what it finds.",
        names=Device,
    )("auto")
    checkpoint: str | Path | None = CHECKPOINT(None)
    n_jobs: int | None = JOBS(1)
    random_state: int = SEED(0)

    @property
    def featured(self) -> bool:
        """Whether scores come from features, alone or beside an encoder."""
        return self.encoder is None


def check_one_pass(encoder: str | Path | None, passes: str) -> None:
    """Check that no second pass over documents is asked for beside an encoder.

    Raises:
        UsageError: one is.
    """
    if encoder is not None and passes == "two":
        raise UsageError(
            "passes is 'two', but an encoder alone has one pass over documents, as it sees no columns of a first; take "
            "passes 'one', or in a recognizer add features (with_features)"
        )


def check_encoder_training(parameters: EncoderParameters, *, several: bool = False) -> None:
    """Check that parameters of an encoder's training come with an encoder, and a checkpoint with a single training.

    Args:
        parameters: of the estimator.
        several: whether it trains several encoders, one after the other.

    Raises:
        UsageError: there is no encoder, or a checkpoint and several trainings.
    """
    if parameters.encoder is None:
        if parameters.checkpoint is not None:
            raise UsageError("checkpoint is given without an encoder, whose training it keeps; leave it out")
        own = {one.name for one in declared(EncoderParameters)} - _NOT_OF_ENCODERS_ALONE
        for name, _, default in declared(parameters):
            if name in own and (value := getattr(parameters, name)) != default:
                raise UsageError(
                    f"{name} is {value!r}, of which only an encoder makes use, and none is given; name its folder "
                    f"(encoder), or leave {name} out"
                )
    elif parameters.checkpoint is not None and several:
        raise UsageError("checkpoint keeps the training of one encoder, but several are trained here; leave it out")


@dataclass(eq=False, repr=False)
class RecognizerParameters(EncoderParameters, _OfRecognizers):
    """Parameters of a `Recognizer`."""

    kind: ClassVar[Literal["recognizer"]] = "recognizer"

    @property
    def featured(self) -> bool:
        """As of `EncoderParameters`."""
        return self.encoder is None or self.with_features


def check_encoder(estimator: Any) -> None:
    """Check parameters that are given beside an encoder, if there is one.

    Raises:
        UsageError: a parameter that has an effect only with features.
    """
    if not estimator.featured:
        check_one_pass(estimator.encoder, estimator.passes)
    vectors = given_vectors(estimator.vectors)
    if not estimator.featured and (vectors is not None or estimator.clusters is not None):
        given = "vectors" if vectors is not None else "clusters"
        more = ", or add features to it (with_features)" if isinstance(estimator, RecognizerParameters) else ""
        raise UsageError(f"{given} are given beside an encoder, which is trained in place of features; take one{more}")


OF_TEACHER: Final = (
    *(one.name for one in declared(EncoderParameters) if one.name not in ("n_jobs", "random_state")), "with_features",
    "structure", "components", "longest", "counting", "passes", "split_tokens", "annotation", "density", "types",
)  # fmt: skip
"""Parameters of a recognizer that a student has from its teacher, or not at all: see `spanloom.recognize.teach`."""

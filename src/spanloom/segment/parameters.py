"""The parameters of segmenters; see `spanloom.model.fields`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from spanloom.model.choices import Attributes, CharacterSet, Optimizer, Passes, SegmentMethod
from spanloom.model.fields import (
    CLUSTERS,
    EPOCHS,
    ITERATIONS,
    L2,
    LINK,
    LINK_ENCODER,
    MIN_COUNT,
    NAMES,
    OPTIMIZER,
    PASSES,
    RATE,
    TUNE_PENALTY,
    TYPES,
    VECTORS,
    VOCABULARY,
    Choice,
    Number,
    Parameter,
    Switch,
    Texts,
    Whole,
)
from spanloom.recognize.parameters import ATTRIBUTES, RESCORE_ALL, EncoderParameters

if TYPE_CHECKING:
    from spanloom.vocabulary import Vocabulary

DUAL_ITERATIONS = 50
LAMBDAS = (0.02, 0.1, 0.5)  # characters are less informative than words, and their weights must be larger


@dataclass(eq=False, repr=False)
class _OfSegmenters:
    """Parameters of a `Segmenter` that are not those of `EncoderParameters`."""

    method: SegmentMethod = Choice(
        f"{', '.join(reversed(get_args(SegmentMethod)))}.",
        "``exact``, the best words and mentions that keep to the constraints, by the product of the two chains; "
        "``dual``, the same by dual decomposition; ``independent``, each chain alone; ``incremental``, each chain sees "
        "what the other one predicts alone; ``joint_labels``, one chain over pairs of tags. After training, "
        "``independent``, ``dual`` and ``exact`` can be exchanged.",
        names=SegmentMethod,
    )("exact")
    features: CharacterSet | Sequence[str] = Choice(
        f"Set of features: {', '.join(get_args(CharacterSet))}.",
        "a key of `SETS`, or templates over characters.",
        names=CharacterSet,
        templates="the name of a set",
        toml=str | list[str],
    )("set2")
    _: KW_ONLY
    single_word: Sequence[str] = Texts(
        "Type whose mentions are one word; repeatable.",
        "types whose mentions are one word each.",
        metavar="TYPE",
    )(())
    constraints: Sequence[str] = Texts(
        "Constraint, such as 'TYPE begins -> not word ends'; repeatable.",
        "further ones, as text (see `spanloom.segment.constraints`); that mentions are made of whole words always "
        "holds, but for ``independent`` and ``incremental``, which no constraint binds.",
        metavar="TEXT",
        option="--constraint",
    )(())
    weight: float = Number(
        "Weight of mentions relative to words.",
        "of the mentions' scores beside those of words, for ``exact`` and ``dual``.",
    )(1.0)
    dual_iterations: int = Whole("Maximum iterations of dual decomposition.", "K, for ``dual``.")(DUAL_ITERATIONS)
    dictionaries: Mapping[str, str | Path | Sequence[str]] | None = Parameter(
        "Phrase list for set3, one phrase per line; repeatable.",
        "label -> a file with one phrase a line, or the phrases, for the column ``dictionary``.",
        metavar="LABEL=FILE",
        option="--dictionary",
        several=True,
        toml=dict[str, str | list[str]],
    )(None)
    vocabulary: str | Path | None = replace(
        VOCABULARY, doc="a table of concepts whose names and categories are one more dictionary."
    )(None)
    clusters: str | int | None = replace(
        CLUSTERS, doc="clusters of characters: a ``paths`` file, or how many to induce from the training text."
    )(None)
    vectors: str | Path | None = replace(VECTORS, doc="vectors of characters, see `Recognizer`.")(None)
    optimizer: Optimizer = OPTIMIZER("adagrad")
    l2: float | Sequence[float] | None = replace(
        L2,
        doc="lambda; of several, development F1 decides, for each chain by itself. ``None`` for 0.02, 0.1 and 0.5.",
        tried=LAMBDAS,
    )(None)
    epochs: int = replace(EPOCHS, doc="passes of AdaGrad at most.")(30)
    iterations: int = ITERATIONS(200)
    rate: float = replace(
        RATE, doc="AdaGrad's first step; a third of it for ``joint_labels``, where a score is the sum of three weights."
    )(0.1)
    min_count: int = replace(MIN_COUNT, doc="features of fewer characters are left out.")(1)
    names: bool | int = NAMES(False)
    tune_penalty: bool = TUNE_PENALTY(True)
    rescore: bool = Switch(
        "Rescore candidate mentions with a second stage.",
        "whether a second stage scores candidate mentions as wholes, as behind a recognizer (see "
        "`spanloom.rescoring`); words are then the best beside them. Training takes about three times as long. With an "
        "encoder, or the method ``incremental``, it is trained on the development data, and judged by "
        "cross-validation.",
    )(False)
    rescore_all: bool = RESCORE_ALL(False)
    passes: Passes = PASSES("one")
    link: str | Path | Vocabulary | Sequence[str | Path | Vocabulary] | None = LINK(None)
    link_encoder: str | Path | None = LINK_ENCODER(None)
    attributes: Attributes = ATTRIBUTES("auto")
    types: Sequence[str] | None = TYPES(None)


@dataclass(eq=False, repr=False)
class SegmenterParameters(EncoderParameters, _OfSegmenters):
    """Parameters of a `Segmenter`."""

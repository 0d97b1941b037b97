"""The verbs of `train`: their options are the parameters of the models, and those that all of them take."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from spanloom.cli import options
from spanloom.cli.app import train_app, verb
from spanloom.cli.options import Columns, Force, InputFormat, Jobs, Quiet, Seed
from spanloom.link.parameters import LinkerParameters
from spanloom.recognize.parameters import CascadeParameters, RecognizerParameters
from spanloom.segment.parameters import SegmenterParameters
from spanloom.tag.parameters import TaggerParameters


def _all(
    train: options.Train = None,
    dev: options.Dev = None,
    output: options.ModelOutput = None,
    config: options.Config = None,
    *,
    input_format: InputFormat = None,
    columns: Columns = None,
    on_error: options.OnError = None,
    force: options.ForceOrConfig = None,
    seed: Seed = None,
    jobs: Jobs = None,
    quiet: options.QuietOrConfig = None,
) -> None:
    """What all of them take."""


_verb = partial(verb, group=train_app, around=[_all])


@_verb("train recognizer", parameters=RecognizerParameters)
def _train_recognizer() -> None:
    """Train a recognizer of nested, overlapping and crossing mentions."""


@_verb("train cascade", parameters=CascadeParameters)
def _train_cascade() -> None:
    """Train a chain for each type, each of which sees the outputs of the earlier ones: a baseline."""


@_verb("train linker", parameters=LinkerParameters)
def _train_linker(
    vocabulary: Annotated[
        str | None,
        typer.Option("--vocabulary", metavar="V", help="The concepts to link to; any format of spanloom vocabulary."),
    ] = None,
) -> None:
    """Train a linker, which recognizes mentions and links them to the concepts of a vocabulary together."""


@_verb("train segmenter", parameters=SegmenterParameters)
def _train_segmenter() -> None:
    """Train a segmenter: words and mentions of text without spaces, such as Chinese."""


@_verb("train tagger", parameters=TaggerParameters)
def _train_tagger() -> None:
    """Train a tagger of parts of speech, or of another column, on documents that have it."""


@verb("train language-model", train_app)
def _train_language_model(
    train: options.Texts = None,
    dev: Annotated[
        str | None, typer.Option("--dev", metavar="DATA", help="Text whose perplexity is told; never learned from.")
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="OUT", help="The model directory to write, or a file .arpa or .arpa.gz."
        ),
    ] = None,
    order: options.Order = None,
    input_format: InputFormat = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Train a word n-gram model on raw text, or convert one from the ARPA format of KenLM and SRILM, or to it."""

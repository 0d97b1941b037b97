"""The verbs of `train`; as in `spanloom.cli.app`, the signature is the command line."""

from __future__ import annotations

from typing import Annotated

import typer

from spanloom.cli import options
from spanloom.cli.app import train_app, verb
from spanloom.cli.options import Force, InputFormat, Jobs, Quiet, Seed


@verb("train recognizer", train_app)
def _train_recognizer(
    train: options.Train = None,
    dev: options.Dev = None,
    output: options.ModelOutput = None,
    config: options.Config = None,
    structure: options.Structure = None,
    components: options.Components = None,
    longest: options.Longest = None,
    features: options.Features = None,
    optimizer: options.Optimizer = None,
    counting: Annotated[
        str | None, typer.Option("--counting", metavar="NAME", help="subgraphs or derivations. [subgraphs]")
    ] = None,
    l2: options.L2 = None,
    epochs: options.Epochs = None,
    iterations: options.Iterations = None,
    rate: options.Rate = None,
    clusters: options.Clusters = None,
    runs: options.Runs = None,
    ignore: options.Ignore = None,
    sections: options.Sections = None,
    vocabulary: options.Vocabulary = None,
    pos: options.Pos = None,
    min_count: options.MinCount = None,
    reading: options.Reading = None,
    headless: options.Headless = None,
    tune_penalty: options.TunePenalty = None,
    input_format: InputFormat = None,
    force: options.ForceOrConfig = None,
    seed: Seed = None,
    jobs: Jobs = None,
    quiet: options.QuietOrConfig = None,
) -> None:
    """Train a recognizer of nested, overlapping and crossing mentions."""


@verb("train cascade", train_app)
def _train_cascade(
    train: options.Train = None,
    dev: options.Dev = None,
    output: options.ModelOutput = None,
    config: options.Config = None,
    order: Annotated[
        list[str] | None,
        typer.Option(
            "--order", metavar="NAME", help="frequency, search, or a type; several times for all types. [frequency]"
        ),
    ] = None,
    features: options.Features = None,
    optimizer: options.Optimizer = None,
    l2: options.L2 = None,
    epochs: options.Epochs = None,
    iterations: options.Iterations = None,
    rate: options.Rate = None,
    clusters: options.Clusters = None,
    runs: options.Runs = None,
    ignore: options.Ignore = None,
    sections: options.Sections = None,
    vocabulary: options.Vocabulary = None,
    pos: options.Pos = None,
    min_count: options.MinCount = None,
    tune_penalty: options.TunePenalty = None,
    input_format: InputFormat = None,
    force: options.ForceOrConfig = None,
    seed: Seed = None,
    jobs: Jobs = None,
    quiet: options.QuietOrConfig = None,
) -> None:
    """Train a chain for each type, each of which sees the outputs of the earlier ones: a baseline."""


@verb("train tagger", train_app)
def _train_tagger(
    train: options.Train = None,
    dev: options.Dev = None,
    output: options.ModelOutput = None,
    config: options.Config = None,
    column: options.Tagged = None,
    l2: Annotated[float | None, typer.Option("--l2", metavar="NUMBER", help="Weight of the L2 penalty. [0.1]")] = None,
    epochs: Annotated[
        int | None, typer.Option("--epochs", min=1, metavar="N", help="Passes of adagrad, at most. [15]")
    ] = None,
    rate: options.Rate = None,
    min_count: Annotated[
        int | None, typer.Option("--min-count", min=1, metavar="N", help="Leave out features of fewer tokens. [2]")
    ] = None,
    input_format: InputFormat = None,
    force: options.ForceOrConfig = None,
    seed: Seed = None,
    jobs: Jobs = None,
    quiet: options.QuietOrConfig = None,
) -> None:
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

"""The verbs of `train`; as in `spanloom.cli.app`, the signature is the command line."""

from __future__ import annotations

from typing import Annotated

import typer

from spanloom.cli import options
from spanloom.cli.app import train_app, verb
from spanloom.cli.options import Columns, Force, InputFormat, Jobs, Quiet, Seed


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
    names: options.Names = None,
    reading: options.Reading = None,
    headless: options.Headless = None,
    tune_penalty: options.TunePenalty = None,
    input_format: InputFormat = None,
    columns: Columns = None,
    on_error: options.OnError = None,
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
    names: options.Names = None,
    tune_penalty: options.TunePenalty = None,
    input_format: InputFormat = None,
    columns: Columns = None,
    on_error: options.OnError = None,
    force: options.ForceOrConfig = None,
    seed: Seed = None,
    jobs: Jobs = None,
    quiet: options.QuietOrConfig = None,
) -> None:
    """Train a chain for each type, each of which sees the outputs of the earlier ones: a baseline."""


@verb("train linker", train_app)
def _train_linker(
    vocabulary: Annotated[
        str | None,
        typer.Option("--vocabulary", metavar="V", help="The concepts to link to; any format of spanloom vocabulary."),
    ] = None,
    train: options.Train = None,
    dev: options.Dev = None,
    output: options.ModelOutput = None,
    config: options.Config = None,
    types: Annotated[
        list[str] | None,
        typer.Option("--types", metavar="TYPE", help="Mentions to learn; several times for more. [all]"),
    ] = None,
    task: Annotated[
        str | None,
        typer.Option(
            "--task", metavar="NAME", help="joint; recognize: mentions alone; normalize: given mentions. [joint]"
        ),
    ] = None,
    features: options.Features = None,
    language_model: Annotated[
        str | None,
        typer.Option("--language-model", metavar="LM", help="A language model, whose probabilities become features."),
    ] = None,
    pos: options.Pos = None,
    clusters: options.Clusters = None,
    ignore: options.Ignore = None,
    candidates: Annotated[
        int | None, typer.Option("--candidates", min=1, metavar="N", help="Concepts of a mention, at most. [10]")
    ] = None,
    method: Annotated[
        str | None, typer.Option("--method", metavar="NAME", help="Candidates by: best, trigram, edit. [best]")
    ] = None,
    beam: Annotated[int | None, typer.Option("--beam", min=1, metavar="N", help="Derivations kept. [16]")] = None,
    iterations: Annotated[
        int | None, typer.Option("--iterations", min=1, metavar="N", help="Passes over the data, at most. [36]")
    ] = None,
    patience: Annotated[
        int | None, typer.Option("--patience", min=1, metavar="N", help="Passes without a better one, at most. [5]")
    ] = None,
    runs: Annotated[
        int | None, typer.Option("--runs", min=1, metavar="N", help="Trainings whose weights are averaged. [1]")
    ] = None,
    margin: Annotated[
        float | None,
        typer.Option("--margin", metavar="NUMBER", help="By how much gold must win; 0 is the plain perceptron. [50]"),
    ] = None,
    folds: Annotated[
        int | None, typer.Option("--folds", min=2, metavar="N", help="Parts that see only what others teach. [5]")
    ] = None,
    least: Annotated[
        float | None, typer.Option("--least", metavar="P", help="Probability of a span to be looked at. [0.01]")
    ] = None,
    word_rate: Annotated[
        float | None,
        typer.Option("--word-rate", metavar="NUMBER", help="The step of words' weights, beside 1 of others. [0.1]"),
    ] = None,
    state_features: Annotated[
        bool | None,
        typer.Option(
            "--state-features/--no-state-features",
            help="The words of earlier entities and of concepts, as in the paper. [without]",
            show_default=False,
        ),
    ] = None,
    nonlocal_features: Annotated[
        bool | None,
        typer.Option(
            "--nonlocal-features/--no-nonlocal-features",
            help="The last two segments with their labels, as in the paper. [without]",
            show_default=False,
        ),
    ] = None,
    segments: Annotated[
        bool | None,
        typer.Option("--segments/--no-segments", help="Features of whole mentions. [with]", show_default=False),
    ] = None,
    history: Annotated[
        bool | None,
        typer.Option("--history/--no-history", help="The document's earlier concepts. [with]", show_default=False),
    ] = None,
    nil: Annotated[
        bool | None,
        typer.Option("--nil/--no-nil", help="No concept, where there are candidates. [with]", show_default=False),
    ] = None,
    composites: Annotated[
        bool | None,
        typer.Option("--composites/--no-composites", help="Several concepts at once. [with]", show_default=False),
    ] = None,
    evidence: Annotated[
        bool | None,
        typer.Option("--evidence/--no-evidence", help="What a tagging chain finds. [with]", show_default=False),
    ] = None,
    dictionary: Annotated[
        bool | None,
        typer.Option(
            "--dictionary/--no-dictionary", help="Names of the vocabulary in text. [with]", show_default=False
        ),
    ] = None,
    language_words: Annotated[
        bool | None,
        typer.Option(
            "--language-words/--no-language-words",
            help="The language model's ranges as features of words. [with]",
            show_default=False,
        ),
    ] = None,
    gold_candidates: Annotated[
        bool | None,
        typer.Option(
            "--gold-candidates/--no-gold-candidates",
            help="While training, each mention's concept is a candidate. [without]",
            show_default=False,
        ),
    ] = None,
    own_memory: Annotated[
        bool | None,
        typer.Option(
            "--own-memory/--no-own-memory",
            help="A training mention is in the memory that it is seen with, as in the paper. [without]",
            show_default=False,
        ),
    ] = None,
    tune_bias: Annotated[
        bool | None,
        typer.Option("--tune-bias/--no-tune-bias", help="A bias of mentions by dev. [with]", show_default=False),
    ] = None,
    input_format: InputFormat = None,
    columns: Columns = None,
    on_error: options.OnError = None,
    force: options.ForceOrConfig = None,
    seed: Seed = None,
    jobs: Jobs = None,
    quiet: options.QuietOrConfig = None,
) -> None:
    """Train a linker, which recognizes mentions and links them to the concepts of a vocabulary together."""


@verb("train segmenter", train_app)
def _train_segmenter(
    train: options.Train = None,
    dev: options.Dev = None,
    output: options.ModelOutput = None,
    config: options.Config = None,
    method: options.Method = None,
    single_word: options.SingleWord = None,
    constraint: options.Constraint = None,
    weight: options.Weight = None,
    dual_iterations: options.DualIterations = None,
    features: options.CharacterFeatures = None,
    dictionary: options.Dictionary = None,
    vocabulary: options.Vocabulary = None,
    optimizer: options.Optimizer = None,
    l2: options.L2 = None,
    epochs: options.Epochs = None,
    iterations: options.Iterations = None,
    rate: options.Rate = None,
    min_count: options.MinCount = None,
    names: options.Names = None,
    tune_penalty: options.TunePenalty = None,
    input_format: InputFormat = None,
    columns: Columns = None,
    on_error: options.OnError = None,
    force: options.ForceOrConfig = None,
    seed: Seed = None,
    jobs: Jobs = None,
    quiet: options.QuietOrConfig = None,
) -> None:
    """Train a segmenter: words and mentions of text without spaces, such as Chinese."""


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
    columns: Columns = None,
    on_error: options.OnError = None,
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

"""The verbs and their options; a verb's work is in the module that `execute.VERBS` names.

The functions here have no body: the signature is the command line, the docstring its help, and the decorator hands the
options to the verb's module. Nothing here may import what a verb needs (see `execute`).
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Sequence
from functools import wraps
from types import FrameType
from typing import Annotated, Any, NoReturn

import typer

from spanloom import __version__
from spanloom.cli.execute import INTERRUPTED, execute, open_streams

_SETTINGS = {"help_option_names": ["-h", "--help"]}

app = typer.Typer(
    name="spanloom",
    help="Recognizes mentions that nest, overlap or cross, and says how sure it is. Try: spanloom demo",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings=_SETTINGS,
)
train_app = typer.Typer(
    help="Train a model; what kind is the next word.",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings=_SETTINGS,
)
app.add_typer(train_app, name="train")

Input = Annotated[
    str, typer.Argument(metavar="INPUT", help="A file, a folder, or - for standard input.", show_default=False)
]
Data = Annotated[
    str, typer.Argument(metavar="DATA", help="A file, a folder, or - for standard input.", show_default=False)
]
Model = Annotated[str, typer.Argument(metavar="MODEL", help="A model directory.", show_default=False)]
InputFormat = Annotated[
    str | None,
    typer.Option(
        "--input-format",
        metavar="FORMAT",
        help="The input's format, where its name does not say: jsonl, brat, pubtator, conll, text.",
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        "-f",
        metavar="FORMAT",
        help="The output's format, where its name does not say: jsonl, brat, pubtator, conll, text.",
    ),
]
Columns = Annotated[
    str | None,
    typer.Option(
        "--columns", metavar="NAMES", help="What the columns of a column file are, such as word,pos,tag; else guessed."
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace an output that exists.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors on standard error.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Jobs = Annotated[int | None, typer.Option("--jobs", "-j", min=1, metavar="N", help="Threads; all cores if not given.")]
Seed = Annotated[int | None, typer.Option("--seed", metavar="N", help="Seed of every random choice.")]


def _verb(name: str, group: typer.Typer = app) -> Callable[[Callable[..., None]], Callable[..., None]]:
    def register(declaration: Callable[..., None]) -> Callable[..., None]:
        @wraps(declaration)
        def call(**options: Any) -> None:
            raise typer.Exit(execute(name, options))

        # without a short help of its own, the list of verbs would cut the sentence
        group.command(name.split()[-1], short_help=declaration.__doc__)(call)
        return call

    return register


def _version(wanted: bool) -> None:
    if wanted:
        print(f"spanloom {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    pass


@_verb("demo")
def _demo(
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="DIR", help="Keep the model and the predictions in this folder."),
    ] = None,
    force: Force = False,
    seed: Seed = None,
    jobs: Jobs = None,
    quiet: Quiet = False,
) -> None:
    """Train on the bundled clinical notes, mark up a sample note, show it; under a minute."""


@_verb("train recognizer", train_app)
def _train_recognizer(
    train: Annotated[
        str | None, typer.Option("--train", metavar="DATA", help="Annotated documents to learn from.")
    ] = None,
    dev: Annotated[
        str | None,
        typer.Option(
            "--dev", metavar="DATA", help="Annotated documents to tune on; without them, a tenth of the training data."
        ),
    ] = None,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="DIR", help="The model directory to write.")
    ] = None,
    config: Annotated[
        str | None,
        typer.Option(
            "--config", "-c", metavar="TOML", help="A file of these options (l2 = 0.1); the command line wins."
        ),
    ] = None,
    structure: Annotated[
        str | None,
        typer.Option(
            "--structure",
            metavar="NAME",
            help="separators, shared, split, seven_tag, separator_states, mention_hypergraph, bio, bilou. [separators]",
        ),
    ] = None,
    components: Annotated[
        int | None,
        typer.Option("--components", min=1, metavar="N", help="Parts of a mention with gaps, at most. [3]"),
    ] = None,
    features: Annotated[
        str | None,
        typer.Option(
            "--features", metavar="NAME", help="Preset: biomedical, clinical, genia, ace, conll, small. [biomedical]"
        ),
    ] = None,
    optimizer: Annotated[
        str | None, typer.Option("--optimizer", metavar="NAME", help="adagrad or lbfgs. [adagrad]")
    ] = None,
    counting: Annotated[
        str | None, typer.Option("--counting", metavar="NAME", help="subgraphs or derivations. [subgraphs]")
    ] = None,
    l2: Annotated[
        list[float] | None,
        typer.Option(
            "--l2", metavar="NUMBER", help="Weight of the L2 penalty; given several times, the best on --dev is taken."
        ),
    ] = None,
    epochs: Annotated[
        int | None, typer.Option("--epochs", min=1, metavar="N", help="Passes of adagrad, at most. [30]")
    ] = None,
    iterations: Annotated[
        int | None, typer.Option("--iterations", min=1, metavar="N", help="Iterations of lbfgs, at most. [200]")
    ] = None,
    rate: Annotated[float | None, typer.Option("--rate", metavar="NUMBER", help="First step of adagrad. [0.1]")] = None,
    clusters: Annotated[
        str | None,
        typer.Option("--clusters", metavar="PATHS", help="Word clusters: a Brown paths file, or how many to induce."),
    ] = None,
    runs: Annotated[
        int | None, typer.Option("--runs", min=1, metavar="N", help="Runs of adagrad whose weights are averaged. [1]")
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option(
            "--ignore", metavar="COLUMN", help="A column, such as pos, to do without; several times for more."
        ),
    ] = None,
    sections: Annotated[
        str | None,
        typer.Option("--sections", metavar="TOML", help="Your own rules that name sections and note types."),
    ] = None,
    vocabulary: Annotated[
        str | None,
        typer.Option("--vocabulary", metavar="TABLE", help="Concepts whose names and categories become features."),
    ] = None,
    min_count: Annotated[
        int | None, typer.Option("--min-count", min=1, metavar="N", help="Leave out features of fewer tokens. [1]")
    ] = None,
    reading: Annotated[
        str | None, typer.Option("--reading", metavar="NAME", help="How overlaps are read: enough or all. [enough]")
    ] = None,
    tune_penalty: Annotated[
        bool | None,
        typer.Option(
            "--tune-penalty/--no-tune-penalty", help="Tune the mention penalty on --dev. [tune]", show_default=False
        ),
    ] = None,
    input_format: InputFormat = None,
    force: Annotated[
        bool | None, typer.Option("--force", help="Replace a model that exists.", show_default=False)
    ] = None,
    seed: Seed = None,
    jobs: Jobs = None,
    quiet: Annotated[
        bool | None, typer.Option("--quiet", "-q", help="Say nothing but errors on standard error.", show_default=False)
    ] = None,
) -> None:
    """Train a recognizer of nested, overlapping and crossing mentions."""


@_verb("predict")
def _predict(
    model: Model,
    source: Input,
    output: Annotated[str, typer.Option("--output", "-o", metavar="OUT", help="Where the predictions go.")] = "-",
    output_format: Format = None,
    input_format: InputFormat = None,
    threshold: Annotated[
        float,
        typer.Option("--threshold", min=0.0, max=1.0, metavar="P", help="Leave out mentions less probable than this."),
    ] = 0.0,
    reading: Annotated[
        str | None,
        typer.Option("--reading", metavar="NAME", help="How overlaps are read: enough or all. [as the model says]"),
    ] = None,
    force: Force = False,
    jobs: Jobs = None,
    quiet: Quiet = False,
) -> None:
    """Mark up text, or any annotated format, whose own mentions are never used."""


@_verb("evaluate")
def _evaluate(
    gold: Annotated[str, typer.Argument(metavar="GOLD", help="The annotated documents.", show_default=False)],
    predicted: Annotated[
        str | None, typer.Argument(metavar="PREDICTED", help="The same documents, predicted.", show_default=False)
    ] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", metavar="MODEL", help="Predict GOLD with this model, instead of PREDICTED."),
    ] = None,
    compare: Annotated[
        str | None, typer.Option("--compare", metavar="OTHER", help="Other predictions of GOLD, for a paired test.")
    ] = None,
    input_format: InputFormat = None,
    as_json: Json = False,
    seed: Seed = None,
    jobs: Jobs = None,
    quiet: Quiet = False,
) -> None:
    """Compare predictions with gold: precision, recall, F1, by type and by kind of overlap, with intervals."""


@_verb("convert")
def _convert(
    source: Annotated[
        str, typer.Argument(metavar="IN", help="A file, a folder, or - for standard input.", show_default=False)
    ],
    target: Annotated[
        str, typer.Argument(metavar="OUT", help="A file, a folder, or - for standard output.", show_default=False)
    ],
    output_format: Format = None,
    input_format: InputFormat = None,
    columns: Columns = None,
    scheme: Annotated[
        str | None, typer.Option("--scheme", metavar="NAME", help="Tags of a column file to write: bio or bilou. [bio]")
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Convert annotated documents; what the new format cannot hold is listed on standard error."""


@_verb("validate")
def _validate(
    data: Data,
    input_format: InputFormat = None,
    columns: Columns = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """List every problem with its file and line, and count what is there; exit 1 if there is an error."""


@_verb("inspect")
def _inspect(
    model: Model,
    top: Annotated[int, typer.Option("--top", min=0, metavar="N", help="Features to show for each role.")] = 20,
    role: Annotated[str | None, typer.Option("--role", metavar="ROLE", help="Show this role only.")] = None,
    as_json: Json = False,
) -> None:
    """Show what a model is: structure, types, features, training, and the strongest features of each role."""


@_verb("view")
def _view(
    data: Data,
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", min=1, metavar="N", help="Show the first N documents only.")
    ] = None,
    input_format: InputFormat = None,
) -> None:
    """Show documents and their mentions in the terminal."""


@_verb("ambiguity")
def _ambiguity(
    data: Annotated[
        str | None,
        typer.Argument(
            metavar="DATA",
            help="A file, a folder, or - for standard input; without it, encodings are counted.",
            show_default=False,
        ),
    ] = None,
    structure: Annotated[
        list[str] | None,
        typer.Option(
            "--structure",
            metavar="NAME",
            help="The structure; with DATA several times for more. [shared; with DATA seven_tag, shared, split]",
        ),
    ] = None,
    components: Annotated[
        int | None,
        typer.Option("--components", min=1, metavar="N", help="Parts of a mention with gaps, at most. [3]"),
    ] = None,
    length: Annotated[
        int | None, typer.Option("--length", min=1, max=100, metavar="N", help="Count for texts of 1 to N tokens. [5]")
    ] = None,
    against: Annotated[
        str | None, typer.Option("--against", metavar="NAME", help="Another structure, for the relative ambiguity.")
    ] = None,
    input_format: InputFormat = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Count a structure's encodings; with DATA, show what is lost when gold mentions are encoded and read back."""


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    # as an exception, so that what was half-written is removed on the way out
    sys.exit(128 + number)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """The command `spanloom`; it ends the program with the exit code.

    Args:
        arguments: what follows the command's name; the program's own when ``None``.
    """
    open_streams()
    signal.signal(signal.SIGTERM, _terminate)
    try:
        app(args=arguments, prog_name="spanloom")
    except KeyboardInterrupt:
        print("spanloom: interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)
    sys.exit()

"""The verbs and their options; a verb's work is in the module of its name, or in the place that is given.

A verb is a class: its fields are the command line, its docstring is the help, and the decorator (`verbs.verb`) adds
options that many verbs share; an object with the options that were given goes to the verb's module. Modules of verbs
with all parameters of a model check the options themselves, together with a configuration file. Nothing here may import
what a verb needs (see `execute`): the parameters of a model are named, and imported for the verb that is run.
"""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
from collections.abc import Sequence
from functools import partial
from typing import Annotated, Final, NoReturn

import typer

from spanloom import __version__
from spanloom.cli import data_verbs as data_verbs
from spanloom.cli import options
from spanloom.cli.execute import INTERRUPTED, catch_signals, execute, open_streams, refused
from spanloom.cli.options import Data, Format, Json, Model, Quiet, argument, option
from spanloom.cli.verbs import Training, app, first_word, only, train_app, verb
from spanloom.errors import LOG

_OBJECTS: Final = 50_000
"""Between two collections of garbage; importing the libraries makes more than all, and no garbage."""


def _version(requested: bool) -> None:
    if requested:
        print(f"spanloom {__version__}", flush=True)
        raise typer.Exit


def _log(form: str | None) -> None:
    if form not in (None, "text", "json"):
        raise typer.BadParameter(f"{form!r}, expected text or json")
    if form is not None:
        os.environ[LOG] = form  # where programs that this one starts find it, too


@app.callback()
def _root(
    context: typer.Context,
    version: Annotated[
        bool, option("--version", "Print the version and exit.", callback=_version, is_eager=True)
    ] = False,
    log: Annotated[
        str | None,
        option(
            "--log FORM",
            "Format of log lines on standard error: text or json. [text]",
            known="text json",
            callback=_log,
        ),
    ] = None,
) -> None:
    if context.invoked_subcommand is None:
        raise typer.Exit(execute("", {}))


@verb("demo", shared="force seed jobs quiet")
class Demo(options.Options):
    """Train on the bundled clinical notes, annotate a sample note and show it."""

    output: str | None = option("--output -o DIR", "Keep the model and the predictions in this folder.")
    linker: bool = option("--linker", "Train a linker: problems and their concepts.", False)


_train = partial(verb, group=train_app, around=[Training])


@_train("train recognizer", parameters="spanloom.recognize.parameters:RecognizerParameters")
class _TrainRecognizer(options.Options):
    """Train a recognizer of nested, overlapping and crossing mentions."""

    annotators: bool | None = option(
        "--annotators", "Treat files of --train as annotators of the same texts, unless meta.annotator names them."
    )
    work: str | None = options.WORK
    executor: str | None = options.EXECUTOR


@_train("train linker", parameters="spanloom.link.parameters:LinkerParameters")
class _TrainLinker(options.Options):
    """Train a linker, which jointly recognizes mentions and links them to concepts of a vocabulary."""

    vocabulary: str | None = option("--vocabulary V", "The concepts to link to; any format of spanloom vocabulary.")
    vocabulary_columns: str | None = options.VOCABULARY_COLUMNS
    work: str | None = options.WORK


@_train("train segmenter", parameters="spanloom.segment.parameters:SegmenterParameters")
class _TrainSegmenter(options.Options):
    """Train a segmenter of words and mentions in text without spaces, such as Chinese."""

    work: str | None = options.WORK
    executor: str | None = options.EXECUTOR


@_train("train tagger", parameters="spanloom.tag.parameters:TaggerParameters")
class _TrainTagger(options.Options):
    """Train a tagger of parts of speech or another column."""

    work: str | None = options.WORK
    executor: str | None = options.EXECUTOR


@verb("train clusters", train_app, shared="input_format columns on_error force quiet")
class TrainClusters(options.Options):
    """Cluster the words of raw text by their contexts, and unknown words by their letters."""

    source: list[str] | None = option("--input -i RAW", "Raw text: a file or folder of any format, or -; repeatable.")
    output: str | None = option("--output -o PATHS", "Output file, for --clusters PATHS.")
    size: int = option("--size N", "Number of clusters.", 1000, min=2)
    method: str = option(
        "--method NAME",
        "Clusters of word vectors: vectors; of Brown et al. (1992): brown.",
        "vectors",
        known="vectors brown",
    )
    min_count: int = option("--min-count N", "Rarer words get their bits by their letters.", 10, min=1)


@verb(
    "teach",
    place="spanloom.cli.train:teach_run",
    parameters="spanloom.recognize.parameters:RecognizerParameters",
    around=[Training],
    without="spanloom.recognize.parameters:OF_TEACHER",
)
class _Teach(options.Options):
    """Distil a slow model into a fast one, using raw text and, optionally, gold mentions."""

    model: str = argument("TEACHER", "Recognizer to distil: a model directory.", known="spanloom.models:installed")
    source: list[str] = argument("RAW", "Text in any format: files, folders, or - for standard input.")
    teacher: list[str] | None = option("--teacher MODEL", "Further teacher; repeatable; teachers are averaged.")
    crossed: list[str] | None = option("--crossed MODEL=TEXT", "Cross-fitted teacher with its own text; repeatable.")
    weight: list[float] | None = option(
        "--weight NUMBER",
        "Of a raw sentence beside one with gold mentions; given several times, the best on --dev is taken. [0.3 and 1]",
    )


@verb("predict", shared="encoder input_format columns force jobs quiet")
class Predict(options.Options):
    """Predict mentions in text or documents; existing annotations are ignored unless --mentions given or --keep own."""

    model: Model
    source: options.Inputs
    output: str | None = option("--output -o OUT", "Output file or folder. [standard output; drawn on a terminal]")
    output_format: Format = None
    on_error: options.OnErrorSkip = "skip"
    threshold: float = option("--threshold P", "Drop mentions with a lower probability.", 0.0, min=0.0, max=1.0)
    answers: bool = option(
        "--answers", "Add the probability that a sentence, and a document, is completely correct.", False
    )
    reading: str | None = option(
        "--reading NAME", "Interpretation of overlaps: enough or all. [as in training]", choice="Reading"
    )
    mentions: str | None = option(
        "--mentions NAME",
        "Find mentions, or keep the mentions of INPUT and add concepts or attributes to them. [find]",
        choice="WhichMentions",
    )
    keep: list[str] | None = option(
        "--keep FILE", "Mentions that stay: those of the documents in FILE, by id, or own, those of INPUT."
    )
    require: list[str] | None = option(
        "--require SPEC",
        "Words that are mentions, 'problem: pain' or 'problem: /regex/'; or a file, see docs/constraints.md.",
    )
    forbid: list[str] | None = option(
        "--forbid SPEC",
        "Words that are no mentions, in the same form; or 'drug inside problem', types that never nest.",
    )
    dictionary: list[str] | None = option(
        "--dictionary FILE",
        "Words that a segmenter keeps whole, one a line; TYPE=FILE for mentions of a type. Repeatable.",
    )
    rely: float | None = option(
        "--rely RATE",
        "Write all candidates, each labelled yes, ask or no: RATE of yes are right, 1 - RATE of gold is no.",
    )
    rely_data: list[str] | None = option("--rely-data FILE", "Annotated documents, not used in training, for --rely.")
    attributes: str | None = option(
        "--attributes A,B",
        "Attributes of mentions, learned or by rules: negated, uncertain, historical, experiencer; all; or none. "
        "[those that were learned]",
    )
    language: str | None = option(
        "--language NAME", "Language of the rules for attributes and sections: en, es or zh. [by the text]"
    )
    cues: str | None = option("--cues TOML", "More cues of attributes and headings, see docs/negation.md.")
    sections: bool = option("--sections", "Add the sections of documents, and the section of each mention.", False)
    expand: bool = option("--expand", "Add the mentions that coordinated ones stand for, with probabilities.", False)
    document_concepts: bool = option(
        "--document-concepts", "Add the concepts of each document, with probabilities, as meta.concepts.", False
    )


@verb("evaluate", shared="encoder input_format columns on_error as_json force seed jobs quiet")
class Evaluate(options.Options):
    """Compare predictions with gold: precision, recall and F1 by type and kind of overlap, with intervals."""

    gold: str = argument("GOLD", "Annotated documents.")
    predicted: str | None = argument("PREDICTED", "The same documents, predicted.", None)
    model: str | None = option("--model -m MODEL", "Predict GOLD with this model, instead of PREDICTED.")
    compare: str | None = option("--compare OTHER", "Other predictions of GOLD, for a paired test.")
    heads: bool = option("--heads", "Require matching heads in all rows and tests.", False)
    column: str | None = option("--column NAME", "Compare a token column, such as pos, instead of mentions.")
    concepts: bool = option("--concepts", "Also compare concepts, by document and by mention.", False)
    attributes: bool = option("--attributes", "Also compare the attributes of mentions, such as negated.", False)
    vocabulary: str | None = option("--vocabulary V", "With --concepts: vocabulary, to resolve equivalent identifiers.")
    vocabulary_columns: str | None = options.VOCABULARY_COLUMNS
    types: list[str] | None = option("--types A,B", "Restrict the comparison to these types. [all]")
    words: bool = option("--words", "Also compare tokens (word segmentation).", False)
    known: str | None = option(
        "--known DATA", "With --words or --html: training data, to report seen and unseen mentions apart."
    )
    mentions: str | None = option(
        "--mentions NAME",
        "With a linker: find mentions, or link the given mentions of GOLD. [find]",
        choice="WhichMentions",
    )
    html: str | None = option("--html FILE", "Write a page of all errors, gold over prediction, too.")


@verb(
    "clean",
    parameters="spanloom.recognize.parameters:RecognizerParameters",
    without=["checkpoint"],
    shared="input_format columns on_error as_json seed jobs",
)
class _Clean(options.Options):
    """List annotations that are probably wrong or missing; nothing is changed."""

    source: options.Inputs
    output: str | None = option("--output -o JSONL", "Output file: documents with suspects, listed in meta.")
    html: str | None = option("--html FILE", "Output page of all suspects with their text.")
    config: options.Config = None
    folds: int | None = option("--folds N", "Number of folds of cross-validation. [5]", min=2)
    least: float | None = option("--least P", "Drop suspects with a lower certainty. [0.05]", min=0.0, max=1.0)
    limit: int | None = option("--limit -n N", "Show only the N most certain suspects.", min=1)
    features: str | None = option("--features TEXT", "Feature preset, as in train recognizer. [fast]", choice="Preset")
    l2: options.TriedLambdas = None
    force: bool | None = option("--force", "Overwrite an existing output.")  # type: ignore[assignment]
    quiet: options.QuietOrConfig = None  # type: ignore[assignment]


@verb("inspect", shared="encoder as_json")
class Inspect(options.Options):
    """Describe a model: structure, types, F1, size, training; with --top, its strongest features."""

    model: Model
    top: int | None = option("--top N", "Show the strongest N features of each role.", min=0)
    role: str | None = option("--role ROLE", "Show features of this role only.")
    every: bool = option("--all", "Show all parameters, roles, templates and features.", False)
    time: str | None = option("--time DATA", "Measure the time of each stage on this text.")


@verb("explain", shared="encoder input_format as_json jobs")
class Explain(options.Options):
    """Explain why a model predicts a mention or not: roles, features and alternatives."""

    model: Model
    source: str | None = argument("INPUT", "A file, a folder, or - for standard input.", None)
    text: str | None = option("--text TEXT", "Explain this text, instead.")
    mention: list[str] | None = option(
        "--mention PLACE",
        "START-END:TYPE, or START-END,START-END:TYPE with a gap; several times for more. [all that are found]",
    )
    document: str | None = option("--document ID", "Explain this document only.")
    limit: options.Limit = None
    top: int = option("--top N", "Number of roles, candidates and features shown; 0 for all.", 5, min=0)


@verb("export", place="spanloom.cli.train:export_run", shared="encoder force quiet")
class Export(options.Options):
    """Export an encoder model to ONNX, to predict without PyTorch."""

    model: Model
    output: str = options.EXPORT_OUTPUT
    onnx: bool = option("--onnx", "Export to ONNX Runtime.", False)
    precision: str = option(
        "--precision NAME", "Precision of the encoder: float32 or int8.", "float32", known="float32 int8"
    )
    window: int | None = option("--window N", "Sub-words per window; fewer are faster. [as in training]")


@verb("compact", place="spanloom.cli.train:compact_run", shared="input_format columns on_error force jobs quiet")
class Compact(options.Options):
    """Compress a recognizer or segmenter: drop small weights, store the others in eight bits."""

    model: Model
    output: str = options.EXPORT_OUTPUT
    dev: list[str] | None = option("--dev DATA", "Annotated documents to measure F1 on; repeatable.")
    loss: float | None = option("--loss POINTS", "Accepted loss of F1 on --dev, in points. [0.3]", min=0, max=100)
    threshold: float | None = option(
        "--threshold W", "Drop weights with a smaller magnitude. [chosen on --dev, or 0.02]", min=0
    )


@verb("models", place="spanloom.cli.installed:run")
def _models(as_json: Json = False) -> None:
    """List installed models: types, licence, test F1 and size."""


@verb("view", shared="input_format force")
class View(options.Options):
    """Show documents with their mentions in the terminal, as HTML or as SVG."""

    data: Data
    output: str | None = option("--output -o FILE", "Write a page (.html) or a drawing (.svg) instead.")
    hypergraph: str | None = option(
        "--hypergraph MODEL", "With --output: draw the best sub-hypergraphs of this model instead."
    )
    limit: options.Limit = None


@verb("serve")
class Serve(options.Options):
    """Serve models as a web page and an HTTP API, by default on this machine only."""

    models: list[str] = argument(
        "MODEL...",
        "Model directories, whose names become those of the models, names of installed models, or NAME=DIRECTORY.",
    )
    host: options.Host = "127.0.0.1"
    port: options.Port = 8000
    max_body: int = option("--max-body BYTES", "The largest body of a request.", 4 * 2**20, min=1024)
    max_text: int = option("--max-text N", "Characters of a request's documents together.", 1_000_000, min=1)
    max_sentence: int = option("--max-sentence N", "Maximum tokens of a sentence.", 20_000, min=1)
    max_memory: int = option("--max-memory MB", "Maximum memory of a request.", 1024, min=16)
    timeout: float = option("--timeout SECONDS", "When a request is given up.", 30.0, min=0.1)
    allow_host: list[str] | None = options.ALLOW_HOST
    encoder: str | None = options.ENCODER
    jobs: int | None = option("--jobs -j N", "Short requests at once, and long ones; as cores if not given.", min=1)
    quiet: Quiet = False


@verb("completion", place="spanloom.cli.verbs:completion_run")
def _completion(shell: Annotated[str, argument("SHELL", "bash, zsh or fish.", known="bash zsh fish")]) -> None:
    """Print a shell completion script."""


@verb("warm", place="spanloom.cli.installed:warm", hidden=True)
def _warm(quiet: Quiet = False) -> None:
    """Do nothing (deprecated): kernels are compiled when Spanloom is installed."""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """The command `spanloom`; it ends the program with the exit code.

    Args:
        arguments: what follows the command's name; the program's own when ``None``.
    """
    try:
        gc.set_threshold(_OBJECTS)
        atexit.register(gc.freeze)  # else the last collections visit all objects, a tenth of a short run
        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)  # Ctrl-C at the end changes no exit code
        open_streams()
        catch_signals()
        given = sys.argv[1:] if arguments is None else arguments
        only(first_word(given))(args=given, prog_name="spanloom")
    except KeyboardInterrupt:
        print("spanloom: interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except OSError as error:  # help, or the version, has nowhere to go
        sys.exit(refused(error))
    finally:
        eval("0")  # else Python, after a Ctrl-C within `exec`, as in `dataclass`, exits by SIGINT, not with our code
    sys.exit()

"""The verbs and their options; a verb's work is in the module that `execute.VERBS` names.

A verb is a class: its fields are the command line, its docstring is the help, and the decorator (`verbs.verb`) adds
options that many verbs share; an object with the options that were given goes to the verb's module. Verbs with all
parameters of a model are functions without a body, and their modules check the options together with a configuration
file. Nothing here may import what a verb needs (see `execute`): the parameters of a model are named, and imported for
the verb that is run.
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
from spanloom.cli.execute import INTERRUPTED, catch_signals, open_streams, refused
from spanloom.cli.options import (
    Columns,
    Data,
    Format,
    InputFormat,
    Jobs,
    Json,
    Model,
    Quiet,
    Seed,
    argument,
    option,
)
from spanloom.cli.verbs import app, first_word, only, train_app, training, verb
from spanloom.errors import LOG

_OBJECTS: Final = 50_000
"""Between two collections of garbage; importing the libraries makes more than all, and no garbage."""


def _version(wanted: bool) -> None:
    if wanted:
        print(f"spanloom {__version__}", flush=True)
        raise typer.Exit


def _log(form: str | None) -> None:
    if form not in (None, "text", "json"):
        raise typer.BadParameter(f"{form!r}, expected text or json")
    if form is not None:
        os.environ[LOG] = form  # where programs that this one starts find it, too


@app.callback()
def _root(
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
    pass


@verb("demo", shared="force seed jobs quiet")
class Demo(options.Options):
    """Train on the bundled clinical notes, annotate a sample note and show it."""

    output: Annotated[str | None, option("--output -o DIR", "Keep the model and the predictions in this folder.")] = (
        None
    )
    linker: Annotated[bool, option("--linker", "Train a linker: problems and their concepts.")] = False


_train = partial(verb, group=train_app, around=[training])


@_train("train recognizer", parameters="spanloom.recognize.parameters:RecognizerParameters")
def _train_recognizer(
    annotators: Annotated[
        bool | None,
        option(
            "--annotators",
            "Treat files of --train as annotators of the same texts, unless meta.annotator names them.",
            show_default=False,
        ),
    ] = None,
    work: options.Work = None,
    executor: options.Executor = None,
) -> None:
    """Train a recognizer of nested, overlapping and crossing mentions."""


@_train("train linker", parameters="spanloom.link.parameters:LinkerParameters")
def _train_linker(
    vocabulary: Annotated[
        str | None, option("--vocabulary V", "The concepts to link to; any format of spanloom vocabulary.")
    ] = None,
    vocabulary_columns: options.VocabularyColumns = None,
    work: options.Work = None,
) -> None:
    """Train a linker, which jointly recognizes mentions and links them to concepts of a vocabulary."""


@_train("train segmenter", parameters="spanloom.segment.parameters:SegmenterParameters")
def _train_segmenter(work: options.Work = None, executor: options.Executor = None) -> None:
    """Train a segmenter of words and mentions in text without spaces, such as Chinese."""


@_train("train tagger", parameters="spanloom.tag.parameters:TaggerParameters")
def _train_tagger(work: options.Work = None, executor: options.Executor = None) -> None:
    """Train a tagger of parts of speech or another column."""


@verb("train clusters", train_app, shared="input_format columns on_error force quiet")
class TrainClusters(options.Options):
    """Cluster the words of raw text by their contexts, and unknown words by their letters."""

    source: Annotated[
        list[str] | None, option("--input -i RAW", "Raw text: a file or folder of any format, or -; repeatable.")
    ] = None
    output: Annotated[str | None, option("--output -o PATHS", "Output file, for --clusters PATHS.")] = None
    size: Annotated[int, option("--size N", "Number of clusters.", min=2)] = 1000
    method: Annotated[
        str,
        option(
            "--method NAME", "Clusters of word vectors: vectors; of Brown et al. (1992): brown.", known="vectors brown"
        ),
    ] = "vectors"
    min_count: Annotated[int, option("--min-count N", "Rarer words get their bits by their letters.", min=1)] = 10


@verb(
    "teach",
    parameters="spanloom.recognize.parameters:RecognizerParameters",
    around=[training],
    without="spanloom.recognize.parameters:OF_TEACHER",
)
def _teach(
    model: Annotated[str, argument("TEACHER", "Recognizer to distil: a model directory.", known=options.MODELS)],
    source: Annotated[list[str], argument("RAW", "Text in any format: files, folders, or - for standard input.")],
    teacher: Annotated[
        list[str] | None,
        option("--teacher MODEL", "Further teacher; repeatable; teachers are averaged.", known=options.MODELS),
    ] = None,
    crossed: Annotated[
        list[str] | None, option("--crossed MODEL=TEXT", "Cross-fitted teacher with its own text; repeatable.")
    ] = None,
    weight: Annotated[
        list[float] | None,
        option(
            "--weight NUMBER",
            "Of a raw sentence beside one with gold mentions; given several times, the best on --dev is taken. "
            "[0.3 and 1]",
        ),
    ] = None,
) -> None:
    """Distil a slow model into a fast one, using raw text and, optionally, gold mentions."""


@verb("predict", shared="encoder force jobs quiet")
class Predict(options.Options):
    """Predict mentions in text or documents; existing annotations are ignored unless --mentions given or --keep own."""

    model: Model
    source: options.Inputs
    output: Annotated[
        str | None, option("--output -o OUT", "Output file or folder. [standard output; drawn on a terminal]")
    ] = None
    output_format: Format = None
    input_format: InputFormat = None
    columns: Columns = None
    on_error: options.OnErrorSkip = "skip"
    threshold: Annotated[
        float, option("--threshold P", "Drop mentions with a lower probability.", min=0.0, max=1.0)
    ] = 0.0
    answers: Annotated[
        bool, option("--answers", "Add the probability that a sentence, and a document, is completely correct.")
    ] = False
    reading: Annotated[
        str | None,
        option(
            "--reading NAME",
            "Interpretation of overlaps: enough or all. [as in training]",
            known="spanloom.model.choices:Reading",
        ),
    ] = None
    mentions: Annotated[
        str | None,
        option(
            "--mentions NAME",
            "Find mentions, or keep the mentions of INPUT and add concepts or attributes to them. [find]",
            known="spanloom.model.choices:WhichMentions",
        ),
    ] = None
    keep: Annotated[
        list[str] | None,
        option("--keep FILE", "Mentions that stay: those of the documents in FILE, by id, or own, those of INPUT."),
    ] = None
    require: Annotated[
        list[str] | None,
        option(
            "--require SPEC",
            "Words that are mentions, 'problem: pain' or 'problem: /regex/'; or a file, see docs/constraints.md.",
        ),
    ] = None
    forbid: Annotated[
        list[str] | None,
        option(
            "--forbid SPEC",
            "Words that are no mentions, in the same form; or 'drug inside problem', types that never nest.",
        ),
    ] = None
    dictionary: Annotated[
        list[str] | None,
        option(
            "--dictionary FILE",
            "Words that a segmenter keeps whole, one a line; TYPE=FILE for mentions of a type. Repeatable.",
        ),
    ] = None
    rely: Annotated[
        float | None,
        option(
            "--rely RATE",
            "Write all candidates, each labelled yes, ask or no: RATE of yes are right, 1 - RATE of gold is no.",
        ),
    ] = None
    rely_data: Annotated[
        list[str] | None, option("--rely-data FILE", "Annotated documents, not used in training, for --rely.")
    ] = None
    attributes: Annotated[
        str | None,
        option(
            "--attributes A,B",
            "Attributes of mentions, learned or by rules: negated, uncertain, historical, experiencer; all; or none. "
            "[those that were learned]",
        ),
    ] = None
    language: Annotated[
        str | None,
        option("--language NAME", "Language of the rules for attributes and sections: en, es or zh. [by the text]"),
    ] = None
    cues: Annotated[
        str | None, option("--cues TOML", "More cues of attributes and headings, see docs/negation.md.")
    ] = None
    sections: Annotated[
        bool, option("--sections", "Add the sections of documents, and the section of each mention.")
    ] = False
    expand: Annotated[
        bool, option("--expand", "Add the mentions that coordinated ones stand for, with probabilities.")
    ] = False
    document_concepts: Annotated[
        bool, option("--document-concepts", "Add the concepts of each document, with probabilities, as meta.concepts.")
    ] = False


@verb("evaluate", shared="force seed jobs quiet")
class Evaluate(options.Options):
    """Compare predictions with gold: precision, recall and F1 by type and kind of overlap, with intervals."""

    gold: Annotated[str, argument("GOLD", "Annotated documents.")]
    predicted: Annotated[str | None, argument("PREDICTED", "The same documents, predicted.")] = None
    model: Annotated[
        str | None,
        option("--model -m MODEL", "Predict GOLD with this model, instead of PREDICTED.", known=options.MODELS),
    ] = None
    compare: Annotated[str | None, option("--compare OTHER", "Other predictions of GOLD, for a paired test.")] = None
    heads: Annotated[bool, option("--heads", "Require matching heads in all rows and tests.")] = False
    column: Annotated[
        str | None, option("--column NAME", "Compare a token column, such as pos, instead of mentions.")
    ] = None
    concepts: Annotated[bool, option("--concepts", "Also compare concepts, by document and by mention.")] = False
    attributes: Annotated[bool, option("--attributes", "Also compare the attributes of mentions, such as negated.")] = (
        False
    )
    vocabulary: Annotated[
        str | None, option("--vocabulary V", "With --concepts: vocabulary, to resolve equivalent identifiers.")
    ] = None
    vocabulary_columns: options.VocabularyColumns = None
    types: Annotated[list[str] | None, option("--types A,B", "Restrict the comparison to these types. [all]")] = None
    words: Annotated[bool, option("--words", "Also compare tokens (word segmentation).")] = False
    known: Annotated[
        str | None,
        option("--known DATA", "With --words or --html: training data, to report seen and unseen mentions apart."),
    ] = None
    mentions: Annotated[
        str | None,
        option(
            "--mentions NAME",
            "With a linker: find mentions, or link the given mentions of GOLD. [find]",
            known="spanloom.model.choices:WhichMentions",
        ),
    ] = None
    encoder: options.EncoderFolder = None
    input_format: InputFormat = None
    columns: Columns = None
    on_error: options.OnError = None
    as_json: Json = False
    html: Annotated[str | None, option("--html FILE", "Write a page of all errors, gold over prediction, too.")] = None


@verb("clean", parameters="spanloom.recognize.parameters:RecognizerParameters", without=["checkpoint"])
def _clean(
    source: options.Inputs,
    output: Annotated[
        str | None, option("--output -o JSONL", "Output file: documents with suspects, listed in meta.")
    ] = None,
    html: Annotated[str | None, option("--html FILE", "Output page of all suspects with their text.")] = None,
    config: options.Config = None,
    folds: Annotated[int | None, option("--folds N", "Number of folds of cross-validation. [5]", min=2)] = None,
    least: Annotated[
        float | None, option("--least P", "Drop suspects with a lower certainty. [0.05]", min=0.0, max=1.0)
    ] = None,
    limit: Annotated[int | None, option("--limit -n N", "Show only the N most certain suspects.", min=1)] = None,
    features: Annotated[
        str | None,
        option(
            "--features TEXT", "Feature preset, as in train recognizer. [fast]", known="spanloom.model.choices:Preset"
        ),
    ] = None,
    l2: options.TriedLambdas = None,
    *,
    input_format: InputFormat = None,
    columns: Columns = None,
    on_error: options.OnError = None,
    as_json: Json = False,
    force: Annotated[bool | None, option("--force", "Overwrite an existing output.", show_default=False)] = None,
    seed: Seed = None,
    jobs: Jobs = None,
    quiet: options.QuietOrConfig = None,
) -> None:
    """List annotations that are probably wrong or missing; nothing is changed."""


@verb("inspect", shared="encoder as_json")
class Inspect(options.Options):
    """Describe a model: structure, types, F1, size, training; with --top, its strongest features."""

    model: Model
    top: Annotated[int | None, option("--top N", "Show the strongest N features of each role.", min=0)] = None
    role: Annotated[str | None, option("--role ROLE", "Show features of this role only.")] = None
    every: Annotated[bool, option("--all", "Show all parameters, roles, templates and features.")] = False
    time: Annotated[str | None, option("--time DATA", "Measure the time of each stage on this text.")] = None


@verb("explain", shared="encoder input_format as_json jobs")
class Explain(options.Options):
    """Explain why a model predicts a mention or not: roles, features and alternatives."""

    model: Model
    source: Annotated[str | None, argument("INPUT", "A file, a folder, or - for standard input.")] = None
    text: Annotated[str | None, option("--text TEXT", "Explain this text, instead.")] = None
    mention: Annotated[
        list[str] | None,
        option(
            "--mention PLACE",
            "START-END:TYPE, or START-END,START-END:TYPE with a gap; several times for more. [all that are found]",
        ),
    ] = None
    document: Annotated[str | None, option("--document ID", "Explain this document only.")] = None
    limit: options.Limit = None
    top: Annotated[int, option("--top N", "Number of roles, candidates and features shown; 0 for all.", min=0)] = 5


@verb("export", shared="encoder force quiet")
class Export(options.Options):
    """Export an encoder model to ONNX, to predict without PyTorch."""

    model: Model
    output: options.ExportOutput
    onnx: Annotated[bool, option("--onnx", "Export to ONNX Runtime.")] = False
    precision: Annotated[
        str, option("--precision NAME", "Precision of the encoder: float32 or int8.", known="float32 int8")
    ] = "float32"
    window: Annotated[int | None, option("--window N", "Sub-words per window; fewer are faster. [as in training]")] = (
        None
    )


@verb("compact", shared="input_format columns on_error force jobs quiet")
class Compact(options.Options):
    """Compress a recognizer or segmenter: drop small weights, store the others in eight bits."""

    model: Model
    output: options.ExportOutput
    dev: Annotated[list[str] | None, option("--dev DATA", "Annotated documents to measure F1 on; repeatable.")] = None
    loss: Annotated[
        float | None, option("--loss POINTS", "Accepted loss of F1 on --dev, in points. [0.3]", min=0, max=100)
    ] = None
    threshold: Annotated[
        float | None,
        option("--threshold W", "Drop weights with a smaller magnitude. [chosen on --dev, or 0.02]", min=0),
    ] = None


@verb("models")
def _models(as_json: Json = False) -> None:
    """List installed models: types, licence, test F1 and size."""


@verb("view", shared="input_format force")
class View(options.Options):
    """Show documents with their mentions in the terminal, as HTML or as SVG."""

    data: Data
    output: Annotated[str | None, option("--output -o FILE", "Write a page (.html) or a drawing (.svg) instead.")] = (
        None
    )
    hypergraph: Annotated[
        str | None,
        option(
            "--hypergraph MODEL",
            "With --output: draw the best sub-hypergraphs of this model instead.",
            known=options.MODELS,
        ),
    ] = None
    limit: options.Limit = None


@verb("serve")
class Serve(options.Options):
    """Serve models as a web page and an HTTP API, by default on this machine only."""

    models: Annotated[
        list[str],
        argument(
            "MODEL...",
            "Model directories, whose names become those of the models, names of installed models, or NAME=DIRECTORY.",
            known=options.MODELS,
        ),
    ]
    host: options.Host = "127.0.0.1"
    port: options.Port = 8000
    max_body: Annotated[int, option("--max-body BYTES", "The largest body of a request.", min=1024)] = 4 * 2**20
    max_text: Annotated[int, option("--max-text N", "Characters of a request's documents together.", min=1)] = 1_000_000
    max_sentence: Annotated[int, option("--max-sentence N", "Maximum tokens of a sentence.", min=1)] = 20_000
    max_memory: Annotated[int, option("--max-memory MB", "Maximum memory of a request.", min=16)] = 1024
    timeout: Annotated[float, option("--timeout SECONDS", "When a request is given up.", min=0.1)] = 30.0
    allow_host: options.AllowHost = None
    encoder: options.EncoderFolder = None
    jobs: Annotated[
        int | None, option("--jobs -j N", "Short requests at once, and long ones; as cores if not given.", min=1)
    ] = None
    quiet: Quiet = False


@verb("completion")
def _completion(
    shell: Annotated[str, argument("SHELL", "bash, zsh or fish.", known="bash zsh fish")],
) -> None:
    """Print a shell completion script."""


@verb("warm")
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

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
import sys
from collections.abc import Sequence
from functools import partial
from typing import Annotated, Final, NoReturn

import typer

from spanloom import __version__
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
    annotators: options.SeveralAnnotators = None, work: options.Work = None, executor: options.Executor = None
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

    source: options.RawTexts = None
    output: options.ClustersOutput = None
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
    model: options.TeacherModel,
    source: options.RawInputs,
    teacher: options.MoreTeachers = None,
    crossed: options.CrossedTeachers = None,
    weight: options.RawWeight = None,
) -> None:
    """Distil a slow model into a fast one, using raw text and, optionally, gold mentions."""


@verb("predict", shared="encoder force jobs quiet")
class Predict(options.Options):
    """Predict mentions in text or documents; existing annotations are ignored unless --mentions given or --keep own."""

    model: Model
    source: options.Inputs
    output: options.PredictionsOutput = None
    output_format: Format = None
    input_format: InputFormat = None
    columns: Columns = None
    on_error: options.OnErrorSkip = "skip"
    threshold: options.Threshold = 0.0
    answers: options.Answers = False
    reading: options.OverlapReading = None
    mentions: options.LinkedMentions = None
    keep: options.KeptMentions = None
    require: options.RequiredMentions = None
    forbid: options.ForbiddenMentions = None
    dictionary: options.KeptWords = None
    rely: options.RelyRate = None
    rely_data: options.RelyData = None
    attributes: options.MarkedAttributes = None
    language: options.AttributeLanguage = None
    cues: options.AttributeCues = None
    sections: options.Sections = False
    expand: options.Expand = False
    document_concepts: options.DocumentConcepts = False


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
    column: options.EvaluatedColumn = None
    concepts: options.Concepts = False
    attributes: options.Attributes = False
    vocabulary: options.Resolving = None
    vocabulary_columns: options.VocabularyColumns = None
    types: options.EvaluatedTypes = None
    words: options.Words = False
    known: options.Known = None
    mentions: options.EvaluatedMentions = None
    encoder: options.EncoderFolder = None
    input_format: InputFormat = None
    columns: Columns = None
    on_error: options.OnError = None
    as_json: Json = False
    html: Annotated[str | None, option("--html FILE", "Write a page of all errors, gold over prediction, too.")] = None


@verb("clean", parameters="spanloom.recognize.parameters:RecognizerParameters", without=["checkpoint"])
def _clean(
    source: options.Inputs,
    output: options.CorrectionOutput = None,
    html: options.SuspectsPage = None,
    config: options.Config = None,
    folds: options.Folds = None,
    least: options.LeastCertain = None,
    limit: options.SuspectsLimit = None,
    features: options.CleanFeatures = None,
    l2: options.TriedLambdas = None,
    *,
    input_format: InputFormat = None,
    columns: Columns = None,
    on_error: options.OnError = None,
    as_json: Json = False,
    force: options.ForceOutput = None,
    seed: Seed = None,
    jobs: Jobs = None,
    quiet: options.QuietOrConfig = None,
) -> None:
    """List annotations that are probably wrong or missing; nothing is changed."""


@verb("convert", shared="force quiet")
class Convert(options.Options):
    """Convert annotated documents to another format, and report what it cannot represent."""

    source: options.Converted
    target: options.ConvertedOutput
    output_format: Format = None
    input_format: InputFormat = None
    columns: Columns = None
    texts: options.TableTexts = None
    tag_names: options.TagNames = None
    on_error: options.OnErrorSkip = "skip"
    scheme: options.Scheme = None
    from_llm: options.FromLlm = None
    mention_type: options.MentionType = None
    ambiguous: options.AmbiguousQuotes = None
    annotation: options.Annotation = None
    types: options.KeptTypes = None


@verb("label", shared="as_json force quiet")
class Label(options.Options):
    """Annotate by rules: phrases, vocabularies, token patterns and phrases with gaps, which vote."""

    rules: options.LabelRules
    source: options.Inputs
    output: options.LabelsOutput = "-"
    output_format: Format = None
    input_format: InputFormat = None
    columns: Columns = None
    on_error: options.OnErrorSkip = "skip"
    each: options.EachAnnotator = False
    annotation: options.LabelAnnotation = "at-least"


@verb("split", shared="input_format columns on_error seed as_json force quiet")
class Split(options.Options):
    """Split documents into training, development and test parts, and count their contents."""

    source: options.Inputs
    output: options.PartsOutput
    parts: options.PartShares = "train=8,dev=1,test=1"
    by: options.SplitBy = None
    output_format: options.PartsFormat = "jsonl"


@verb("validate", shared="as_json quiet")
class Validate(options.Options):
    """Check annotated documents: list problems with file and line; exit 1 if there is an error."""

    data: Data
    input_format: InputFormat = None
    columns: Columns = None
    texts: options.TableTexts = None
    tag_names: options.TagNames = None


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
    source: options.Explained = None
    text: Annotated[str | None, option("--text TEXT", "Explain this text, instead.")] = None
    mention: options.Asked = None
    document: options.ExplainedDocument = None
    limit: options.Limit = None
    top: options.Strongest = 5


@verb("export", shared="encoder force quiet")
class Export(options.Options):
    """Export an encoder model to ONNX, to predict without PyTorch."""

    model: Model
    output: options.ExportOutput
    onnx: options.OnnxForm = False
    precision: options.GraphPrecision = "float32"
    window: options.GraphWindow = None


@verb("compact", shared="input_format columns on_error force jobs quiet")
class Compact(options.Options):
    """Compress a recognizer or segmenter: drop small weights, store the others in eight bits."""

    model: Model
    output: options.ExportOutput
    dev: options.CompactDev = None
    loss: options.CompactLoss = None
    threshold: options.CompactThreshold = None


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
    hypergraph: options.Hypergraph = None
    limit: options.Limit = None


@verb("serve")
class Serve(options.Options):
    """Serve models as a web page and an HTTP API, by default on this machine only."""

    models: options.Models
    host: options.Host = "127.0.0.1"
    port: options.Port = 8000
    max_body: Annotated[int, option("--max-body BYTES", "The largest body of a request.", min=1024)] = 4 * 2**20
    max_text: Annotated[int, option("--max-text N", "Characters of a request's documents together.", min=1)] = 1_000_000
    max_sentence: options.MaxSentence = 20_000
    max_memory: options.MaxMemory = 1024
    timeout: Annotated[float, option("--timeout SECONDS", "When a request is given up.", min=0.1)] = 30.0
    allow_host: options.AllowHost = None
    encoder: options.EncoderFolder = None
    jobs: Annotated[
        int | None, option("--jobs -j N", "Short requests at once, and long ones; as cores if not given.", min=1)
    ] = None
    quiet: Quiet = False


@verb("annotate", shared="encoder force quiet")
class Annotate(options.Options):
    """Annotate documents in the browser, with suggestions of a model; all is kept in one file."""

    data: options.Data
    output: Annotated[str | None, option("--output -o STORE", "File of the store; an existing one is continued.")] = (
        None
    )
    model: Annotated[str | None, option("--model MODEL", "Model that suggests mentions.", known=options.MODELS)] = None
    learn: Annotated[
        str | None, option("--learn FOLDER", "Learn in the background; folder of the model and its curve.")
    ] = None
    vocabulary: Annotated[str | None, option("--vocabulary V", "Vocabulary in which concepts are searched.")] = None
    annotator: Annotated[str, option("--annotator NAME", "Annotator, if the page names no other.")] = "annotator"
    types: Annotated[list[str] | None, option("--type NAME", "Type of mentions; several times for more.")] = None
    order: Annotated[str, option("--order NAME", "Order of documents: data, gain, entropy, errors, random.")] = "data"
    export: Annotated[str | None, option("--export OUT", "Write the annotation of a store, and exit.")] = None
    output_format: Format = None
    layer: Annotated[str | None, option("--layer NAME", "Annotator who is exported or listed. [all]")] = None
    history: Annotated[
        str | None, option("--history OUT", "Write who did what as .csv or .json, and exit; - for stdout.")
    ] = None
    agreed: Annotated[bool, option("--agreement", "Print the agreement of the annotators of a store, and exit.")] = (
        False
    )
    as_json: Json = False
    input_format: InputFormat = None
    columns: Columns = None
    host: options.Host = "127.0.0.1"
    port: options.Port = 8010
    allow_host: options.AllowHost = None


@verb("next", shared="encoder force seed quiet")
class Next(options.Options):
    """Choose the documents to annotate next: those from which a model learns most for the time."""

    data: options.Inputs
    model: Annotated[
        str | None, option("--model MODEL", "Model that is to learn from the documents.", known=options.MODELS)
    ] = None
    count: Annotated[int, option("-n --count N", "Number of documents.", min=1)] = 50
    order: Annotated[str, option("--order NAME", "gain, entropy (per token), errors (expected number) or random.")] = (
        "gain"
    )
    random_share: Annotated[
        float, option("--random-share X", "Share drawn at random, for evaluation.", min=0, max=1)
    ] = 0.1
    output: Annotated[str, option("--output -o OUT", "Output file; - for stdout.")] = "-"
    output_format: Format = None
    input_format: InputFormat = None
    columns: Columns = None
    on_error: options.OnErrorSkip = "stop"


@verb("vocabulary", shared="as_json force quiet")
class ReadVocabulary(options.Options):
    """Read a vocabulary, count its contents, report problems, and save it as an index."""

    vocabulary: options.VocabularySource
    output: options.IndexOutput = None
    vocabulary_format: options.VocabularyFormat = None
    columns: options.VocabularyTableColumns = None
    encoding: options.Encoding = None
    language: options.Language = None
    source: options.NameSource = None


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
        open_streams()
        catch_signals()
        given = sys.argv[1:] if arguments is None else arguments
        only(first_word(given))(args=given, prog_name="spanloom")
    except KeyboardInterrupt:
        print("spanloom: interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except OSError as error:  # help, or the version, has nowhere to go
        sys.exit(refused(error))
    sys.exit()

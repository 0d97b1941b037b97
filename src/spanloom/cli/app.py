"""The verbs and their options; a verb's work is in the module that `execute.VERBS` names.

The functions here have no body: the signature is the command line, the docstring its help, and the decorator
(`verbs.verb`) hands the options to the verb's module. Nothing here may import what a verb needs (see `execute`).
"""

from __future__ import annotations

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
from spanloom.cli.options import Columns, Data, Force, Format, InputFormat, Jobs, Json, Model, Quiet, Seed
from spanloom.cli.verbs import app, only, train_app, training, verb
from spanloom.errors import LOG
from spanloom.link.parameters import LinkerParameters
from spanloom.recognize.parameters import OF_TEACHER, RecognizerParameters
from spanloom.segment.parameters import SegmenterParameters
from spanloom.tag.parameters import TaggerParameters

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
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    log: Annotated[
        str | None,
        typer.Option(
            "--log", metavar="FORM", callback=_log, help="Format of log lines on standard error: text or json. [text]"
        ),
    ] = None,
) -> None:
    pass


@verb("demo")
def _demo(
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="DIR", help="Keep the model and the predictions in this folder."),
    ] = None,
    linker: Annotated[bool, typer.Option("--linker", help="Train a linker: problems and their concepts.")] = False,
    force: Force = False,
    seed: Seed = None,
    jobs: Jobs = None,
    quiet: Quiet = False,
) -> None:
    """Train on the bundled clinical notes, annotate a sample note and show it."""


_train = partial(verb, group=train_app, around=[training])


@_train("train recognizer", parameters=RecognizerParameters)
def _train_recognizer(
    annotators: options.SeveralAnnotators = None, work: options.Work = None, executor: options.Executor = None
) -> None:
    """Train a recognizer of nested, overlapping and crossing mentions."""


@_train("train linker", parameters=LinkerParameters)
def _train_linker(
    vocabulary: Annotated[
        str | None,
        typer.Option("--vocabulary", metavar="V", help="The concepts to link to; any format of spanloom vocabulary."),
    ] = None,
    vocabulary_columns: options.VocabularyColumns = None,
) -> None:
    """Train a linker, which jointly recognizes mentions and links them to concepts of a vocabulary."""


@_train("train segmenter", parameters=SegmenterParameters)
def _train_segmenter() -> None:
    """Train a segmenter of words and mentions in text without spaces, such as Chinese."""


@_train("train tagger", parameters=TaggerParameters)
def _train_tagger() -> None:
    """Train a tagger of parts of speech or another column."""


@verb("train clusters", train_app)
def _train_clusters(
    source: options.RawTexts = None,
    output: options.ClustersOutput = None,
    size: Annotated[int, typer.Option("--size", min=2, metavar="N", help="Number of clusters.")] = 1000,
    method: Annotated[
        str,
        typer.Option(
            "--method", metavar="NAME", help="Clusters of word vectors: vectors; of Brown et al. (1992): brown."
        ),
    ] = "vectors",
    min_count: Annotated[
        int, typer.Option("--min-count", min=1, metavar="N", help="Rarer words get their bits by their letters.")
    ] = 10,
    input_format: InputFormat = None,
    columns: Columns = None,
    on_error: options.OnError = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Cluster the words of raw text by their contexts, and unknown words by their letters."""


@verb("teach", parameters=RecognizerParameters, around=[training], without=OF_TEACHER)
def _teach(
    model: options.TeacherModel,
    source: options.RawInputs,
    teacher: options.MoreTeachers = None,
    crossed: options.CrossedTeachers = None,
    weight: options.RawWeight = None,
) -> None:
    """Distil a slow model into a fast one, using raw text and, optionally, gold mentions."""


@verb("predict")
def _predict(
    model: Model,
    source: options.Inputs,
    output: options.PredictionsOutput = None,
    output_format: Format = None,
    input_format: InputFormat = None,
    columns: Columns = None,
    on_error: options.OnErrorSkip = "skip",
    threshold: options.Threshold = 0.0,
    answers: options.Answers = False,
    reading: options.OverlapReading = None,
    mentions: options.LinkedMentions = None,
    keep: options.KeptMentions = None,
    require: options.RequiredMentions = None,
    forbid: options.ForbiddenMentions = None,
    dictionary: options.KeptWords = None,
    rely: options.RelyRate = None,
    rely_data: options.RelyData = None,
    attributes: options.MarkedAttributes = None,
    language: options.AttributeLanguage = None,
    cues: options.AttributeCues = None,
    sections: options.Sections = False,
    expand: options.Expand = False,
    encoder: options.EncoderFolder = None,
    force: Force = False,
    jobs: Jobs = None,
    quiet: Quiet = False,
) -> None:
    """Predict mentions in text or documents; existing annotations are ignored unless --mentions given or --keep own."""


@verb("evaluate")
def _evaluate(
    gold: Annotated[str, typer.Argument(metavar="GOLD", help="Annotated documents.", show_default=False)],
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
    heads: Annotated[bool, typer.Option("--heads", help="Require matching heads in all rows and tests.")] = False,
    column: options.EvaluatedColumn = None,
    concepts: options.Concepts = False,
    attributes: options.Attributes = False,
    vocabulary: options.Resolving = None,
    vocabulary_columns: options.VocabularyColumns = None,
    types: options.EvaluatedTypes = None,
    words: options.Words = False,
    known: options.Known = None,
    mentions: options.EvaluatedMentions = None,
    encoder: options.EncoderFolder = None,
    input_format: InputFormat = None,
    columns: Columns = None,
    on_error: options.OnError = None,
    as_json: Json = False,
    html: Annotated[
        str | None,
        typer.Option("--html", metavar="FILE", help="Write a page of all errors, gold over prediction, too."),
    ] = None,
    force: Force = False,
    seed: Seed = None,
    jobs: Jobs = None,
    quiet: Quiet = False,
) -> None:
    """Compare predictions with gold: precision, recall and F1 by type and kind of overlap, with intervals."""


@verb("clean", parameters=RecognizerParameters, without=["checkpoint"])
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


@verb("convert")
def _convert(
    source: options.Converted,
    target: options.ConvertedOutput,
    output_format: Format = None,
    input_format: InputFormat = None,
    columns: Columns = None,
    texts: options.TableTexts = None,
    tag_names: options.TagNames = None,
    on_error: options.OnErrorSkip = "skip",
    scheme: options.Scheme = None,
    from_llm: options.FromLlm = None,
    mention_type: options.MentionType = None,
    ambiguous: options.AmbiguousQuotes = None,
    annotation: options.Annotation = None,
    types: options.KeptTypes = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Convert annotated documents to another format, and report what it cannot represent."""


@verb("label")
def _label(
    rules: options.LabelRules,
    source: options.Inputs,
    output: options.LabelsOutput = "-",
    output_format: Format = None,
    input_format: InputFormat = None,
    columns: Columns = None,
    on_error: options.OnErrorSkip = "skip",
    each: options.EachAnnotator = False,
    annotation: options.LabelAnnotation = "at-least",
    as_json: Json = False,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Annotate by rules: phrases, vocabularies, token patterns and phrases with gaps, which vote."""


@verb("split")
def _split(
    source: options.Inputs,
    output: options.PartsOutput,
    parts: options.PartShares = "train=8,dev=1,test=1",
    by: options.SplitBy = None,
    output_format: options.PartsFormat = "jsonl",
    input_format: InputFormat = None,
    columns: Columns = None,
    on_error: options.OnError = None,
    seed: Seed = None,
    as_json: Json = False,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Split documents into training, development and test parts, and count their contents."""


@verb("validate")
def _validate(
    data: Data,
    input_format: InputFormat = None,
    columns: Columns = None,
    texts: options.TableTexts = None,
    tag_names: options.TagNames = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Check annotated documents: list problems with file and line; exit 1 if there is an error."""


@verb("inspect")
def _inspect(
    model: Model,
    top: Annotated[
        int | None, typer.Option("--top", min=0, metavar="N", help="Show the strongest N features of each role.")
    ] = None,
    role: Annotated[str | None, typer.Option("--role", metavar="ROLE", help="Show features of this role only.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Show all parameters, roles, templates and features.")] = False,
    encoder: options.EncoderFolder = None,
    as_json: Json = False,
) -> None:
    """Describe a model: structure, types, F1, size, training; with --top, its strongest features."""


@verb("explain")
def _explain(
    model: Model,
    source: options.Explained = None,
    text: Annotated[str | None, typer.Option("--text", metavar="TEXT", help="Explain this text, instead.")] = None,
    mention: options.Asked = None,
    document: options.ExplainedDocument = None,
    limit: options.Limit = None,
    top: options.Strongest = 5,
    encoder: options.EncoderFolder = None,
    input_format: InputFormat = None,
    as_json: Json = False,
    jobs: Jobs = None,
) -> None:
    """Explain why a model predicts a mention or not: roles, features and alternatives."""


@verb("export")
def _export(
    model: Model,
    output: options.ExportOutput,
    onnx: options.OnnxForm = False,
    precision: options.GraphPrecision = "float32",
    window: options.GraphWindow = None,
    encoder: options.EncoderFolder = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Export an encoder model to ONNX, to predict without PyTorch."""


@verb("compact")
def _compact(
    model: Model,
    output: options.ExportOutput,
    dev: options.CompactDev = None,
    loss: options.CompactLoss = None,
    threshold: options.CompactThreshold = None,
    input_format: InputFormat = None,
    columns: Columns = None,
    on_error: options.OnError = None,
    force: Force = False,
    jobs: Jobs = None,
    quiet: Quiet = False,
) -> None:
    """Compress a recognizer or segmenter: drop small weights, store the others in eight bits."""


@verb("models")
def _models(as_json: Json = False) -> None:
    """List installed models: types, licence, test F1 and size."""


@verb("view")
def _view(
    data: Data,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write a page (.html) or a drawing (.svg) instead."),
    ] = None,
    hypergraph: options.Hypergraph = None,
    limit: options.Limit = None,
    input_format: InputFormat = None,
    force: Force = False,
) -> None:
    """Show documents with their mentions in the terminal, as HTML or as SVG."""


@verb("serve")
def _serve(
    models: options.Models,
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="Where to listen; 0.0.0.0 for all networks.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, metavar="N", help="0 for any that is free.")] = 8000,
    max_body: Annotated[
        int, typer.Option("--max-body", min=1024, metavar="BYTES", help="The largest body of a request.")
    ] = 4 * 2**20,
    max_text: Annotated[
        int, typer.Option("--max-text", min=1, metavar="N", help="Characters of a request's documents together.")
    ] = 1_000_000,
    max_sentence: options.MaxSentence = 20_000,
    max_memory: options.MaxMemory = 1024,
    timeout: Annotated[
        float, typer.Option("--timeout", min=0.1, metavar="SECONDS", help="When a request is given up.")
    ] = 30.0,
    allow_host: options.AllowHost = None,
    encoder: options.EncoderFolder = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs", "-j", min=1, metavar="N", help="Short requests at once, and long ones; as cores if not given."
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Serve models as a web page and an HTTP API, by default on this machine only."""


@verb("annotate")
def _annotate(
    data: options.Data,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="STORE", help="File of the store; an existing one is continued."),
    ] = None,
    model: Annotated[str | None, typer.Option("--model", metavar="MODEL", help="Model that suggests mentions.")] = None,
    learn: Annotated[
        str | None,
        typer.Option("--learn", metavar="FOLDER", help="Learn in the background; folder of the model and its curve."),
    ] = None,
    vocabulary: Annotated[
        str | None, typer.Option("--vocabulary", metavar="V", help="Vocabulary in which concepts are searched.")
    ] = None,
    annotator: Annotated[
        str, typer.Option("--annotator", metavar="NAME", help="Annotator, if the page names no other.")
    ] = "annotator",
    types: Annotated[
        list[str] | None, typer.Option("--type", metavar="NAME", help="Type of mentions; several times for more.")
    ] = None,
    order: Annotated[
        str, typer.Option("--order", metavar="NAME", help="Order of documents: data, gain, entropy, errors, random.")
    ] = "data",
    export: Annotated[
        str | None, typer.Option("--export", metavar="OUT", help="Write the annotation of a store, and exit.")
    ] = None,
    output_format: Format = None,
    layer: Annotated[
        str | None, typer.Option("--layer", metavar="NAME", help="Annotator whose annotation is exported. [all]")
    ] = None,
    agreed: Annotated[
        bool, typer.Option("--agreement", help="Print the agreement of the annotators of a store, and exit.")
    ] = False,
    as_json: Json = False,
    input_format: InputFormat = None,
    columns: Columns = None,
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="Where to listen; 0.0.0.0 for all networks.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, metavar="N", help="0 for any that is free.")] = 8010,
    allow_host: options.AllowHost = None,
    encoder: options.EncoderFolder = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Annotate documents in the browser, with suggestions of a model; all is kept in one file."""


@verb("next")
def _next(
    data: options.Inputs,
    model: Annotated[
        str | None, typer.Option("--model", metavar="MODEL", help="Model that is to learn from the documents.")
    ] = None,
    count: Annotated[int, typer.Option("-n", "--count", min=1, metavar="N", help="Number of documents.")] = 50,
    order: Annotated[
        str,
        typer.Option("--order", metavar="NAME", help="gain, entropy (per token), errors (expected number) or random."),
    ] = "gain",
    share: Annotated[
        float,
        typer.Option("--random-share", min=0, max=1, metavar="X", help="Share drawn at random, for evaluation."),
    ] = 0.1,
    output: Annotated[str, typer.Option("--output", "-o", metavar="OUT", help="Output file; - for stdout.")] = "-",
    output_format: Format = None,
    input_format: InputFormat = None,
    columns: Columns = None,
    on_error: options.OnErrorSkip = "stop",
    encoder: options.EncoderFolder = None,
    force: Force = False,
    seed: Seed = None,
    quiet: Quiet = False,
) -> None:
    """Choose the documents to annotate next: those from which a model learns most for the time."""


@verb("vocabulary")
def _vocabulary(
    vocabulary: options.VocabularySource,
    output: options.IndexOutput = None,
    vocabulary_format: options.VocabularyFormat = None,
    columns: options.VocabularyTableColumns = None,
    encoding: options.Encoding = None,
    language: options.Language = None,
    source: options.NameSource = None,
    as_json: Json = False,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Read a vocabulary, count its contents, report problems, and save it as an index."""


@verb("completion")
def _completion(
    shell: Annotated[str, typer.Argument(metavar="SHELL", help="bash, zsh or fish.", show_default=False)],
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
        open_streams()
        catch_signals()
        given = sys.argv[1:] if arguments is None else arguments
        only(given[0] if given else "")(args=given, prog_name="spanloom")
    except KeyboardInterrupt:
        print("spanloom: interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except OSError as error:  # help, or the version, has nowhere to go
        sys.exit(refused(error))
    sys.exit()

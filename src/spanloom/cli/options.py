"""Options that several verbs share; those of training are shared by the verbs of `train` and by `compare`.

Of training, `None` stands for what was not given, so that a configuration file may give it; defaults are the model's.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, Final

import typer

from spanloom.model.fields import Choice, Switch, Whole, declared
from spanloom.model.fields import Parameter as Field

ALL_CORES = -1  # results do not depend on the number of threads

Input = Annotated[
    str, typer.Argument(metavar="INPUT", help="A file, a folder, or - for standard input.", show_default=False)
]
Inputs = Annotated[
    list[str],
    typer.Argument(metavar="INPUT", help="Files, folders, or - for standard input.", show_default=False),
]
Data = Annotated[
    str, typer.Argument(metavar="DATA", help="A file, a folder, or - for standard input.", show_default=False)
]
Model = Annotated[
    str,
    typer.Argument(metavar="MODEL", help="A model directory, or the name of an installed model.", show_default=False),
]
Models = Annotated[
    list[str],
    typer.Argument(
        metavar="MODEL...",
        help="Model directories, whose names become those of the models, names of installed models, or NAME=DIRECTORY.",
        show_default=False,
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        "-f",
        metavar="FORMAT",
        help="The output's format, where its name does not say: jsonl, brat, pubtator, conll, conllu, characters, "
        "spaced, bioc, bioc-json, label-studio, json, parquet, arrow, xmi, spacy, csv, tsv, text.",
    ),
]
Columns = Annotated[
    str | None,
    typer.Option(
        "--columns",
        metavar="NAMES",
        help="What the columns of a column file are, such as word,pos,tag; of a table or of records, which is which, "
        "such as text=note,id=key; else guessed.",
    ),
]
TagNames = Annotated[
    str | None,
    typer.Option(
        "--tag-names", metavar="NAMES", help="Of records whose tags are numbers: their names, such as O,B-x,I-x."
    ),
]
TableTexts = Annotated[
    str | None,
    typer.Option(
        "--texts", metavar="DATA", help="Of a table of mentions: a folder or a file with the texts it is about."
    ),
]
OnError = Annotated[
    str | None,
    typer.Option(
        "--on-error",
        metavar="NAME",
        help="A record that cannot be read: stop, or skip it, list it at the end and exit with 1. [stop]",
    ),
]
OnErrorSkip = Annotated[
    str,
    typer.Option(
        "--on-error",
        metavar="NAME",
        help="A record that cannot be read: skip it, list it at the end and exit with 1; or stop.",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace an output that exists.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors on standard error.")]
InputFormat = Annotated[
    str | None,
    typer.Option(
        "--input-format",
        metavar="FORMAT",
        help="The input's format, where its name does not say: jsonl, brat, pubtator, conll, conllu, characters, "
        "spaced, bioc, bioc-json, label-studio, json, parquet, arrow, xmi, spacy, csv, tsv, webanno, text.",
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        "--encoding", metavar="NAME", help="Encoding of input that is not UTF-8: cp1252, gb18030, utf-16, ..."
    ),
]
Offsets = Annotated[
    str | None,
    typer.Option(
        "--offsets",
        metavar="NAME",
        help="How offsets of the input are counted: characters, utf16, bytes, crlf (CR LF as one), lf (LF as two), "
        "one-based, inclusive, or some joined by +. [auto: found out for each file]",
    ),
]
Limit = Annotated[
    int | None, typer.Option("--limit", "-n", min=1, metavar="N", help="Show the first N documents only.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Jobs = Annotated[int | None, typer.Option("--jobs", "-j", min=1, metavar="N", help="Threads; all cores if not given.")]
MaxSentence = Annotated[int, typer.Option("--max-sentence", min=1, metavar="N", help="Tokens of one sentence.")]
MaxMemory = Annotated[
    int, typer.Option("--max-memory", min=16, metavar="MB", help="Memory for the work on one request.")
]
AllowHost = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-host", metavar="NAME", help="A name by which requests may call the server.", show_default=False
    ),
]
Seed = Annotated[int | None, typer.Option("--seed", metavar="N", help="Seed of every random choice.")]
Threshold = Annotated[
    float,
    typer.Option("--threshold", min=0.0, max=1.0, metavar="P", help="Leave out mentions less probable than this."),
]

Answers = Annotated[
    bool, typer.Option("--answers", help="Give the probability that all of a sentence, and of a document, is right.")
]

Train = Annotated[
    list[str] | None,
    typer.Option("--train", metavar="DATA", help="Annotated documents to learn from; several times for more."),
]
SeveralAnnotators = Annotated[
    bool | None,
    typer.Option(
        "--annotators",
        help="Files of --train are annotators of the same texts, unless meta.annotator names others.",
        show_default=False,
    ),
]
Work = Annotated[
    str | None,
    typer.Option(
        "--work",
        metavar="FOLDER",
        help="Hold what does not fit in memory in this folder; a training that was killed goes on there.",
        show_default=False,
    ),
]
Executor = Annotated[
    str | None,
    typer.Option(
        "--executor",
        metavar="NAME",
        help="With --work and lbfgs, what works on it, --jobs of them: threads, processes, ray or spark. [threads]",
        show_default=False,
    ),
]
Dev = Annotated[
    list[str] | None,
    typer.Option(
        "--dev",
        metavar="DATA",
        help="Annotated documents to tune on, several times for more; without them, a tenth of the training data.",
    ),
]
ModelOutput = Annotated[str | None, typer.Option("--output", "-o", metavar="DIR", help="The model directory to write.")]
Config = Annotated[
    str | None,
    typer.Option("--config", "-c", metavar="TOML", help="A file of these options (l2 = 0.1); the command line wins."),
]
Words = Annotated[bool, typer.Option("--words", help="Compare the tokens, too: a segmentation into words.")]
Known = Annotated[
    str | None,
    typer.Option(
        "--known",
        metavar="DATA",
        help="With --words or --html: the training data, whose words and mentions are not new.",
    ),
]
# unlike the flags of other verbs, these may stand in the configuration file, too
ForceOrConfig = Annotated[bool | None, typer.Option("--force", help="Replace a model that exists.", show_default=False)]
QuietOrConfig = Annotated[
    bool | None, typer.Option("--quiet", "-q", help="Say nothing but errors on standard error.", show_default=False)
]

# of `split`
PartsOutput = Annotated[
    str, typer.Option("--output", "-o", metavar="DIR", help="The folder for the parts.", show_default=False)
]
PartShares = Annotated[
    str, typer.Option("--parts", metavar="SHARES", help="The name of each part, and its share of the documents.")
]
SplitBy = Annotated[
    str | None,
    typer.Option(
        "--by", metavar="KEY", help="A field of meta, such as patient: documents with one value stay together."
    ),
]
PartsFormat = Annotated[
    str, typer.Option("--format", "-f", metavar="FORMAT", help="The format of the parts; of brat, a folder for each.")
]

# of `convert`
Converted = Annotated[
    list[str],
    typer.Argument(metavar="IN", help="Files, folders, or - for standard input.", show_default=False),
]
ConvertedOutput = Annotated[
    str, typer.Argument(metavar="OUT", help="A file, a folder, or - for standard output.", show_default=False)
]
Scheme = Annotated[
    str | None, typer.Option("--scheme", metavar="NAME", help="Tags of a column file to write: bio or bilou. [bio]")
]
FromLlm = Annotated[
    str | None,
    typer.Option(
        "--from-llm",
        metavar="ANSWERS",
        help="Take the mentions from the answers of a language model: a file of JSON lines with id and answer, a "
        "folder of ID.txt, ID.md or ID.json, or -.",
    ),
]
MentionType = Annotated[
    str | None,
    typer.Option(
        "--type", metavar="TYPE", help="With --from-llm: the type of mentions that have none, as in **pain**."
    ),
]
AmbiguousQuotes = Annotated[
    str | None,
    typer.Option(
        "--ambiguous",
        metavar="NAME",
        help="With --from-llm: of a quote that stands there more often than it was given, mark all, the first or none. "
        "[all]",
    ),
]
Annotation = Annotated[
    str | None,
    typer.Option(
        "--annotation",
        metavar="NAME",
        help="With --from-llm: what meta.annotation says: complete, at-least, or unknown. [at-least]",
    ),
]

# of verbs that load a model
EncoderFolder = Annotated[
    str | None,
    typer.Option(
        "--encoder",
        metavar="FOLDER",
        help="The encoder of a model with adapters, where it is not where it was. [SPANLOOM_ENCODERS, and others]",
    ),
]

# of `predict`
LabelRules = Annotated[
    str, typer.Argument(metavar="RULES", help="A TOML file of rules, see docs/how-to/label.md.", show_default=False)
]
LabelsOutput = Annotated[str, typer.Option("--output", "-o", metavar="OUT", help="Where the documents with labels go.")]
EachAnnotator = Annotated[
    bool, typer.Option("--each", help="Write a document for each rule, or for all with one annotator, as an annotator.")
]
LabelAnnotation = Annotated[
    str,
    typer.Option("--annotation", metavar="NAME", help="What meta.annotation says: complete, at-least, or unknown."),
]
PredictionsOutput = Annotated[
    str | None,
    typer.Option(
        "--output", "-o", metavar="OUT", help="Where the predictions go. [standard output; drawn on a terminal]"
    ),
]
OverlapReading = Annotated[
    str | None,
    typer.Option("--reading", metavar="NAME", help="How overlaps are read: enough or all. [as the model says]"),
]
LinkedMentions = Annotated[
    str | None,
    typer.Option("--mentions", metavar="NAME", help="Of a linker: find, or given, to link those of INPUT. [find]"),
]

# of `train clusters`
ClustersOutput = Annotated[
    str | None, typer.Option("--output", "-o", metavar="PATHS", help="The file to write, for --clusters PATHS.")
]

# of `export`
ExportOutput = Annotated[str, typer.Option("--output", "-o", metavar="DIR", help="The model directory to write.")]
OnnxForm = Annotated[bool, typer.Option("--onnx", help="Make the encoder a graph that ONNX Runtime computes.")]
GraphPrecision = Annotated[
    str, typer.Option("--precision", metavar="NAME", help="Of the encoder's products: float32 or int8.")
]

GraphWindow = Annotated[
    int | None,
    typer.Option("--window", metavar="N", help="Sub-words that are read at once; fewer are faster. [as in training]"),
]

# of `compact`
CompactDev = Annotated[
    list[str] | None,
    typer.Option("--dev", metavar="DATA", help="Annotated documents that F1 is measured on, several times for more."),
]
CompactLoss = Annotated[
    float | None,
    typer.Option("--loss", min=0, max=100, metavar="POINTS", help="Points of F1 that may be lost on --dev. [0.3]"),
]
CompactThreshold = Annotated[
    float | None,
    typer.Option("--threshold", min=0, metavar="W", help="Leave out weights nearer to 0. [chosen on --dev, or 0.02]"),
]

# of `teach`
TeacherModel = Annotated[
    str, typer.Argument(metavar="TEACHER", help="The directory of a recognizer.", show_default=False)
]
RawInputs = Annotated[
    list[str],
    typer.Argument(
        metavar="RAW", help="Text in any format: files, folders, or - for standard input.", show_default=False
    ),
]
MoreTeachers = Annotated[
    list[str] | None,
    typer.Option("--teacher", metavar="MODEL", help="Another teacher; several times for more; their mean counts."),
]
CrossedTeachers = Annotated[
    list[str] | None,
    typer.Option("--crossed", metavar="MODEL=TEXT", help="Another teacher, and its own text; several times for more."),
]
RawWeight = Annotated[
    list[float] | None,
    typer.Option(
        "--weight",
        metavar="NUMBER",
        help="Of a raw sentence beside one with gold mentions; given several times, the best on --dev is taken. "
        "[0.3 and 1]",
    ),
]

_NAMED_COLUMNS: Final = "Columns or fields of a vocabulary: id=cui,name=str,synonyms=aliases. [usual names]"

# of `evaluate`
EvaluatedColumn = Annotated[
    str | None,
    typer.Option("--column", metavar="NAME", help="Compare a column such as pos, token by token, instead of mentions."),
]
Concepts = Annotated[bool, typer.Option("--concepts", help="Compare concepts, too: by document and by mention.")]
Resolving = Annotated[
    str | None,
    typer.Option(
        "--vocabulary", metavar="V", help="With --concepts: a vocabulary, which says what identifiers mean the same."
    ),
]

EvaluatedTypes = Annotated[
    list[str] | None,
    typer.Option("--types", metavar="A,B", help="Compare mentions of these types only. [all]"),
]
KeptTypes = Annotated[
    list[str] | None,
    typer.Option("--types", metavar="A,B", help="Keep mentions of these types only. [all]"),
]
EvaluatedMentions = Annotated[
    str | None,
    typer.Option(
        "--mentions", metavar="NAME", help="With --model, of a linker: find, or given, to link those of GOLD. [find]"
    ),
]

# of `explain` and `view`
ExplainedDocument = Annotated[
    str | None, typer.Option("--document", metavar="ID", help="Of INPUT, this document only.")
]
Explained = Annotated[
    str | None, typer.Argument(metavar="INPUT", help="A file, a folder, or - for standard input.", show_default=False)
]
Asked = Annotated[
    list[str] | None,
    typer.Option(
        "--mention",
        metavar="PLACE",
        help="START-END:TYPE, or START-END,START-END:TYPE with a gap; several times for more. [all that are found]",
    ),
]
Strongest = Annotated[
    int, typer.Option("--top", min=0, metavar="N", help="Roles, candidates and features to show; 0 for all.")
]
Hypergraph = Annotated[
    str | None,
    typer.Option(
        "--hypergraph", metavar="MODEL", help="With --output: draw this model's best sub-hypergraphs instead."
    ),
]

# of `vocabulary`
VocabularySource = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE",
        help="A vocabulary: a file, or a folder of UMLS, RxNorm, SNOMED CT or OMOP.",
        show_default=False,
    ),
]
IndexOutput = Annotated[
    str | None, typer.Option("--output", "-o", metavar="INDEX", help="The folder to write, which opens at once.")
]
VocabularyFormat = Annotated[
    str | None,
    typer.Option(
        "--format",
        "-f",
        metavar="FORMAT",
        help="The format, if it is not recognized: codes, json, medic, mesh, obo, obograph, omop, owl, owlxml, "
        "rrf, snomed, table, taxonomy, turtle, words, index.",
    ),
]
VocabularyTableColumns = Annotated[str | None, typer.Option("--columns", metavar="NAMES", help=_NAMED_COLUMNS)]
VocabularyColumns = Annotated[str | None, typer.Option("--vocabulary-columns", metavar="NAMES", help=_NAMED_COLUMNS)]
Language = Annotated[
    list[str] | None,
    typer.Option("--language", metavar="NAME", help="Of names, such as ENG; several times for more. [UMLS: ENG]"),
]
NameSource = Annotated[
    list[str] | None,
    typer.Option("--source", metavar="NAME", help="Of names, such as MSH; several times for more. [all]"),
]

# of `train clusters`
RawTexts = Annotated[
    list[str] | None,
    typer.Option(
        "--input", "-i", metavar="RAW", help="Raw text: a file or folder of any format, or -; several times for more."
    ),
]

# of `clean`
CorrectionOutput = Annotated[
    str | None,
    typer.Option("--output", "-o", metavar="JSONL", help="Write the documents with suspects, which meta lists."),
]
SuspectsPage = Annotated[
    str | None, typer.Option("--html", metavar="FILE", help="Write a page of all suspects beside their text.")
]
Folds = Annotated[
    int | None, typer.Option("--folds", min=2, metavar="N", help="Models; each judges what it was not trained on. [5]")
]
LeastCertain = Annotated[
    float | None,
    typer.Option("--least", min=0.0, max=1.0, metavar="P", help="Leave out suspects less certain than this. [0.05]"),
]
SuspectsLimit = Annotated[
    int | None, typer.Option("--limit", "-n", min=1, metavar="N", help="Show the N most certain suspects only.")
]
CleanFeatures = Annotated[
    str | None, typer.Option("--features", metavar="TEXT", help="Preset of features, as of train recognizer. [fast]")
]
TriedLambdas = Annotated[
    list[float] | None,
    typer.Option("--l2", metavar="NUMBER", help="Weight of the L2 penalty; several times for more, all tried. [1]"),
]
ForceOutput = Annotated[bool | None, typer.Option("--force", help="Replace an output that exists.", show_default=False)]


def with_parameters(parameters: type, *declarations: Callable[..., None], without: Collection[str] = ()) -> Signature:
    """The command line of a verb that trains.

    Args:
        parameters: the dataclass of a model's parameters, each of which is an option, unless a declaration has one of
            its name.
        declarations: their arguments stand before the parameters, those by keyword only behind them.
        without: parameters that are no options of this verb.
    """
    own = [one for each in declarations for one in signature(each, eval_str=True).parameters.values()]
    behind = [one for one in own if one.kind is one.KEYWORD_ONLY]
    given = list(_options(parameters, {*without, *(one.name for one in own)}))
    ordered = [*(one for one in own if one not in behind), *given, *behind]
    return Signature([one.replace(kind=one.KEYWORD_ONLY) for one in ordered])


def with_reading(given: Signature) -> Signature:
    """Add the options of reading to the command line of a verb that reads documents."""
    if "input_format" not in given.parameters:
        return given
    more = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
        for name, annotation in (("encoding", Encoding), ("offsets", Offsets))
    ]
    return given.replace(parameters=[*given.parameters.values(), *more])


def _options(parameters: type, without: set[str]) -> Iterator[Parameter]:
    for one in declared(parameters):
        if one.parameter.option is not None and one.name not in without:
            yield Parameter(one.name, Parameter.KEYWORD_ONLY, default=None, annotation=_option(*one))


def _option(name: str, parameter: Field, default: Any) -> Any:
    """Return the annotation from which typer makes an option."""
    shown = parameter.default(default)
    said = f"{parameter.help} [{shown}]" if shown else parameter.help
    flag = parameter.option or f"--{name.replace('_', '-')}"
    if isinstance(parameter, Switch):
        option = typer.Option(f"{flag}/--no-{flag[2:]}", help=said, show_default=False)
    else:
        least = parameter.least if isinstance(parameter, Whole) else None
        known = parameter.known if isinstance(parameter, Choice) else ()
        option = typer.Option(flag, metavar=parameter.metavar, min=least, help=said, autocompletion=lambda: list(known))
    kind = list[parameter.type] if parameter.several else parameter.type  # type: ignore[name-defined]
    return Annotated[kind | None, option]

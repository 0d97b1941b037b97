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
        help="Output format, if it cannot be inferred from the file name: jsonl, brat, pubtator, conll, "
        "conllu, characters, spaced, bioc, bioc-json, label-studio, json, parquet, arrow, xmi, spacy, csv, tsv, text.",
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
    typer.Option("--tag-names", metavar="NAMES", help="Names of numeric tags, such as O,B-x,I-x."),
]
TableTexts = Annotated[
    str | None,
    typer.Option("--texts", metavar="DATA", help="Texts of a table of mentions: a file or folder."),
]
OnError = Annotated[
    str | None,
    typer.Option(
        "--on-error",
        metavar="NAME",
        help="If a record cannot be read: stop, or skip it, list it at the end and exit with 1. [stop]",
    ),
]
OnErrorSkip = Annotated[
    str,
    typer.Option(
        "--on-error",
        metavar="NAME",
        help="If a record cannot be read: skip it, list it at the end and exit with 1; or stop.",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite an existing output.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")]
InputFormat = Annotated[
    str | None,
    typer.Option(
        "--input-format",
        metavar="FORMAT",
        help="Input format, if it cannot be inferred from the file name: jsonl, brat, i2b2, pubtator, conll, "
        "conllu, characters, spaced, bioc, bioc-json, label-studio, json, parquet, arrow, xmi, spacy, csv, tsv, "
        "webanno, store, text.",
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
    int | None, typer.Option("--limit", "-n", min=1, metavar="N", help="Show only the first N documents.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Jobs = Annotated[int | None, typer.Option("--jobs", "-j", min=1, metavar="N", help="Number of threads. [all cores]")]
MaxSentence = Annotated[int, typer.Option("--max-sentence", min=1, metavar="N", help="Maximum tokens of a sentence.")]
MaxMemory = Annotated[int, typer.Option("--max-memory", min=16, metavar="MB", help="Maximum memory of a request.")]
AllowHost = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-host", metavar="NAME", help="Accepted Host name of requests; repeatable.", show_default=False
    ),
]
Seed = Annotated[int | None, typer.Option("--seed", metavar="N", help="Random seed.")]
Threshold = Annotated[
    float,
    typer.Option("--threshold", min=0.0, max=1.0, metavar="P", help="Drop mentions with a lower probability."),
]

Answers = Annotated[
    bool, typer.Option("--answers", help="Add the probability that a sentence, and a document, is completely correct.")
]

Train = Annotated[
    list[str] | None,
    typer.Option("--train", metavar="DATA", help="Annotated training documents; repeatable."),
]
SeveralAnnotators = Annotated[
    bool | None,
    typer.Option(
        "--annotators",
        help="Treat files of --train as annotators of the same texts, unless meta.annotator names them.",
        show_default=False,
    ),
]
Work = Annotated[
    str | None,
    typer.Option(
        "--work",
        metavar="FOLDER",
        help="Folder for data that does not fit in memory; an interrupted run resumes from it.",
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
        help="Annotated development documents; repeatable. [a tenth of the training data]",
    ),
]
ModelOutput = Annotated[str | None, typer.Option("--output", "-o", metavar="DIR", help="Output model directory.")]
Config = Annotated[
    str | None,
    typer.Option(
        "--config",
        "-c",
        metavar="TOML",
        help="File of these options, such as l2 = 0.1; the command line takes precedence.",
    ),
]
Words = Annotated[bool, typer.Option("--words", help="Also compare tokens (word segmentation).")]
Known = Annotated[
    str | None,
    typer.Option(
        "--known",
        metavar="DATA",
        help="With --words or --html: training data, to report seen and unseen mentions apart.",
    ),
]
# unlike the flags of other verbs, these may stand in the configuration file, too
ForceOrConfig = Annotated[bool | None, typer.Option("--force", help="Overwrite an existing model.", show_default=False)]
QuietOrConfig = Annotated[bool | None, typer.Option("--quiet", "-q", help="Print errors only.", show_default=False)]

# of `split`
PartsOutput = Annotated[str, typer.Option("--output", "-o", metavar="DIR", help="Output folder.", show_default=False)]
PartShares = Annotated[
    str, typer.Option("--parts", metavar="SHARES", help="Names of the parts and their shares of the documents.")
]
SplitBy = Annotated[
    str | None,
    typer.Option("--by", metavar="KEY", help="Field of meta, such as patient, whose documents stay together."),
]
PartsFormat = Annotated[
    str, typer.Option("--format", "-f", metavar="FORMAT", help="Format of the parts; brat writes a folder for each.")
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
    str | None,
    typer.Option("--scheme", metavar="NAME", help="Tag scheme of an output column file: bio or bilou. [bio]"),
]
FromLlm = Annotated[
    str | None,
    typer.Option(
        "--from-llm",
        metavar="ANSWERS",
        help="Read mentions from answers of a language model: JSON lines with id and answer, a "
        "folder of ID.txt, ID.md or ID.json, or -.",
    ),
]
MentionType = Annotated[
    str | None,
    typer.Option("--type", metavar="TYPE", help="With --from-llm: type of untyped mentions, such as **pain**."),
]
AmbiguousQuotes = Annotated[
    str | None,
    typer.Option(
        "--ambiguous",
        metavar="NAME",
        help="With --from-llm: for quotes that occur more often than given, mark all, the first or none. [all]",
    ),
]
Annotation = Annotated[
    str | None,
    typer.Option(
        "--annotation",
        metavar="NAME",
        help="With --from-llm: completeness: complete, at-least or unknown. [at-least]",
    ),
]

# of verbs that load a model
EncoderFolder = Annotated[
    str | None,
    typer.Option(
        "--encoder",
        metavar="FOLDER",
        help="Folder of the base encoder, if it moved since training. [SPANLOOM_ENCODERS, and others]",
    ),
]

# of `predict`
LabelRules = Annotated[
    str,
    typer.Argument(
        metavar="RULES",
        help="A TOML file of rules, or spaCy's patterns as .jsonl; see docs/how-to/label.md.",
        show_default=False,
    ),
]
LabelsOutput = Annotated[str, typer.Option("--output", "-o", metavar="OUT", help="Output file or folder.")]
EachAnnotator = Annotated[
    bool, typer.Option("--each", help="Write one document per rule, or per annotator that rules name.")
]
LabelAnnotation = Annotated[
    str,
    typer.Option("--annotation", metavar="NAME", help="Completeness of the labels: complete, at-least or unknown."),
]
PredictionsOutput = Annotated[
    str | None,
    typer.Option("--output", "-o", metavar="OUT", help="Output file or folder. [standard output; drawn on a terminal]"),
]
OverlapReading = Annotated[
    str | None,
    typer.Option("--reading", metavar="NAME", help="Interpretation of overlaps: enough or all. [as in training]"),
]
MarkedAttributes = Annotated[
    str | None,
    typer.Option(
        "--attributes",
        metavar="A,B",
        help="Attributes of mentions, learned or by rules: negated, uncertain, historical, experiencer; all; or none. "
        "[those that were learned]",
    ),
]
AttributeLanguage = Annotated[
    str | None,
    typer.Option(
        "--language",
        metavar="NAME",
        help="Language of the rules for attributes and sections: en, es or zh. [by the text]",
    ),
]
AttributeCues = Annotated[
    str | None,
    typer.Option("--cues", metavar="TOML", help="More cues of attributes and headings, see docs/negation.md."),
]
Expand = Annotated[
    bool, typer.Option("--expand", help="Add the mentions that coordinated ones stand for, with probabilities.")
]
Sections = Annotated[
    bool, typer.Option("--sections", help="Add the sections of documents, and the section of each mention.")
]
LinkedMentions = Annotated[
    str | None,
    typer.Option(
        "--mentions",
        metavar="NAME",
        help="Find mentions, or keep the mentions of INPUT and add concepts or attributes to them. [find]",
    ),
]
KeptMentions = Annotated[
    list[str] | None,
    typer.Option(
        "--keep",
        metavar="FILE",
        help="Mentions that stay: those of the documents in FILE, by id, or own, those of INPUT.",
    ),
]
RequiredMentions = Annotated[
    list[str] | None,
    typer.Option(
        "--require",
        metavar="SPEC",
        help="Words that are mentions, 'problem: pain' or 'problem: /regex/'; or a file, see docs/constraints.md.",
    ),
]
ForbiddenMentions = Annotated[
    list[str] | None,
    typer.Option(
        "--forbid",
        metavar="SPEC",
        help="Words that are no mentions, in the same form; or 'drug inside problem', types that never nest.",
    ),
]
KeptWords = Annotated[
    list[str] | None,
    typer.Option(
        "--dictionary",
        metavar="FILE",
        help="Words that a segmenter keeps whole, one a line; TYPE=FILE for mentions of a type. Repeatable.",
    ),
]
RelyRate = Annotated[
    float | None,
    typer.Option(
        "--rely",
        metavar="RATE",
        help="Write all candidates, each labelled yes, ask or no: RATE of yes are right, 1 - RATE of gold is no.",
    ),
]
RelyData = Annotated[
    list[str] | None,
    typer.Option("--rely-data", metavar="FILE", help="Annotated documents, not used in training, for --rely."),
]

# of `train clusters`
ClustersOutput = Annotated[
    str | None, typer.Option("--output", "-o", metavar="PATHS", help="Output file, for --clusters PATHS.")
]

# of `export`
ExportOutput = Annotated[str, typer.Option("--output", "-o", metavar="DIR", help="Output model directory.")]
OnnxForm = Annotated[bool, typer.Option("--onnx", help="Export to ONNX Runtime.")]
GraphPrecision = Annotated[
    str, typer.Option("--precision", metavar="NAME", help="Precision of the encoder: float32 or int8.")
]

GraphWindow = Annotated[
    int | None,
    typer.Option("--window", metavar="N", help="Sub-words per window; fewer are faster. [as in training]"),
]

# of `compact`
CompactDev = Annotated[
    list[str] | None,
    typer.Option("--dev", metavar="DATA", help="Annotated documents to measure F1 on; repeatable."),
]
CompactLoss = Annotated[
    float | None,
    typer.Option("--loss", min=0, max=100, metavar="POINTS", help="Accepted loss of F1 on --dev, in points. [0.3]"),
]
CompactThreshold = Annotated[
    float | None,
    typer.Option(
        "--threshold", min=0, metavar="W", help="Drop weights with a smaller magnitude. [chosen on --dev, or 0.02]"
    ),
]

# of `teach`
TeacherModel = Annotated[
    str, typer.Argument(metavar="TEACHER", help="Recognizer to distil: a model directory.", show_default=False)
]
RawInputs = Annotated[
    list[str],
    typer.Argument(
        metavar="RAW", help="Text in any format: files, folders, or - for standard input.", show_default=False
    ),
]
MoreTeachers = Annotated[
    list[str] | None,
    typer.Option("--teacher", metavar="MODEL", help="Further teacher; repeatable; teachers are averaged."),
]
CrossedTeachers = Annotated[
    list[str] | None,
    typer.Option("--crossed", metavar="MODEL=TEXT", help="Cross-fitted teacher with its own text; repeatable."),
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
    typer.Option("--column", metavar="NAME", help="Compare a token column, such as pos, instead of mentions."),
]
Attributes = Annotated[
    bool, typer.Option("--attributes", help="Also compare the attributes of mentions, such as negated.")
]
Concepts = Annotated[bool, typer.Option("--concepts", help="Also compare concepts, by document and by mention.")]
Resolving = Annotated[
    str | None,
    typer.Option("--vocabulary", metavar="V", help="With --concepts: vocabulary, to resolve equivalent identifiers."),
]

EvaluatedTypes = Annotated[
    list[str] | None,
    typer.Option("--types", metavar="A,B", help="Restrict the comparison to these types. [all]"),
]
KeptTypes = Annotated[
    list[str] | None,
    typer.Option("--types", metavar="A,B", help="Train on these types only. [all]"),
]
EvaluatedMentions = Annotated[
    str | None,
    typer.Option(
        "--mentions", metavar="NAME", help="With a linker: find mentions, or link the given mentions of GOLD. [find]"
    ),
]

# of `explain` and `view`
ExplainedDocument = Annotated[str | None, typer.Option("--document", metavar="ID", help="Explain this document only.")]
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
    int, typer.Option("--top", min=0, metavar="N", help="Number of roles, candidates and features shown; 0 for all.")
]
Hypergraph = Annotated[
    str | None,
    typer.Option(
        "--hypergraph", metavar="MODEL", help="With --output: draw the best sub-hypergraphs of this model instead."
    ),
]

# of `vocabulary`
VocabularySource = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE",
        help="Vocabulary: a file, or a folder of UMLS, RxNorm, SNOMED CT or OMOP.",
        show_default=False,
    ),
]
IndexOutput = Annotated[
    str | None,
    typer.Option("--output", "-o", metavar="INDEX", help="Output folder of the index, which loads instantly."),
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
    typer.Option("--language", metavar="NAME", help="Language of names, such as ENG; repeatable. [UMLS: ENG]"),
]
NameSource = Annotated[
    list[str] | None,
    typer.Option("--source", metavar="NAME", help="Source of names, such as MSH; repeatable. [all]"),
]

# of `train clusters`
RawTexts = Annotated[
    list[str] | None,
    typer.Option("--input", "-i", metavar="RAW", help="Raw text: a file or folder of any format, or -; repeatable."),
]

# of `clean`
CorrectionOutput = Annotated[
    str | None,
    typer.Option("--output", "-o", metavar="JSONL", help="Output file: documents with suspects, listed in meta."),
]
SuspectsPage = Annotated[
    str | None, typer.Option("--html", metavar="FILE", help="Output page of all suspects with their text.")
]
Folds = Annotated[
    int | None, typer.Option("--folds", min=2, metavar="N", help="Number of folds of cross-validation. [5]")
]
LeastCertain = Annotated[
    float | None,
    typer.Option("--least", min=0.0, max=1.0, metavar="P", help="Drop suspects with a lower certainty. [0.05]"),
]
SuspectsLimit = Annotated[
    int | None, typer.Option("--limit", "-n", min=1, metavar="N", help="Show only the N most certain suspects.")
]
CleanFeatures = Annotated[
    str | None, typer.Option("--features", metavar="TEXT", help="Feature preset, as in train recognizer. [fast]")
]
TriedLambdas = Annotated[
    list[float] | None,
    typer.Option("--l2", metavar="NUMBER", help="Weight of the L2 penalty; repeatable, all are tried. [1]"),
]
ForceOutput = Annotated[bool | None, typer.Option("--force", help="Overwrite an existing output.", show_default=False)]


def with_parameters(parameters: type, *declarations: Callable[..., None], without: Collection[str] = ()) -> Signature:
    """The command line of a verb that trains.

    Args:
        parameters: the dataclass of a model's parameters. Each is an option, unless a declaration has the same name.
        declarations: functions; their arguments come before the parameters, keyword-only ones after them.
        without: parameters that are not options of this verb.
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

"""Options that several verbs share; those of training are shared by the verbs of `train` and by `compare`.

Of training, `None` stands for what was not given, so that a configuration file may give it; defaults are the model's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from inspect import Parameter, Signature
from pkgutil import resolve_name
from typing import Annotated, Any, Final, get_args, get_type_hints

import typer

ALL_CORES = -1  # results do not depend on the number of threads
MODELS = "spanloom.models:installed"  # names that complete a model


def option(spelled: str, help: str, *, known: str = "", **more: Any) -> Any:
    """Return an option, spelled by its flags and the name of its value, as ``--output -o FILE``.

    Args:
        spelled: the flags, and the name of the value.
        help: of the option.
        known: names that complete the value, see `_completing`.
        more: of `typer.Option`.
    """
    flags = spelled.split()
    metavar = None if flags[-1].startswith("-") else flags.pop()
    return typer.Option(*flags, metavar=metavar, help=help, autocompletion=_completing(known), **more)


def argument(metavar: str, help: str, *, known: str = "", **more: Any) -> Any:
    """Return an argument, whose default is not shown."""
    return typer.Argument(metavar=metavar, help=help, show_default=False, autocompletion=_completing(known), **more)


def _completing(known: str) -> Callable[[], list[str]] | None:
    """Return what lists the names of a value, which are separated by blanks; ``module:name`` has several.

    >>> complete = _completing("spanloom.model.choices:WhichMentions none")
    >>> complete and complete()
    ['find', 'given', 'none']
    """

    def complete() -> list[str]:
        names: list[str] = []
        for name in known.split():
            several: Any = resolve_name(name) if ":" in name else [name]  # imported only when a shell asks
            names += get_args(several) or (several() if callable(several) else several)
        return names

    return complete if known else None


Input = Annotated[str, argument("INPUT", "A file, a folder, or - for standard input.")]
Inputs = Annotated[list[str], argument("INPUT", "Files, folders, or - for standard input.")]
Data = Annotated[str, argument("DATA", "A file, a folder, or - for standard input.")]
Model = Annotated[str, argument("MODEL", "A model directory, or the name of an installed model.", known=MODELS)]
Models = Annotated[
    list[str],
    argument(
        "MODEL...",
        "Model directories, whose names become those of the models, names of installed models, or NAME=DIRECTORY.",
        known=MODELS,
    ),
]
Format = Annotated[
    str | None,
    option(
        "--format -f FORMAT",
        "Output format, if it cannot be inferred from the file name: jsonl, brat, pubtator, conll, conllu, "
        "characters, spaced, bioc, bioc-json, label-studio, json, parquet, arrow, xmi, spacy, csv, tsv, text.",
        known="spanloom.formats.listed:WRITTEN",
    ),
]
Columns = Annotated[
    str | None,
    option(
        "--columns NAMES",
        "What the columns of a column file are, such as word,pos,tag; of a table or of records, which is which, such "
        "as text=note,id=key; else guessed.",
    ),
]
TagNames = Annotated[str | None, option("--tag-names NAMES", "Names of numeric tags, such as O,B-x,I-x.")]
TableTexts = Annotated[str | None, option("--texts DATA", "Texts of a table of mentions: a file or folder.")]
OnError = Annotated[
    str | None,
    option(
        "--on-error NAME",
        "If a record cannot be read: stop, or skip it, list it at the end and exit with 1. [stop]",
        known="stop skip",
    ),
]
OnErrorSkip = Annotated[
    str,
    option(
        "--on-error NAME",
        "If a record cannot be read: skip it, list it at the end and exit with 1; or stop.",
        known="stop skip",
    ),
]
Force = Annotated[bool, option("--force", "Overwrite an existing output.")]
Quiet = Annotated[bool, option("--quiet -q", "Print errors only.")]
InputFormat = Annotated[
    str | None,
    option(
        "--input-format FORMAT",
        "Input format, if it cannot be inferred from the file name: jsonl, brat, i2b2, pubtator, conll, conllu, "
        "characters, spaced, bioc, bioc-json, label-studio, json, parquet, arrow, xmi, markup, spacy, csv, tsv, "
        "webanno, store, text.",
        known="spanloom.formats:FORMATS",
    ),
]
Encoding = Annotated[
    str | None, option("--encoding NAME", "Encoding of input that is not UTF-8: cp1252, gb18030, utf-16, ...")
]
Offsets = Annotated[
    str | None,
    option(
        "--offsets NAME",
        "How offsets of the input are counted: characters, utf16, bytes, crlf (CR LF as one), lf (LF as two), "
        "one-based, inclusive, or some joined by +. [auto: found out for each file]",
    ),
]
Limit = Annotated[int | None, option("--limit -n N", "Show only the first N documents.", min=1)]
Json = Annotated[bool, option("--json", "Print the result as JSON.")]
Jobs = Annotated[int | None, option("--jobs -j N", "Number of threads. [all cores]", min=1)]
MaxSentence = Annotated[int, option("--max-sentence N", "Maximum tokens of a sentence.", min=1)]
MaxMemory = Annotated[int, option("--max-memory MB", "Maximum memory of a request.", min=16)]
AllowHost = Annotated[
    list[str] | None, option("--allow-host NAME", "Accepted Host name of requests; repeatable.", show_default=False)
]
Host = Annotated[str, option("--host ADDRESS", "Where to listen; 0.0.0.0 for all networks.")]
Port = Annotated[int, option("--port N", "0 for any that is free.", min=0, max=65535)]
Seed = Annotated[int | None, option("--seed N", "Random seed.")]
Threshold = Annotated[float, option("--threshold P", "Drop mentions with a lower probability.", min=0.0, max=1.0)]

Answers = Annotated[
    bool, option("--answers", "Add the probability that a sentence, and a document, is completely correct.")
]

Train = Annotated[list[str] | None, option("--train DATA", "Annotated training documents; repeatable.")]
SeveralAnnotators = Annotated[
    bool | None,
    option(
        "--annotators",
        "Treat files of --train as annotators of the same texts, unless meta.annotator names them.",
        show_default=False,
    ),
]
Work = Annotated[
    str | None,
    option(
        "--work FOLDER",
        "Folder for data that does not fit in memory; an interrupted run resumes from it.",
        show_default=False,
    ),
]
Executor = Annotated[
    str | None,
    option(
        "--executor NAME",
        "With --work and lbfgs, what works on it, --jobs of them: threads, processes, ray or spark. [threads]",
        show_default=False,
        known="spanloom.model.choices:ExecutorName",
    ),
]
Dev = Annotated[
    list[str] | None,
    option("--dev DATA", "Annotated development documents; repeatable. [a tenth of the training data]"),
]
ModelOutput = Annotated[str | None, option("--output -o DIR", "Output model directory.")]
Config = Annotated[
    str | None,
    option("--config -c TOML", "File of these options, such as l2 = 0.1; the command line takes precedence."),
]
Words = Annotated[bool, option("--words", "Also compare tokens (word segmentation).")]
Known = Annotated[
    str | None,
    option("--known DATA", "With --words or --html: training data, to report seen and unseen mentions apart."),
]
# unlike the flags of other verbs, these may stand in the configuration file, too
ForceOrConfig = Annotated[bool | None, option("--force", "Overwrite an existing model.", show_default=False)]
QuietOrConfig = Annotated[bool | None, option("--quiet -q", "Print errors only.", show_default=False)]

# of `split`
PartsOutput = Annotated[str, option("--output -o DIR", "Output folder.", show_default=False)]
PartShares = Annotated[str, option("--parts SHARES", "Names of the parts and their shares of the documents.")]
SplitBy = Annotated[str | None, option("--by KEY", "Field of meta, such as patient, whose documents stay together.")]
PartsFormat = Annotated[
    str,
    option(
        "--format -f FORMAT",
        "Format of the parts; brat writes a folder for each.",
        known="spanloom.formats.listed:WRITTEN",
    ),
]

# of `convert`
Converted = Annotated[list[str], argument("IN", "Files, folders, or - for standard input.")]
ConvertedOutput = Annotated[str, argument("OUT", "A file, a folder, or - for standard output.")]
Scheme = Annotated[
    str | None, option("--scheme NAME", "Tag scheme of an output column file: bio or bilou. [bio]", known="bio bilou")
]
FromLlm = Annotated[
    str | None,
    option(
        "--from-llm ANSWERS",
        "Read mentions from answers of a language model: JSON lines with id and answer, a folder of ID.txt, ID.md or "
        "ID.json, or -.",
    ),
]
MentionType = Annotated[
    str | None, option("--type TYPE", "With --from-llm: type of untyped mentions, such as **pain**.")
]
AmbiguousQuotes = Annotated[
    str | None,
    option(
        "--ambiguous NAME",
        "With --from-llm: for quotes that occur more often than given, mark all, the first or none. [all]",
        known="spanloom.formats.answers.placing:AMBIGUOUS",
    ),
]
Annotation = Annotated[
    str | None,
    option(
        "--annotation NAME",
        "With --from-llm: completeness: complete, at-least or unknown. [at-least]",
        known="spanloom.model.choices:Completeness",
    ),
]

# of verbs that load a model
EncoderFolder = Annotated[
    str | None,
    option(
        "--encoder FOLDER", "Folder of the base encoder, if it moved since training. [SPANLOOM_ENCODERS, and others]"
    ),
]

# of `predict`
LabelRules = Annotated[
    str, argument("RULES", "A TOML file of rules, or spaCy's patterns as .jsonl; see docs/how-to/label.md.")
]
LabelsOutput = Annotated[str, option("--output -o OUT", "Output file or folder.")]
EachAnnotator = Annotated[bool, option("--each", "Write one document per rule, or per annotator that rules name.")]
LabelAnnotation = Annotated[
    str,
    option(
        "--annotation NAME",
        "Completeness of the labels: complete, at-least or unknown.",
        known="spanloom.model.choices:Completeness",
    ),
]
PredictionsOutput = Annotated[
    str | None, option("--output -o OUT", "Output file or folder. [standard output; drawn on a terminal]")
]
OverlapReading = Annotated[
    str | None,
    option(
        "--reading NAME",
        "Interpretation of overlaps: enough or all. [as in training]",
        known="spanloom.model.choices:Reading",
    ),
]
MarkedAttributes = Annotated[
    str | None,
    option(
        "--attributes A,B",
        "Attributes of mentions, learned or by rules: negated, uncertain, historical, experiencer; all; or none. "
        "[those that were learned]",
    ),
]
AttributeLanguage = Annotated[
    str | None,
    option("--language NAME", "Language of the rules for attributes and sections: en, es or zh. [by the text]"),
]
AttributeCues = Annotated[
    str | None, option("--cues TOML", "More cues of attributes and headings, see docs/negation.md.")
]
Expand = Annotated[bool, option("--expand", "Add the mentions that coordinated ones stand for, with probabilities.")]
DocumentConcepts = Annotated[
    bool, option("--document-concepts", "Add the concepts of each document, with probabilities, as meta.concepts.")
]
Sections = Annotated[bool, option("--sections", "Add the sections of documents, and the section of each mention.")]
LinkedMentions = Annotated[
    str | None,
    option(
        "--mentions NAME",
        "Find mentions, or keep the mentions of INPUT and add concepts or attributes to them. [find]",
        known="spanloom.model.choices:WhichMentions",
    ),
]
KeptMentions = Annotated[
    list[str] | None,
    option("--keep FILE", "Mentions that stay: those of the documents in FILE, by id, or own, those of INPUT."),
]
RequiredMentions = Annotated[
    list[str] | None,
    option(
        "--require SPEC",
        "Words that are mentions, 'problem: pain' or 'problem: /regex/'; or a file, see docs/constraints.md.",
    ),
]
ForbiddenMentions = Annotated[
    list[str] | None,
    option(
        "--forbid SPEC",
        "Words that are no mentions, in the same form; or 'drug inside problem', types that never nest.",
    ),
]
KeptWords = Annotated[
    list[str] | None,
    option(
        "--dictionary FILE",
        "Words that a segmenter keeps whole, one a line; TYPE=FILE for mentions of a type. Repeatable.",
    ),
]
RelyRate = Annotated[
    float | None,
    option(
        "--rely RATE",
        "Write all candidates, each labelled yes, ask or no: RATE of yes are right, 1 - RATE of gold is no.",
    ),
]
RelyData = Annotated[
    list[str] | None, option("--rely-data FILE", "Annotated documents, not used in training, for --rely.")
]

# of `train clusters`
ClustersOutput = Annotated[str | None, option("--output -o PATHS", "Output file, for --clusters PATHS.")]

# of `export`
ExportOutput = Annotated[str, option("--output -o DIR", "Output model directory.")]
OnnxForm = Annotated[bool, option("--onnx", "Export to ONNX Runtime.")]
GraphPrecision = Annotated[
    str, option("--precision NAME", "Precision of the encoder: float32 or int8.", known="float32 int8")
]

GraphWindow = Annotated[int | None, option("--window N", "Sub-words per window; fewer are faster. [as in training]")]

# of `compact`
CompactDev = Annotated[list[str] | None, option("--dev DATA", "Annotated documents to measure F1 on; repeatable.")]
CompactLoss = Annotated[
    float | None, option("--loss POINTS", "Accepted loss of F1 on --dev, in points. [0.3]", min=0, max=100)
]
CompactThreshold = Annotated[
    float | None, option("--threshold W", "Drop weights with a smaller magnitude. [chosen on --dev, or 0.02]", min=0)
]

# of `teach`
TeacherModel = Annotated[str, argument("TEACHER", "Recognizer to distil: a model directory.", known=MODELS)]
RawInputs = Annotated[list[str], argument("RAW", "Text in any format: files, folders, or - for standard input.")]
MoreTeachers = Annotated[
    list[str] | None,
    option("--teacher MODEL", "Further teacher; repeatable; teachers are averaged.", known=MODELS),
]
CrossedTeachers = Annotated[
    list[str] | None, option("--crossed MODEL=TEXT", "Cross-fitted teacher with its own text; repeatable.")
]
RawWeight = Annotated[
    list[float] | None,
    option(
        "--weight NUMBER",
        "Of a raw sentence beside one with gold mentions; given several times, the best on --dev is taken. [0.3 and 1]",
    ),
]

_NAMED_COLUMNS: Final = "Columns or fields of a vocabulary: id=cui,name=str,synonyms=aliases. [usual names]"

# of `evaluate`
EvaluatedColumn = Annotated[
    str | None, option("--column NAME", "Compare a token column, such as pos, instead of mentions.")
]
Attributes = Annotated[bool, option("--attributes", "Also compare the attributes of mentions, such as negated.")]
Concepts = Annotated[bool, option("--concepts", "Also compare concepts, by document and by mention.")]
Resolving = Annotated[
    str | None, option("--vocabulary V", "With --concepts: vocabulary, to resolve equivalent identifiers.")
]

EvaluatedTypes = Annotated[list[str] | None, option("--types A,B", "Restrict the comparison to these types. [all]")]
KeptTypes = Annotated[list[str] | None, option("--types A,B", "Train on these types only. [all]")]
EvaluatedMentions = Annotated[
    str | None,
    option(
        "--mentions NAME",
        "With a linker: find mentions, or link the given mentions of GOLD. [find]",
        known="spanloom.model.choices:WhichMentions",
    ),
]

# of `explain` and `view`
ExplainedDocument = Annotated[str | None, option("--document ID", "Explain this document only.")]
Explained = Annotated[str | None, argument("INPUT", "A file, a folder, or - for standard input.")]
Asked = Annotated[
    list[str] | None,
    option(
        "--mention PLACE",
        "START-END:TYPE, or START-END,START-END:TYPE with a gap; several times for more. [all that are found]",
    ),
]
Strongest = Annotated[int, option("--top N", "Number of roles, candidates and features shown; 0 for all.", min=0)]
Hypergraph = Annotated[
    str | None,
    option(
        "--hypergraph MODEL",
        "With --output: draw the best sub-hypergraphs of this model instead.",
        known=MODELS,
    ),
]

# of `vocabulary`
VocabularySource = Annotated[
    str, argument("SOURCE", "Vocabulary: a file, or a folder of UMLS, RxNorm, SNOMED CT or OMOP.")
]
IndexOutput = Annotated[str | None, option("--output -o INDEX", "Output folder of the index, which loads instantly.")]
VocabularyFormat = Annotated[
    str | None,
    option(
        "--format -f FORMAT",
        "The format, if it is not recognized: codes, json, medic, mesh, obo, obograph, omop, owl, owlxml, rrf, "
        "snomed, table, taxonomy, turtle, words, index.",
        known="spanloom.vocabulary:VOCABULARY_FORMATS",
    ),
]
VocabularyTableColumns = Annotated[str | None, option("--columns NAMES", _NAMED_COLUMNS)]
VocabularyColumns = Annotated[str | None, option("--vocabulary-columns NAMES", _NAMED_COLUMNS)]
Language = Annotated[
    list[str] | None, option("--language NAME", "Language of names, such as ENG; repeatable. [UMLS: ENG]")
]
NameSource = Annotated[list[str] | None, option("--source NAME", "Source of names, such as MSH; repeatable. [all]")]

# of `train clusters`
RawTexts = Annotated[
    list[str] | None, option("--input -i RAW", "Raw text: a file or folder of any format, or -; repeatable.")
]

# of `clean`
CorrectionOutput = Annotated[
    str | None, option("--output -o JSONL", "Output file: documents with suspects, listed in meta.")
]
SuspectsPage = Annotated[str | None, option("--html FILE", "Output page of all suspects with their text.")]
Folds = Annotated[int | None, option("--folds N", "Number of folds of cross-validation. [5]", min=2)]
LeastCertain = Annotated[
    float | None, option("--least P", "Drop suspects with a lower certainty. [0.05]", min=0.0, max=1.0)
]
SuspectsLimit = Annotated[int | None, option("--limit -n N", "Show only the N most certain suspects.", min=1)]
CleanFeatures = Annotated[
    str | None,
    option("--features TEXT", "Feature preset, as in train recognizer. [fast]", known="spanloom.model.choices:Preset"),
]
TriedLambdas = Annotated[
    list[float] | None, option("--l2 NUMBER", "Weight of the L2 penalty; repeatable, all are tried. [1]")
]
ForceOutput = Annotated[bool | None, option("--force", "Overwrite an existing output.", show_default=False)]


class Options:
    """Base class of the options of a verb: those at the end of many verbs; `verb` declares which of them it has."""

    encoder: EncoderFolder = None
    input_format: InputFormat = None
    columns: Columns = None
    on_error: OnError = None
    as_json: Json = False
    force: Force = False
    seed: Seed = None
    jobs: Jobs = None
    quiet: Quiet = False

    def __init__(self, **given: Any) -> None:
        vars(self).update(given)


def declared_options(declaration: type[Options], names: Iterable[str]) -> list[Parameter]:
    """Return some options of a verb as parameters of a signature."""
    kinds = get_type_hints(declaration, include_extras=True)
    return [
        Parameter(
            name, Parameter.KEYWORD_ONLY, default=getattr(declaration, name, Parameter.empty), annotation=kinds[name]
        )
        for name in names
    ]


def with_shared(given: Signature, names: str) -> Signature:
    """Add options of `Options` to the command line of a verb."""
    return given.replace(parameters=[*given.parameters.values(), *declared_options(Options, names.split())])


def with_reading(given: Signature) -> Signature:
    """Add the options of reading to the command line of a verb that reads documents."""
    if "input_format" not in given.parameters:
        return given
    more = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
        for name, annotation in (("encoding", Encoding), ("offsets", Offsets))
    ]
    return given.replace(parameters=[*given.parameters.values(), *more])

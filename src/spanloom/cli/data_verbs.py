"""The verbs that prepare data, and their options; see `spanloom.cli.app`."""

from __future__ import annotations

from spanloom.cli import options
from spanloom.cli.options import Data, Format, argument, option
from spanloom.cli.verbs import verb


@verb("annotate", shared="encoder input_format columns as_json force quiet")
class Annotate(options.Options):
    """Annotate documents in the browser, with suggestions of a model; all is kept in one file."""

    data: Data
    output: str | None = option("--output -o STORE", "File of the store; an existing one is continued.")
    model: str | None = option("--model MODEL", "Model that suggests mentions.")
    learn: str | None = option("--learn FOLDER", "Learn in the background; folder of the model and its curve.")
    vocabulary: str | None = option("--vocabulary V", "Vocabulary in which concepts are searched.")
    annotator: str = option("--annotator NAME", "Annotator, if the page names no other.", "annotator")
    types: list[str] | None = option("--type NAME", "Type of mentions; several times for more.")
    order: str = option("--order NAME", "Order of documents: data, gain, entropy, errors, random.", "data")
    export: str | None = option("--export OUT", "Write the annotation of a store, and exit.")
    output_format: Format = None
    layer: str | None = option("--layer NAME", "Annotator who is exported or listed. [all]")
    history: str | None = option("--history OUT", "Write who did what as .csv or .json, and exit; - for stdout.")
    agreed: bool = option("--agreement", "Print the agreement of the annotators of a store, and exit.", False)
    host: options.Host = "127.0.0.1"
    port: options.Port = 8010
    allow_host: list[str] | None = options.ALLOW_HOST


@verb("next", shared="encoder input_format columns force seed quiet")
class Next(options.Options):
    """Choose the documents to annotate next: those from which a model learns most for the time."""

    data: options.Inputs
    model: str | None = option("--model MODEL", "Model that is to learn from the documents.")
    count: int = option("-n --count N", "Number of documents.", 50, min=1)
    order: str = option("--order NAME", "gain, entropy (per token), errors (expected number) or random.", "gain")
    random_share: float = option("--random-share X", "Share drawn at random, for evaluation.", 0.1, min=0, max=1)
    output: str = option("--output -o OUT", "Output file; - for stdout.", "-")
    output_format: Format = None
    on_error: options.OnErrorSkip = "stop"


@verb("convert", shared="input_format columns force quiet")
class Convert(options.Options):
    """Convert annotated documents to another format, and report what it cannot represent."""

    source: list[str] = argument("IN", "Files, folders, or - for standard input.")
    target: str = argument("OUT", "A file, a folder, or - for standard output.")
    output_format: Format = None
    texts: str | None = options.TABLE_TEXTS
    tag_names: str | None = options.TAG_NAMES
    on_error: options.OnErrorSkip = "skip"
    scheme: str | None = option(
        "--scheme NAME", "Tag scheme of an output column file: bio or bilou. [bio]", known="bio bilou"
    )
    from_llm: str | None = option(
        "--from-llm ANSWERS",
        "Read mentions from answers of a language model: JSON lines with id and answer, a folder of ID.txt, ID.md "
        "or ID.json, or -.",
    )
    mention_type: str | None = option("--type TYPE", "With --from-llm: type of untyped mentions, such as **pain**.")
    ambiguous: str | None = option(
        "--ambiguous NAME",
        "With --from-llm: for quotes that occur more often than given, mark all, the first or none. [all]",
        known="spanloom.formats.answers.placing:AMBIGUOUS",
    )
    annotation: str | None = option(
        "--annotation NAME",
        "With --from-llm: completeness: complete, at-least or unknown. [at-least]",
        choice="Completeness",
    )
    types: list[str] | None = option("--types A,B", "Train on these types only. [all]")


@verb("label", shared="input_format columns as_json force quiet")
class Label(options.Options):
    """Annotate by rules: phrases, vocabularies, token patterns and phrases with gaps, which vote."""

    rules: str = argument("RULES", "A TOML file of rules, or spaCy's patterns as .jsonl; see docs/how-to/label.md.")
    source: options.Inputs
    output: str = option("--output -o OUT", "Output file or folder.", "-")
    output_format: Format = None
    on_error: options.OnErrorSkip = "skip"
    each: bool = option("--each", "Write one document per rule, or per annotator that rules name.", False)
    annotation: str = option(
        "--annotation NAME",
        "Completeness of the labels: complete, at-least or unknown.",
        "at-least",
        choice="Completeness",
    )


@verb("split", place="spanloom.cli.convert:split_run", shared="input_format columns on_error seed as_json force quiet")
class Split(options.Options):
    """Split documents into training, development and test parts, and count their contents."""

    source: options.Inputs
    output: str = option("--output -o DIR", "Output folder.", ...)
    parts: str = option(
        "--parts SHARES", "Names of the parts and their shares of the documents.", "train=8,dev=1,test=1"
    )
    by: str | None = option("--by KEY", "Field of meta, such as patient, whose documents stay together.")
    output_format: str = option(
        "--format -f FORMAT",
        "Format of the parts; brat writes a folder for each.",
        "jsonl",
        known="spanloom.formats.listed:WRITTEN",
    )


@verb("validate", shared="input_format columns as_json quiet")
class Validate(options.Options):
    """Check annotated documents: list problems with file and line; exit 1 if there is an error."""

    data: Data
    texts: str | None = options.TABLE_TEXTS
    tag_names: str | None = options.TAG_NAMES


@verb("vocabulary", shared="as_json force quiet")
class ReadVocabulary(options.Options):
    """Read a vocabulary, count its contents, report problems, and save it as an index."""

    vocabulary: str = argument("SOURCE", "Vocabulary: a file, or a folder of UMLS, RxNorm, SNOMED CT or OMOP.")
    output: str | None = option("--output -o INDEX", "Output folder of the index, which loads instantly.")
    vocabulary_format: str | None = option(
        "--format -f FORMAT",
        "The format, if it is not recognized: codes, json, medic, mesh, obo, obograph, omop, owl, owlxml, rrf, "
        "snomed, table, taxonomy, turtle, words, index.",
        known="spanloom.vocabulary:VOCABULARY_FORMATS",
    )
    columns: str | None = option("--columns NAMES", options.NAMED_COLUMNS)
    encoding: str | None = options.ENCODING
    language: list[str] | None = option("--language NAME", "Language of names, such as ENG; repeatable. [UMLS: ENG]")
    source: list[str] | None = option("--source NAME", "Source of names, such as MSH; repeatable. [all]")

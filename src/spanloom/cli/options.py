"""Options that several verbs share; an option of one verb is declared with it.

Of training, `None` stands for what was not given, so that a configuration file may give it; defaults are the model's.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from inspect import Parameter, get_annotations, signature
from pkgutil import resolve_name
from typing import Annotated, Any, ClassVar, Final, get_args, get_type_hints

import typer

from spanloom.model.fields import Choice, Switch, Whole, declared
from spanloom.model.fields import Parameter as Field

ALL_CORES = -1  # results do not depend on the number of threads
_MODELS = "spanloom.models:installed"  # names that complete a model


def option(spelled: str, help: str, default: Any = None, *, known: str = "", choice: str = "", **more: Any) -> Any:
    """Return an option, spelled by its flags and the name of its value, as ``--output -o FILE``.

    Args:
        spelled: the flags, and the name of the value.
        help: of the option.
        default: of a field of `Options`; ``...`` for one that must be given.
        known: names that complete the value, see `_completing`; of a ``MODEL`` those of the installed ones.
        choice: the name in `spanloom.model.choices` of what has these names.
        more: of `typer.Option`.
    """
    flags = spelled.split()
    metavar = None if flags[-1].startswith("-") else flags.pop()
    known = f"spanloom.model.choices:{choice}" if choice else known or _MODELS * (metavar == "MODEL")
    found: Any = typer.Option(*flags, metavar=metavar, help=help, autocompletion=_completing(known), **more)
    found.given = default
    return found


def argument(metavar: str, help: str, default: Any = ..., *, known: str = "") -> Any:
    """Return an argument, whose default is not shown; see `option`."""
    known = known or _MODELS * metavar.startswith("MODEL")
    found: Any = typer.Argument(metavar=metavar, help=help, show_default=False, autocompletion=_completing(known))
    found.given = default
    return found


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


Inputs = Annotated[list[str], argument("INPUT", "Files, folders, or - for standard input.")]
Data = Annotated[str, argument("DATA", "A file, a folder, or - for standard input.")]
Model = Annotated[str, argument("MODEL", "A model directory, or the name of an installed model.")]
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
Limit = Annotated[int | None, option("--limit -n N", "Show only the first N documents.", min=1)]
Json = Annotated[bool, option("--json", "Print the result as JSON.")]
Jobs = Annotated[int | None, option("--jobs -j N", "Number of threads. [all cores]", min=1)]
Host = Annotated[str, option("--host ADDRESS", "Where to listen; 0.0.0.0 for all networks.")]
Port = Annotated[int, option("--port N", "0 for any that is free.", min=0, max=65535)]
Seed = Annotated[int | None, option("--seed N", "Random seed.")]
Train = Annotated[list[str] | None, option("--train DATA", "Annotated training documents; repeatable.")]
Dev = Annotated[
    list[str] | None,
    option(
        "--dev DATA",
        "Annotated development documents; repeatable. [a tenth of the training data; recognizers cross-validate few]",
    ),
]
Config = Annotated[
    str | None,
    option("--config -c TOML", "File of these options, such as l2 = 0.1; the command line takes precedence."),
]
QuietOrConfig = Annotated[bool | None, option("--quiet -q", "Print errors only.")]  # of verbs with such a file
TriedLambdas = Annotated[
    list[float] | None, option("--l2 NUMBER", "Weight of the L2 penalty; repeatable, all are tried. [1]")
]
TAG_NAMES = option("--tag-names NAMES", "Names of numeric tags, such as O,B-x,I-x.")
TABLE_TEXTS = option("--texts DATA", "Texts of a table of mentions: a file or folder.")
ALLOW_HOST = option("--allow-host NAME", "Accepted Host name of requests; repeatable.")
WORK = option("--work FOLDER", "Folder for data that does not fit in memory; an interrupted run resumes from it.")
EXECUTOR = option(
    "--executor NAME",
    "With --work and lbfgs, what works on it, --jobs of them: threads, processes, ray or spark. [threads]",
    choice="ExecutorName",
)
ENCODING = option("--encoding NAME", "Encoding of input that is not UTF-8: cp1252, gb18030, utf-16, ...")
ENCODER = option(
    "--encoder FOLDER", "Folder of the base encoder, if it moved since training. [SPANLOOM_ENCODERS, and others]"
)
EXPORT_OUTPUT = option("--output -o DIR", "Output model directory.", ...)
NAMED_COLUMNS: Final = "Columns or fields of a vocabulary: id=cui,name=str,synonyms=aliases. [usual names]"


VOCABULARY_COLUMNS = option("--vocabulary-columns NAMES", NAMED_COLUMNS)


class _Declared:
    """What has options as fields."""

    declared: ClassVar[dict[str, Any]]

    def __init__(self, **given: Any) -> None:
        vars(self).update(given)

    def __init_subclass__(cls) -> None:
        """Take the options out of the fields, whose values are their defaults."""
        cls.declared = {name: value for name, value in vars(cls).items() if hasattr(value, "given")}
        for name, one in cls.declared.items():
            if one.given is ...:
                delattr(cls, name)
            else:
                setattr(cls, name, one.given)


class Options(_Declared):
    """Base class of the options of a verb: those at the end of many verbs; `verb` declares which of them it has."""

    encoder: str | None = ENCODER
    input_format: InputFormat = None
    columns: Columns = None
    on_error: OnError = None
    as_json: Json = False
    force: bool = option("--force", "Overwrite an existing output.", False)
    seed: Seed = None
    jobs: Jobs = None
    quiet: Quiet = False
    encoding: str | None = ENCODING
    offsets: str | None = option(
        "--offsets NAME",
        "How offsets of the input are counted: characters, utf16, bytes, crlf (CR LF as one), lf (LF as two), "
        "one-based, inclusive, or some joined by +. [auto: found out for each file]",
    )


def declared_options(declaration: type[Options], names: Iterable[str]) -> list[Parameter]:
    """Return some options of a verb as parameters of a signature."""
    kinds = get_type_hints(declaration, include_extras=True)
    kinds |= {name: Annotated[kinds[name], one] for name, one in declaration.declared.items()}
    defaults = {name: getattr(declaration, name, Parameter.empty) for name in names}
    return [
        Parameter(name, Parameter.KEYWORD_ONLY, default=one, annotation=kinds[name]) for name, one in defaults.items()
    ]


# Options from the parameters of a model, for the verbs that train one.


def parameters_of(declaration: type[Options] | Callable[..., None]) -> list[Parameter]:
    """Return the options of a verb that it declares itself."""
    if isinstance(declaration, type):
        return declared_options(declaration, get_annotations(declaration))
    return list(signature(declaration, eval_str=True).parameters.values())


def with_parameters(
    parameters: type, *declarations: type[Options] | Callable[..., None], without: Collection[str] = ()
) -> list[Parameter]:
    """The options of a verb that trains.

    Args:
        parameters: the dataclass of a model's parameters. Each is an option, unless a declaration has the same name.
        declarations: of other options; those that many verbs share come after the parameters, the others before them.
        without: parameters that are not options of this verb.
    """
    own = [one for each in declarations for one in parameters_of(each)]
    behind = [one for one in own if one.name in get_annotations(Options)]
    left = {*without, *(one.name for one in own)}
    given = [
        Parameter(one.name, Parameter.KEYWORD_ONLY, default=None, annotation=_option(*one))
        for one in declared(parameters)
        if one.parameter.option is not None and one.name not in left
    ]
    ordered = [*(one for one in own if one not in behind), *given, *behind]
    return [one.replace(kind=one.KEYWORD_ONLY) for one in ordered]


def _option(name: str, parameter: Field, default: Any) -> Any:
    """Return the annotation from which typer makes an option."""
    shown = parameter.default(default)
    help_text = f"{parameter.help} [{shown}]" if shown else parameter.help
    flag = parameter.option or f"--{name.replace('_', '-')}"
    if isinstance(parameter, Switch):
        option = typer.Option(f"{flag}/--no-{flag[2:]}", help=help_text, show_default=False)
    else:
        least = parameter.least if isinstance(parameter, Whole) else None
        known = parameter.known if isinstance(parameter, Choice) else parameter.words
        option = typer.Option(
            flag, metavar=parameter.metavar, min=least, help=help_text, autocompletion=lambda: list(known)
        )
    kind = list[parameter.type] if parameter.several else parameter.type  # type: ignore[name-defined]
    return Annotated[kind | None, option]

"""`spanloom completion`: the possible words at each place of the command line, from the parser, for shell scripts.

The names that a value may have come from the parameter's declaration, if it has them. Options that are written by hand
have theirs in `_NAMES`. The placeholder in the help shows whether a value is a path.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, get_args

from typer.main import get_command

from spanloom.cli.completion_scripts import SCRIPTS, Option, Value, Verb
from spanloom.cli.verbs import app, load_plugins
from spanloom.errors import UsageError
from spanloom.formats import FORMATS
from spanloom.model.choices import Completeness, ExecutorName, Preset, Reading, StructureName, WhichMentions
from spanloom.models import installed

_PATHS: Final = frozenset(
    (
        *("ANSWERS", "DATA", "DIR", "FILE", "FOLDER", "GOLD", "IN", "INDEX", "INPUT", "JSONL", "LABEL=FILE", "LM"),
        *("MODEL", "MODEL...", "OTHER", "OUT", "PATHS", "PREDICTED", "RAW", "RECORD", "RULES", "SOURCE", "TEACHER"),
        *("TEXT", "TOML", "V"),
    )
)
_MODELS: Final = frozenset(("MODEL", "MODEL...", "TEACHER"))
_WRITTEN: Final = tuple(name for name, kind in FORMATS.items() if kind.write is not None)
_CONDITIONS: Final = get_args(Completeness)
_VOCABULARIES: Final = "codes json medic mesh obo obograph omop owl owlxml rrf snomed table taxonomy turtle words index"
# What may stand for an option's value, or for an argument; behind a verb, where it is that verb's alone. Some are typed
# again here, and compared by a test: to import the lab takes longer than a shell may take to start.
_NAMES: Final = {
    "--ambiguous": ("all", "first", "none"),
    "--annotation": _CONDITIONS,
    "--executor": get_args(ExecutorName),
    "--format": _WRITTEN,
    "--input-format": tuple(FORMATS),
    "--log": ("text", "json"),
    "--mentions": get_args(WhichMentions),
    "--on-error": ("stop", "skip"),
    "--pos": ("auto", "none"),
    "--reading": get_args(Reading),
    "--scheme": ("bio", "bilou"),
    "--structure": ("auto", *get_args(StructureName)),
    "SHELL": tuple(SCRIPTS),
    "clean --features": get_args(Preset),
    "export --precision": ("float32", "int8"),
    "train clusters --method": ("vectors", "brown"),
    "vocabulary --format": tuple(_VOCABULARIES.split()),
}


def run(shell: str) -> None:
    """Print the script for a shell."""
    if shell not in SCRIPTS:
        raise UsageError(f"the shell is {shell!r}, expected one of: {', '.join(SCRIPTS)}")
    print(SCRIPTS[shell](verbs()), end="")


def verbs() -> list[Verb]:
    """Return the verbs, that of no word first; those of old names are left out."""
    load_plugins()
    models = tuple(installed())
    return list(_verbs("", get_command(app), None, models))


def _verbs(name: str, command: Any, parent: Any, models: tuple[str, ...]) -> Iterator[Verb]:
    context = command.make_context(name or "spanloom", [], parent=parent, resilient_parsing=True)
    below = {word: one for word, one in getattr(command, "commands", {}).items() if not one.hidden}
    options, words, paths = [], [*below], False
    for parameter in command.get_params(context):
        value = _value(name, parameter, context, models)
        if parameter.param_type_name == "argument":
            words += value.words
            paths |= value.paths
        else:
            flag = parameter.is_flag or parameter.name == "help"
            names = (*sorted(parameter.opts, key=len), *parameter.secondary_opts)  # those of --help come as a set
            options.append(Option(names, parameter.help or "", None if flag else value))
    said = command.short_help or command.help or ""
    yield Verb(name, said, tuple(options), Value(tuple(dict.fromkeys(words)), paths))
    for word, one in below.items():
        yield from _verbs(f"{name} {word}".strip(), one, context, models)


def _value(verb: str, parameter: Any, context: Any, models: tuple[str, ...]) -> Value:
    """Return what may stand for an option's value, or for an argument."""
    shown = parameter.metavar or ""
    declared = tuple(item.value for item in parameter.shell_complete(context, "") if item.type == "plain")
    flags = [option for option in parameter.opts if option.startswith("--")] or [shown]
    names = _NAMES.get(f"{verb} {flags[0]}", _NAMES.get(flags[0], ()))
    return Value(declared or names or (models if shown in _MODELS else ()), shown in _PATHS)

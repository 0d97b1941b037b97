"""Declaration of verbs: their apps and groups, and the call of their modules with the options."""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Callable, MutableMapping, Sequence
from copy import copy
from functools import cache, cached_property
from inspect import Signature
from pkgutil import resolve_name
from typing import Any, Final, TypeVar

import typer
from typer.completion import completion_init, get_completion_script  # type: ignore[attr-defined]
from typer.core import TyperCommand, TyperGroup

from spanloom.cli import options
from spanloom.cli.execute import VERBS, WRONG_USAGE, execute, fail
from spanloom.cli.options import option
from spanloom.errors import UsageError, as_json, notice_line, one_line
from spanloom.extras import entry_points


def completion_run(shell: str) -> None:
    """Print the script for a shell."""
    if shell not in SHELLS:
        raise UsageError(f"the shell is {shell!r}, expected one of: {', '.join(SHELLS)}")
    print(get_completion_script(prog_name="spanloom", complete_var=VARIABLE, shell=shell))


def completed_verb(environment: MutableMapping[str, str]) -> str:
    """Prepare the library's answer; return the first word after the command's name, if a later one is to be completed.

    >>> completed_verb({"COMP_WORDS": "spanloom predict m"}), completed_verb({"_TYPER_COMPLETE_ARGS": "spanloom pre"})
    ('predict', '')
    """
    completion_init()
    typed = environment.get("COMP_WORDS") or environment.get("_TYPER_COMPLETE_ARGS", "")
    if cut := typed.count("\n=\n"):  # bash makes three words of --option=value, where the library expects two
        environment["COMP_WORDS"] = typed.replace("\n=\n", "\n")
        environment["COMP_CWORD"] = str(int(environment["COMP_CWORD"]) - cut)
    words = re.split(r"\s+", typed)
    return words[1] if len(words) > 2 else ""


# Examples at the end of each help; a test has the command line read all of them.

_FIRST_STEPS: Final = """\
spanloom demo
echo "NF-kappa B activates the IL-2 promoter in T cells" | spanloom predict genia -
spanloom train recognizer --train notes/train --dev notes/dev --output model"""
_TRAINING: Final = """\
spanloom train recognizer --train notes/train --dev notes/dev --output model
spanloom train linker --train notes/train --vocabulary names.tsv --output linker"""
_OF_VERBS: Final = """\
spanloom annotate notes --output notes.store --model genia
spanloom annotate notes --output notes.store --learn learned
spanloom annotate notes.store --export annotated.jsonl
spanloom annotate notes.store --history history.csv
spanloom annotate notes.store --agreement
spanloom clean notes --limit 20
spanloom clean notes.jsonl --html suspects.html
spanloom compact model --output small --dev notes/dev
spanloom completion bash > ~/.local/share/bash-completion/completions/spanloom
spanloom completion zsh > ~/.zfunc/_spanloom
spanloom completion fish > ~/.config/fish/completions/spanloom.fish
spanloom convert notes notes.jsonl
spanloom convert notes notes.conll --scheme bilou
spanloom convert notes.jsonl marked.jsonl --from-llm answers.jsonl
spanloom demo --output demo
spanloom demo --linker
spanloom evaluate gold.jsonl predicted.jsonl --html errors.html
spanloom evaluate notes/test --model model
spanloom explain model --text "No chest pain."
spanloom explain model note.txt --mention 3-13:problem
spanloom export model --onnx --output without-torch --precision int8
spanloom inspect model --top 5
spanloom inspect model --json
spanloom label rules.toml notes.txt --output labels.jsonl
spanloom label rules.toml notes --each --output votes.jsonl
spanloom models
spanloom models --json
spanloom next notes --model model -n 50 --output next.jsonl
spanloom next notes.store --model model --order entropy -n 10
echo "No chest pain." | spanloom predict model - --attributes negated
spanloom predict model notes.txt --output notes.jsonl --threshold 0.5
spanloom predict model lake --output annotated/ --columns text=note,id=key
spanloom serve genia bc5cdr
spanloom serve notes=model --host 0.0.0.0 --allow-host notes.example.org
spanloom split notes --output parts --parts train=8,dev=1,test=1 --seed 1
spanloom split notes.jsonl --output parts --by patient
spanloom teach teacher raw.txt --train notes/train --dev notes/dev --output fast
spanloom train clusters --input raw.txt --size 500 --output paths
spanloom train linker --train notes/train --vocabulary names.tsv --output linker
spanloom train recognizer --train notes/train --dev notes/dev --output model
spanloom train recognizer --train notes --structure "shared(components=2)" \\
    --features fast --l2 1 --output model
spanloom train segmenter --train train.jsonl --dev dev.jsonl --output model
spanloom train tagger --train train.conllu --column pos --output tagger
spanloom validate notes
spanloom validate notes.conll --columns word,pos,tag --json
spanloom view notes.jsonl --limit 1
spanloom view notes.jsonl --output notes.html
spanloom vocabulary names.tsv --output index
spanloom vocabulary UMLS/META --language ENG --source MSH --output index
spanloom warm"""


def _by_verb(lines: str) -> dict[str, str]:
    """Return each verb with the lines that begin with it; an indented line continues the one before."""
    found: dict[str, str] = {}
    for line in re.split(r"\n(?! )", lines):
        [verb] = re.findall(r"spanloom (train [a-z]+|[a-z]+)", line)
        found[verb] = f"{found[verb]}\n{line}" if verb in found else line
    return found


EXAMPLES: Final = {"": _FIRST_STEPS, "train": _TRAINING, **_by_verb(_OF_VERBS)}
"""Verb -> lines that are run unchanged; the program itself is the empty verb."""


GROUPS: Final = {
    "Use a model": ("predict", "view", "explain", "models"),
    "Train a model": ("demo", "train", "teach", "compact", "export"),
    "Prepare data": ("annotate", "next", "convert", "label", "split", "validate", "vocabulary"),
    "Judge": ("evaluate", "inspect", "clean", "lab"),
    "Serve, set up": ("serve", "completion"),
}
"""Sections of the program's help, with their verbs in order."""

_MANY, _FIRST = 14, 10  # a verb with more options than this has groups; this many are listed first
MOST_USED: Final = {
    "": "train dev test output structure features types l2 link encoder config",
    "annotate": "output model learn vocabulary annotator types order export agreed history",
    "clean": "output html limit least folds types features structure l2 config",
    "convert": "output_format types from_llm scheme texts columns input_format on_error force quiet",
    "evaluate": "model html compare types concepts attributes words known as_json seed",
    "next": "model count order output output_format",
    "predict": "output output_format threshold attributes sections expand keep rely columns jobs",
    "teach": "train dev output teacher weight features l2 link attributes config",
    "train linker": "train dev output vocabulary features types method candidates clusters config",
    "train segmenter": "train dev output features dictionaries vocabulary types link encoder config",
    "train tagger": "train dev output column l2 epochs clusters vectors vocabulary config",
}
"""Verb -> the options that its help lists first, by parameter; of the empty verb, which is any other, the first ten."""

OPTION_GROUPS: Final = {
    "Mentions and structure": (
        "annotation density annotators types structure components longest counting reading headless overlap mentions "
        "keep require forbid dictionary expand answers rely rely_data heads words column known mention_type ambiguous "
        "scheme single_word constraints task segments history nil composites layer order random_share start groups"
    ),
    "Features": (
        "features clusters vectors pos ignore sections split_tokens passes min_count hash_bits names language_model "
        "language_words state_features nonlocal_features dictionaries"
    ),
    "Vocabularies, concepts and attributes": (
        "vocabulary vocabulary_columns link link_encoder concepts document_concepts attributes language cues "
        "candidates evidence gold_candidates own_memory"
    ),
    "Training": (
        "optimizer l2 epochs iterations runs rate tune_penalty tune_bias rescore rescore_all method weight "
        "dual_iterations beam patience margin word_rate folds least crossed work executor direction price level steps "
        "seconds tokens"
    ),
    "Encoder": (
        "with_features encoder encoder_epochs encoder_rate head_rate adapters layer_decay seeds step_subwords "
        "accumulate recompute window context pooling precision device checkpoint"
    ),
    "Input": "input_format columns texts tag_names on_error encoding offsets",
    "General": "config output_format as_markdown host port allow_host as_json force seed jobs quiet help",
}
"""Groups of the other options of such a verb, by parameter."""


class _Unchanged:
    """Conversion of a value: text for text and a default are taken as they are.

    The library converts all values with pydantic, which takes longer to import than most verbs to run; what needs it
    is left to the library.
    """

    @staticmethod
    def coerce(value: Any, param: Any, ctx: Any) -> Any:
        """Return the value that a verb is called with, in place of the method of typer's ``RuntimeParam``."""
        several, kind = param.multiple or param.nargs == -1, param.type_descriptor.annotation
        if value is None:
            return () if several else None
        if several and kind == list[str] and not isinstance(value, str):
            return list(value)
        if type(value) is kind and (kind is str or value == param.default):
            return value
        if kind is int and isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < _DIGITS:
            least, most = (getattr(param.type_descriptor.parameter_info, name) for name in ("min", "max"))
            if (least is None or int(value) >= least) and (most is None or int(value) <= most):
                return int(value)
        param._runtime_param = None
        return param.get_runtime_param().coerce(value, param=param, ctx=ctx)


class _WithExamples:
    """A help that ends with unchanged examples; the library would fill their lines as one paragraph."""

    epilog: str | None

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, help among them."""
        found: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for parameter in found:
            if getattr(parameter, "_runtime_param", None) is None:  # versions of typer without it ignore it
                parameter._runtime_param = _Unchanged
        return found

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the examples."""
        if self.epilog:
            with formatter.section("Examples"):
                for line in self.epilog.splitlines():
                    formatter.write(f"{'':>{formatter.current_indent}}{line}\n")


class Kinds(_WithExamples, TyperGroup):
    """A verb with second words."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse a command line; an option in the place of the second word is reported as what is missing."""
        word = args[0] if args and not ctx.resilient_parsing else ""
        if word in _MOVED and word not in self.commands:
            ctx.fail(f"{ctx.info_name} {word} is now: spanloom lab {word}; pip install ./lab in Spanloom's folder")
        if word.startswith("-") and word not in _SETTINGS["help_option_names"]:
            ctx.fail(f"found {word} after {ctx.info_name}, expected first one of: {', '.join(self.commands)}")
        return super().parse_args(ctx, args)


class Verbs(_WithExamples, TyperGroup):
    """The verbs, whose help lists them in groups."""

    def invoke(self, ctx: Any) -> Any:
        """Run the verb that is given; a wrong command line is one line of JSON, where logs are."""
        try:
            return super().invoke(ctx)
        except _WRONG_LINE as error:
            if not as_json():
                raise
            raise typer.Exit(fail(error.format_message(), error.exit_code)) from None

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of verbs."""
        width = max(map(len, self.commands))
        for title, names in GROUPS.items():
            with formatter.section(title):
                own = [name for name in names if name in self.commands]
                formatter.write_dl([(one.ljust(width), self.commands[one].get_short_help_str(_WHOLE)) for one in own])


class Once(_WithExamples, TyperCommand):
    """A verb; of an option that takes one value, a second one would replace the first in silence, and is an error."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse a command line."""
        values, _, order = self.make_parser(ctx).parse_args(list(args))
        given = Counter(map(id, order))
        for parameter in self.params:
            once = parameter.param_type_name == "option" and not getattr(parameter, "multiple", False)
            if once and given[id(parameter)] > 1 and not ctx.resilient_parsing:
                ctx.fail(f"{parameter.opts[0]} is given {given[id(parameter)]} times, but may be given once")
        arguments: list[Any] = [one for one in self.params if one.param_type_name == "argument"]
        # of `IN... OUT` the library takes a single value as the last one, and would report the first as missing
        if [values.get(one.name) is None for one in arguments] == [True, False] and not ctx.resilient_parsing:
            ctx.fail(f"Missing argument '{arguments[1].metavar}'.")
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the words of the usage line, without the library's braces."""
        return [piece.translate({ord("{"): None, ord("}"): None}) for piece in super().collect_usage_pieces(ctx)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments without types of Python, and options; many of them in groups, the most used first."""
        shown = {one.name: one for one in self.get_params(ctx)}
        options = [name for name, one in shown.items() if one.param_type_name == "option"]
        groups = {"Arguments": [name for name in shown if name not in options]}
        if len(options) <= _MANY + 1:  # with --help
            groups["Options"] = options
        else:
            listed = MOST_USED.get(ctx.command_path.partition(" ")[2], MOST_USED[""]).split()
            groups["Most used options"] = first = [name for name in listed if name in shown][:_FIRST]
            rest = [name for name in options if name not in first]
            groups |= {
                title: [name for name in rest if name in names.split()] for title, names in OPTION_GROUPS.items()
            }
            groups["Other options"] = [name for name in rest if not any(name in found for found in groups.values())]
        for title, names in groups.items():
            if names:
                records = [shown[name].get_help_record(ctx) for name in names]
                with formatter.section(title):
                    formatter.write_dl([(re.sub(r" <.*>$", "", name), settings) for name, settings in records])


_SETTINGS = {"help_option_names": ["-h", "--help"]}
_WRONG_LINE: Final[Any] = typer.BadParameter.__base__  # of all that is wrong with a command line; it has no public name
_MOVED: Final = ("cascade", "language-model")  # from `train` to `lab`
_OF_THE_LAB: Final = ("lab", "ambiguity", "compare", "heads")
_DIGITS: Final = 10  # of a whole number that is not left to the library
_WHOLE = 1000  # characters; help is wrapped, and not cut

app = typer.Typer(
    name="spanloom",
    cls=Verbs,
    epilog=EXAMPLES[""],
    help="Recognize mentions that nest, overlap, cross or skip words, with exact probabilities. "
    "Without a command, suggest the next step for the current folder.",
    invoke_without_command=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings=_SETTINGS,
)


def kinds(help: str, examples: str) -> typer.Typer:
    """Return a verb with second words."""
    return typer.Typer(
        cls=Kinds, epilog=examples, help=help, no_args_is_help=True, rich_markup_mode=None, context_settings=_SETTINGS
    )


train_app = kinds("Train a recognizer, linker, segmenter or tagger, or cluster words.", EXAMPLES["train"])
app.add_typer(train_app, name="train")


@cache
def load_plugins() -> None:
    """Import the verbs of other distributions: modules that register them, under the entry point ``spanloom.verbs``."""
    for entry in entry_points("spanloom.verbs"):
        try:
            entry.load()
        except Exception as error:  # of another distribution, perhaps for another version; our own verbs still work
            problem = f"the verbs {entry.name} of {entry.value} are left out: {one_line(str(error))}"
            print(notice_line(problem), file=sys.stderr)


def _alone(name: str) -> typer.Typer | None:
    """Return the program with one verb only; ``None`` if no verb has this name."""
    one = copy(app)
    one.registered_commands = [command for command in app.registered_commands if command.name == name]
    one.registered_groups = [group for group in app.registered_groups if group.name == name]
    return one if one.registered_commands or one.registered_groups else None


def _listed(program: typer.Typer) -> typer.Typer:
    """Return the program without the options of its verbs, for the help page that lists only the verbs."""
    one = copy(program)
    one.registered_commands, one.registered_groups = [], []
    for command in map(copy, program.registered_commands):
        command.callback = lambda: None
        one.registered_commands.append(command)
    for group in map(copy, program.registered_groups):
        group.typer_instance = None if group.typer_instance is None else _listed(group.typer_instance)
        one.registered_groups.append(group)
    return one


def first_word(given: Sequence[str]) -> str:
    """Return the first word of a command line; of the one that a shell asks about, where it asks for completion."""
    if "_SPANLOOM_COMPLETE" in os.environ:
        return completed_verb(os.environ)
    return given[0] if given else ""


def only(first: str) -> typer.Typer:
    """Return the program with the verb that its first word names; with all of them, where it names none.

    To make the options of all verbs takes longer than those of one and its work on a sentence.
    """
    if first in ("", *_SETTINGS["help_option_names"]):
        load_plugins()
        return _listed(app)
    if (one := _alone(first)) is None:
        load_plugins()
        one = _alone(first)
    if one is not None:
        return one
    if first in _OF_THE_LAB:
        sys.exit(fail(f"{first} needs spanloom-lab: pip install ./lab in Spanloom's folder", WRONG_USAGE))
    return app


class Training(options.Options):
    """The options of training that all models share."""

    train: options.Train = None
    dev: options.Dev = None
    output: str | None = option("--output -o DIR", "Output model directory.")
    config: options.Config = None
    input_format: options.InputFormat = None
    columns: options.Columns = None
    on_error: options.OnError = None
    force: bool | None = option("--force", "Overwrite an existing model.")  # type: ignore[assignment]  # it may be in the file
    seed: options.Seed = None
    jobs: options.Jobs = None
    quiet: options.QuietOrConfig = None  # type: ignore[assignment]


Declaration = type[options.Options] | Callable[..., None]
D = TypeVar("D", bound=Declaration)


class _Call:
    """A verb's function as typer sees it; its signature is made when the verb's options are needed.

    Args:
        name: as the user writes it.
        declaration: the class of its options; of one that has parameters of a model, a function without a body.
        parameters, around, without, shared: as of `verb`.
    """

    def __init__(
        self, name: str, declaration: Declaration, parameters: str | None,
        around: Sequence[Declaration], without: str | Sequence[str], shared: str,
    ) -> None:  # fmt: skip
        self.name, self.declaration, self.parameters = name, declaration, parameters
        self.around, self.without, self.shared = around, without, shared
        self.__name__, self.__doc__ = declaration.__name__, declaration.__doc__
        self.__annotations__: dict[str, Any] = {}  # the signature has them

    def __call__(self, **given: Any) -> None:
        whole = isinstance(self.declaration, type) and self.parameters is None
        raise typer.Exit(execute(self.name, given, self.declaration if whole else None))

    @cached_property
    def __signature__(self) -> Signature:
        if self.parameters is None:
            given = options.parameters_of(self.declaration)
        else:
            left = resolve_name(self.without) if isinstance(self.without, str) else self.without
            given = options.with_parameters(resolve_name(self.parameters), self.declaration, *self.around, without=left)
        given += options.declared_options(options.Options, self.shared.split())
        if any(one.name == "input_format" for one in given):
            given += options.declared_options(options.Options, ("encoding", "offsets"))
        return Signature(given)


def verb(
    name: str, group: typer.Typer = app, *, was: str = "", parameters: str | None = None,
    around: Sequence[Declaration] = (), without: str | Sequence[str] = (), place: str = "", examples: str = "",
    shared: str = "", hidden: bool = False,
) -> Callable[[D], D]:  # fmt: skip
    """Register a verb: what it decorates is its command line.

    Args:
        name: as the user writes it.
        group: the words before the last.
        was: its name in version 0.1, accepted until version 0.3.
        parameters: ``module:class`` of a model's parameters, which are options, too: see `options.with_parameters`.
        around: declarations of more options.
        without: parameters that are not options of the verb, or ``module:name`` of their names.
        place: ``module:function`` that accepts its options; by default ``run`` of the module with the verb's name here,
            or the function that the verb's second word names.
        examples: at the end of its help; from `EXAMPLES` by default.
        shared: further options, with blanks between their names: fields of `options.Options`.
        hidden: not in the list of verbs.
    """
    module, _, function = name.partition(" ")
    VERBS[name] = place or f"spanloom.cli.{module}:{function or 'run'}"

    def register(declaration: D) -> D:
        call = _Call(name, declaration, parameters, around, without, shared)
        # without a short help of its own, the list of verbs would cut the sentence
        settings: dict[str, Any] = {
            "cls": Once,
            "short_help": declaration.__doc__,
            "epilog": examples or EXAMPLES[name],
        }
        group.command(name.split()[-1], hidden=hidden, **settings)(call)
        if was:
            app.command(was, hidden=True, **settings)(call)
        return declaration

    return register


# `spanloom completion`: scripts for shells, which run the program at each Tab to ask what may follow the words typed.
#
# Names that a value may have come from the declaration of its option or argument.

SHELLS: Final = ("bash", "zsh", "fish")
VARIABLE: Final = "_SPANLOOM_COMPLETE"
"""Variable of the environment in which a script asks; the library then answers, and no verb runs."""

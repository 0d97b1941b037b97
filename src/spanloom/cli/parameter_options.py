"""Options from the parameters of a model, for the verbs that train one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from inspect import Parameter, Signature, signature
from typing import Annotated, Any

import typer

from spanloom.model.fields import Choice, Switch, Whole, declared
from spanloom.model.fields import Parameter as Field


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
        known = parameter.known if isinstance(parameter, Choice) else parameter.words
        option = typer.Option(flag, metavar=parameter.metavar, min=least, help=said, autocompletion=lambda: list(known))
    kind = list[parameter.type] if parameter.several else parameter.type  # type: ignore[name-defined]
    return Annotated[kind | None, option]

"""How a verb is declared: the apps that it stands in, and the decorator that hands its options to its module."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import typer
from typer.core import TyperCommand

from spanloom.cli import options
from spanloom.cli.execute import execute


class Once(TyperCommand):
    """A verb; of an option that takes one value, a second one would replace the first in silence, and is an error."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse a command line."""
        given = Counter(map(id, self.make_parser(ctx).parse_args(list(args))[2]))
        for parameter in self.params:
            once = parameter.param_type_name == "option" and not getattr(parameter, "multiple", False)
            if once and given[id(parameter)] > 1:
                ctx.fail(f"{parameter.opts[0]} stands {given[id(parameter)]} times, but may stand once")
        return super().parse_args(ctx, args)


_SETTINGS = {"help_option_names": ["-h", "--help"]}

app = typer.Typer(
    name="spanloom",
    help="Recognizes mentions that nest, overlap or cross, and says how sure it is. Try: spanloom demo",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings=_SETTINGS,
)
train_app = typer.Typer(
    help="Train a model; what kind is the next word.",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings=_SETTINGS,
)
app.add_typer(train_app, name="train")
lab_app = typer.Typer(
    help="Reproduce tables of the papers; what is done is the next word.",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings=_SETTINGS,
)
app.add_typer(lab_app, name="lab")


def verb(
    name: str, group: typer.Typer = app, *, was: str = "", parameters: type | None = None,
    around: Sequence[Callable[..., None]] = (), without: Sequence[str] = (),
) -> Callable[[Callable[..., None]], Callable[..., None]]:  # fmt: skip
    """Register a verb: what it decorates is its command line.

    Args:
        name: as the user writes it.
        group: the words before the last.
        was: its name in version 0.1, which is understood until version 0.3.
        parameters: the dataclass of a model's parameters, which are options, too: see `options.with_parameters`.
        around: declarations of more options.
        without: parameters that are no options of it.
    """

    def register(declaration: Callable[..., None]) -> Callable[..., None]:
        @wraps(declaration)
        def call(**given: Any) -> None:
            raise typer.Exit(execute(name, given))

        if parameters is not None:
            call.__signature__ = options.with_parameters(  # type: ignore[attr-defined]
                parameters, declaration, *around, without=without
            )
        # without a short help of its own, the list of verbs would cut the sentence
        group.command(name.split()[-1], cls=Once, short_help=declaration.__doc__)(call)
        if was:
            app.command(was, cls=Once, hidden=True)(call)
        return call

    return register

"""Help: its groups, and examples that the command line takes."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import pytest
from typer.main import get_command

from spanloom.cli.app import app
from spanloom.cli.execute import VERBS
from spanloom.cli.verbs import EXAMPLES, GROUPS, MOST_USED, OPTION_GROUPS, load_plugins
from spanloom_lab.cli.verbs import EXAMPLES as OF_THE_LAB

load_plugins()
ROOT = get_command(app)
SHOWN = {**EXAMPLES, **OF_THE_LAB}


def lines() -> Iterator[tuple[str, list[str]]]:
    """Each example as the words after the command's name, with the verb whose help shows it."""
    for verb, text in SHOWN.items():
        for line in text.replace("\\\n", "").splitlines():
            words = shlex.split(line.rpartition("|")[2])
            assert words[0] == "spanloom"
            yield verb, words[1 : words.index(">") if ">" in words else None]


@pytest.mark.parametrize(("verb", "words"), [*lines()])
def test_examples_are_command_lines(verb: str, words: list[str]) -> None:
    command: Any = ROOT
    context, name = command.make_context("spanloom", [], resilient_parsing=True), ""
    while hasattr(command, "commands"):
        word = words.pop(0)
        command, name = command.commands[word], f"{name} {word}".strip()
    assert name.startswith(verb)
    given = command.make_context(name, list(words), parent=context)  # raises at an unknown option or a wrong number
    known = {
        flag: [item.value for item in parameter.shell_complete(given, "")]
        for parameter in command.get_params(given)
        for flag in parameter.opts
        if parameter.metavar != "MODEL"
    }
    for flag, value in pairwise(words):
        assert not known.get(flag) or value.partition("(")[0] in known[flag]


def test_every_help_ends_with_its_examples(command: Callable[..., Any]) -> None:
    assert {*SHOWN} == {"", "train", "lab", *VERBS}
    for verb, text in SHOWN.items():
        shown = command(*verb.split(), "--help").stdout
        assert shown.endswith("Examples:\n" + "".join(f"  {line}\n" for line in text.splitlines()))


def test_every_verb_is_in_one_group(command: Callable[..., Any]) -> None:
    listed = [name for names in GROUPS.values() for name in names]
    assert sorted(listed) == sorted(name for name, one in ROOT.commands.items() if not one.hidden)  # type: ignore[attr-defined]
    shown = command("--help").stdout
    places = [shown.index(f"\n{title}:\n") for title in GROUPS]
    assert places == sorted(places)


def test_no_option_is_in_two_groups() -> None:
    names = " ".join(OPTION_GROUPS.values()).split()
    assert len(names) == len(set(names))


def verbs_of(command: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Each verb with its command."""
    if not hasattr(command, "commands"):
        yield name, command
        return
    for word, one in command.commands.items():
        yield from verbs_of(one, f"{name} {word}".strip())


@pytest.mark.parametrize(("verb", "one"), [*verbs_of(ROOT)], ids=lambda value: value if isinstance(value, str) else "")
def test_many_options_are_grouped_and_the_most_used_are_first(command: Callable[..., Any], verb: str, one: Any) -> None:
    options = {option.name: max(option.opts, key=len) for option in one.params if option.param_type_name == "option"}
    shown = command(*verb.split(), "--help").stdout
    listed = re.findall(r"^  (?:-\w, )?(--[\w-]+)", shown, re.MULTILINE)
    assert sorted(listed) == sorted([*options.values(), "--help"])
    titles = re.findall(r"^(\S.*):$", shown, re.MULTILINE)
    assert "Other options" not in titles
    if len(options) <= 14:
        assert titles in (["Options", "Examples"], ["Arguments", "Options", "Examples"])
    else:
        first = [options[name] for name in MOST_USED.get(verb, MOST_USED[""]).split() if name in options][:10]
        assert listed[: len(first)] == first
    assert {*MOST_USED} - {name for name, _ in verbs_of(ROOT)} == {""}


@pytest.mark.parametrize("verb", ["predict", "serve", "explain", "inspect", "export", "compact"])
def test_help_says_that_models_have_names(command: Callable[..., Any], verb: str) -> None:
    assert re.search(r"names? of (an )?installed models?", " ".join(command(verb, "--help").stdout.split()))

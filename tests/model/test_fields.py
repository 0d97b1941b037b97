"""A parameter is declared once, and is then everywhere: constructor, checks, documentation, command line, TOML."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from spanloom import Linker, Recognizer, Segmenter
from spanloom.cli.config import CommonOptions, checked, options_of
from spanloom.cli.options import with_parameters
from spanloom.errors import UsageError
from spanloom.link.parameters import LinkerParameters
from spanloom.model.fields import Number, declared
from spanloom.model.parameters import Parameters
from spanloom.recognize.parameters import RecognizerParameters
from spanloom.segment.parameters import SegmenterParameters
from spanloom.tag.parameters import TaggerParameters
from spanloom.tag.pos_tagger import PosTagger
from spanloom_lab import Cascade
from spanloom_lab.cascade_parameters import CascadeParameters


@dataclass(eq=False, repr=False, kw_only=True)
class OwnParameters(RecognizerParameters):
    """One more than a recognizer has."""

    momentum: float = Number("Share of the last step.", "of the last step, which is added to the next.")(0.5)


class Own(OwnParameters, Recognizer):
    """Has a parameter of its own.

    {parameters}
    """


@pytest.mark.parametrize("estimator", [Recognizer, Cascade, Linker, Segmenter, PosTagger, Own])
def test_every_parameter_is_documented_and_its_default_is_allowed(estimator: type[Parameters]) -> None:
    estimator().check()
    assert estimator.__doc__
    for name, parameter, _ in declared(estimator):
        assert f"\n        {name}: " in estimator.__doc__
        assert parameter.help.endswith(".") == (parameter.option is not None)
    assert "{parameters}" not in estimator.__doc__


@pytest.mark.parametrize("value", [-1.0, 0.0, float("nan"), float("inf"), "much", None])
def test_one_more_parameter_is_one_line(value: Any, tmp_path: Any) -> None:
    assert repr(Own(momentum=0.25)) == "Own(momentum=0.25)"
    assert "\n        momentum: of the last step, which is added to the next." in (Own.__doc__ or "")
    with pytest.raises(UsageError, match=r"momentum is .*, expected a number above 0"):
        Own(momentum=value).check()
    option = next(one for one in with_parameters(OwnParameters) if one.name == "momentum").annotation.__metadata__[0]
    assert (option.default, option.metavar, option.help) == ("--momentum", "NUMBER", "Share of the last step. [0.5]")
    (tmp_path / "own.toml").write_text('train = "t"\noutput = "m"\nmomentum = 0.75\n')
    options = checked(options_of(Own, CommonOptions), {}, str(tmp_path / "own.toml"))
    assert Own(**options.parameters()).momentum == 0.75


def section(kind: str) -> str:
    """What the documentation tells of a verb."""
    page = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text(encoding="utf-8")
    [found] = [
        part
        for part in re.split(r"^## ", page, flags=re.M)
        if part.startswith((f"`spanloom train {kind}`", f"`spanloom lab {kind}`"))
    ]
    return found


def defaults(parameters: type) -> dict[str, str]:
    """Options, and their defaults as people are told them; empty where there is none."""
    return {
        parameter.option or f"--{name.replace('_', '-')}": parameter.default(default)
        for name, parameter, default in declared(parameters)
        if parameter.option is not None
    }


TABLES = {"recognizer": RecognizerParameters, "linker": LinkerParameters, "segmenter": SegmenterParameters}


@pytest.mark.parametrize("kind", TABLES)
def test_the_tables_of_the_documentation_tell_what_is_declared(kind: str) -> None:
    text, options = section(kind), defaults(TABLES[kind])
    assert not [option for option in options if f"`{option}" not in text]
    rows = dict(re.findall(r"^\| `(--[\w-]+)[^|]*\|.*\| ([^|]*) ?\|$", text, re.M))
    others = {
        "--train",
        "--dev",
        "--output",
        "--config",
        "--vocabulary",
        "--vocabulary-columns",
        "--annotators",
        "--work",
        "--executor",
    }
    assert set(rows) <= {*options, *others}
    told = {option: rows[option].strip().strip("`") for option in rows.keys() & options.keys()}
    assert len(told) >= 7
    # what stands where nothing is taken by default is for the page to say
    assert [(option, default) for option, default in told.items() if options[option] not in ("", default)] == []


def test_the_documentation_of_cascades_tells_what_they_lack() -> None:
    lacking = re.search(r"options of `train recognizer` but (.*?), and `--order", section("cascade"), re.S)
    assert lacking
    assert {*re.findall(r"`(--[\w-]+)`", lacking[1])} == {*defaults(RecognizerParameters)} - {
        *defaults(CascadeParameters)
    }


def test_the_documentation_of_taggers_tells_their_defaults() -> None:
    text, options = " ".join(section("tagger").split()), defaults(TaggerParameters)
    assert [option for option in options if f"`{option} " not in text] == []
    told = re.findall(r"`(--[\w-]+) \w+` \(`?([^)`]+)`?\)", text)
    assert dict(told) == {option: default for option, default in options.items() if default}


def test_the_help_of_segmenters_tells_their_own_lambdas() -> None:
    shown = {name: parameter.default(default) for name, parameter, default in declared(Segmenter)}
    assert shown["l2"] == "0.02, 0.1 and 0.5"

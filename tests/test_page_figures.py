"""Each figure of each page is in its record, or is declared with a reason: see docs/figures.py."""

from __future__ import annotations

import doctest
import importlib.util
import sys
from pathlib import Path

import pytest

SPEC = importlib.util.spec_from_file_location("page_figures", Path(__file__).parents[1] / "docs" / "figures.py")
assert SPEC is not None and SPEC.loader is not None
script = sys.modules["page_figures"] = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(script)
PAGES, PINS = script.pages(), script.pins()


@pytest.mark.parametrize("page", PAGES)
def test_figures_are_those_of_the_records(page: str) -> None:
    assert script.differences(page, PAGES[page], PINS.get(page, [])) == [], (
        "correct the page, then: python docs/figures.py"
    )


def test_the_list_and_the_declarations_name_pages() -> None:
    assert {*PINS, *script.declared()} - {*PAGES} == set()


def test_each_wrong_figure_is_found() -> None:
    exempt = {page for page, figures in script.declared().items() if figures is None}
    found = [(page, one) for page in PAGES if page not in exempt for one in script.read(page, PAGES[page])]
    assert len(found) > 800
    for page, one in found[::7]:
        text, place = PAGES[page], one.place
        assert text.startswith(one.figure[0], place)
        wrong = f"{text[:place]}{int(text[place]) % 9 + 1}{text[place + 1 :]}"
        assert script.differences(page, wrong, PINS.get(page, [])) != [], (page, one.figure)


def test_a_changed_record_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    page = "docs/models/shared.md"
    other = {
        name: tuple(cell._replace(numbers=tuple(1.07 * value for value in cell.numbers)) for cell in script.cells(name))
        for name in {pin.record for pin in PINS[page]}
    }
    monkeypatch.setattr(script, "cells", other.__getitem__)
    assert len(script.differences(page, PAGES[page], PINS[page])) == len(PINS[page]) > 2


def test_the_examples_hold() -> None:
    assert doctest.testmod(script).failed == 0

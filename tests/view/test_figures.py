"""The figures of the documents are what the code draws today."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from xml.etree import ElementTree

import pytest

DOCS = Path(__file__).parents[2] / "docs"
DRAWN = runpy.run_path(str(DOCS / "draw.py"))["figures"]()


@pytest.mark.parametrize("name", DRAWN)
def test_figure_is_up_to_date(name):
    assert (DOCS / "figures" / name).read_bytes() == DRAWN[name].encode(), "run: python docs/draw.py"
    assert ElementTree.fromstring(DRAWN[name]).tag.endswith("svg")


def test_no_other_figures():
    assert sorted(path.name for path in (DOCS / "figures").iterdir()) == sorted(DRAWN)


def test_every_figure_is_shown():
    shown = set()
    for page in (DOCS.parent / "README.md", *DOCS.rglob("*.md")):
        for target in re.findall(r"!\[[^\]]+\]\(([^)]+\.svg)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).is_file(), f"{page.name} shows {target}"
            shown |= {Path(target).name} if (page.parent / target).parent.name == "figures" else set()
    assert shown == set(DRAWN)

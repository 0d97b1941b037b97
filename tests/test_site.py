"""The site of the documentation: sessions are shown without prompts, and each part is two clicks away."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

import spanloom

pytest.importorskip("sphinx", reason="Sphinx is not installed")

DOCS = Path(__file__).parents[1] / "docs"
PARTS = runpy.run_path(str(DOCS / "sessions.py"))["parts"]
BLOCK = re.compile(r"^```(pycon|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_sessions_are_split_into_what_is_typed_and_what_is_printed() -> None:
    python = (
        ">>> if True:  # doctest: +SKIP\n...     print('a\\n\\nb')\n...\na\n<BLANKLINE>\nb\n>>> 1\n...\n\n>>> x = 2\n"
    )
    assert PARTS(python, "pycon") == [
        (True, "if True:\n    print('a\\n\\nb')"),
        (False, "a\n\nb"),
        (True, "1\n\n\nx = 2"),
    ]
    shell = "$ spanloom view x \\\n    --limit 1\nno pain\n...\n$ ls\n"
    assert PARTS(shell, "console") == [
        (True, "spanloom view x \\\n    --limit 1"),
        (False, "no pain\n..."),
        (True, "ls"),
    ]


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: page.relative_to(DOCS).as_posix())
def test_no_page_shows_a_prompt_and_none_loses_a_line(page: Path) -> None:
    for language, source in BLOCK.findall(page.read_text(encoding="utf-8")):
        found = PARTS(source, language)
        typed = [line for is_typed, text in found if is_typed for line in text.splitlines()]
        assert not [line for line in typed if line.startswith((">>>", "$ "))]
        shown = {line.strip() for _, text in found for line in text.splitlines()} | {"", "<BLANKLINE>"}
        for line in re.sub(r" *# doctest:.*", "", source).splitlines():
            assert {line.strip(), re.sub(r"^(>>>|\.\.\.|\$) ?", "", line).strip()} & shown


def test_every_page_of_the_side_bar_is_two_clicks_from_the_first() -> None:
    contents = re.findall(r'^        "docs/([\w/-]+)",$', (DOCS / "conf.py").read_text(encoding="utf-8"), re.MULTILINE)
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (.+)$", index, re.MULTILINE)[1:] == ["Tutorials", "How to", "Reference", "Explanation"]
    linked = set(re.findall(r"\]\(([\w/-]+)\.md", index))
    within = {page: set(re.findall(r"\]\(([\w-]+)\.md", (DOCS / f"{page}.md").read_text("utf-8"))) for page in linked}
    reached = linked | {
        f"{page.rpartition('/')[0]}/{name}".strip("/") for page, names in within.items() for name in names
    }
    assert set(contents) - reached == set()


def test_the_page_of_python_has_the_public_names() -> None:
    text = (DOCS / "api.md").read_text(encoding="utf-8")
    named = re.findall(r"^\.\. auto(?:class|function|exception):: (\S+)$", text, re.MULTILINE)
    assert sorted(name for name in named if "." not in name) == sorted(set(spanloom.__all__) - {"__version__"})

"""Texts have the field's words: no idiom of the list is in pages, messages, docstrings, comments or identifiers."""

from __future__ import annotations

import ast
import re
import tokenize
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("docs", "models", "models-sa", "models-zh", "lab", "src", "tests", "benchmarks/gazetteer")
PAGES = sorted(
    [*ROOT.glob("*.md"), ROOT / "benchmarks/README.md", *(p for f in FOLDERS for p in (ROOT / f).rglob("*.md"))]
)
MODULES = [*sorted((ROOT / "src").rglob("*.py")), *sorted((ROOT / "lab" / "src").rglob("*.py"))]
SOURCES = sorted((ROOT / "src/spanloom/native").glob("*.[ch]"))
# An idiom, and what to write instead.
IDIOMS = {
    r"told": "reported, called with",
    r"whoever": "the user, a caller",
    r"nobody|somebody": "no user, unknown",
    r"anew": "again, start over",
    r"righter": "more often right",
    r"of before": "earlier",
    r"is not where it was": "moved",
    r"goes on where it": "resumes",
    r"tells?": "show, report",
    r"says?|said": "show, report, declare",
    r"stands?(?! for\b)": "is, occurs",
    r"(?:is|are) none": "there is no, invalid",
    r"(?:goes|go|went) on": "continues, resumes",
    r"unasked": "by default",
}
NAMES = frozenset(("asked", "heard", "said", "say", "says", "tell", "tells", "told", "wanted"))
# Code of examples, names of arguments, and strings that are a name.
CODE = re.compile(r"^ *(?:>>>|\.\.\.) .*$|^ *\w+:|\w+=|\A\w+\Z", re.MULTILINE)


def hits(text: str) -> Iterator[str]:
    r"""Yield each idiom of a text with its neighbours, and what to write instead; code is left out.

    >>> list(hits("It is told\nto `tell` it anew."))
    ["'It is told to  it anew.': told -> reported, called with", "'It is told to  it anew.': anew -> again, start over"]
    """
    text = re.sub(r"^ *```.*?^ *```|(`+)[^`].*?\1", "", text, flags=re.MULTILINE | re.DOTALL)
    for word, better in IDIOMS.items():
        for match in re.finditer(rf"\b(?:{word})\b", text, re.IGNORECASE):
            near = text[max(0, match.start() - 30) : match.end() + 30].replace("\n", " ")
            yield f"{near!r}: {match[0]} -> {better}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_pages_have_no_idiom(page: Path) -> None:
    assert list(hits(page.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.relative_to(ROOT).as_posix())
def test_messages_help_and_docstrings_have_no_idiom(module: Path) -> None:
    nodes = ast.walk(ast.parse(module.read_text(encoding="utf-8")))
    texts = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    assert [hit for text in texts for hit in hits(CODE.sub("", text))] == []


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.relative_to(ROOT).as_posix())
def test_comments_and_identifiers_have_no_idiom(module: Path) -> None:
    with module.open("rb") as file:
        tokens = list(tokenize.tokenize(file.readline))
    assert [hit for one in tokens if one.type == tokenize.COMMENT for hit in hits(one.string)] == []
    names = {one.string for before, one in pairwise(tokens) if one.type == tokenize.NAME and before.string != "."}
    assert [name for name in sorted(names) if NAMES & set(name.lower().split("_"))] == []


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_comments_of_kernels_have_no_idiom(source: Path) -> None:
    comments = re.findall(r"/\*.*?\*/", source.read_text(encoding="utf-8"), re.DOTALL)
    assert [hit for comment in comments for hit in hits(comment)] == []


@pytest.mark.parametrize("text", ["A user is told of it.", "Made anew.", "Whoever asks.", "Nothing stands twice."])
def test_an_idiom_is_found(text: str) -> None:
    assert len(list(hits(text))) == 1
    assert list(hits(f"`{text}`\n\n```text\n{text}\n```\n")) == []

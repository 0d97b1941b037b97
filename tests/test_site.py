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


QUESTIONS = {
    "How do I train on my brat files?": ("tutorials/own-brat-files", "spanloom train recognizer --train mine"),
    "Which model suits my data, and how much do I annotate?": ("which-model", "A few hundred annotated sentences"),
    "Do I need a graphics card?": ("which-model", "No graphics card is needed"),
    "Does it read other languages? Does it learn relations?": (
        "which-model",
        "Relations are kept in files, not learned",
    ),
    "How do I find negated problems?": ("negation", "--attributes negated"),
    "Can it remove the names of patients?": ("tasks", "De-identification"),
    "How do I link to UMLS?": ("vocabularies", "`MRCONSO.RRF`"),
    "How do I get from brat to spaCy?": ("tasks", "spanloom convert notes/dev dev.spacy"),
    "How do I replace GLiNER?": ("how-to/migrate", "-from gliner import GLiNER"),
    "How do I run it on Spark?": ("how-to/lake", "with_spark(frame, annotator)"),
    "How accurate is it?": ("results", "Figures on test data"),
    "May I use the ready models in a product?": ("models-ready", "| licence |"),
    "What does a probability of 0.8 mean?": ("how-to/calibration", "four in five are right"),
    "What does this message mean?": ("errors", "cause and remedy"),
    "How do I correct predictions by hand?": ("how-to/from-brat", "To correct predictions by hand"),
    "Is there an image for Docker?": ("how-to/containers", "docker run --rm"),
    "Does it send my text anywhere?": ("conventions", "network access or telemetry"),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_is_answered_one_click_from_the_first_page_and_two_from_the_readme(question: str) -> None:
    page, answer = QUESTIONS[question]
    assert "](docs/index.md)" in (DOCS.parent / "README.md").read_text(encoding="utf-8")
    assert f"]({page}.md)" in (DOCS / "index.md").read_text(encoding="utf-8")
    assert answer in " ".join((DOCS / f"{page}.md").read_text(encoding="utf-8").split())


def test_the_page_of_python_has_the_public_names() -> None:
    text = (DOCS / "api.md").read_text(encoding="utf-8")
    named = re.findall(r"^\.\. auto(?:class|function|exception):: (\S+)$", text, re.MULTILINE)
    assert sorted(name for name in named if "." not in name) == sorted(set(spanloom.__all__) - {"__version__"})

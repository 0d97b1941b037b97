"""Shows sessions as a reader wants to copy them: what is typed without its prompts, and below it what is printed.

The sources keep their prompts, by which the tests run them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

_SHOWN_AS = {"pycon": "python", "console": "sh"}
_FLAGS = re.compile(r"\s*# doctest:.*$", re.MULTILINE)


def parts(source: str, language: str) -> list[tuple[bool, str]]:
    """Split a session into what is typed (`True`) and what is printed, in turn, without prompts.

    >>> parts(">>> for i in (1, 2):\\n...     i\\n1\\n2\\n\\n>>> a = 3\\n", "pycon")
    [(True, 'for i in (1, 2):\\n    i'), (False, '1\\n2'), (True, 'a = 3')]
    >>> parts("$ spanloom view notes \\\\\\n    --limit 1\\nno pain\\n", "console")
    [(True, 'spanloom view notes \\\\\\n    --limit 1'), (False, 'no pain')]
    """
    lines = _python(source) if language == "pycon" else _shell(source)
    found = []
    for typed, group in groupby(lines, key=lambda line: line[0]):
        text = "\n".join(line for _, line in group).rstrip()
        text = _FLAGS.sub("", text) if typed else text.replace("<BLANKLINE>", "").lstrip("\n")
        if text.strip():
            found.append((typed, text))
    return found


def _python(source: str) -> Iterator[tuple[bool, str]]:
    typing = False
    for line in source.splitlines():
        typing = line[:4].rstrip() == ">>>" or (typing and line[:4].rstrip() == "...") or (typing and not line)
        yield typing, line[4:] if typing else line


def _shell(source: str) -> Iterator[tuple[bool, str]]:
    typing = False
    for line in source.splitlines():
        starts = line.startswith("$ ")
        typing = starts or typing
        yield typing, line[2:] if starts else line
        typing = typing and line.endswith("\\")


class Sessions(SphinxTransform):
    """Puts blocks of what is typed and of what is printed in place of each session."""

    default_priority = 400  # before the blocks are highlighted

    def apply(self, **_: object) -> None:
        """Replaces the sessions of a page, those of docstrings too."""
        for block in list(self.document.findall(nodes.literal_block)):
            if block.get("language") in _SHOWN_AS:
                block.replace_self(_session(block.astext(), block["language"]))
        for session in list(self.document.findall(nodes.doctest_block)):
            session.replace_self(_session(session.astext(), "pycon"))


def _session(source: str, language: str) -> nodes.container:
    container = nodes.container(classes=["session"])
    for typed, text in parts(source, language):
        shown = _SHOWN_AS[language] if typed else "text"
        container += nodes.literal_block(
            text, text, language=shown, force=True, classes=["typed" if typed else "printed"]
        )
    return container


def setup(app: Sphinx) -> dict[str, bool]:
    """Adds the transform."""
    app.add_transform(Sessions)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

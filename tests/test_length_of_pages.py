"""The pages of the documentation stay short: all together have no more words than now."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
LIMIT = 60_400  # words of docs/**/*.md, tables and code included


def words(text: str) -> int:
    """Count what white space separates and what has a letter or a digit, so no bars of tables.

    >>> words("| a | 2.5 |")
    2
    """
    return sum(bool(re.search(r"\w", word)) for word in text.split())


def test_all_pages_together_keep_to_the_limit() -> None:
    counts = {path: words(path.read_text(encoding="utf-8")) for path in (ROOT / "docs").rglob("*.md")}
    longest = sorted(counts, key=lambda path: counts[path], reverse=True)[:10]
    listed = ", ".join(f"{path.relative_to(ROOT).as_posix()} {counts[path]:,}" for path in longest)
    assert sum(counts.values()) <= LIMIT, (
        f"the pages have {sum(counts.values()):,} words, expected at most {LIMIT:,}; "
        f"shorten what repeats another page (longest: {listed})"
    )


def test_words_of_tables_and_code_count() -> None:
    assert words("| a | 2.5 |\n|---|---|\n| b | |\n") == 3
    assert words("```sh\nspanloom view notes\n```\n") == 4

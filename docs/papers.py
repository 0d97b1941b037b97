"""Writes the tables of docs/papers.md from the records: ``python docs/papers.py``.

What is written stands in `paper_tables`, which also says how to add to it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from paper_tables import Sentence, Table, lou_2017, lu_2015, muis_2016, muis_2017, xu_2014

PAGE = Path(__file__).parent / "papers.md"
PAPERS = (lu_2015, muis_2016, muis_2017, lou_2017, xu_2014)
TABLES: dict[str, Table] = {name: table for paper in PAPERS for name, table in paper.TABLES.items()}
SENTENCES: list[Sentence] = [sentence for paper in PAPERS for sentence in paper.SENTENCES]
CITED: frozenset[str] = frozenset(figure for paper in PAPERS for figure in paper.CITED)
_PLACE = re.compile(r"(?<=<!-- table )([\w-]+)( -->\n)((?:\n?\|.*\n)*)")
_FIGURE = re.compile(r"\d[\d,]*\.\d+|\d{1,3}(?:,\d{3})+|\d+ %")


def written(page: str, tables: Mapping[str, Table]) -> str:
    """The page with its tables written anew.

    Raises:
        LookupError: a table that the page does not have, or the other way round.
    """
    names = [match[1] for match in _PLACE.finditer(page)]
    if sorted(names) != sorted(tables):
        raise LookupError(f"tables of the page and of the modules differ: {sorted(set(names) ^ set(tables))}")
    return _PLACE.sub(lambda match: f"{match[1]}{match[2]}\n{tables[match[1]].markdown()}\n", page)


def undeclared(page: str) -> tuple[list[str], list[str]]:
    """Sentences that the page does not have, and figures of its text that no sentence declares."""
    lines = (line for line in page.splitlines() if not line.startswith("|"))
    text = " ".join(" ".join(lines).split())
    missing = [str(sentence) for sentence in SENTENCES if str(sentence) not in text]
    for sentence in map(str, SENTENCES):
        text = text.replace(sentence, " ")
    return missing, [figure for figure in _FIGURE.findall(text) if figure not in CITED]


def main() -> None:
    """Write the tables, and say what the text lacks."""
    page = written(PAGE.read_text(encoding="utf-8"), TABLES)
    PAGE.write_text(page, encoding="utf-8")
    missing, unknown = undeclared(page)
    for sentence in missing:
        print(f"not in the page: {sentence}")
    for figure in unknown:
        print(f"in the page, but in no sentence: {figure}")


if __name__ == "__main__":
    main()

"""Messages about long or strange identifiers, types and texts: one line that a person can read, in Python, too."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from spanloom.document import Document, Mention, align
from spanloom.errors import LONGEST, DataError, SpanloomError, UsageError, clip, one_line
from spanloom.features.template import parse
from spanloom.formats import validate, write

LONG = "name\r\x1b[31m\u202e" * 1000
MOST = 400  # characters of a message that names two values


def mention(**fields: object) -> str:
    return json.dumps({"text": "pain", "mentions": [{"type": "x", "spans": [[0, 4]], **fields}] * 2})


FILES: dict[str, tuple[str, str]] = {
    "identifier twice": ("jsonl", mention(id=LONG)),
    "type twice": ("jsonl", mention(type=LONG)),
    "text": ("jsonl", mention(text=LONG)),
    "field twice": ("jsonl", f'{{"text": "a", "{"k" * 9000}": 1, "{"k" * 9000}": 2}}'),
    "identifier": ("jsonl", json.dumps({"text": "a", "id": LONG}) + "\n" + json.dumps({"text": "a", "id": LONG})),
    "column": ("jsonl", json.dumps({"text": "a", "tokens": [[0, 1]], "columns": {LONG: []}})),
    "brat": ("ann", f"T{'1' * 9000}\tx 0 9\tpain\nT{'1' * 9000}\tx 0 9\tpain\nA1\tx T{'2' * 9000}\n"),
    "columns": ("conll", f"# global.columns = word {'name ' * 3000}\npain\n"),
    "CoNLL-U": ("conllu", f"# global.columns = ID FORM {' '.join(f'c{i}' for i in range(3000))}\n1\tpain\n"),
    "PubTator": ("pubtator", f"{'1' * 9000}|t|pain\n{'2' * 9000}|a|\n"),
    "BioC": ("xml", f"<collection><document><id>{'1' * 9000}</id><{'p' * 9000}/></document></collection>"),
    "BioC JSON": ("json", json.dumps({"documents": [{"id": "1" * 9000, "passages": [{"offset": LONG}]}]})),
}


@pytest.mark.parametrize("case", FILES)
def test_problems_of_files(case: str, tmp_path: Path) -> None:
    ending, content = FILES[case]
    path = tmp_path / f"a.{ending}"
    path.write_text(content, encoding="utf-8")
    if ending == "ann":
        path.with_suffix(".txt").write_text("pain", encoding="utf-8")
    problems = list(validate(path))
    assert problems
    for problem in problems:
        for text in (problem.message, problem.place, str(problem.to_error())):
            assert text.isprintable()
            assert len(text.removeprefix(str(path))) < MOST


RAISED: dict[str, tuple[type[SpanloomError], Callable[[Path], object]]] = {
    "no tokens": (DataError, lambda _: align(Document("pain", id=LONG))),
    "no span": (DataError, lambda _: Mention(LONG, ())),
    "template": (UsageError, lambda _: parse("w[0]" * 3000)),
    "brat type": (
        DataError,
        lambda path: write([Document("a", LONG, mentions=[Mention(LONG, [(0, 1)])])], path / "o", "brat"),
    ),
}


@pytest.mark.parametrize("case", RAISED)
def test_errors(case: str, tmp_path: Path) -> None:
    kind, act = RAISED[case]
    with pytest.raises(kind) as raised:
        act(tmp_path)
    assert str(raised.value).isprintable()
    assert len(str(raised.value)) < MOST


def test_a_message_keeps_its_beginning_and_its_end() -> None:
    shown = one_line(f"found {'a' * 9000}, expected a number")
    assert shown.startswith("found aaa")
    assert shown.endswith("aaa, expected a number")
    assert len(shown) == LONGEST
    assert str(SpanloomError("a\nb")) == "a\\nb"
    assert DataError("a\tb", path="c\rd", line=1).message == "a\\tb"
    assert str(DataError("a", path="c\rd", line=1)) == "c\\rd:1: a"
    assert clip("\ud800") == "'\\ud800'"

"""A line end between two parts of a mention is no gap, in whatever format the parts are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spanloom import read
from spanloom.document.align import align
from spanloom.text import prepare

TEXT = "Came with chest\n  pain today."
SPANS = [[10, 15], [18, 22]]
BIOC = {
    "documents": [
        {
            "id": "1",
            "passages": [
                {
                    "offset": 0,
                    "text": TEXT,
                    "annotations": [
                        {
                            "id": "T1",
                            "infons": {"type": "x"},
                            "text": "chest pain",
                            "locations": [{"offset": start, "length": end - start} for start, end in SPANS],
                        }
                    ],
                }
            ],
        }
    ]
}
FILES = {
    "a.jsonl": json.dumps({"text": TEXT, "mentions": [{"type": "x", "spans": SPANS}]}),
    "a.json": json.dumps([{"text": TEXT, "mentions": [{"type": "x", "spans": SPANS}]}]),
    "b.json": json.dumps(BIOC),
    "a.ann": "T1\tx 10 15;18 22\tchest pain\n",
}


@pytest.mark.parametrize("name", FILES)
def test_parts_on_two_lines_are_one(tmp_path: Path, name: str) -> None:
    (tmp_path / "a.txt").write_text(TEXT)
    (tmp_path / name).write_text(FILES[name])
    (document,) = read(tmp_path / name)
    (mention,) = document.mentions
    assert [tuple(span) for span in mention.spans] == [(10, 22)]
    ready = prepare(document)
    assert align(ready)[0].sentence == 0


def test_parts_on_one_line_stay_apart(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(
        json.dumps({"text": "chest  pain", "mentions": [{"type": "x", "spans": [[0, 5], [7, 11]]}]})
    )
    (document,) = read(tmp_path / "a.jsonl")
    assert len(document.mentions[0].spans) == 2

"""The history of a store: who did what, in the order of the actions, as a table."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from spanloom import Document, Mention
from spanloom.annotate import import_documents
from spanloom.annotate.api import Workplace
from spanloom.annotate.history import events, what
from spanloom.cli.app import app
from spanloom.formats.store import Store
from spanloom.serve import Limits

TEXT = "=1+1 chest pain."
PAIN: dict[str, Any] = {"type": "problem", "spans": [[5, 15]]}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("history") / "a.store"
    base = Document(TEXT, "a", mentions=[Mention("drug", [(0, 4)])])
    with Store(found, write=True, create=True) as store:
        import_documents(store, [base, Document("Pain.", "b")])
        # the clock was wrong, and was set back afterwards
        row = (1, 1, "ann", "ann", "2999-01-01T00:00:00+00:00", "add", json.dumps({"m:1": PAIN}))
        store.connection.execute("INSERT INTO actions VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        given = {"attributes": {"negated": True}, "concepts": ["D1"]}
        store.append(1, "ann", "bea", "change", {"m:1": {**PAIN, **given, "type": "sign", "spans": [[5, 10]]}})
        store.append(2, "ann", "ann", "finish", {"s:0-5": "finished", "d": "finished"})
        store.append(1, "bea", "bea", "reject", {"r:sign|5-10": {"type": "sign", "spans": [[5, 10]], "score": 0.3}})
        store.append(1, "ann", "ann", "remove", {"m:b0": None})
        store.append(1, "ann", "ann", "undo", {})
        store.append(1, "ann", "ann", "undo", {})
        store.append(2, "ann", "ann", "reopen", {"d": None})
        store.append(1, "ann", "ann", "accept", {"m:#": {**PAIN, "type": "sure", "score": 0.934}})
    return found


EXPECTED = [
    (1, "ann", "a", "add", "marked problem", "chest pain"),
    (2, "bea", "a", "change", "type problem → sign; characters 5–15 → 5–10; negated: yes; concepts: D1", "chest"),
    (3, "ann", "b", "finish", "sentence finished", "Pain."),
    (3, "ann", "b", "finish", "document finished", ""),
    (4, "bea", "a", "reject", "rejected as sign", "chest"),
    (5, "ann", "a", "remove", "removed drug", "=1+1"),
    (6, "ann", "a", "undo", "marked drug", "=1+1"),
    (7, "ann", "a", "undo", "type sign → problem; characters 5–10 → 5–15; negated: none; concepts: none", "chest pain"),
    (8, "ann", "b", "reopen", "document no longer finished", ""),
    (9, "ann", "a", "accept", "marked sure at 93 %", "chest pain"),
]


def test_who_did_what_in_the_order_of_the_actions(path: Path) -> None:
    with Store(path) as store:
        found = [(one.number, one.author, one.document, one.kind, what(one), one.text) for one in events(store)]
        assert found == EXPECTED
        assert [one.number for one in events(store, 1, "ann")] == [1, 2, 5, 6, 7, 9]


def test_tables(path: Path, tmp_path: Path) -> None:
    def run(*arguments: object) -> tuple[int, str, str]:
        done = CliRunner().invoke(app, ["annotate", str(path), *map(str, arguments)])
        return done.exit_code, done.stdout, done.stderr

    assert run("--history", tmp_path / "a.csv")[0] == 0
    with (tmp_path / "a.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    names = ("author", "document", "kind", "what")
    assert [(int(row["number"]), *(row[name] for name in names)) for row in rows] == [one[:-1] for one in EXPECTED]
    assert rows[5]["text"] == "'=1+1" and rows[0]["spans"] == "5-15"  # no formula in a spreadsheet
    assert run("--history", tmp_path / "a.json", "--layer", "bea")[0] == 0
    [only] = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert only["after"]["score"] == 0.3 and only["what"] == "rejected as sign"
    assert len(json.loads(run("--history", "-", "--json")[1])) == len(EXPECTED)
    code, _, problem = run("--history", "-", "--json", "--layer", "nemo")
    assert code == 2 and "nemo" in problem
    assert run("--history", "-")[1] == (tmp_path / "a.csv").read_text(encoding="utf-8")
    code, _, problem = run("--history", tmp_path / "a.txt")
    assert code == 2 and "expected a name that ends in .csv or .json" in problem
    code, _, problem = run("--history", tmp_path / "a.csv")
    assert code == 2 and "--force" in problem


def test_answers_hold_whole_actions(tmp_path: Path) -> None:
    with Store(tmp_path / "a.store", write=True, create=True) as store:
        import_documents(store, [Document("word " * 400, "a")])
        for number in range(150):
            spans = [[[5 * place, 5 * place + 4]] for place in (number, number + 200)]
            values = {f"m:#.{i}": {"type": "x", "spans": one} for i, one in enumerate(spans)}
            store.append(1, "ann", "ann", "add", values)
        workplace = Workplace(store, annotator="ann", limits=Limits())
        first = json.loads(bytes(workplace.history(1, "ann").body))
        assert [one["number"] for one in first["events"]][::2] == [*range(150, 50, -1)] and first["more"]
        rest = json.loads(bytes(workplace.history(1, "ann", 51).body))
        assert [one["number"] for one in rest["events"]][1::2] == [*range(50, 0, -1)] and not rest["more"]


def test_a_newer_store_is_one_message(tmp_path: Path) -> None:
    with Store(tmp_path / "a.store", write=True, create=True) as store:
        store.connection.execute("PRAGMA user_version = 99")
    done = CliRunner().invoke(app, ["annotate", str(tmp_path / "a.store"), "--port", "0"])
    assert done.exit_code == 1 and done.stderr.count("\n") == 1 and "update Spanloom" in done.stderr

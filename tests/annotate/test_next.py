"""What to annotate next, and the verbs `annotate` and `next` without a server."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from spanloom import Document, Mention, Recognizer, read, write
from spanloom.annotate import import_documents
from spanloom.annotate.ranking import ORDERS, Order, ranked
from spanloom.cli.app import app
from spanloom.data import clinical
from spanloom.errors import UsageError
from spanloom.formats.store import ADJUDICATED, Store
from spanloom.text import prepare

TEXT = "No chest pain, or fever."


@pytest.fixture(scope="module")
def model() -> Recognizer:
    return Recognizer("shared", features="fast", rate=0.3, l2=1, epochs=3, rescore=False, attributes="off").fit(
        list(read(clinical() / "train"))[:20]
    )


@pytest.fixture(scope="module")
def texts() -> list[Document]:
    notes = [document.copy(mentions=[]) for document in list(read(clinical() / "train"))[:12]]
    return [*notes, notes[0].copy(id="twin"), Document("", "empty")]


def test_values_are_those_of_single_documents(model: Recognizer, texts: list[Document]) -> None:
    ready = [prepare(one) for one in texts]
    values: dict[Order, list[float]] = {
        "entropy": [float(model.entropy(one).sum()) / max(one.token_count, 1) for one in ready],
        "errors": [
            sum(1 - (one.score or 0) for one in found.mentions) + sum(one.score or 0 for one in others.mentions)
            for found, others in ((model.predict(one), next(iter(model.alternatives(one)))) for one in ready)
        ],
    }
    seconds = [3 + 0.4 * max(one.token_count, 1) for one in ready]
    values["gain"] = [value / time for value, time in zip(values["errors"], seconds, strict=True)]
    for order, expected in values.items():
        chosen = ranked(texts, model, 5, by=order, share=0)
        assert chosen[0].number == int(np.argmax(expected))
        assert [one.value for one in chosen] == pytest.approx([expected[one.number] for one in chosen], abs=1e-5)


@pytest.mark.parametrize("order", ORDERS)
def test_a_share_is_random_and_no_document_comes_twice(model: Recognizer, texts: list[Document], order: Order) -> None:
    chosen = ranked(texts, model, 10, by=order, share=0.3, seed=1)
    assert len({one.number for one in chosen}) == 10
    assert sum(one.random for one in chosen) == (10 if order == "random" else 3)
    assert chosen == ranked(texts, model, 10, by=order, share=0.3, seed=1)
    assert len(ranked(texts, model, 100, by=order)) == len(texts)


def test_a_twin_comes_late(model: Recognizer, texts: list[Document]) -> None:
    numbers = [one.number for one in ranked(texts, model, len(texts), by="entropy", share=0)]
    assert max(numbers.index(0), numbers.index(12)) >= len(texts) - 2  # before or after the empty one


def test_what_an_order_needs(texts: list[Document]) -> None:
    with pytest.raises(UsageError, match="the order gain needs a model"):
        ranked(texts, None, 3)
    assert len(ranked(texts, None, 3, by="random")) == 3


def test_the_verb_next_leaves_out_what_is_finished(tmp_path: Path, model: Recognizer, texts: list[Document]) -> None:
    model.save(tmp_path / "model")
    with Store(tmp_path / "a.store", write=True, create=True) as store:
        import_documents(store, texts[:6])
        for number in (1, 2):
            store.append(number, "ann", "ann", "finish", {"d": "finished"})
    out = tmp_path / "next.jsonl"
    arguments = ["next", tmp_path / "a.store", "--model", tmp_path / "model", "-n", "3", "--output", out]
    done = CliRunner().invoke(app, [*map(str, arguments), "--random-share", "0.34"])
    assert done.exit_code == 0 and "3 documents of 4 that are not finished, 1 of them at random" in done.stderr
    found = list(read(out))
    assert not {one.id for one in found} & {texts[0].id, texts[1].id}
    assert sorted(one.meta["next"]["random"] for one in found) == [False, False, True]
    done = CliRunner().invoke(app, ["next", str(tmp_path / "a.store"), "--order", "best"])
    assert done.exit_code == 2 and "--order is 'best', expected one of: gain, entropy, errors, random" in done.stderr


def test_export_and_agreement_of_the_verb_annotate(tmp_path: Path, model: Recognizer) -> None:
    path = tmp_path / "a.store"
    with Store(path, write=True, create=True) as store:
        import_documents(store, [Document(TEXT, "a")])
        for layer, spans in (("ann", [[3, 13]]), ("bea", [[3, 8], [18, 23]]), (ADJUDICATED, [[3, 13]])):
            store.append(1, layer, layer, "add", {"m:#": {"type": "problem", "spans": spans}})

    def run(*arguments: object) -> tuple[int, str, str]:
        done = CliRunner().invoke(app, ["annotate", str(path), *map(str, arguments)])
        return done.exit_code, done.stdout, done.stderr

    assert run("--export", tmp_path / "out.jsonl")[0] == 0
    assert [one.meta["annotator"] for one in read(tmp_path / "out.jsonl")] == [ADJUDICATED]
    assert run("--export", tmp_path / "brat", "--format", "brat", "--layer", "bea")[0] == 0
    [document] = read(tmp_path / "brat")
    assert document.mentions[0].spans == ((3, 8), (18, 23))
    code, shown, _ = run("--agreement")
    assert code == 0 and ["ann", "bea", "1", "1", "1", "0", "0.0"] in [line.split()[:7] for line in shown.splitlines()]
    rows = json.loads(run("--agreement", "--json")[1])
    assert [(one["first"], one["second"]) for one in rows] == [
        (ADJUDICATED, "ann"),
        (ADJUDICATED, "bea"),
        ("ann", "bea"),
    ]
    assert rows[0]["corrected"] == 1
    model.save(tmp_path / "model")
    code, _, told = run("--export", tmp_path / "x.jsonl", "--model", tmp_path / "model")
    assert code == 2 and "--model has an effect only for the page" in told
    for option in ("--learn", "--vocabulary", "--type", "--output", "--annotator", "--host"):
        code, _, told = run("--export", tmp_path / "x.jsonl", option, "x")
        assert code == 2 and f"{option} has an effect only for the page" in told
    assert not (tmp_path / "x.jsonl").exists()
    assert "--layer has an effect only with --export or --history" in run("--agreement", "--layer", "ann")[2]
    assert "--format has an effect only with --export" in run("--history", "-", "--format", "brat")[2]
    code, _, told = run("--output", tmp_path / "b.store")
    assert code == 2 and "is a store already; leave out --output" in told
    write([Document(TEXT, "a", mentions=[Mention("x", [(0, 2)])])], tmp_path / "a.jsonl")
    done = CliRunner().invoke(app, ["annotate", str(tmp_path / "a.jsonl")])
    assert done.exit_code == 2 and "--output is missing" in done.stderr


def test_what_needs_no_server_needs_not_its_libraries(tmp_path: Path) -> None:
    with Store(tmp_path / "a.store", write=True, create=True) as store:
        import_documents(store, [Document(TEXT, "a"), Document(TEXT, "b")])
        for layer in ("ann", "bea"):
            store.append(1, layer, layer, "add", {"m:#": {"type": "problem", "spans": [[3, 13]]}})
    code = (
        "import sys\nfor name in ('fastapi', 'h11', 'starlette', 'uvicorn'):\n    sys.modules[name] = None\n"
        "from spanloom.cli import main\nmain(sys.argv[1:])"
    )
    for arguments, there in (
        (["annotate", "a.store", "--export", "-", "--layer", "ann"], '"type":"problem"'),
        (["annotate", "a.store", "--history", "-"], "marked problem"),
        (["annotate", "a.store", "--agreement"], "ann bea"),
        (["next", "a.store", "--order", "random", "-n", "1", "--output", "-"], '"next"'),
    ):
        line = [sys.executable, "-c", code, *arguments]
        done = subprocess.run(line, capture_output=True, encoding="utf-8", check=False, cwd=tmp_path)
        assert done.returncode == 0 and there in done.stdout, done

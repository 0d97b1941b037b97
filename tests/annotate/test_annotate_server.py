"""The server of the page: nothing is lost when it is killed, and what it refuses is one clear message."""

from __future__ import annotations

import asyncio
import json
import random
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import httpx
import numpy as np
import pytest
from annotate_helpers import Running, running

from spanloom import Document, Mention, read, write
from spanloom.annotate import import_documents
from spanloom.annotate.api import Workplace, make_app
from spanloom.formats.store import State, Store
from spanloom.serve import Limits

TEXT = "The left ventricle is mildly dilated. No chest pain, or fever."


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("store") / "a.store"


@pytest.fixture(scope="module")
def server(store: Path) -> Iterator[Running]:
    notes = store.with_name("notes.jsonl")
    write([Document(TEXT, str(number)) for number in range(30)], notes)
    with running(notes, output=str(store), types=["problem"]) as found:
        yield found


def mention(start: int, end: int, type: str = "problem", **more: Any) -> dict[str, Any]:
    return {"type": type, "spans": [[start, end]], **more}


@pytest.mark.parametrize("count", [10, 30])
def test_kills_lose_nothing_that_was_answered(tmp_path: Path, count: int) -> None:
    text = " ".join(f"w{number}" for number in range(100 * count))
    write([Document(text, "a")], tmp_path / "a.jsonl")
    store, draw, answered = tmp_path / "a.store", random.Random(count), dict[str, Any]()
    place = 0
    given: dict[str, Any] = {"data": tmp_path / "a.jsonl", "output": str(store)}
    for _ in range(count):
        with running(**given) as server:
            version = server.client.get("api/document?number=1&layer=ann").json()["version"]
            timer = threading.Timer(draw.uniform(0, 0.02), server.kill)
            before = draw.randint(1, 8)
            try:
                while True:
                    before -= 1
                    if not before:
                        timer.start()
                    value = mention(place, place + 2)
                    place += 3
                    answer = server.act(1, version, "add", changes={"m:#": value}).json()
                    version = answer["version"]
                    answered |= answer["changes"]
            except httpx.TransportError:
                pass
            timer.join()
        given = {"data": store}
        with Store(store) as kept:
            values = kept.state(1, "ann").values
            assert answered.items() <= values.items()
            assert len(values) <= len(answered) + count  # at most the one that was not answered
            assert kept.connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            assert [one.kind for one in kept.actions(1, "ann")] == ["add"] * len(values)
    assert len(answered) > 2 * count


def test_two_annotators_at_once(server: Running) -> None:
    def work(layer: str, type: str) -> None:
        version = 0
        for place in range(0, 60, 2):
            answer = server.act(1, version, "add", layer, changes={"m:#": mention(place, place + 2, type)})
            assert answer.status_code in (200, 422), answer.text  # the latter for white space, or twice the same
            version = answer.json().get("version", version)

    threads = [threading.Thread(target=work, args=(name, name.upper())) for name in ("eve", "fay")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    values = {name: state(server, 1, name)["values"] for name in ("eve", "fay")}
    assert len(values["eve"]) == len(values["fay"]) > 20
    assert {one["type"] for one in values["eve"].values()} == {"EVE"}
    rows = server.client.get("api/agreement").json()
    [row] = [one for one in rows if {one["first"], one["second"]} == {"eve", "fay"}]
    assert row["f1"] == 0 and row["mentions"] == [len(values["eve"])] * 2


def state(server: Running, number: int, layer: str = "ann") -> dict[str, Any]:
    found: dict[str, Any] = server.client.get(f"api/document?number={number}&layer={layer}").json()
    return found


def test_the_second_tab_is_refused_in_one_message(server: Running) -> None:
    assert server.act(2, 0, "add", changes={"m:#": mention(0, 3)}).status_code == 200
    late = server.act(2, 0, "add", changes={"m:#": mention(4, 8)})
    assert late.status_code == 409 and "changed in another tab" in late.json()["error"]
    assert len(state(server, 2)["values"]) == 1


def test_spans_are_put_in_order_and_line_ends_are_no_gaps(server: Running) -> None:
    value = {"type": "problem", "spans": [[29, 36], [4, 9], [9, 18], [6, 12]]}
    [made] = server.act(3, 0, "add", changes={"m:#": value}).json()["changes"].values()
    assert made["spans"] == [[4, 18], [29, 36]]
    added = server.act(3, state(server, 3)["version"], "add", changes={"m:#": mention(37, 41)})
    [made] = added.json()["changes"].values()
    assert made["spans"] == [[38, 40]]  # without white space at its ends


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ({"changes": {"m:#": mention(0, 999)}}, 422, "outside the text, which has 62"),
        ({"changes": {"m:#": mention(3, 4)}}, 422, "only white space is selected"),
        ({"changes": {"m:#": mention(0, 3, "")}}, 422, "the type is '', expected 1 to 100 characters"),
        ({"changes": {"m:#": mention(0, 3, "a\nb")}}, 422, "expected 1 to 100 characters in one line"),
        ({"changes": {"m:#": "finished"}}, 422, "no key of such a value"),
        ({"changes": {"x": None}}, 422, "no key of such a value"),
        ({"changes": {}}, 422, "changes nothing"),
        ({"kind": "undo"}, 422, "nothing to undo"),
        ({"kind": "drop table"}, 422, "kind is 'drop table'"),
        ({"document": 999, "changes": {"d": "finished"}}, 404, "no document of number 999"),
        ({"extra": 1}, 422, "extra"),
        ({"document": 10**30, "changes": {"d": "finished"}}, 422, "document is '1000"),
        (
            {"changes": {"s:99-5": "finished"}},
            422,
            "the key is 's:99-5', expected the ends of a sentence, such as s:0-37",
        ),
        ({"changes": {"s:0-5": "finished"}}, 422, "expected the ends of a sentence"),
        ({"changes": {"m:#": mention(0, 3, head=[0, 10**30])}}, 422, "head"),
        ({"changes": {"m:#": mention(0, 3, concept_scores=[0.5])}}, 422, "concept_scores"),
    ],
)
def test_what_is_no_action(server: Running, body: dict[str, Any], status: int, message: str) -> None:
    whole = {"document": 4, "layer": "ann", "author": "ann", "version": 0, "kind": "add", "changes": {}, **body}
    answer = server.client.post("api/act", json=whole)
    assert (answer.status_code, message in answer.json()["error"]) == (status, True), answer.text
    assert state(server, 4)["version"] == 0


def test_numbers_that_are_too_large_are_refused(server: Running) -> None:
    for path in (f"document?number={10**30}&layer=ann", f"history?number=1&layer=ann&before={10**30}"):
        assert server.client.get(f"api/{path}").status_code == 422
    for start in (-1, 10**30):
        answer = server.client.post("api/position", json={"document": 1, "layer": "ann", "start": start})
        assert answer.status_code == 422 and answer.json()["error"].startswith(f"start is '{start}'")


def test_what_was_imported_is_edited(tmp_path: Path) -> None:
    text = "ab " * 400
    twice = Mention("problem", [(0, 2)])
    parts = Mention("a  type\nof " + "words " * 30, [(6 * place, 6 * place + 2) for place in range(150)])
    long = Mention("x", [(3, 5)], "T" * 300, concepts=["C" * 300] * 60, attributes={"a\nb": "v" * 2_000})
    notes = [{"type": "x", "spans": [[3, 5]], "note": "n" * 6_000}]
    write([Document(text, "a", mentions=[twice, twice, long, parts], meta={"notes": notes})], tmp_path / "a.jsonl")
    with running(tmp_path / "a.jsonl", output=str(tmp_path / "a.store")) as server:
        for key, value in state(server, 1)["values"].items():
            changed = {**value, "attributes": {"seen": True}}
            answer = server.act(1, state(server, 1)["version"], "change", changes={key: changed})
            assert answer.status_code == 200 and answer.json()["changes"][key] == changed, answer.text
            answer = server.act(1, state(server, 1)["version"], "reject", changes={"r:#": value})
            assert answer.status_code == 200, answer.text
    [document] = read(tmp_path / "a.store")
    assert [one.attributes for one in document.mentions] == [{"seen": True}] * 4


def test_a_mention_is_marked_once_and_a_rejected_one_may_be_marked(server: Running) -> None:
    key = "r:problem|41-51"
    version = server.act(5, 0, "reject", changes={key: mention(41, 51, score=0.5)}).json()["version"]
    answer = server.act(5, version, "add", changes={"m:#": mention(41, 51)}).json()
    assert answer["changes"][key] is None
    again = server.act(5, answer["version"], "add", changes={"m:#": mention(41, 51)})
    assert again.status_code == 422 and "marked already" in again.json()["error"]


def test_other_sites_are_refused(server: Running) -> None:
    body = {
        "document": 6,
        "layer": "ann",
        "author": "ann",
        "version": 0,
        "kind": "finish",
        "changes": {"d": "finished"},
    }
    for headers in ({"Origin": "http://evil.example"}, {"Origin": "null"}, {"Host": "evil.example"}):
        answer = server.client.post("api/act", json=body, headers=headers)
        assert answer.status_code == 403 and re.search("Origin|Host", answer.json()["error"])
        assert server.client.get("api/document?number=6&layer=ann", headers=headers).status_code == 403
    plain = server.client.post("api/act", content=str(body), headers={"Content-Type": "text/plain"})
    assert plain.status_code == 415
    large = server.client.post("api/act", json={"x": "a" * 5_000_000})
    assert large.status_code == 413 and "larger than" in large.json()["error"]
    assert state(server, 6)["version"] == 0
    page = server.client.get("")
    assert "default-src 'none'" in page.text and page.headers["x-frame-options"] == "DENY"
    assert "http://" not in page.text.replace("http://www.w3.org/", "") and "https://" not in page.text


def test_an_export_while_the_server_runs(server: Running, store: Path) -> None:
    server.act(7, state(server, 7)["version"], "add", changes={"m:#": mention(41, 51)})
    place = state(server, 7)["id"]
    marked = {one.id: one.mentions for one in read(store, layer="ann")}
    assert marked[place] == [Mention("problem", [(41, 51)])]


def test_a_search_without_a_vocabulary_and_a_model_that_is_not_there(server: Running) -> None:
    for path, message in (
        ("concepts?text=pain", "no vocabulary; start with --vocabulary"),
        ("suggestions?number=1&layer=ann&part=0", "start with --model"),
    ):
        answer = server.client.get(f"api/{path}")
        assert answer.status_code == 404 and message in answer.json()["error"]


def test_a_new_annotator_opens_a_store_without_a_replay_of_each_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    complete = Document(TEXT, "z", mentions=[Mention("sign", [(0, 3)])], meta={"annotation": "complete"})
    with Store(tmp_path / "a.store", write=True, create=True) as store:
        import_documents(store, [*(Document(TEXT, str(number)) for number in range(20)), complete])
        store.append(1, "ann", "ann", "finish", {"d": "finished"})
        replayed, state_of = list[int](), store.state

        def replay(number: int, layer: str) -> State:
            replayed.append(number)
            return state_of(number, layer)

        monkeypatch.setattr(store, "state", replay)
        workplace = Workplace(store, annotator="ann", limits=Limits())

        def opened(layer: str) -> tuple[list[str], list[str]]:
            found = json.loads(bytes(asyncio.run(workplace.store(layer)).body))
            return [one["id"] for one in found["documents"] if one["state"] == "finished"], found["types"]

        assert opened("new") == (["z"], ["sign"]) and replayed == []
        assert opened("ann") == (["0", "z"], ["sign"]) and replayed == [1]
        assert opened("adjudicated") == ([], ["sign"])
        store.append(21, "new", "new", "reopen", {"d": None, "m:#": mention(0, 3, "drug")})
        assert opened("new") == ([], ["drug", "sign"])


def test_many_names_in_the_search(tmp_path: Path) -> None:
    write([Document(TEXT, "a")], tmp_path / "a.jsonl")
    names = "".join(f"D{number}\tpain number {number}\n" for number in range(5_000))
    (tmp_path / "names.tsv").write_text("id\tname\n" + names)
    with running(tmp_path / "a.jsonl", output=str(tmp_path / "a.store"), vocabulary=str(tmp_path / "names.tsv")) as one:
        found = one.client.get("api/concepts", params={"text": "pain number 77"}).json()
        assert 0 < len(found) <= 20 and found[0] == {"id": "D77", "name": "pain number 77"}
        assert one.client.get("api/concepts", params={"text": " "}).json() == []
        long = one.client.get("api/concepts", params={"text": "pain\n" * 500})
        assert long.status_code == 422 and "at most 200 are looked up; shorten it" in long.json()["error"]


def test_a_long_search_does_not_delay_actions(tmp_path: Path) -> None:
    """The search waits for an action that comes later: if it held up the server, both would wait in vain."""
    acted, waited = threading.Event(), list[bool]()

    class Slow:
        vocabulary: tuple[()] = ()

        def find(self, texts: list[str]) -> SimpleNamespace:
            waited.append(acted.wait(10))
            return SimpleNamespace(concept=np.zeros(0, np.int64))

    async def session(store: Store) -> list[httpx.Response]:
        app = make_app(Workplace(store, annotator="ann", finder=cast(Any, Slow()), limits=Limits()), "a.store")
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
            search = asyncio.create_task(client.get("/api/concepts", params={"text": "pain"}))
            await asyncio.sleep(0.1)
            body = {"document": 1, "layer": "ann", "author": "ann", "version": 0, "kind": "add"}
            action = await client.post("/api/act", json={**body, "changes": {"m:#": mention(3, 7)}})
            acted.set()
            return [action, await search]

    with Store(tmp_path / "a.store", write=True, create=True) as store:
        import_documents(store, [Document("The left ventricle", "a")])
        answers = asyncio.run(session(store))
    assert [one.status_code for one in answers] == [200, 200] and waited == [True]


def test_a_changed_document_is_reported_at_the_start(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text(TEXT)
    store = tmp_path / "a.store"
    with running(tmp_path / "notes", output=str(store), quiet=False) as one:
        assert not state(one, 1)["changed"]
    (tmp_path / "notes" / "a.txt").write_text(TEXT + " More.")
    with running(store, quiet=False) as one:
        assert state(one, 1)["changed"] and state(one, 1)["text"] == TEXT
    assert "1 document changed on disk since the import: a; the store keeps the text" in capfd.readouterr().err


def test_a_full_disk_is_one_message_and_the_step_can_be_repeated(tmp_path: Path) -> None:
    async def session(store: Store) -> list[httpx.Response]:
        app = make_app(Workplace(store, annotator="ann", limits=Limits()), "a.store")
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:

            async def note(text: str) -> httpx.Response:
                version = store.state(1, "ann").version
                value = mention(version % 20, version % 20 + 2, note=text)
                body = {"document": 1, "layer": "ann", "author": "ann", "version": version, "kind": "add"}
                return await client.post("/api/act", json={**body, "changes": {"m:#": value}})

            [pages] = store.connection.execute("PRAGMA page_count").fetchone()
            store.connection.execute(f"PRAGMA max_page_count = {pages}")
            refused = [await note("x" * 4000) for _ in range(3)]
            store.connection.execute(f"PRAGMA max_page_count = {pages + 100}")
            return [*refused, await note("x" * 4000)]

    with Store(tmp_path / "a.store", write=True, create=True) as store:
        import_documents(store, [Document("word " * 20, "a")])
        *refused, last = asyncio.run(session(store))
    assert [one.status_code for one in refused][-1] == 507
    assert "free some space, and repeat the last step" in refused[-1].json()["error"]
    assert last.status_code == 200

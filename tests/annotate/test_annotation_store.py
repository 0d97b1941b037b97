"""Stores: actions are only added, replayed, undone, and read as documents; agreement of their layers."""

from __future__ import annotations

import itertools
import json
import random
import resource
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from spanloom import Document, Mention, Recognizer, read, write
from spanloom.annotate import agreement, import_documents
from spanloom.cli import annotate
from spanloom.cli.data_verbs import Annotate
from spanloom.cli.messages import Messages
from spanloom.cli.reading import Reading
from spanloom.data import clinical
from spanloom.errors import DataError, DataWarning, SpanloomError, UsageError
from spanloom.formats import store as stores
from spanloom.formats import to_record, validate
from spanloom.formats.store import ADJUDICATED, Stale, State, Store, values_of
from spanloom.recognize.source import whole_annotation
from spanloom.serve import Limits
from spanloom.serve.answers import suggest
from spanloom.serve.served import served
from spanloom.text import prepare

TEXT = "The left ventricle is mildly dilated. No chest pain."
GAP = {"type": "problem", "spans": [[4, 18], [29, 36]]}
PAIN = {"type": "problem", "spans": [[41, 51]]}


def make(path: Path, *documents: Document) -> Store:
    store = Store(path, write=True, create=True)
    import_documents(store, documents or [Document(TEXT, "a")])
    return store


def test_notes_on_mentions_are_exported_and_imported(tmp_path: Path) -> None:
    with make(tmp_path / "a.store") as store:
        store.append(1, "ann", "ann", "add", {"m:#": GAP | {"note": "which\nvalve?"}})
        store.append(1, "ann", "ann", "add", {"m:#": PAIN})
    losses = write(read(tmp_path / "a.store"), tmp_path / "brat", format="brat")
    assert "#1\tAnnotatorNotes T1\twhich valve?" in (tmp_path / "brat/a.ann").read_text().splitlines()
    assert losses.counts["meta fields"] == 2, "the annotator and what is annotated"
    again = list(read(tmp_path / "brat"))
    assert not write(again, tmp_path / "again", format="brat")
    assert (tmp_path / "again/a.ann").read_bytes() == (tmp_path / "brat/a.ann").read_bytes()
    write(read(tmp_path / "a.store"), tmp_path / "a.jsonl")
    [document] = read(tmp_path / "a.jsonl")
    for layer in ("ann", None):
        given = document.copy(meta=document.meta | {"annotator": layer})
        with make(tmp_path / f"{layer}.store", given) as store:
            state = store.state(1, layer or "bea")
            assert [one.get("note") for one in state.values.values()] == ["which\nvalve?", None]
            [key] = [key for key, one in state.values.items() if "note" in one]
            store.append(1, layer or "bea", "bea", "remove", {key: None})
        [document_now] = read(tmp_path / f"{layer}.store", layer=layer or "bea")
        assert "notes" not in document_now.meta and len(document_now.mentions) == 1


def test_notes_that_are_on_no_mention_stay(tmp_path: Path) -> None:
    other = {"type": "problem", "spans": [[0, 3]], "note": "missing?"}
    for number, notes in enumerate(("seen twice", [other])):
        for annotator in (None, "ann"):
            folder = tmp_path / f"{number}{annotator}"
            folder.mkdir()
            given = Document(TEXT, "a", mentions=[Mention("drug", [(4, 8)])], meta={"notes": notes})
            given.meta |= {"annotator": annotator} if annotator else {}
            with make(folder / "a.store", given):
                pass
            [document] = read(folder / "a.store")
            assert document.meta["notes"] == notes and len(document.mentions) == 1
            losses = write([document], folder / "brat", format="brat")
            assert losses.counts["meta fields"] >= 1


def test_the_state_is_the_replay_of_all_actions(tmp_path: Path) -> None:
    with make(tmp_path / "a.store", Document(TEXT, "a", mentions=[Mention("drug", [(0, 3)])])) as store:
        store.append(1, "ann", "ann", "add", {"m:#": GAP})
        store.append(1, "ann", "ann", "remove", {"m:b0": None})
        state, _ = store.append(1, "bea", "bea", "add", {"m:#": PAIN})
        assert set(state.values) == {"m:b0", "m:3"}
        with pytest.raises(Stale):
            store.append(1, "ann", "ann", "add", {"m:#": PAIN}, version=1)
        assert [(one.kind, one.author) for one in store.actions(1, "ann")] == [("add", "ann"), ("remove", "ann")]
        for statement in ("DELETE FROM actions", "UPDATE actions SET kind = 'x'"):
            with pytest.raises(sqlite3.IntegrityError, match="only added"):
                store.connection.execute(statement)
        ann, bea = read(tmp_path / "a.store")  # while it is open for writing
        assert ann.meta["annotator"] == "ann" and bea.meta["annotator"] == "bea"
        assert ann.mentions == [Mention("problem", [(4, 18), (29, 36)])]
        assert [one.type for one in bea.mentions] == ["drug", "problem"]
        [only] = read(tmp_path / "a.store", layer="bea")
        assert only == bea
        with pytest.raises(UsageError, match="layer is 'bob', expected one of ann, bea"):
            list(read(tmp_path / "a.store", layer="bob"))
        store.append(1, ADJUDICATED, "cam", "add", {"m:#": PAIN})
        assert [one.meta["annotator"] for one in read(tmp_path / "a.store")] == [ADJUDICATED]


@pytest.mark.parametrize("imported", [(), (Mention("drug", [(0, 3)]),)], ids=["no mentions", "mentions"])
def test_training_leaves_out_what_no_annotator_has_begun(tmp_path: Path, imported: tuple[Mention, ...]) -> None:
    path = str(tmp_path / "a.store")
    texts = [Document(f"{TEXT} {number}", str(number), mentions=list(imported)) for number in range(9)]
    with make(Path(path), *texts) as store:
        assert all("annotator" not in one.meta for one in read(path))
        for number, layer in itertools.product(range(2, 9), ("ann", "bea")):  # neither the first nor the last
            store.append(number, layer, layer, "add", {"m:#": PAIN})
            store.append(number, layer, layer, "finish", {"d": "finished"})
    whole = list(read(path))
    assert [one.id for one in whole if one.meta["annotator"] is None] == ["0", "8"]
    assert all(one.mentions == list(imported) for one in whole if one.meta["annotator"] is None)
    given = list(Reading(Messages(True)).by_annotators([path]))
    assert given == whole
    write(whole, tmp_path / "a.jsonl")
    for documents in (given, list(read(tmp_path / "a.jsonl"))):
        trained = Recognizer(features="fast", epochs=1, l2=1.0, attributes="off").fit(documents)
        assert trained.report_.annotators is not None
        assert (trained.report_.annotators.documents, trained.report_.annotators.shared) == (7, 7)
        completed = whole_annotation(documents, None, features="fast", epochs=1, l2=1.0, attributes="off")
        assert [one.id for one in completed] == [str(number) for number in range(1, 8)]


@pytest.mark.parametrize("kind", ["brat", "xmi", "text", "csv", "tsv", "pubtator", "bioc"])
def test_formats_of_one_version_ask_for_a_layer(tmp_path: Path, kind: str) -> None:
    store, output = str(tmp_path / "a.store"), str(tmp_path / "b")
    with make(Path(store)) as opened:
        for layer in ("ann", "bea"):
            opened.append(1, layer, layer, "add", {"m:#": PAIN})
    with pytest.raises(DataError, match=r"several annotators have marked document 'a', .* --layer NAME") as error:
        annotate.run(Annotate(data=store, export=output, output_format=kind, quiet=True))
    assert "\n" not in str(error.value) and not Path(output).exists()
    annotate.run(Annotate(data=store, export=output, output_format=kind, layer="bea", quiet=True))
    assert Path(output).exists()


@pytest.mark.parametrize("kind", ["conll", "conllu", "spacy", "characters"])
def test_versions_of_a_document_are_not_mixed(tmp_path: Path, kind: str) -> None:
    documents = [prepare(Document("no pain", id="a", meta={"annotator": name})) for name in ("ann", "bea", "ann")]
    write([documents[0], documents[2]], tmp_path / "b", kind)
    with pytest.raises(DataError, match=r"several annotators have marked document 'a', .* --layer NAME"):
        write(documents, tmp_path / "c", kind)
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize("seed", range(30))
def test_undo_and_redo_give_earlier_states(seed: int) -> None:
    draw = random.Random(seed)
    state, history, place = State({"b": 1}), [{"b": 1}], 0  # the plain partner: a list of whole states
    for number in range(1, 60):
        kind = draw.choice(["set", "set", "undo", "redo"])
        if kind == "set":
            changes = {draw.choice("abc"): draw.choice([None, 1, 2, 3]) for _ in range(draw.randint(1, 2))}
            state.apply(number, kind, changes)
            after = {key: value for key, value in {**history[place], **changes}.items() if value is not None}
            history[place + 1 :] = [after]
            place += 1
        else:
            state.apply(number, kind, {})
            place = max(0, place - 1) if kind == "undo" else min(len(history) - 1, place + 1)
        assert state.values == history[place]
        assert state.version == number


def test_what_annotation_says_of_the_text(tmp_path: Path) -> None:
    with make(
        tmp_path / "a.store", Document(TEXT, "a"), Document(TEXT, "b", mentions=[Mention("x", [(0, 3)])])
    ) as store:
        assert [one.meta.get("annotation") for one in read(tmp_path / "a.store")] == ["unknown", None]
        rejected = {"type": "test", "spans": [[41, 51]], "score": 0.4}
        store.append(1, "ann", "ann", "reject", {"r:test|41-51": rejected})
        store.append(1, "ann", "ann", "change", {"m:#": {**PAIN, "note": "sure?"}})
        store.append(1, "ann", "ann", "finish", {"s:0-37": "finished"})
        [one, _] = read(tmp_path / "a.store")
        assert one.meta["annotation"] == {
            "default": "at-least", "zones": [{"start": 0, "end": 37, "annotation": "complete"}],
            "not": [{"spans": [[41, 51]], "types": ["test"]}],
        }  # fmt: skip
        assert one.meta["notes"] == [{**PAIN, "note": "sure?"}]
        assert list(validate(tmp_path / "a.store")) == []
        store.append(1, "ann", "ann", "finish", {"d": "finished"})
        assert next(iter(read(tmp_path / "a.store"))).meta["annotation"] == "complete"
    for target in ("out.jsonl", "brat", "out.json", "out.xml"):  # any format, with the gap
        documents = [one.copy(meta={}) for one in read(tmp_path / "a.store")]
        write(documents, tmp_path / target, format="brat" if target == "brat" else None)
        again = {one.id: {mention.key for mention in one.mentions} for one in read(tmp_path / target)}
        assert again == {one.id: {mention.key for mention in one.mentions} for one in documents}


def test_what_is_exported_is_imported_as_it_was(tmp_path: Path) -> None:
    with make(tmp_path / "a.store", *(Document(TEXT, name) for name in "abcd")) as store:
        rejected = {"type": "test", "spans": [[41, 51]]}
        store.append(1, "ann", "ann", "add", {"m:#": {**GAP, "note": "sure?"}, "r:test|41-51": rejected})
        store.append(1, "ann", "ann", "finish", {"s:0-37": "finished"})
        store.append(1, "bea", "bea", "finish", {"d": "finished"})
        store.append(2, "bea", "bea", "add", {"m:#": PAIN})
        store.append(3, ADJUDICATED, "ann", "finish", {"s:0-37": "finished", "s:38-52": "finished"})
    exported = list(read(tmp_path / "a.store"))
    write(exported, tmp_path / "a.jsonl")
    with make(tmp_path / "b.store", *read(tmp_path / "a.jsonl")) as store:
        assert list(read(tmp_path / "b.store")) == exported
        assert store.state(1, "bea").values == {"d": "finished"}
        assert store.state(1, "ann").values["s:0-37"] == "finished"
        store.append(1, "ann", "ann", "reopen", {"s:0-37": None})
        [one] = [one for one in read(tmp_path / "b.store", layer="ann") if one.id == "a"]
        assert one.meta["annotation"] == {"default": "at-least", "not": [{"spans": [[41, 51]], "types": ["test"]}]}
        assert "annotation" not in store.record(1).get("meta", {})  # what others have done is not yet known


def test_what_documents_declare_is_kept_by_actions(tmp_path: Path) -> None:
    zones = [{"start": 0, "end": 37, "annotation": "complete"}]
    partly = {"default": "at-least", "zones": zones}
    given = ["complete", partly, {**partly, "types": {"sign": "complete"}}, {"zones": "of another tool"}]
    documents = [Document(TEXT, str(one), meta={"annotation": one}) for one in given]
    with (
        pytest.warns(DataWarning, match="the annotation of 2 documents declares what a store does not keep"),
        make(tmp_path / "a.store", *documents) as store,
    ):
        for number in range(1, 5):
            store.append(number, "ann", "ann", "add", {"m:#": PAIN})
    found = [one.meta["annotation"] for one in read(tmp_path / "a.store")]
    assert found == ["complete", partly, partly, {"default": "at-least"}]


@pytest.mark.parametrize("text", ["seen twice", ["seen twice"], {"by": "bea"}])
def test_notes_of_other_kinds_stay_beside_those_on_mentions(tmp_path: Path, text: Any) -> None:
    others = text if isinstance(text, list) else [text]
    with make(tmp_path / "a.store", Document(TEXT, "a", meta={"notes": text})) as store:
        store.append(1, "ann", "ann", "add", {"m:#": {**PAIN, "note": "which?"}})
        [one] = read(tmp_path / "a.store")
        assert one.meta["notes"] == [{**PAIN, "note": "which?"}, *others]
    with make(tmp_path / "b.store", one) as store:
        assert store.state(1, "ann").values["m:1.0"]["note"] == "which?"
        [again] = read(tmp_path / "b.store")
    assert again.meta == one.meta
    losses = write([one], tmp_path / "brat", format="brat")
    assert losses.counts["meta fields"] == 3  # annotation, annotator and notes


def test_notes_of_brat_are_edited(tmp_path: Path) -> None:
    ann = "T1\tproblem 41 51\tchest pain\n#7\tAnnotatorNotes T1\twhich?\nT2\tsign 47 51\tpain\n"
    ann += "#8\tAnnotatorNotes T2\told\n"
    (tmp_path / "a.txt").write_text(TEXT)
    (tmp_path / "a.ann").write_text(ann)
    with make(tmp_path / "a.store", *read(tmp_path / "a.ann")) as store:
        first, second = ({**value, "note": ""} for value in store.state(1, "ann").values.values())
        assert [value["note"] for value in store.state(1, "ann").values.values()] == ["which?", "old"]

        def exported() -> str:
            write(read(tmp_path / "a.store"), tmp_path / "out", format="brat", force=True)
            return (tmp_path / "out/a.ann").read_text()

        assert exported() == ann
        store.append(1, "ann", "ann", "change", {"m:b0": {**first, "note": "the left"}})
        assert exported() == ann.replace("#7\tAnnotatorNotes T1\twhich?\n", "") + "#9\tAnnotatorNotes T1\tthe left\n"
        store.append(1, "ann", "ann", "change", {"m:b0": first, "m:b1": second})
        assert exported() == "T1\tproblem 41 51\tchest pain\nT2\tsign 47 51\tpain\n"


def test_documents_that_changed_on_disk_are_noticed(tmp_path: Path) -> None:
    with make(tmp_path / "a.store") as store:
        assert import_documents(store, [Document(TEXT, "a"), Document("New.", "b")]) == (1, [])
        assert import_documents(store, [Document(TEXT + " Changed.", "a")]) == (0, ["a"])
        assert next(iter(read(tmp_path / "a.store"))).text == TEXT
        with pytest.raises(DataError, match="two documents have the id 'c'"):
            import_documents(store, [Document(TEXT, "c"), Document(TEXT, "c")])
        assert list(store.numbers()) == ["a", "b"]  # nothing of a failed import stays


def test_documents_of_several_annotators_become_layers(tmp_path: Path) -> None:
    def by(name: str, *mentions: Mention) -> Document:
        return Document(TEXT, "a", mentions=list(mentions), meta={"annotator": name, "ward": "B"})

    given = [by("ann", Mention("problem", [(41, 51)])), by("bea", Mention("sign", [(44, 51)]))]
    with make(tmp_path / "a.store", *given):
        found = list(read(tmp_path / "a.store"))
    assert [(one.mentions, one.meta["annotator"], one.meta["ward"]) for one in found] == [
        (one.mentions, one.meta["annotator"], "B") for one in given
    ]


def test_a_newer_store_and_what_is_none_are_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="this is no store of annotation; name another file"):
        Store(tmp_path)
    path = tmp_path / "a.store"
    with make(path) as store:
        store.connection.execute("PRAGMA user_version = 99")
    for refused in (lambda: Store(path, write=True), lambda: list(read(path))):
        with pytest.raises(DataError, match="version 99, this Spanloom knows versions up to 2; update Spanloom"):
            refused()
    (tmp_path / "b.store").write_text("no store")
    with pytest.raises(DataError, match="no store of annotation"):
        Store(tmp_path / "b.store")
    with pytest.raises(UsageError, match="no such store; spanloom annotate DATA --output"):
        Store(tmp_path / "c.store")
    with make(tmp_path / "d.store"):
        pass
    damaged = bytearray((tmp_path / "d.store").read_bytes())
    damaged[4096:] = bytes(len(damaged) - 4096)
    (tmp_path / "e.store").write_bytes(damaged)
    with pytest.raises(SpanloomError, match=r"cannot be used|cannot be replayed|malformed"):
        list(read(tmp_path / "e.store"))


@pytest.mark.parametrize("cell", ["'{'", "''", "'[1]'", "CAST(x'7b22e4' AS TEXT)"])
@pytest.mark.parametrize("place", ["documents SET record", "actions SET changes"])
def test_damaged_cells_are_reported_and_other_documents_read(tmp_path: Path, cell: str, place: str) -> None:
    path = tmp_path / "a.store"
    with make(path, Document(TEXT, "a"), Document("Fever.", "b")) as store:
        store.append(1, "ann", "ann", "add", {"m:#": PAIN})
        store.connection.execute("DROP TRIGGER actions_stay")
        store.connection.execute(f"UPDATE {place} = {cell} WHERE rowid = 1")
    left_out: list[DataError] = []
    assert [one.id for one in read(path, on_error=left_out.append)] == ["b"]
    assert len(left_out) == 1 and "of the store cannot be replayed: " in str(left_out[0])


def test_an_older_store_is_migrated(tmp_path: Path) -> None:
    path = tmp_path / "a.store"
    with sqlite3.connect(path) as old:
        old.executescript(f"PRAGMA application_id = {0x53504C4D}; {stores._MIGRATIONS[0]} PRAGMA user_version = 1")
        old.execute('INSERT INTO documents VALUES (1, \'a\', \'{"id": "a", "text": "No pain."}\', \'\')')
    old.close()
    assert [one.text for one in read(path)] == ["No pain."]  # reading does not migrate
    with Store(path, write=True) as store:
        assert store.connection.execute("PRAGMA user_version").fetchone() == (2,)
        assert store.connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert store.connection.execute("PRAGMA synchronous").fetchone() == (2,)
        with store.writing(durable=False):
            store.connection.execute("INSERT OR REPLACE INTO positions VALUES ('ann', 1, 3)")
        store.append(1, "ann", "ann", "finish", {"d": "finished"})
        assert store.connection.execute("PRAGMA synchronous").fetchone() == (2,)  # actions are on the disk


def test_advice_is_that_of_the_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="unable to open database file; check that its folder exists"):
        make(tmp_path / "missing/a.store")
    path = tmp_path / "a.store"
    with make(path) as store:
        store.append(1, "ann", "ann", "add", {"m:#": PAIN})
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, before[1]))
        try:
            with pytest.raises(DataError, match=r"disk I/O error; check the disk, and the largest size of files"):
                for _ in range(100):
                    store.append(1, "ann", "ann", "add", {"m:#": {**PAIN, "note": "x" * 5_000}})
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        last = store.state(1, "ann").version
        assert store.append(1, "ann", "ann", "add", {"m:#": GAP})[0].version == last + 1
    path.write_bytes(path.read_bytes()[:6_000])
    with pytest.raises(DataError, match="restore a copy"), Store(path) as store:
        store.state(1, "ann")


def test_a_full_disk_loses_the_last_step_only(tmp_path: Path) -> None:
    with make(tmp_path / "a.store") as store:
        [pages] = store.connection.execute("PRAGMA page_count").fetchone()
        store.connection.execute(f"PRAGMA max_page_count = {pages + 2}")
        with pytest.raises(DataError, match="free some space, and repeat the last step"):
            for _ in range(1000):
                store.append(1, "ann", "ann", "add", {"m:#": {**PAIN, "note": "x" * 500}})
        kept = dict(store.state(1, "ann").values)
        assert kept
        store.connection.execute(f"PRAGMA max_page_count = {pages + 200}")
        store.append(1, "ann", "ann", "add", {"m:#": GAP})
    with Store(tmp_path / "a.store") as again:
        assert len(again.state(1, "ann").values) == len(kept) + 1


def test_a_clock_that_goes_backwards_changes_nothing(tmp_path: Path) -> None:
    with make(tmp_path / "a.store") as store:
        row = (1, 1, "ann", "ann", "2999-01-01T00:00:00+00:00", "add", '{"m:1": {"type": "x", "spans": [[0, 3]]}}')
        store.connection.execute("INSERT INTO actions VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        store.append(1, "ann", "ann", "change", {"m:1": {"type": "y", "spans": [[0, 3]]}})
        state, _ = store.append(1, "ann", "ann", "undo", {})
        assert state.values["m:1"]["type"] == "x"
        times = [action.time for action in store.actions(1, "ann")]
        assert times != sorted(times)


def test_agreement_is_that_of_all_placements() -> None:
    """The expectation of matches against an enumeration of every placement of every mention, in a small text."""
    draw = random.Random(1)
    for _ in range(20):
        text = "a b c d e f g"
        tokens = [[2 * number, 2 * number + 1] for number in range(7)]
        documents = []
        for name in ("ann", "bea"):
            mentions = {
                Mention(draw.choice("xy"), [(2 * place, 2 * place + 1) for place in sorted(draw.sample(sentence, 2))])
                for sentence in draw.choices([range(4), range(4, 7)], k=2)
            }
            both = Document(text, "a", tokens=tokens, sentences=[[0, 4], [4, 7]])
            documents.append(both.copy(mentions=list(mentions), meta={"annotator": name}))
        [found] = agreement(documents)
        ranges = [placements(one) for one in documents]
        types = [[mention.type for mention in one.mentions] for one in documents]
        same_type = sum(a == b for a, b in itertools.product(*types)) / (len(types[0]) * len(types[1]))
        expected = sum(
            sum(one == other for one, other in itertools.product(a, b)) / (len(a) * len(b)) * same_type
            for a, b in itertools.product(*ranges)
        )
        sizes = [len(one.mentions) for one in documents]
        matches = len(set(documents[0].mentions) & set(documents[1].mentions))
        assert found.f1 == pytest.approx(2 * matches / sum(sizes))
        assert found.chance == pytest.approx(2 * expected / sum(sizes))
        assert found.corrected == pytest.approx((found.f1 - found.chance) / (1 - found.chance))


def placements(document: Document) -> list[list[tuple[int, ...]]]:
    """For each mention all token sets that moving it within its sentence gives."""
    assert document.tokens is not None and document.sentences is not None
    found = []
    for mention in document.mentions:
        own = [
            number for number, (start, end) in enumerate(document.tokens.tolist())
            if any(low < end and start < high for low, high in mention.spans)
        ]  # fmt: skip
        own = sorted({*own}) if len(mention.spans) > 1 else list(range(own[0], own[-1] + 1))
        [(first, end)] = [pair for pair in document.sentences.tolist() if pair[0] <= own[0] < pair[1]]
        moved = [tuple(token + by for token in own) for by in range(first - own[0], end - own[-1])]
        found.append(moved)
    return found


def test_agreement_of_equal_and_of_random_annotation() -> None:
    text = " ".join("abcdefghij" * 3)
    draw = random.Random(0)

    def by(name: str, number: int, places: list[tuple[int, int]]) -> Document:
        mentions = [Mention("x", [(2 * low, 2 * (low + size) - 1)]) for low, size in places]
        return Document(text, str(number), mentions=mentions, meta={"annotator": name})

    def drawn() -> list[tuple[int, int]]:
        return [(draw.randrange(30 - size + 1), size) for size in (1, 1, 2, 3)]

    places = [drawn() for _ in range(400)]
    equal = [by(name, number, one) for number, one in enumerate(places) for name in ("ann", "bea")]
    [found] = agreement(equal)
    assert found.f1 == found.corrected == 1
    independent = [by(name, number, drawn()) for number in range(400) for name in ("ann", "bea")]
    [found] = agreement(independent)
    assert found.f1 > 0.02 and abs(found.corrected) < 0.02


def test_what_was_rejected_is_not_suggested_where_the_model_cannot_hold_what_is_marked() -> None:
    train = list(read(clinical() / "train"))[:20]
    model = Recognizer("bio", features="small", epochs=2, l2=1.0, rescore=False, attributes="off").fit(train)
    marked = next(one for one in train if any(len(mention.spans) > 1 for mention in one.mentions))
    rejected: list[dict[str, object]] = []
    for count in range(3):
        body = {"document": to_record(marked), "rejected": rejected}
        answer = json.loads(suggest(served("bio", model), json.dumps(body).encode(), Limits()))
        assert "it has a gap" in answer["problem"]
        found = [{"type": one["type"], "spans": one["spans"]} for one in answer["mentions"]]
        assert found and not [one for one in found if one in rejected], count
        rejected += found


def test_other_meta_of_a_further_annotator_is_reported(tmp_path: Path) -> None:
    given = [Document(TEXT, "a", meta={"annotator": name, "own": name}) for name in ("ann", "bea")]
    message = "1 document of further annotators have other meta; that of the first one is kept"
    with pytest.warns(DataWarning, match=message), make(tmp_path / "s.store", *given) as store:
        assert store.record(1)["meta"] == {"own": "ann"}


def test_an_empty_sentence_is_in_no_zone() -> None:
    zones = [{"start": 2, "end": 3, "annotation": "complete"}]
    record = {"text": "a b", "tokens": [[0, 0], [2, 3]], "sentences": [[0, 1], [1, 2]]}
    meta = {"annotation": {"default": "at-least", "zones": zones}}
    assert values_of({**record, "meta": meta}, "m:b") == {"s:2-3": "finished"}

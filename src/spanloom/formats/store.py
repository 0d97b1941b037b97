"""Stores: SQLite files to which `spanloom annotate` appends one row for each action of an annotator.

Nothing is ever changed or deleted: a document as an annotator has it is the replay of the actions of one *layer*, which
has the annotator's name. Each action holds values by key, and undo and redo are actions themselves:

- ``m:ID``: a mention, as in a native record, perhaps with a ``note``;
- ``r:TYPE|SPANS``: a suggestion that was rejected, and so is no mention;
- ``s:START-END``: a sentence in characters: ``finished`` or ``skipped``;
- ``d``: the document: ``finished`` or ``skipped``.

``null`` stands for the absence of a value. Actions are ordered by their number, never by the clock.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

from spanloom.document import Document
from spanloom.document.annotation import claims_of, zones_of
from spanloom.document.validate import find_errors
from spanloom.errors import DataError, UsageError, clip, meant, one_line
from spanloom.formats.base import NOTES, Scanned, noted_place, notes_of, place_of
from spanloom.formats.brat import kept_notes
from spanloom.formats.record import from_record, to_record

ADJUDICATED: Final = "adjudicated"
"""The layer that decides between the annotators; where it has a document, the others are not read."""
_APPLICATION: Final = 0x53504C4D  # in the file's head: "SPLM"
_BUSY: Final = 10_000  # milliseconds for which another process may write
_UNSAVED: Final = "and repeat the last step: it was not saved, all others are"
_ADVICE: Final = {
    sqlite3.SQLITE_FULL: f"free some space, {_UNSAVED}",
    sqlite3.SQLITE_BUSY: "close the program that writes to it",
    sqlite3.SQLITE_CANTOPEN: "check that its folder exists, and that you may write to it",
    sqlite3.SQLITE_READONLY: "make the file and its folder writable",
    sqlite3.SQLITE_IOERR: f"check the disk, and the largest size of files (ulimit -f), {_UNSAVED}",
}  # by the error of SQLite; after all others the file is damaged

# Version n of a store is what the first n make; a new version is a new entry, and no entry ever changes.
_MIGRATIONS: Final = (
    """
    CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
    CREATE TABLE documents (
        number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, record TEXT NOT NULL, digest TEXT NOT NULL) STRICT;
    CREATE TABLE actions (
        number INTEGER PRIMARY KEY AUTOINCREMENT, document INTEGER NOT NULL REFERENCES documents, layer TEXT NOT NULL,
        author TEXT NOT NULL, time TEXT NOT NULL, kind TEXT NOT NULL, changes TEXT NOT NULL) STRICT;
    CREATE INDEX actions_of ON actions (document, layer, number);
    CREATE TRIGGER actions_stay BEFORE UPDATE ON actions BEGIN SELECT RAISE(ABORT, 'actions are only added'); END;
    CREATE TRIGGER actions_are_kept BEFORE DELETE ON actions BEGIN SELECT RAISE(ABORT, 'actions are only added'); END;
    """,
    """
    CREATE TABLE positions (layer TEXT PRIMARY KEY, document INTEGER NOT NULL, start INTEGER NOT NULL) STRICT;
    CREATE TABLE suggestions (
        document INTEGER NOT NULL, part INTEGER NOT NULL, model TEXT NOT NULL, mentions TEXT NOT NULL,
        PRIMARY KEY (document, part, model)) STRICT;
    """,
)


class Action(NamedTuple):
    """One row: what an annotator did.

    Args:
        number: of the row; later ones are larger.
        document: its number.
        layer: of annotation.
        author: who did it.
        time: of the clock, in UTC; for people only.
        kind: such as ``add`` or ``undo``.
        changes: values by key.
    """

    number: int
    document: int
    layer: str
    author: str
    time: str
    kind: str
    changes: dict[str, Any]


class Stale(Exception):  # noqa: N818 - no error of the program: another writer was faster
    """The document has a later version than the one to which an action belongs."""


@dataclass(slots=True)
class State:
    """A document in a layer: values by key, and what undo and redo would set.

    Args:
        values: by key.
        version: the number of the last action, 0 before the first.
        done: for each action that can be undone, the values before it.
        undone: for each action that can be redone, the values after it.

    >>> state = State({"d": "skipped"})
    >>> state.apply(1, "finish", {"d": "finished"}), state.apply(2, "undo", {}), state.apply(3, "redo", {})
    ({'d': 'finished'}, {'d': 'skipped'}, {'d': 'finished'})
    """

    values: dict[str, Any]
    version: int = 0
    done: list[dict[str, Any]] = field(default_factory=list)
    undone: list[dict[str, Any]] = field(default_factory=list)

    def apply(self, number: int, kind: str, changes: dict[str, Any]) -> dict[str, Any]:
        """Replay an action; return the values that it set. Without anything to undo or redo it sets none."""
        self.version = number
        if kind in ("undo", "redo"):
            source, target = (self.done, self.undone) if kind == "undo" else (self.undone, self.done)
            if not source:
                return {}
            changes = source.pop()
        else:
            target = self.done
            self.undone.clear()
        if kind != "import":  # what an annotator begins with stays
            target.append({key: self.values.get(key) for key in changes})
        for key, value in changes.items():
            if value is None:
                self.values.pop(key, None)
            else:
                self.values[key] = value
        return changes


class Store:
    """An open store.

    Args:
        path: the file.
        write: to append to it; else it is only read, perhaps while another process writes.
        create: whether a file that is not there is made.

    Raises:
        DataError: no store, a damaged one, or one of a later version.
        UsageError: there is no such file.
    """

    def __init__(self, path: str | Path, *, write: bool = False, create: bool = False) -> None:
        self.path = str(path)
        new = not Path(path).exists() or not Path(path).stat().st_size  # as after a kill while it was made
        if new and not create:
            raise UsageError(f"{path}: there is no such store; spanloom annotate DATA --output {path} makes one")
        if not new and not (Path(path).is_file() and claims(Path(path))):
            raise DataError("this is no store of annotation; name another file", path=path)
        mode = "ro" if not write else "rwc" if create else "rw"
        with self._reporting():
            self.connection = sqlite3.connect(
                f"{Path(path).absolute().as_uri()}?mode={mode}", uri=True, isolation_level=None, timeout=_BUSY / 1000
            )
            self.connection.execute("PRAGMA trusted_schema = OFF")
            self.connection.execute("PRAGMA synchronous = FULL")
            self.connection.execute("PRAGMA foreign_keys = ON")
        self._states: dict[tuple[int, str], State] = {}
        try:
            self._migrate(write)
        except BaseException:
            self.connection.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        """Turn the errors of SQLite into ours."""
        try:
            yield
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:  # whose message may be damaged, too
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # without the details of an extended code
            advice = _ADVICE.get(code, "restore a copy")
            raise DataError(f"the store cannot be used: {one_line(str(error))}; {advice}", path=self.path) from error

    def _rows(self, query: str, *given: object) -> list[Any]:
        with self._reporting():
            return self.connection.execute(query, given).fetchall()

    @contextmanager
    def writing(self, *, durable: bool = True) -> Iterator[None]:
        """Write all of what is done within, or nothing.

        Args:
            durable: whether to wait until it is on the disk, which may take most of the time of an action. Else the
                last seconds may be lost if the machine fails, though not if the process is killed.

        Raises:
            DataError: the system refuses, such as on a full disk.
        """
        with self._reporting():
            self.connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self.connection.execute("COMMIT")
            except BaseException:
                if self.connection.in_transaction:  # SQLite may have ended it itself
                    self.connection.execute("ROLLBACK")
                raise

    def _migrate(self, write: bool) -> None:
        [(version,)] = self._rows("PRAGMA user_version")
        newest = len(_MIGRATIONS)
        if version > newest:
            known = f"this Spanloom knows versions up to {newest}; update Spanloom"
            raise DataError(f"the store has version {version}, {known}", path=self.path)
        if not write:
            return
        for number, script in enumerate(_MIGRATIONS[version:], version + 1):
            with self._reporting():
                self.connection.executescript(
                    f"BEGIN IMMEDIATE; PRAGMA application_id = {_APPLICATION}; {script}"
                    f"PRAGMA user_version = {number}; COMMIT"
                )
        self._rows("PRAGMA journal_mode = WAL")  # last: a killed process leaves a file with the right header

    # ---- documents

    def add(self, document: Document) -> None:
        """Add a document, within `writing`."""
        record = to_record(document)
        row = (document.id, json.dumps(record, ensure_ascii=False), digest(record))
        self.connection.execute("INSERT INTO documents (id, record, digest) VALUES (?, ?, ?)", row)

    def numbers(self) -> dict[str, int]:
        """Return the number of each document, by its identifier, in their order."""
        return dict(self._rows("SELECT id, number FROM documents ORDER BY number"))

    def digests(self) -> dict[str, str]:
        """Return the digest of each document as it was imported, by its identifier."""
        return dict(self._rows("SELECT id, digest FROM documents ORDER BY number"))

    def record(self, number: int) -> dict[str, Any]:
        """Return the native record of a document, as it was imported.

        Raises:
            UsageError: no document has this number.
        """
        if not (rows := self._rows("SELECT record FROM documents WHERE number = ?", number)):
            raise UsageError(f"the store has no document of number {number}; reload the page")
        found: dict[str, Any] = self._object(rows[0][0], f"document {number}")
        return found

    def _object(self, text: Any, what: str) -> Any:
        """Return what a cell holds.

        Raises:
            DataError: no JSON; the file is damaged.
        """
        try:
            return json.loads(text)
        except (TypeError, ValueError, RecursionError) as error:
            message = f"{what} of the store is no JSON: {one_line(str(error))}; restore a copy"
            raise DataError(message, path=self.path) from error

    def setting(self, name: str, value: str | None = None) -> str:
        """Return a setting, empty if it was never set; set it first where a value is given."""
        if value is not None:
            with self.writing():
                self.connection.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", (name, value))
        rows = self._rows("SELECT value FROM settings WHERE name = ?", name)
        return rows[0][0] if rows else ""

    # ---- actions

    def layers(self, number: int | None = None) -> list[str]:
        """Return the layers that have actions, of one document or of any."""
        where, given = ("", ()) if number is None else ("WHERE document = ?", (number,))
        return [layer for (layer,) in self._rows(f"SELECT DISTINCT layer FROM actions {where} ORDER BY layer", *given)]

    def check_layer(self, layer: str | None) -> None:
        """Check that a layer has actions.

        Raises:
            UsageError: it has none.
        """
        known = self.layers()
        if layer is not None and layer not in known:
            expected = f"expected one of {', '.join(known)}{meant(layer, known)}"
            raise UsageError(
                f"{self.path}: layer is {layer!r}, {expected if known else 'but there is no annotation yet'}"
            )

    def actions(self, number: int | None, layer: str | None, after: int = 0) -> Iterator[Action]:
        """Yield the actions of a document in a layer, in their order; of all documents or layers when ``None``."""
        given = {"document": number, "layer": layer}
        where = "".join(f" AND {name} = :{name}" for name, value in given.items() if value is not None)
        with self._reporting():
            for row in self.connection.execute(
                "SELECT number, document, layer, author, time, kind, changes FROM actions"
                f" WHERE number > :after{where} ORDER BY number",
                {**given, "after": after},
            ):
                yield Action(*row)._replace(changes=self._object(row[-1], f"action {row[0]}"))

    def state(self, number: int, layer: str) -> State:
        """Return a document in a layer, with all actions up to now; it must not be changed."""
        key = number, layer
        if key not in self._states:
            self._states[key] = State(base_of(self.record(number), layer))
        state = self._states[key]
        for action in self.actions(number, layer, state.version):
            state.apply(action.number, action.kind, action.changes)
        return state

    def append(
        self, number: int, layer: str, author: str, kind: str, changes: Mapping[str, Any], version: int | None = None
    ) -> tuple[State, dict[str, Any]]:
        """Append an action; return the state after it, and the values that it set.

        Args:
            number: of the document.
            layer, author, kind, changes: as of `Action`. ``#`` in a key becomes the number of the action.
            version: that the document must have; any when ``None``.

        Raises:
            Stale: it has another one.
            DataError: the system refuses, such as on a full disk; then nothing has changed.
        """
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        with self.writing():
            state = self.state(number, layer)
            if version is not None and state.version != version:
                raise Stale
            [last] = self.connection.execute("SELECT coalesce(max(number), 0) FROM actions").fetchone()
            own = {key.replace("#", str(last + 1)): value for key, value in changes.items()}
            row = (last + 1, number, layer, author, now, kind, json.dumps(own, ensure_ascii=False))
            self.connection.execute("INSERT INTO actions VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        return state, state.apply(last + 1, kind, own)


def digest(record: Mapping[str, Any]) -> str:
    """Return the digest of a document's text and mentions."""
    held = [record["text"], record.get("mentions", [])]
    return hashlib.sha256(json.dumps(held, ensure_ascii=False, sort_keys=True).encode("utf-8", "replace")).hexdigest()


def base_of(record: Mapping[str, Any], layer: str) -> dict[str, Any]:
    """Return the values before the first action: what was imported; none for adjudication."""
    return {} if layer == ADJUDICATED else values_of(record, "m:b")


def values_of(record: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """Return the values that a record stands for: mentions with notes, and what `_annotation` writes.

    Args:
        record: of a prepared document.
        prefix: of the keys of mentions, before their number.

    >>> annotation = {"default": "at-least", "zones": [{"start": 0, "end": 8, "annotation": "complete"}]}
    >>> record = {"text": "No pain. Well.", "tokens": [[0, 2], [3, 8], [9, 14]], "sentences": [[0, 2], [2, 3]]}
    >>> values_of({**record, "meta": {"annotation": annotation}}, "m:b")
    {'s:0-8': 'finished'}
    """
    notes, kept = notes_of(record.get("meta", {})), kept_notes(record.get("meta", {}))
    found: dict[str, Any] = {}
    for number, one in enumerate(record.get("mentions", ())):
        note = notes.get(place_of(one["type"], one["spans"]), kept.get(one.get("id"), ""))
        found[f"{prefix}{number}"] = {**one, "note": note} if note else one
    given = record.get("meta", {}).get("annotation")
    if given == "complete":
        return found | {"d": "finished"}
    if not isinstance(given, Mapping):
        return found
    document = Document(record["text"], record.get("id", ""), meta={"annotation": given})
    try:
        zones, claims = zones_of(document), claims_of(document, None)
    except DataError:  # in the form of another tool; `import_documents` warns of it
        return found
    tokens = record.get("tokens", ())
    for first, end in record.get("sentences", ()):
        start, stop = tokens[first][0], tokens[end - 1][1]
        touching = [zone for zone in zones if zone.start < stop and start < zone.end]
        whole = [zone for zone in touching if zone.types is None and zone.start <= start and stop <= zone.end]
        after = touching[touching.index(whole[-1]) :] if whole else []  # an empty sentence touches no zone
        if after and all(zone.status == "complete" for zone in after):
            found[f"s:{start}-{stop}"] = "finished"
    for claim in claims:
        if claim.kind == "not":
            for [one] in claim.readings:
                if one.type:  # else of any type
                    spans = [list(span) for span in one.spans]
                    found[rejection(one.type, spans)] = {"type": one.type, "spans": spans}
    return found


def meta_without_noted(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the ``meta`` of a record without the notes that `values_of` gives; all other entries stay."""
    meta = dict(record.get("meta", {}))
    if notes_of(meta):
        held = {place_of(one["type"], one["spans"]) for one in record.get("mentions", ())}
        meta[NOTES] = [one for one in meta[NOTES] if noted_place(one) not in held]
        if not meta[NOTES]:
            del meta[NOTES]
    return meta


def rejection(type: str, spans: Any) -> str:
    """Return the key of a suggestion that was rejected.

    >>> rejection("problem", [[0, 3], [7, 9]])
    'r:problem|0-3;7-9'
    """
    return f"r:{place_of(type, spans)}"


def document_of(record: dict[str, Any], state: State, layer: str = "") -> Document:
    """Return a document as a layer has it; its ``meta`` records which parts are annotated.

    Finished sentences are ``complete``, all other text is ``at-least``, and rejected suggestions are ``not``. A
    document without actions is as it was imported, or ``unknown`` if it had no mentions.

    >>> rejected = {"type": "test", "spans": [[0, 2]]}
    >>> state = State({"m:1": {"type": "problem", "spans": [[3, 7]]}, "r:test|0-2": rejected}, version=1)
    >>> document_of({"text": "No pain."}, state).meta["annotation"]
    {'default': 'at-least', 'not': [{'spans': [[0, 2]], 'types': ['test']}]}
    """
    mentions, notes, kept = [], [], kept_notes(record.get("meta", {}))
    for key, value in state.values.items():
        if key.startswith("m:"):
            mentions.append({name: part for name, part in value.items() if name != "note"})
            if value.get("note") or value.get("id") in kept:  # whose line an empty note removes
                notes.append({"type": value["type"], "spans": value["spans"], "note": value.get("note", "")})
    mentions.sort(key=lambda one: (one["spans"][0][0], -one["spans"][-1][1], one["type"], one["spans"]))
    meta = meta_without_noted(record)
    if state.version:
        meta["annotation"] = _annotation(state.values)
    elif not mentions:
        meta.setdefault("annotation", "unknown")
    if notes:
        others = meta.get(NOTES, [])
        meta[NOTES] = notes + (others if isinstance(others, list) else [others])
    if layer and state.version:
        meta["annotator"] = layer
    return from_record({**record, "mentions": mentions, "meta": meta})


def _annotation(values: Mapping[str, Any]) -> str | dict[str, Any]:
    """Return the value of ``meta["annotation"]``: which parts are annotated."""
    if values.get("d") == "finished":
        return "complete"
    zones: list[list[int]] = []
    finished = (key[2:].split("-") for key, value in values.items() if key[0] == "s" and value == "finished")
    for start, end in sorted((int(start), int(end)) for start, end in finished):
        if zones and start - zones[-1][1] <= 1:
            zones[-1][1] = end
        else:
            zones.append([start, end])
    there = {(value["type"], json.dumps(value["spans"])) for key, value in values.items() if key[0] == "m"}
    denied = [
        {"spans": value["spans"], "types": [value["type"]]}
        for key, value in values.items()
        if key[0] == "r"
        and (value["type"], json.dumps(value["spans"])) not in there
        and not any(start <= value["spans"][0][0] and value["spans"][-1][1] <= end for start, end in zones)
    ]
    annotation: dict[str, Any] = {"default": "at-least"}
    if zones:
        annotation["zones"] = [{"start": start, "end": end, "annotation": "complete"} for start, end in zones]
    return annotation | ({"not": denied} if denied else {})


def claims(path: Path) -> bool:
    """Return whether a file is a store."""
    with path.open("rb") as file:
        head = file.read(100)
    return head.startswith(b"SQLite format 3\0") and int.from_bytes(head[68:72], "big") == _APPLICATION


def scan(path: str | Path, mentions: bool = True, layer: str | None = None) -> Iterator[Scanned]:
    """Yield the documents of a store.

    Args:
        path: the file, which another process may write to meanwhile.
        mentions: as for all formats; those of a store are checked in any case.
        layer: of annotation. Without one a document comes once for each annotator, whose name is ``meta["annotator"]``,
            or once as adjudicated. An untouched document, in a store with annotators, has the name ``None``.
    """
    with Store(path) as store, closing(store.connection):
        store.check_layer(layer)
        for number in store.numbers().values():
            there = store.layers(number)
            names = [layer] if layer is not None else [ADJUDICATED] if ADJUDICATED in there else there or [""]
            for name in names:
                yield _scanned(store, number, name, str(path))


def _scanned(store: Store, number: int, layer: str, path: str) -> Scanned:
    name = f"document {number}"
    try:
        record = store.record(number)
        name = f"document {clip(str(record.get('id')))}"
        document = document_of(record, store.state(number, layer), layer)
        if not layer and store.layers():  # which are those of other documents
            document.meta["annotator"] = None
        problems = list(find_errors(document))
    # of a file that is damaged, or changed by another program
    except (DataError, LookupError, TypeError, ValueError, AttributeError) as error:
        what = error.message if isinstance(error, DataError) else repr(error)
        return Scanned.failed("damaged store", f"{name} of the store cannot be replayed: {one_line(what)}", path)
    return Scanned(document, problems, path)

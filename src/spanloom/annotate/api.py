"""The page and its end points: all that they change is an action in the store."""

from __future__ import annotations

import sqlite3
from collections import deque
from collections.abc import Sequence
from itertools import groupby, takewhile
from operator import attrgetter
from pathlib import Path
from threading import Lock
from typing import Annotated, Any, Final, TypeVar

from fastapi import FastAPI, Query, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from spanloom.annotate.actions import LARGEST, Act, Position, Question, changes_of, parsed
from spanloom.annotate.history import agreement, compared, events
from spanloom.annotate.learner import Learner
from spanloom.annotate.suggestions import Suggestions, of_annotators, parts_of, sentences_of
from spanloom.attributes import ATTRIBUTES
from spanloom.document import Document
from spanloom.errors import DataError, UsageError, clip
from spanloom.formats import from_record
from spanloom.formats.store import ADJUDICATED, Stale, State, Store
from spanloom.serve.api import add_handlers, body_of, hung_up
from spanloom.serve.limits import Limits, Refused
from spanloom.serve.page import add_page
from spanloom.text import prepare
from spanloom.vocabulary.candidates import CandidateFinder

_QUERY: Final = 200  # characters that are looked up in a vocabulary
_CACHED: Final = 8  # documents
_ACTIONS: Final = 100  # of the history in one answer
_STALE: Final = (
    "this document was changed in another tab or by another user; it is shown as it is now, and your last step was "
    "not saved: look, and repeat it"
)

_Body = TypeVar("_Body", bound=BaseModel)
Number = Annotated[int, Query(ge=1, le=LARGEST)]
Layer = Annotated[str, Query(min_length=1, max_length=100)]


class Workplace:
    """The end points.

    Args:
        store: open for writing.
        annotator: who annotates where the page gives no name.
        types: of mentions, in the order of their digits, before those that the store has.
        order: numbers of documents, those to annotate first; as imported when empty.
        changed: identifiers of documents that differ from the data that they were imported from.
        finder: of concepts, if a vocabulary is given.
        suggestions: of a model, if one is given or learned.
        learner: trains models in the background, with ``--learn``.
        limits: of requests.
    """

    def __init__(
        self, store: Store, *, annotator: str, types: Sequence[str] = (), order: Sequence[int] = (),
        changed: Sequence[str] = (), finder: CandidateFinder | None = None, suggestions: Suggestions | None = None,
        learner: Learner | None = None, limits: Limits,
    ) -> None:  # fmt: skip
        self._store, self._annotator, self._types, self._changed = store, annotator, list(types), set(changed)
        self._finder, self._suggestions, self._learner, self._limits = finder, suggestions, learner, limits
        self._order = list(order)
        self._documents: dict[int, Document] = {}
        self._searching = Lock()
        self._found: set[str] = set()
        self._finished: set[int] = set()  # as they were imported
        self._last: tuple[int | None, int | None] = (None, None)  # document and action that are known
        self._look()

    def _look(self) -> None:
        """Take up types and finished documents of the data, and types of actions, that are not yet known.

        To parse all records takes 0.3 s for 5,000 documents, so that each is parsed once.
        """
        execute, (document, action) = self._store.connection.execute, self._last
        self._last = execute("SELECT (SELECT max(number) FROM documents), (SELECT max(number) FROM actions)").fetchone()
        types = execute(
            "SELECT json_extract(one.value, '$.type') FROM documents, json_each(record, '$.mentions') AS one"
            " WHERE number > ? UNION SELECT json_extract(one.value, '$.type') FROM actions, json_each(changes) AS one"
            " WHERE one.type = 'object' AND number > ?",
            (document or 0, action or 0),
        )
        self._found |= {name for (name,) in types if name}
        complete = "number > ? AND json_extract(record, '$.meta.annotation') = 'complete'"
        found = execute(f"SELECT number FROM documents WHERE {complete}", (document or 0,))
        self._finished |= {number for (number,) in found}

    @property
    def _model(self) -> Suggestions | None:
        """Suggestions, if there is a model; with ``--learn`` there may be none yet."""
        return self._suggestions if self._suggestions is not None and self._suggestions.ready else None

    async def store(self, layer: Annotated[str, Query(max_length=100)] = "") -> Response:
        """What the page begins with: documents and their states, types, and where the annotator was."""
        if self._learner is not None:
            self._learner.start()
        name = layer.strip() or self._annotator
        ids = {number: id for id, number in self._store.numbers().items()}
        place = {number: rank for rank, number in enumerate(self._order)}
        ordered = sorted(ids, key=lambda number: place.get(number, len(place)))
        position = self._store.connection.execute(
            "SELECT document, start FROM positions WHERE layer = ?", (name,)
        ).fetchone()
        self._look()
        rows = self._store.connection.execute("SELECT DISTINCT document FROM actions WHERE layer = ?", (name,))
        states = dict.fromkeys(self._finished if name != ADJUDICATED else (), "finished")
        states |= {number: self._store.state(number, name).values.get("d", "") for (number,) in rows}
        types = list(dict.fromkeys([*self._types, *sorted(self._found)]))
        documents = [{"number": number, "id": ids[number], "state": states.get(number, "")} for number in ordered]
        return JSONResponse(
            {
                "layer": name, "author": self._annotator, "layers": self._store.layers(), "adjudicated": ADJUDICATED,
                "documents": documents,
                "types": types, "attributes": list(ATTRIBUTES), "position": position,
                "concepts": self._finder is not None,
                "model": self._model is not None, "learns": self._learner is not None,
            }
        )  # fmt: skip

    async def document(self, number: Number, layer: Layer) -> Response:
        """A document with its tokens, sentences and values."""
        document, state = self._document(number), self._store.state(number, layer)
        tokens = [] if document.tokens is None else document.tokens.tolist()
        parts = parts_of(document) if self._suggestions is not None and layer != ADJUDICATED else []
        changed = document.id in self._changed
        return JSONResponse(
            {
                "number": number, "id": document.id, "text": document.text, "tokens": tokens, "changed": changed,
                "sentences": sentences_of(document), "parts": parts, "values": state.values, **_version(state),
            }
        )  # fmt: skip

    async def act(self, request: Request) -> Response:
        """Append an action, if the page shows the last version of the document."""
        act = await self._read(request, Act)
        document = self._document(act.document)
        try:
            state = self._store.state(act.document, act.layer)
            if state.version != act.version:
                raise Stale
            changes = changes_of(act, document, state)
            state, set_ = self._store.append(act.document, act.layer, act.author, act.kind, changes, act.version)
        except Stale:
            return JSONResponse({"error": _STALE}, 409)
        except DataError as error:
            raise Refused(507, str(error)) from None
        return JSONResponse({"changes": set_, **_version(state)})

    async def position(self, request: Request) -> Response:
        """Remember where an annotator is."""
        place = await self._read(request, Position)
        with self._store.writing(durable=False):
            row = (place.layer, place.document, place.start)
            self._store.connection.execute("INSERT OR REPLACE INTO positions VALUES (?, ?, ?)", row)
        return JSONResponse({})

    async def suggestions(
        self, request: Request, number: Number, layer: Layer, part: Annotated[int, Query(ge=0)]
    ) -> Response:
        """What a model suggests for a part of a document; of the adjudicated layer what its annotators marked."""
        document = self._document(number)
        if layer == ADJUDICATED:
            return JSONResponse({"mentions": of_annotators(self._store, number), "problem": ""})
        if self._model is None or part >= len(parts_of(document)):
            raise Refused(404, "there is no model, or no such part of the document; start with --model M")
        values = self._store.state(number, layer).values
        return JSONResponse(await self._model.of_part(number, document, part, values, lambda: hung_up(request)))

    async def explain(self, request: Request) -> Response:
        """Why the model suggests a mention, or does not."""
        question = await self._read(request, Question)
        if self._model is None:
            raise Refused(404, "there is no model to ask; start with --model M")
        mention = question.mention.model_dump()
        document = self._document(question.document)
        return JSONResponse(await self._model.explain(document, mention, lambda: hung_up(request)))

    async def learning(self) -> Response:
        """What is learned in the background: the curve, and how often the model was replaced."""
        if self._learner is None:
            raise Refused(404, "nothing is learned here; start with --learn FOLDER")
        return JSONResponse(self._learner.record())

    # functions that are not asynchronous run in threads, where a long one does not delay actions

    def concepts(self, text: Annotated[str, Query(max_length=100_000)]) -> Response:
        """Concepts with a name like a text, the best first."""
        if self._finder is None:
            raise Refused(404, "there is no vocabulary; start with --vocabulary V")
        if len(text) > _QUERY:
            raise Refused(422, f"the search has {len(text):,} characters, at most {_QUERY} are looked up; shorten it")
        vocabulary = self._finder.vocabulary
        with self._searching:  # one search at a time; among millions of names it takes a while
            numbers = self._finder.find([text]).concept.tolist() if text.strip() else []
        found = [vocabulary[number] for number in numbers]
        return JSONResponse([{"id": concept.id, "name": concept.name} for concept in found])

    def history(self, number: Number, layer: Layer, before: Number = LARGEST) -> Response:
        """What was done in a document before an action, the last first, and whether there is more."""
        with Store(self._store.path) as store:
            earlier = takewhile(lambda one: one.number < before, events(store, number, layer))
            actions = (list(group) for _, group in groupby(earlier, attrgetter("number")))
            found = deque(actions, maxlen=_ACTIONS + 1)
        rows = [one.record() for group in list(found)[-_ACTIONS:] for one in group]
        return JSONResponse({"events": rows[::-1], "more": len(found) > _ACTIONS})

    def agreement(self) -> Response:
        """Agreement of each pair of annotators."""
        with Store(self._store.path) as store:
            return JSONResponse([one._asdict() for one in agreement(compared(store, without=ADJUDICATED))])

    def _document(self, number: int) -> Document:
        if number not in self._documents:
            try:
                found = prepare(from_record(self._store.record(number)))
            except UsageError as error:
                raise Refused(404, str(error)) from None
            while len(self._documents) >= _CACHED:
                del self._documents[next(iter(self._documents))]
            self._documents[number] = found
        return self._documents[number]

    async def _read(self, request: Request, kind: type[_Body]) -> _Body:
        if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            raise Refused(415, "the body is no JSON, expected the content type application/json")
        return parsed(kind, await body_of(request, self._limits.body))


def _version(state: State) -> dict[str, Any]:
    return {"version": state.version, "undo": len(state.done), "redo": len(state.undone)}


def make_app(workplace: Workplace, title: str) -> FastAPI:
    """The application: the page, its scripts, and the end points."""
    app = FastAPI(title="Spanloom", docs_url=None, redoc_url=None, openapi_url=None)
    for name in ("store", "document", "suggestions", "concepts", "history", "agreement", "learning"):
        app.add_api_route(f"/api/{name}", getattr(workplace, name), methods=["GET"])
    for name in ("act", "position", "explain"):
        app.add_api_route(f"/api/{name}", getattr(workplace, name), methods=["POST"])
    add_page(app, Path(__file__).parent / "static", title)
    add_handlers(app)
    app.add_exception_handler(sqlite3.DatabaseError, _store_failed)
    app.add_exception_handler(DataError, _store_failed)
    return app


async def _store_failed(_: Request, error: Exception) -> Response:
    message = str(error) if isinstance(error, DataError) else f"the store cannot be used: {clip(str(error))}"
    return JSONResponse({"error": message}, 507)

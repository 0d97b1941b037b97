"""Predictions of trained models, kept in a folder: what was trained once is not trained again."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any

from common import say
from spanloom.document import Document, Mention

RECORD = "run.json"  # written last, so that what was interrupted is not taken for whole


@dataclass(frozen=True)
class Key:
    """Which model: the folders of its place."""

    corpus: str
    training: str
    model: str

    def __str__(self) -> str:
        return f"{self.corpus}, trained on {self.training}, {self.model}"


@dataclass(frozen=True)
class Kept:
    """A trained model's predictions.

    Args:
        key: which model.
        parameters: everything that the predictions depend on, but the program.
        facts: what training saw and chose, its time, and the date.
        predicted: reading -> documents.
    """

    key: Key
    parameters: Mapping[str, Any]
    facts: Mapping[str, Any]
    predicted: Mapping[str, list[Document]]


class Store:
    """The folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def place(self, key: Key) -> Path:
        """Where a model's predictions are."""
        return self.folder / key.corpus / key.training / key.model

    def has(self, key: Key, parameters: Mapping[str, Any]) -> bool:
        """Whether the model was trained with just these parameters."""
        record = self.place(key) / RECORD
        if not record.exists():
            return False
        same: bool = json.loads(record.read_text(encoding="utf-8"))["parameters"] == _plain(parameters)
        if not same:
            say(f"{key}: kept predictions are of other parameters or other data; they are not used")
        return same

    def keep(
        self, key: Key, parameters: Mapping[str, Any], facts: Mapping[str, Any],
        predicted: Mapping[str, Sequence[Document]],
    ) -> None:  # fmt: skip
        """Write the predictions of a model, in place of earlier ones."""
        place = self.place(key)
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        for reading, documents in predicted.items():
            with (place / f"{reading}.jsonl").open("w", encoding="utf-8") as file:
                file.writelines(json.dumps(_record(document)) + "\n" for document in documents)
        about = {"date": date.today().isoformat(), **facts}
        whole = {"key": asdict(key), "parameters": _plain(parameters), "facts": about}
        (place / RECORD).write_text(json.dumps(whole, indent=1), encoding="utf-8")

    def load(self, key: Key, readings: Iterable[str], gold: Sequence[Document]) -> Kept:
        """The predictions of a model for these documents."""
        place = self.place(key)
        whole = json.loads((place / RECORD).read_text(encoding="utf-8"))
        predicted = {}
        for reading in readings:
            lines = (place / f"{reading}.jsonl").read_text(encoding="utf-8").splitlines()
            predicted[reading] = [
                _document(document, json.loads(line)) for document, line in zip(gold, lines, strict=True)
            ]
        return Kept(key, whole["parameters"], whole["facts"], predicted)


def _record(document: Document) -> dict[str, Any]:
    return {"id": document.id, "mentions": [[m.type, m.spans, m.score, m.concepts] for m in document.mentions]}


def _document(gold: Document, record: Mapping[str, Any]) -> Document:
    if record["id"] != gold.id:
        raise SystemExit(f"kept predictions are of document {record['id']!r}, expected {gold.id!r}; train again")
    return gold.copy(
        mentions=[
            Mention(kind, spans, score=score, concepts=tuple(*concepts))  # folders of earlier versions have no concepts
            for kind, spans, score, *concepts in record["mentions"]
        ]
    )


def _plain(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """As they are after a way through JSON."""
    plain: dict[str, Any] = json.loads(json.dumps(parameters))
    return plain

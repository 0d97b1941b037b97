"""A kind of model that Spanloom does not know: it finds again the mentions that it was given. It has no base class."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

from spanloom.document import Document, Mention
from spanloom.errors import UsageError
from spanloom.evaluate.measures import Learning
from spanloom.formats.inputs import Dev, Given, answer, documents_of, one_of, training_of
from spanloom.learn import Listener, Progress
from spanloom.model.protocol import Annotation, Capability
from spanloom.scoring.explanation import Explanation


class Gazetteer:
    """Finds the texts of training mentions."""

    kind: ClassVar[str] = "gazetteer"
    annotates: ClassVar = frozenset[Annotation](("mentions",))
    capable: ClassVar = frozenset[Capability](("scores", "explain"))

    def __init__(self, shortest: int = 2, n_jobs: int | None = 1) -> None:
        self.shortest, self.n_jobs = shortest, n_jobs
        self.texts: dict[str, str] = {}

    def fit(
        self, X: Given, y: Iterable[Any] | None = None, *, dev: Dev | None = None, progress: Listener | None = None
    ) -> Self:
        """Learn the texts of mentions."""
        if progress is not None:
            progress(Progress("reading"))
        for document in training_of(X, y):
            for mention in document.mentions:
                self.texts[mention.text(document.text)] = mention.type
        return self

    def predict(self, X: Given) -> Any:
        """Find them."""
        return answer(X, self.stream(X))

    def stream(self, X: Given, *, threshold: float = 0.0, answers: bool = False) -> Iterator[Document]:
        """Find them, lazily."""
        for document in documents_of(X):
            yield document.copy(mentions=[mention for mention in self._found(document.text) if threshold <= 0.5])

    def _found(self, text: str) -> Iterator[Mention]:
        for known, kind in self.texts.items():
            start = text.find(known)
            if start >= 0 and len(known) >= self.shortest:
                yield Mention(kind, [(start, start + len(known))], score=0.5)

    def explain(self, X: Any, mentions: Sequence[Mention] | None = None) -> list[Explanation]:
        """It found what it knows."""
        found = list(self._found(one_of(X).text))
        known = {mention.key for mention in found}
        asked = found if mentions is None else mentions
        return [Explanation(mention, mention.key in known, 0.0, (), (mention,), ()) for mention in asked]

    def check(self) -> None:
        """Validate parameters."""
        if self.shortest < 1:
            raise UsageError(f"shortest is {self.shortest}, expected a number from 1")

    def set_params(self, **params: Any) -> Self:
        """Change parameters."""
        vars(self).update(params)
        return self

    def summary(self) -> Iterator[str]:
        """What training saw."""
        yield f"{len(self.texts)} texts"

    def describe(self) -> dict[str, Any]:
        """What it is."""
        return {"kind": self.kind, "parameters": {"shortest": self.shortest}, "types": list(self.types_)}

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write it."""
        Path(path).mkdir(exist_ok=True)
        Path(path, "model.json").write_text(json.dumps(self.texts), encoding="utf-8")

    def learning(self) -> Learning | None:
        """Nothing is learned step by step."""
        return None

    @property
    def types_(self) -> tuple[str, ...]:
        """Types of mentions."""
        return tuple(sorted(set(self.texts.values())))

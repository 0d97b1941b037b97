"""A document: text, and what is known of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spanloom.document.span import Mention
from spanloom.errors import DataError

Offsets = NDArray[np.int64]
_SHOWN = 60  # characters of a wrong value in a message


@dataclass(slots=True)
class Document:
    """A text with its tokens, sentences, token columns and mentions.

    Only ``text`` is required. What a file does not give is ``None`` (tokens, sentences) or empty.

    Args:
        text: the exact text; nothing is normalized away.
        id: the document's name.
        tokens: (T, 2) start and end of each token in characters; ``None`` if not tokenized.
        sentences: (N, 2) first token and end token of each sentence, half-open; ``None`` if not split.
        columns: name -> one value for each token, such as ``"pos"``.
        mentions: in no particular order.
        meta: whatever else the file said.

    Raises:
        DataError: a mention that is no `Mention`.

    >>> document = Document("No acute distress.", tokens=[[0, 2], [3, 8], [9, 17], [17, 18]])
    >>> document.words
    ['No', 'acute', 'distress', '.']
    """

    text: str
    id: str = ""
    tokens: Offsets | None = None
    sentences: Offsets | None = None
    columns: dict[str, list[str]] = field(default_factory=dict)
    mentions: list[Mention] = field(default_factory=list)
    meta: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.tokens is not None:
            self.tokens = np.asarray(self.tokens, dtype=np.int64).reshape(-1, 2)
        if self.sentences is not None:
            self.sentences = np.asarray(self.sentences, dtype=np.int64).reshape(-1, 2)
        check_mentions(self.mentions)

    @property
    def words(self) -> list[str]:
        """The text of each token."""
        if self.tokens is None:
            return []
        return [self.text[start:end] for start, end in self.tokens.tolist()]

    def copy(self, **changes: Any) -> Document:
        """A copy whose lists and dictionaries are its own, with some fields changed."""
        fields: dict[str, Any] = {
            "text": self.text,
            "id": self.id,
            "tokens": self.tokens,
            "sentences": self.sentences,
            "columns": dict(self.columns),
            "mentions": list(self.mentions),
            "meta": dict(self.meta),
        }
        return Document(**{**fields, **changes})


def check_mentions(mentions: Sequence[object]) -> None:
    """Whether everything in a list of mentions is one; what lies in them, `spanloom.document.validate` says.

    Raises:
        DataError: something else stands among them, such as a tuple.
    """
    for number, mention in enumerate(mentions):
        if not isinstance(mention, Mention):
            shown = repr(mention) if len(repr(mention)) <= _SHOWN else f"{repr(mention)[: _SHOWN - 1]}…"
            message = f"mentions[{number}] is {shown}, expected a Mention, such as Mention('problem', [(0, 3)])"
            raise DataError(message)

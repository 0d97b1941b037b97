"""What is in annotated data: documents, sentences, tokens, mentions and how they lie."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

from spanloom.document import Document, align
from spanloom.document.span import join_spans
from spanloom.evaluate.overlap import overlaps
from spanloom.text import prepare


@dataclass(slots=True)
class Counts:
    """Counts over documents; tokens and sentences are Spanloom's own where the data have none.

    Args:
        documents: how many.
        sentences: how many.
        tokens: how many.
        mentions: how many, repetitions included.
        types: mentions of each type.
        nested: different mentions that contain another or are contained in one; see `spanloom.evaluate.Overlaps`.
        crossing: those that share characters with another, and neither contains the other.
        discontiguous: those that skip words.
        cutting: mentions that begin or end inside a token.
        crossing_sentences: mentions that no sentence holds as a whole.

    >>> from spanloom.document import Mention
    >>> counts = Counts()
    >>> counts.add(Document("No chest pain.", mentions=[Mention("problem", [(3, 13)]), Mention("body", [(3, 8)])]))
    >>> counts.tokens, counts.nested, counts.crossing, dict(counts.types)
    (4, 2, 0, {'problem': 1, 'body': 1})
    """

    documents: int = 0
    sentences: int = 0
    tokens: int = 0
    mentions: int = 0
    types: Counter[str] = field(default_factory=Counter)
    nested: int = 0
    crossing: int = 0
    discontiguous: int = 0
    cutting: int = 0
    crossing_sentences: int = 0

    def add(self, document: Document) -> None:
        """Count a document."""
        document = prepare(document)
        self.documents += 1
        self.sentences += document.sentence_count
        self.tokens += document.token_count
        self.mentions += len(document.mentions)
        self.types.update(mention.type for mention in document.mentions)
        joined = [mention.replace(spans=join_spans(document.text, mention.spans)) for mention in document.mentions]
        found = overlaps(list({mention.key: mention for mention in joined}.values()))
        self.nested += int(found.nested.sum())
        self.crossing += int(found.crossing.sum())
        self.discontiguous += int(found.discontiguous.sum())
        for alignment in align(document):
            self.cutting += alignment.ranges is None
            self.crossing_sentences += alignment.ranges is not None and alignment.sentence < 0

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        return asdict(self) | {"types": dict(sorted(self.types.items()))}

    def to_text(self) -> str:
        """A table for a terminal, ending without a line end."""
        rows = [("documents", self.documents), ("sentences", self.sentences), ("tokens", self.tokens)]
        rows += [("mentions", self.mentions)]
        rows += [(f"  {name}", number) for name, number in sorted(self.types.items())]
        rows += [("nested", self.nested), ("crossing", self.crossing), ("discontiguous", self.discontiguous)]
        rows += [("begin or end inside a token", self.cutting), ("cross a sentence end", self.crossing_sentences)]
        width = max(len(name) for name, _ in rows) + 2
        return "\n".join(f"{name:{width}}{number:>10,}" for name, number in rows)

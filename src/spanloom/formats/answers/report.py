"""What became of the answers of a language model: every quote is counted once, and every doubt is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from spanloom.document.validate import Problem
from spanloom.errors import plural


@dataclass(slots=True)
class AnswerReport:
    """What became of answers.

    Args:
        documents: documents with an answer that could be read.
        mentions: mentions in them.
        exact: quotes that stand in their document as they are written.
        folded: quotes that stand there after folding blanks, quotation marks, dashes, Unicode forms or case.
        inside_words: quotes that begin or end inside a word.
        ambiguous: quotes that stand there more often than the answer gives them.
        repeated: quotes that the answer gives more often than they stand there.
        invented: quotes that do not stand there.
        unusable: mentions without a text or a type.
        wrong_offsets: quotes whose offsets were wrong; they are counted above by their text, too.
        cut_short: answers that break off.
        unreadable: answers that could not be read.
        without_answer: documents without an answer; they are left out.
        without_document: answers without a document.
        problems: all that was not exact, folded or repeated, in the order in which it was found, with its place.

    >>> report = AnswerReport(documents=1, mentions=2, exact=2, invented=1)
    >>> report.quotes, str(report)
    (3, '1 document, 2 mentions; 3 quotes: 2 exact, 1 invented')
    """

    documents: int = 0
    mentions: int = 0
    exact: int = 0
    folded: int = 0
    inside_words: int = 0
    ambiguous: int = 0
    repeated: int = 0
    invented: int = 0
    unusable: int = 0
    wrong_offsets: int = 0
    cut_short: int = 0
    unreadable: int = 0
    without_answer: int = 0
    without_document: int = 0
    problems: list[Problem] = field(default_factory=list)

    @property
    def found(self) -> int:
        """Quotes that stand in their document."""
        return self.exact + self.folded + self.inside_words + self.ambiguous + self.repeated

    @property
    def quotes(self) -> int:
        """All mentions of the answers."""
        return self.found + self.invented + self.unusable

    def __str__(self) -> str:
        kinds = {
            "exact": self.exact,
            "after folding": self.folded,
            "inside a word": self.inside_words,
            "ambiguous": self.ambiguous,
            "given more often than they stand there": self.repeated,
            "invented": self.invented,
            "without text or type": self.unusable,
        }
        others = [
            (self.wrong_offsets, "quote with wrong offsets", "quotes with wrong offsets"),
            (self.cut_short, "answer cut short", "answers cut short"),
            (self.unreadable, "answer that could not be read", "answers that could not be read"),
            (self.without_answer, "document without an answer", "documents without an answer"),
            (self.without_document, "answer without a document", "answers without a document"),
        ]
        of_quotes = ", ".join(f"{count:,} {kind}" for kind, count in kinds.items() if count)
        parts = [f"{plural(self.documents, 'document')}, {plural(self.mentions, 'mention')}"]
        parts.append(plural(self.quotes, "quote") + (f": {of_quotes}" if of_quotes else ""))
        parts += [f"{count:,} {one if count == 1 else more}" for count, one, more in others if count]
        return "; ".join(parts)


Tell = Callable[[str, str, str], None]
"""Tells a problem of an answer: its kind, its place in the answer, and the message."""

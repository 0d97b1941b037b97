"""Memory of links in training data: texts of mentions with their concepts, counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from spanloom.document import Document
from spanloom.text.abbreviations import abbreviations, expand
from spanloom.vocabulary.folding import text_form
from spanloom.vocabulary.key_table import Strings, damaged, take
from spanloom.vocabulary.store import take_numbers, take_ptr

Reading = tuple[int, ...]


class ConceptNumbers(Protocol):
    """Whatever turns an identifier into a concept's number, -1 if it has none: a `Vocabulary`."""

    def find(self, id: str, /) -> int:
        """The number of a concept."""


class Rows(NamedTuple):
    """Texts of mentions, each with one concept, ordered by concept.

    Args:
        texts: R strings.
        concept: (R,) int32, ascending.
        mentions: (R,) int64, how many training mentions had this text and this concept.
    """

    texts: list[str]
    concept: NDArray[np.int32]
    mentions: NDArray[np.int64]


class Memory:
    """Texts of training mentions with what they were linked to.

    A *reading* is what one mention was linked to: one concept, or several for a composite mention. Concepts that the
    vocabulary lacks are left out and counted; mentions without any are not remembered. A mention with an abbreviation
    that its document defines is remembered in both forms.

    Args:
        counts: text -> reading -> how many mentions.
        unknown: identifiers that the vocabulary lacks -> how many mentions.

    >>> from spanloom.document import Mention
    >>> from spanloom.vocabulary import Concept, Vocabulary
    >>> vocabulary = Vocabulary.build([Concept("MESH:D007022", "Hypotension"), Concept("MESH:D001919", "Bradycardia")])
    >>> mentions = [Mention("Disease", [(0, 20)], concepts=["MESH:D007022"])]
    >>> memory = Memory.build([Document("Low  blood  pressure", mentions=mentions)], vocabulary)
    >>> memory.readings("low blood pressure"), len(memory)
    ([((0,), 1)], 1)
    """

    def __init__(self, counts: Mapping[str, Mapping[Reading, int]], unknown: Mapping[str, int] | None = None) -> None:
        self.counts = {text: dict(readings) for text, readings in counts.items()}
        self.unknown = dict(unknown or {})

    @classmethod
    def build(
        cls, documents: Iterable[Document], vocabulary: ConceptNumbers, types: Collection[str] | None = None
    ) -> Memory:
        """The memory of some documents.

        Args:
            documents: with concepts on their mentions.
            vocabulary: gives identifiers their numbers.
            types: of the mentions that count; ``None`` for all.
        """
        counts: dict[str, Counter[Reading]] = {}
        unknown: Counter[str] = Counter()
        for document in documents:
            defined = abbreviations(document)
            for mention in document.mentions:
                if types is not None and mention.type not in types:
                    continue
                numbers = [vocabulary.find(concept) for concept in mention.concepts]
                unknown.update(one for one, number in zip(mention.concepts, numbers, strict=True) if number < 0)
                if reading := tuple(sorted(known(numbers))):
                    text = " ".join(mention.text(document.text).split())
                    for form in (text, expand(text, defined)):
                        if form is not None:
                            counts.setdefault(form, Counter())[reading] += 1
        return cls(counts, unknown)

    def __len__(self) -> int:
        """The number of distinct texts."""
        return len(self.counts)

    @cached_property
    def rows(self) -> Rows:
        """Texts with single concepts; those of a composite mention count one each."""
        totals: Counter[tuple[int, str]] = Counter()
        for text, readings in self.counts.items():
            for reading, count in readings.items():
                totals.update({(concept, text): count for concept in reading})
        ordered = sorted(totals)
        concepts = np.array([concept for concept, _ in ordered], np.int32)
        return Rows([text for _, text in ordered], concepts, np.array([totals[key] for key in ordered], np.int64))

    def readings(self, text: str) -> list[tuple[Reading, int]]:
        """Return what mentions with this text were linked to, but for white space and case; the commonest first."""
        found = Counter[Reading]()
        for form in self._forms.get(text_form(text), ()):
            found.update(self.counts[form])
        return sorted(found.items(), key=lambda item: (-item[1], item[0]))

    def synonyms(self, text: str) -> list[str]:
        """Other texts of the concepts that mentions with this text were linked to: section 2.3 of the paper.

        >>> memory = Memory({"breast cancers": {(7,): 2}, "breast carcinoma": {(7,): 1, (8,): 1}, "tumour": {(9,): 1}})
        >>> memory.synonyms("Breast cancers"), memory.synonyms("fever")
        (['breast carcinoma'], [])
        """
        form = text_form(text)
        concepts = {concept for reading, _ in self.readings(text) for concept in reading}
        texts = (other for concept in sorted(concepts) for other in self._texts[concept])
        return [other for other in dict.fromkeys(texts) if text_form(other) != form]

    @cached_property
    def _forms(self) -> dict[str, list[str]]:
        forms: dict[str, list[str]] = {}
        for text in self.counts:
            forms.setdefault(text_form(text), []).append(text)
        return forms

    @cached_property
    def _texts(self) -> dict[int, list[str]]:
        texts: dict[int, list[str]] = {}
        for concept, text in zip(self.rows.concept.tolist(), self.rows.texts, strict=True):
            texts.setdefault(concept, []).append(text)
        return texts

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that it holds, to be saved: texts as UTF-8 with their ends, readings with theirs, counts."""
        entries = [
            (number, reading, count)
            for number, readings in enumerate(self.counts.values())
            for reading, count in readings.items()
        ]
        concepts = [concept for _, reading, _ in entries for concept in reading]
        return {
            **Strings.of(self.counts).arrays("texts"),
            "text": np.array([number for number, _, _ in entries], np.int32),
            "concepts": np.array(concepts, np.int32),
            "ptr": np.cumsum([0, *(len(reading) for _, reading, _ in entries)], dtype=np.int64),
            "counts": np.array([count for _, _, count in entries], np.int64),
            **Strings.of(self.unknown).arrays("unknown"),
            "unknown.counts": np.array(list(self.unknown.values()), np.int64),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], concepts: int) -> Memory:
        """Restore a memory from the result of `arrays`.

        Args:
            arrays: the result of `arrays`.
            concepts: V, the number of the vocabulary's concepts.

        Raises:
            ModelError: the arrays are not from `arrays` with such a vocabulary.
        """
        texts, unknown = (Strings.from_arrays(arrays, name).to_list() for name in ("texts", "unknown"))
        number = take_numbers(arrays, "text", np.int32, len(texts))
        members = take_numbers(arrays, "concepts", np.int32, concepts).tolist()
        ptr = take_ptr(arrays, len(number), len(members)).tolist()
        counts: dict[str, dict[Reading, int]] = {text: {} for text in texts}
        mentions = take(arrays, "counts", np.int64, len(number)).tolist()
        for text, first, end, count in zip(number.tolist(), ptr[:-1], ptr[1:], mentions, strict=True):
            counts[texts[text]][tuple(members[first:end])] = count
        if min(mentions, default=1) < 1 or not all(counts.values()) or any(() in found for found in counts.values()):
            raise damaged("counts", "has texts without concepts, or without mentions")
        seen = take(arrays, "unknown.counts", np.int64, len(unknown)).tolist()
        return cls(counts, dict(zip(unknown, seen, strict=True)))


def known(numbers: Iterable[int]) -> tuple[int, ...]:
    """The concepts of a mention that its vocabulary has, each once.

    Args:
        numbers: of its identifiers, as `ConceptNumbers.find` gives them.

    >>> known([4, -1, 2, 4])
    (4, 2)
    """
    return tuple(dict.fromkeys(number for number in numbers if number >= 0))

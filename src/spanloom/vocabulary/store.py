"""The vocabulary itself: concepts by number, their names in one list, identifiers to numbers; saved as an index."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Any, ClassVar, Literal, Never, overload

import numpy as np
from numpy.typing import NDArray

from spanloom.document.span import normalize_identifier
from spanloom.errors import ModelError
from spanloom.modelfile import ModelPart, load, save
from spanloom.vocabulary.key_table import Array, Int64s, Strings, damaged, take, take_bounds
from spanloom.vocabulary.records import Concept, Note, Notes, Record, examine, merge

_SINGLE = {"ids": "id", "definitions": "definition", "categories": "category"}  # one string a concept
_SEVERAL = ("names", "alternatives", "parents")  # any number of them


class Vocabulary(Sequence[Concept]):
    """Concepts in the order of their file, V of them with M names in all; made by `build`, `open` or `read_vocabulary`.

    Nothing of it changes. The strings are kept in a few long texts, and a `Concept` is made when it is asked for.

    Attributes:
        names: all names of all concepts, the preferred one first within each; M strings.
        name_concept: the number of the concept of each of ``names``; int32, shape (M,).
        name_ends: where the names of each concept end in ``names``; int64, shape (V,).
        notes: what is odd about it.
        indexes: what candidate searches have made of the names, by method; kept, as nothing of the names changes.

    >>> vocabulary = Vocabulary.build([
    ...     Concept("D009203", "Myocardial Infarction", ("Heart Attack",), parents=("D017202",)),
    ...     Concept("D017202", "Myocardial Ischemia", alternatives=("OMIM:1",)),
    ... ])
    >>> vocabulary[0].id, vocabulary.names, vocabulary.name_concept.tolist()
    ('MESH:D009203', ['Myocardial Infarction', 'Heart Attack', 'Myocardial Ischemia'], [0, 0, 1])
    >>> [vocabulary.find(id) for id in ("mesh:D017202", "OMIM:1", "D000001")]
    [1, 1, -1]
    """

    kind: ClassVar[Literal["vocabulary"]] = "vocabulary"
    annotates: ClassVar[frozenset[Never]] = frozenset()  # it annotates nothing: models look names up in it
    capable: ClassVar[frozenset[Never]] = frozenset()

    def __init__(
        self, single: Mapping[str, Strings], several: Mapping[str, tuple[Strings, Int64s]], notes: Iterable[Note] = ()
    ) -> None:
        """Made by the class methods, which know what the columns are."""
        self._single = single
        self._several = several
        self.notes = tuple(notes)
        self.indexes: dict[str, Any] = {}
        names, self.name_ends = several["names"]
        self.names: list[str] = names.to_list()
        counts = np.diff(self.name_ends, prepend=0)
        self.name_concept: NDArray[np.int32] = np.repeat(np.arange(len(counts), dtype=np.int32), counts)

    @classmethod
    def build(cls, concepts: Iterable[Concept], notes: Notes | None = None) -> Vocabulary:
        """A vocabulary of some concepts. Identifiers are normalized, see `normalize_identifier`.

        Raises:
            DataError: no concept, one without an identifier or a name, two that differ under one identifier, or text
                with NUL or half of a surrogate pair.
        """
        return cls.of_records((Record(concept) for concept in concepts), notes=notes)

    @classmethod
    def of_records(
        cls, records: Iterable[Record], path: str | Path | None = None, notes: Notes | None = None
    ) -> Vocabulary:
        """Build a vocabulary as `build` does, from concepts with their lines, for the places in errors.

        Args:
            records: from a reader.
            path: the file, for messages.
            notes: from the reader; more are added.
        """
        notes = Notes() if notes is None else notes
        concepts = merge(records, notes, path)
        examine(concepts, notes)
        single = {name: Strings.of(map(attrgetter(own), concepts)) for name, own in _SINGLE.items()}
        several = {}
        for name in _SEVERAL:
            values = list(map(attrgetter(name), concepts))
            several[name] = Strings.of(chain.from_iterable(values)), np.cumsum(list(map(len, values)), dtype=np.int64)
        return cls(single, several, notes.to_tuple())

    def __len__(self) -> int:
        return len(self.name_ends)

    @overload
    def __getitem__(self, number: int) -> Concept: ...
    @overload
    def __getitem__(self, number: slice) -> list[Concept]: ...
    def __getitem__(self, number: int | slice) -> Concept | list[Concept]:
        if isinstance(number, slice):
            return [self[place] for place in range(*number.indices(len(self)))]
        place = range(len(self))[number]
        identifier, definition, category = (self._single[name][place] for name in _SINGLE)
        (preferred, *synonyms), alternatives, parents = (
            tuple(strings[at] for at in range(int(ends[place - 1]) if place else 0, int(ends[place])))
            for strings, ends in map(self._several.__getitem__, _SEVERAL)
        )
        return Concept(identifier, preferred, tuple(synonyms), alternatives, parents, definition, category)

    def __iter__(self) -> Iterator[Concept]:
        return (self[number] for number in range(len(self)))

    def identifier(self, number: int) -> str:
        """The identifier of a concept, without the rest of it."""
        return self._single["ids"][range(len(self))[number]]

    @property
    def parents(self) -> tuple[Strings, Int64s]:
        """The parents of all concepts, one behind the other, and where those of each end."""
        return self._several["parents"]

    @property
    def concepts(self) -> Sequence[Concept]:
        """The concepts by their numbers."""
        return self

    def find(self, id: str) -> int:
        """Return the number of a concept, or -1.

        Args:
            id: its identifier or an alternative one, in any of the forms that `normalize_identifier` knows.
        """
        number = self._numbers.get(id)
        return self._numbers.get(normalize_identifier(id), -1) if number is None else number

    @cached_property
    def _numbers(self) -> dict[str, int]:
        # an identifier that several concepts have is the first one's, and a concept's own before an alternative
        strings, ends = self._several["alternatives"]
        owners = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0)).tolist()
        numbers = dict(zip(reversed(strings.to_list()), reversed(owners), strict=True))
        numbers.update((identifier, number) for number, identifier in enumerate(self._single["ids"].to_list()))
        return numbers

    def counts(self) -> dict[str, int]:
        """Count the concepts, names, alternatives, parents and definitions.

        >>> Vocabulary.build([Concept("1", "heart", ("cor",))]).counts()
        {'concepts': 1, 'names': 2, 'alternatives': 0, 'parents': 0, 'definitions': 0}
        """
        numbers = {name: len(self._several[name][0]) for name in _SEVERAL}
        definitions = int((np.diff(self._single["definitions"].ends, prepend=0) > 0).sum())
        return {"concepts": len(self), **numbers, "definitions": definitions}

    def describe(self) -> dict[str, Any]:
        """Describe the vocabulary: how many there are of everything, and what is odd about it; ready for JSON."""
        return {"kind": self.kind, "counts": self.counts(), "notes": [str(note) for note in self.notes]}

    def arrays(self) -> dict[str, Array]:
        """Everything but the notes, as arrays; `from_arrays` takes them."""
        arrays: dict[str, Array] = {}
        for name, column in self._single.items():
            arrays |= column.arrays(name)
        for name, (column, ends) in self._several.items():
            arrays |= {**column.arrays(name), f"{name}.last": ends}
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array], notes: Iterable[Note] = ()) -> Vocabulary:
        """Restore the vocabulary of which `arrays` gave these arrays; other arrays are ignored.

        Raises:
            ModelError: an array is missing, or is not from `arrays`.
        """
        single = {name: Strings.from_arrays(arrays, name) for name in _SINGLE}
        columns = {name: Strings.from_arrays(arrays, name) for name in _SEVERAL}
        several = {name: (own, take_bounds(arrays, f"{name}.last", len(own))) for name, own in columns.items()}
        lengths = {len(column) for column in single.values()} | {len(ends) for _, ends in several.values()}
        if len(lengths) > 1 or 0 in lengths or (np.diff(several["names"][1], prepend=0) < 1).any():
            problem = "its columns are of different lengths, or a concept has no name"
            raise ModelError(f"the vocabulary is damaged: {problem}; make it again from its source")
        return cls(single, several, notes)

    def to_part(self) -> ModelPart:
        """See `spanloom.modelfile.save`."""
        notes = [[note.kind, note.count, list(note.examples)] for note in self.notes]
        return ModelPart({"counts": self.counts(), "notes": notes}, self.arrays())

    @classmethod
    def from_part(cls, part: ModelPart) -> Vocabulary:
        """See `spanloom.modelfile.load`."""
        return cls.from_arrays(part.arrays, map(_note, part.values.get("notes", [])))

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write the index, a folder; it is there in full or not at all. The same vocabulary gives the same bytes.

        Raises:
            UsageError: something is there and ``force`` is false, or it is anything but an index or a model.
            DataError: the system refused to write.
        """
        save(self, path, force=force)

    @classmethod
    def open(cls, path: str | Path) -> Vocabulary:
        """Open a vocabulary that `save` wrote. Opening runs no code.

        Raises:
            ModelError: the folder is not an index, or it is damaged or of another version.
        """
        return load(cls, path)


def _note(value: Any) -> Note:
    kind, count, examples = value
    if not (isinstance(kind, str) and isinstance(count, int) and all(isinstance(text, str) for text in examples)):
        raise ValueError(f"found {value!r:.80} among the notes, expected a kind, a count and examples")
    return Note(kind, count, tuple(examples))


# Arrays of a saved index, checked when they are read: kernels follow their numbers without looking.


def take_ptr(arrays: Mapping[str, NDArray[Any]], size: int, total: int) -> NDArray[np.int64]:
    """Take the array ``ptr`` with the begin of each of some parts, and the end of the last.

    Args:
        arrays: all of them.
        size: the number of parts.
        total: the length of all parts together.

    Raises:
        ModelError: the array is missing or invalid.

    >>> take_ptr({"ptr": np.array([0, 2, 2, 3])}, 3, 3).tolist()
    [0, 2, 2, 3]
    """
    ptr = take(arrays, "ptr", np.int64, size + 1)
    if ptr[0] != 0 or ptr[-1] != total or (np.diff(ptr) < 0).any():
        raise damaged("ptr", f"does not part {total} entries into {size}")
    return ptr


def take_numbers(arrays: Mapping[str, NDArray[Any]], name: str, dtype: Any, limit: int) -> NDArray[Any]:
    """Whole numbers from 0 to below a limit.

    Raises:
        ModelError: the array is missing, is of another kind, or holds other numbers.
    """
    numbers = take(arrays, name, dtype)
    if len(numbers) and (numbers.min() < 0 or numbers.max() >= limit):
        raise damaged(name, f"holds numbers from {numbers.min()} to {numbers.max()}, expected 0 to {limit - 1}")
    return numbers

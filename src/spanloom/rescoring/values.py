"""Features of candidates as wholes: templates, and the named values that they conjoin."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from spanloom.document import Batch
from spanloom.errors import ModelError, UsageError, clip
from spanloom.features import FeatureSet
from spanloom.features.columns import is_cluster_column, word_column
from spanloom.features.conjunctions import atoms
from spanloom.features.tables import tabulate
from spanloom.features.template import Column, parse
from spanloom.hashing import UInt64, hash_text
from spanloom.hypergraph import Ints
from spanloom.model.pairs import NEXT
from spanloom.native import Kernel
from spanloom.rescoring.candidates import GIVEN, CandidateMentions, Words
from spanloom.rescoring.seen import HeldOutNames, SeenNames
from spanloom.structures import MentionTable

if TYPE_CHECKING:  # what reads names of vocabularies is imported for models that have some
    from spanloom.rescoring.listed import ListedIn
    from spanloom.rescoring.parts import HeldOutParts, PairedParts

_texts, _values_at, _wholes = Kernel("texts"), Kernel("values_at"), Kernel("wholes")
_COLUMN = re.compile(r"(.+)\[(.+)\]")
_PLACE = re.compile(r"(first|last|gap|join)([+-]\d+)?")
_PLACES: Final = ("first", "last", "gap", "join")
_BEFORE, _BEHIND = 1, 2  # the sentence: in place of a hash
_TEXT: Final = Column("low")
_BOTH = ("same", "other")  # types
RELATIONS: Final = (
    "twin",
    *(f"{way}.{edge}.{types}" for way in ("outer", "inner") for edge in ("start", "end", "middle") for types in _BOTH),
    *(f"crossing.{types}" for types in _BOTH),
    *(f"{way}.{types}" for way in ("part", "whole", "hull", "sibling") for types in _BOTH),
)
"""What another candidate is to one, and whether it has the same type; `native/rescoring.c` numbers them so.

``twin``: the same ranges, with another type. ``outer``, ``inner``: contains it or is contained, and begins with it,
ends with it, or neither. ``crossing``: overlaps in part. Where one of both has gaps: ``part``, it is one of the ranges;
``whole``, one of its ranges is this one; ``hull``, it covers the same from end to end; ``sibling``, they share a range.
"""
_MARKED = {
    1: "( [ {", 2: ") ] }", 4: "and or / & and/or but nor versus und oder y o et ou e", 8: ",",
    16: "of in with between to from on for by at",
}  # fmt: skip
_MARKS, _BITS = (
    np.array([hash_text(word) for words in _MARKED.values() for word in words.split()], np.uint64),
    np.array([bit for bit, words in _MARKED.items() for _ in words.split()], np.uint8),
)
CONCEPTS: Final = tuple(
    f"concept{name}" for name in (
        "", ".name", ".share", ".prior", ".words", ".found", ".covered", ".edit", ".loose", ".last", ".expanded",
        ".again",
    )
)  # fmt: skip
"""Values from the likeliest concept of a candidate; `spanloom.rescoring.concept_lookup` computes them."""
_WHOLE: Final = (
    "type", "odds", "odds.coarse", "level", "len", "text", "parts", "brackets", "gap.len", "gap.text", "pair.gap",
    "pair", "pair.first", "pair.second", "again", "again.other", *RELATIONS, *(f"{name}.less" for name in RELATIONS),
    "seen", "listed", *CONCEPTS,
)  # fmt: skip
"""Values of candidates as wholes; `native/rescoring.c` numbers all up to ``seen`` so."""
_ROW: Final = {name: row for row, name in enumerate(_WHOLE)}
GROUPS: Final[dict[str, tuple[str, ...]]] = {
    "marginal": ("type", "odds", "odds|type", "level", "level|type", "level|odds.coarse"),
    "length": ("len:12", "len:12|type", "len:12|odds.coarse"),
    "edges": (
        "low[first]|type", "low[last]|type", "low[last-1]|low[last]|type", "low[first]|low[first+1]|type",
        "suffix3[last]|type", "suffix4[last]|type", "shape[first]|type", "shape[last]|type", "shape[first]|shape[last]",
        "low[first]|odds.coarse", "low[last]|odds.coarse", "cluster:6[last]|type", "cluster:10[last]|type",
        "pos[first]|type", "pos[last]|type", "pos[first]|pos[last]|len:6", "category[first]|category[last]|type",
        "brackets", "brackets|odds.coarse",
    ),
    "around": (
        "low[first-1]|type", "low[last+1]|type", "low[first-1]|low[last+1]", "low[first-1]|low[first]",
        "low[last]|low[last+1]", "low[first-1]|odds.coarse", "low[last+1]|odds.coarse", "pos[first-1]|pos[first]|type",
        "pos[last]|pos[last+1]|type", "pos[first-1]|pos[last+1]", "suffix3[last]|low[last+1]",
    ),
    "text": ("text|type", "text"),
    "seen": ("seen", "seen|odds.coarse", "seen|len:4", "seen|type"),
    "listed": (
        "listed", "listed|type", "listed|odds.coarse", "listed|type|odds.coarse", "listed|seen", "listed|level",
        "listed|len:6", "listed|parts|type", "listed|parts|gap.len:6", "listed|parts|odds.coarse",
    ),
    "concepts": (
        *(f"{name}{more}" for name in CONCEPTS for more in ("", "|odds.coarse", "|type")),
        "concept.name|concept.share", "concept.name|seen", "concept.share|seen",
        "concept.name|concept.share|odds.coarse", "concept.again|again", "concept.again|concept.name",
        "concept.again|concept.share", "concept.again|concept.name|odds.coarse", "concept.found|concept.covered",
        "concept.found|concept.covered|odds.coarse", "concept.found|concept.covered|concept.edit",
        "concept.name|concept.expanded", "concept.name|len:4", "concept.name|concept.prior",
        "concept.words|concept.last|odds.coarse", "concept.name|again", "concept.share|again",
    ),
    "pairs": (
        "pair", "pair|type", "pair|odds.coarse", "pair|level", "pair.gap", "pair.gap|type", "pair.gap|pair",
        "pair.gap|gap.len:6", "pair.gap|odds.coarse", "pair.first|pair.second", "pair.first|pair.second|type",
        "pair.first|pair.second|pair.gap", "pair|seen", "pair.gap|seen", "pair.first|type", "pair.second|type",
        "pair|len:6",
    ),
    "relations": tuple(
        text for name in RELATIONS for text in (name, f"{name}|odds.coarse", f"{name}.less", f"{name}.less|type")
    ),
    "document": (
        "again", "again|odds.coarse", "again.other", "again.other|odds.coarse", "again|again.other",
        "again|type",
    ),
    "gaps": (
        "parts", "parts|type", "parts|odds.coarse", "gap.len:12", "gap.len:12|odds.coarse", "gap.text", "low[gap]",
        "low[join-1]", "low[gap-1]|low[join]", "low[gap-1]|low[gap]", "low[join-1]|low[join]", "low[join]|type",
        "suffix3[gap-1]|suffix3[join-1]", "pos[gap]", "pos[join-1]", "pos[gap-1]|pos[gap]|pos[join-1]|pos[join]",
        "cluster:6[gap-1]|cluster:6[join-1]",
    ),
}  # fmt: skip
"""Templates of the second stage by what they look at."""
TEMPLATES: Final = tuple(text for group in GROUPS.values() for text in group)


@lru_cache(maxsize=1024)
def columns_of(template: str) -> tuple[Column, ...]:
    """Return the columns of tokens that a template reads.

    >>> [str(column) for column in columns_of("low[first-1]|len:5|cluster:10[last]")]
    ['low', 'cluster:10']
    """
    return tuple(read[0] for atom in atoms(template) if (read := read_column(atom.name)))


@lru_cache(maxsize=1024)
def read_column(name: str) -> tuple[Column, str, int] | None:
    """Return the column of a value, and the place that it is read at; ``None`` for a value of another kind."""
    found = _COLUMN.fullmatch(name)
    if not found:
        return None
    place = _PLACE.fullmatch(found[2])
    if not place:
        raise ValueError(f"no place {found[2]!r}")
    [column] = parse(f"{found[1]}[0]").columns
    return column, place[1], int(place[2] or 0)


def served(
    templates: Sequence[str], features: FeatureSet, *, listed: bool = False, paired: bool = False,
    concepts: bool = False,
) -> tuple[str, ...]:  # fmt: skip
    """Return the templates whose columns are those of words, or such as the first stage reads.

    Args:
        templates: to choose from.
        features: of the first stage.
        listed: whether there are names of vocabularies.
        paired: whether pairs of parts are proposed.
        concepts: whether concepts are looked up.
    """
    have = {*features.needs, *features.computed}

    def there(column: Column) -> bool:
        if is_cluster_column(column.name):
            return features.clusters is not None
        return word_column(column) is not None or column.name in have

    all_templates = (
        template for template in templates
        if (listed or "listed" not in template) and (paired or not template.startswith("pair"))
        and (concepts or "concept" not in template)
    )  # fmt: skip
    return tuple(template for template in all_templates if all(map(there, columns_of(template))))


def check_templates(templates: Sequence[str], features: FeatureSet) -> None:
    """Check that templates of a model file can be computed.

    Raises:
        ModelError: one names a value that is not there.
    """
    for template in templates:
        for atom in atoms(template):
            if atom.name not in _ROW and not _reads_column(atom.name, features):
                raise ModelError(f"unknown value in the second-stage template {clip(template)}")


def _reads_column(name: str, features: FeatureSet) -> bool:
    try:
        return read_column(name) is not None and bool(served([name], features))
    except (UsageError, ValueError):
        return False


class _Reads(NamedTuple):
    """Values of columns that templates read, as `values_at` wants them: (V,) each.

    Args:
        column: numbers of columns.
        place: numbers of places.
        distance: from these.
        row: of the result.
    """

    column: Ints
    place: Ints
    distance: Ints
    row: Ints


@lru_cache(maxsize=64)
def _columns_of(templates: tuple[str, ...]) -> dict[Column, int]:
    """Return the columns that some templates read, beside that of the words, with their numbers."""
    columns = [_TEXT, *(column for template in templates for column in columns_of(template))]
    return {column: number for number, column in enumerate(dict.fromkeys(columns))}


@lru_cache(maxsize=64)
def _reads(templates: tuple[str, ...], names: tuple[str, ...]) -> tuple[_Reads, Ints, Ints]:
    """Return what is read of columns for some values; and the rows of other values in the result and in `_WHOLE`."""
    numbers, reads = _columns_of(templates), [(row, read_column(name)) for row, name in enumerate(names)]
    rows = [(numbers[read[0]], _PLACES.index(read[1]), read[2], row) for row, read in reads if read]
    others = np.array([(row, _ROW[names[row]]) for row, read in reads if not read], np.int64).reshape(-1, 2)
    return _Reads(*np.array(rows, np.int64).reshape(-1, 4).T.copy()), *others.T.copy()


class TokenColumns:
    """Columns of the tokens of a batch, as hashes.

    Args:
        batch: T tokens, with the columns that the first stage reads.
        templates: whose columns are wanted.
        features: of the first stage: its clusters.

    Attributes:
        templates, table: the templates, and the values of their columns.
        words: of the batch, as candidates are proposed from them.
    """

    def __init__(self, batch: Batch, templates: Sequence[str], features: FeatureSet) -> None:
        self.templates = tuple(templates)
        self.table = tabulate(batch, tuple(_columns_of(self.templates)), features.clusters)
        by_word = self.table.values[self.table.base[0] :: self.table.stride[0]]  # the first column
        documents = np.repeat(np.arange(len(batch.documents)), np.diff(batch.firsts))
        self.words = Words(batch.sentences, documents, by_word[self.table.ids[0]])


def texts(words: Words, mentions: MentionTable) -> UInt64:
    """Return the hash of the words of each mention, (M,), in lower case, without what lies in its gaps."""
    found = np.empty(len(mentions), np.uint64)
    _texts(words, mentions, found)
    return found


class CandidateValues:
    """Named values of C candidates; 0 where a candidate has none.

    ``type``; ``odds`` of the exact marginal, in bins of half a unit, ``odds.coarse`` of one and a half; ``level``, the
    lowest mention penalty that proposes it; ``len`` in tokens; ``text``; ``parts``; ``brackets``: 1 without, 2 where
    they balance, 3 where one is not closed, 4 where one is not opened; ``gap.len`` and ``gap.text``; ``seen``, how
    training has its text; ``listed``, whether it is a name of its type's vocabulary; of two parts ``pair``, their
    log-odds by words and marginals, ``pair.gap``, what the gap is, and ``pair.first`` and ``pair.second``, how training
    has each part; each of `RELATIONS`, the odds of the likeliest candidate that is this to it, and with ``.less`` how
    much less they are; ``again`` and ``again.other``, the odds of the likeliest candidate elsewhere in the document
    with its text and its type, or another; ``column[place]``, where a place is ``first``, ``last``, ``gap`` or
    ``join``, which is the token behind the first gap, perhaps with a distance.

    Of the likeliest ``concept``: ``concept.name``, how similar its nearest name is; ``concept.share``, of the training
    mentions with the text, those that have it; ``concept.prior``, how many training mentions have it; of the text
    beside the name the share of words that both have (``.words``), that the name has of the text's (``.found``), that
    the text has of the name's (``.covered``), similarity of characters (``.edit``), words folded loosely (``.loose``),
    whether the last word is the same (``.last``); ``.expanded``: the document defines an abbreviation in it;
    ``.again``: the odds of the likeliest candidate elsewhere in the document with the same concept.

    Bits of ``pair.gap``: 1 always; 2 it begins with a coordinator or comma, 4 it ends with a coordinator, 8 one is in
    it, 16 it begins with a bracket, 32 its brackets do not balance, 64 a preposition is before it.

    Args:
        candidates: of a batch.
        tokens: of the batch.
        seen: names of training mentions.
        listed: names of vocabularies, if there are any.
        pairs: scores mentions of two parts, if there is something that does.
        concepts: the values that `CONCEPTS` names, (V, C), if concepts are looked up.
    """

    def __init__(
        self, candidates: CandidateMentions, tokens: TokenColumns, seen: SeenNames | HeldOutNames,
        listed: ListedIn | None = None, pairs: PairedParts | HeldOutParts | None = None, concepts: UInt64 | None = None,
    ) -> None:  # fmt: skip
        table, count, words = candidates.table, len(candidates), tokens.words
        self._table, self._tokens = table, tokens
        self._whole = whole = np.zeros((len(_WHOLE), count), np.uint64)
        pair = np.full(count, -np.inf) if pairs is None else pairs.scores(candidates, words)
        _wholes(candidates, words, _MARKS, _BITS, pair, GIVEN, NEXT, whole)
        whole[_ROW["seen"]] = seen.recall(whole[_ROW["text"]], table.kind) + 1
        if listed is not None:
            whole[_ROW["listed"]] = listed.degrees(table)
        if concepts is not None:
            whole[_ROW["concept"] :] = concepts
        parts = (_ROW["pair.first"], _ROW["pair.second"])  # the kernel gives the texts of both
        for row in () if table.contiguous.all() else parts:
            whole[row] = np.where(table.contiguous, 0, seen.recall(whole[row], table.kind) + 1)

    def table(self, names: Sequence[str], rows: Ints | None = None) -> UInt64:
        """Return values, (V, C).

        Args:
            names: V of them.
            rows: numbers of the candidates that are wanted; all when ``None``.
        """
        reads, here, there = _reads(self._tokens.templates, tuple(names))
        rows = np.arange(len(self._table)) if rows is None else rows
        found = np.empty((len(names), len(rows)), np.uint64)
        _values_at(
            self._tokens.table, self._tokens.words.offsets, self._table, rows, *reads, self._whole, here, there,
            _BEFORE, _BEHIND, found,
        )  # fmt: skip
        return found

    def __getitem__(self, name: str) -> UInt64:
        """Return the values of a name, (C,)."""
        found: UInt64 = self.table([name])[0]
        return found

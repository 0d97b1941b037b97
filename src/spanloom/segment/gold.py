"""Gold words and mentions as tags of characters, and what no chain can hold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from spanloom.document import Batch, Document
from spanloom.hypergraph import Ints
from spanloom.model.corpus import CROSSES_SENTENCES, CUTS_TOKEN, Gold, Lost
from spanloom.segment.characters import Characters, split, word_starts
from spanloom.segment.constraints import WHOLE_WORDS, Constraint, allowed_pairs, parse
from spanloom.segment.lattice import Labels
from spanloom.segment.tags import MENTIONS, Bools, word_numbers
from spanloom.structures import MentionTable

CUTS_WORD = "it begins or ends inside a word"
_REASONS = {CUTS_TOKEN: CUTS_WORD, CROSSES_SENTENCES: CROSSES_SENTENCES}


@dataclass(frozen=True)
class GoldLabels:
    """The gold tags of a corpus.

    Args:
        batch: its characters.
        labels: tags of all characters.
        lost: the mentions that the tags do not hold.
        total: how many mentions there are.
    """

    batch: Characters
    labels: Labels
    lost: tuple[Lost, ...]
    total: int


def gold_labels(
    documents: Sequence[Document], types: Sequence[str], constraints: Iterable[Constraint] | None = None
) -> GoldLabels:
    """The gold tags of documents.

    Args:
        documents: with words and sentences.
        types: K names; mentions of other types are left out.
        constraints: mentions that break one are lost; only those of `WHOLE_WORDS` count when ``None``.

    Raises:
        DataError: words that do not add up to the text.
    """
    batch = split(documents)
    begins = word_starts(batch.batch)
    words = word_numbers(begins, batch.offsets)
    gold = Gold(Batch.of(batch.batch.documents), types)
    lost = [Lost(item.document, item.mention, item.text, _REASONS.get(item.reason, item.reason)) for item in gold.lost]
    table = _in_characters(gold.table, begins, batch.offsets)
    broken = _broken(
        table, words, batch.offsets, types, list(map(parse, WHOLE_WORDS)) if constraints is None else constraints
    )
    encoded = MENTIONS.encode(
        table.take(np.array([i not in broken for i in range(len(table))], bool)), batch.offsets, types
    )
    kept = [i for i in range(len(table)) if i not in broken]
    reasons = broken | {kept[i]: reason for i, reason in encoded.lost.items()}
    rows = [
        Lost(d.id, mention, mention.text(d.text), reasons[i])
        for i, (d, mention) in enumerate(gold.owners)
        if i in reasons
    ]
    labels = Labels(words, MENTIONS.read_tags(encoded.edges, types))
    return GoldLabels(batch, labels, (*lost, *rows), gold.total)


def _in_characters(table: MentionTable, begins: Bools, offsets: Ints) -> MentionTable:
    """Mentions counted in words, counted in characters."""
    starts = np.append(np.flatnonzero(begins), len(begins))
    words = np.searchsorted(starts, offsets)  # the first word of each sentence
    base = np.repeat(table.sentence, np.diff(table.ptr))
    first = starts[words[base] + table.first] - offsets[base]
    end = starts[words[base] + table.end] - offsets[base]
    return MentionTable(table.sentence, table.kind, table.ptr, first, end, table.heads)


def _broken(
    table: MentionTable, words: Ints, offsets: Ints, types: Sequence[str], constraints: Iterable[Constraint]
) -> dict[int, str]:
    """The mentions that break a constraint, by number, with the constraint."""
    broken: dict[int, str] = {}
    for constraint in constraints:
        allowed = allowed_pairs([constraint], types)
        for i, (n, kind, pieces) in enumerate(table.rows()):
            for first, end in pieces if len(pieces) == 1 else ():
                letters = np.array([MENTIONS.letters.index(letter) for letter in MENTIONS.spell(end - first)])
                place = slice(offsets[n] + first, offsets[n] + end)
                if not allowed[words[place], 1 + 4 * kind + letters].all():
                    broken.setdefault(i, f"it breaks the constraint '{constraint}'")
    return broken

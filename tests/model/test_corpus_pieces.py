"""Gold structures in pieces, and mentions of documents in blocks: as if they had been made together."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from spanloom import read
from spanloom.data import clinical
from spanloom.document import Batch
from spanloom.files.scratch import FolderScratch
from spanloom.model.corpus import Gold, training_types
from spanloom.model.pieces import count_ambiguous, encode_pieces
from spanloom.structures import STRUCTURES
from spanloom.text import prepare


@pytest.mark.parametrize("name", STRUCTURES)
@pytest.mark.parametrize("piece", [1, 300])
def test_pieces_of_a_corpus_are_encoded_as_the_whole(name: str, piece: int, tmp_path: Path) -> None:
    documents = [prepare(document) for document in read(clinical() / "dev")]
    batch, types, structure = Batch.of(documents), training_types(documents), STRUCTURES[name]
    headless = "whole" if structure.heads else None
    gold, parts = Gold(batch, types, headless), Gold(batch, types, headless, block=50)
    assert all(np.array_equal(one, other) for one, other in zip(gold.table, parts.table, strict=True))
    assert gold.lost == parts.lost and gold.owners == parts.owners
    whole = structure.encode(gold.table, batch.sentences, types)
    scratch = FolderScratch(tmp_path)
    found = encode_pieces(structure, gold.table, batch.sentences, types, scratch, piece)
    assert np.array_equal(found.edges, whole.edges) and found.lost == whole.lost
    gold.lose(found.lost)
    again = set(structure.decode(whole.edges, batch.sentences, types).headed())
    ambiguous = sum(row not in again for row in gold.held)
    held = gold.table.take(gold.holds)
    assert count_ambiguous(structure, held, found.edges, batch.sentences, types, scratch, piece) == ambiguous

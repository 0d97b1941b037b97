"""How documents are grouped, and which one is named."""

from __future__ import annotations

import pytest

from spanloom import Document
from spanloom.document import Batch, batches
from spanloom.errors import DataError
from spanloom.text import prepare, prepare_all


@pytest.mark.parametrize(
    "text",
    [
        "No chest pain. Na 138, K 4.1; wbc 5.2/ml. ",
        "患者无发热,咳嗽3天,给予阿莫西林0.5g口服。诊断:肺炎。",
        "Кашель и температура в течение трёх дней. ",
        "Überprüfung der Lösung für größere Gefäße. ",
        "1-2,3/4(5);6+7 ",
    ],
)
def test_a_batch_has_about_as_many_tokens_as_it_should(text: str) -> None:
    each = prepare(Document(text)).token_count
    groups = list(batches([Document(text)] * 2000, 5000, prepare_all))
    assert sum(map(len, groups)) == 2000
    for group in groups[:-1]:
        assert 0.5 * 5000 <= each * len(group) <= 2 * 5000


def test_the_document_that_fails_alone_is_named() -> None:
    unusual = Document("chest pain", id="A", tokens=[[0, 0], [0, 5]], sentences=[[0, 2]])
    wrong = Document("fever", id="B", tokens=[[0, 99]], sentences=[[0, 1]])
    assert len(Batch.of([unusual]).tokens) == 2
    with pytest.raises(DataError, match="document 'B'"):
        Batch.of([unusual, wrong])

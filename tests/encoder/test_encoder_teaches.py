"""A linear student of a teacher whose scores come from an encoder."""

from __future__ import annotations

from pathlib import Path

from spanloom import Document, Recognizer
from spanloom.evaluate import evaluate
from spanloom.recognize import teach


def test_a_student_imitates_an_encoder(folder: Path, notes: list[Document]) -> None:
    teacher = Recognizer(
        encoder=folder, encoder_epochs=20, encoder_rate=1e-3, head_rate=1e-2, step_subwords=64, rescore=False
    ).fit(notes, dev=notes[:10])  # fmt: skip
    texts = [note.text for note in notes]
    student = teach(teacher, texts, dev=notes[:10], features=["bias", "w[-2..2]"], l2=0.01, epochs=20)
    taught, learned = teacher.predict(texts), student.predict(texts)
    assert any(found.mentions for found in taught)
    assert student.encoder is None
    assert evaluate(taught, learned).overall.f1 > 0.8

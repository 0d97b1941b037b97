"""What a model finds in a document is a function of the two: it does not depend on other documents."""

from __future__ import annotations

from typing import Any

import pytest

from spanloom import Document, Linker, Recognizer
from spanloom.data import clinical

FEATURES = ["bias", "low[-1..1]", "suffix(2..3)"]
SETTINGS: dict[str, Any] = {"features": FEATURES, "rate": 0.3, "l2": 0.1, "epochs": 3}
COMPANY = [
    "Chest pain (CP). CP was severe. RA dilated. Chest pain (CP). CP was severe. RA dilated.",
    "Dystrophin (DMD) and heart attack (HA) in DMD, no HA. RA dilated.",
    "Left arm pain, and his left leg was weak. The arm improved.",
    "",
    "Right arm. No aortic stenosis or regurgitation, and no mitral stenosis.",
]
MODELS = {
    "one structure of several strands": lambda notes: Recognizer("split", **SETTINGS).fit(notes.train, dev=notes.dev),
    "two passes": lambda notes: Recognizer("separators", passes="two", **SETTINGS).fit(notes.train, dev=notes.dev),
    "linker": lambda notes: Linker("small", iterations=2).fit(
        notes.train, dev=notes.dev, vocabulary=clinical() / "vocabulary.tsv"
    ),
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", MODELS)
def test_a_document_alone_and_in_company(name: str, notes: Any) -> None:
    model = MODELS[name](notes)
    documents = [Document(text, id=str(n)) for n, text in enumerate([*(d.text for d in notes.train[:12]), *COMPANY])]
    options = {} if name == "linker" else {"answers": True}
    alone = [model.predict(document, **options) for document in documents]
    assert sum(len(document.mentions) for document in alone) > 20
    assert model.predict(documents, **options) == alone
    assert model.predict(documents[::-1], **options) == alone[::-1]

"""Concepts chosen with the help of an encoder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from spanloom import Document, Recognizer, load
from spanloom.concepts.fitting import fit_concepts
from spanloom.concepts.forms import BY_ENCODER, NIL, NUMBERS, Form, VocabularyForms
from spanloom.concepts.similarity import NameVectors, vectors
from spanloom.concepts.stage import ConceptStage
from spanloom.errors import ModelError, UsageError
from spanloom.vocabulary import Concept, Vocabulary
from spanloom.vocabulary.memory import Memory

pytestmark = pytest.mark.filterwarnings("ignore:about .* of the")  # the encoder knows four words

NAMES = Vocabulary.build(
    [Concept("C1", "chest pain", ("pain in chest",)), Concept("C2", "pain", ("dolor",)), Concept("C3", "chest")]
)


@pytest.fixture(scope="module")
def name_vectors(folder: Path) -> NameVectors:
    [found] = NameVectors.of([NAMES], folder)
    return found


@pytest.fixture(scope="module")
def linked(notes: list[Document]) -> list[Document]:
    concepts = {"chest pain": "C1", "pain": "C2", "chest": "C3"}
    return [
        one.copy(mentions=[m.replace(concepts=[concepts[m.text(one.text)]]) for m in one.mentions]) for one in notes
    ]


def cosines(found: NameVectors, text: str) -> list[float]:
    """Return the largest cosine of each concept, name by name."""
    one = vectors(found.encoder, [text])[0]
    ends = NAMES.name_ends.tolist()
    every = [float(one @ name) / 127 for name in found.names.astype(np.float32)]
    return [max(every[first:end]) for first, end in zip([0, *ends[:-1]], ends, strict=True)]


def test_candidates_have_the_similarity_of_their_nearest_name(name_vectors: NameVectors) -> None:
    memory = Memory({"chest or pain": {(1, 2): 3}})
    forms = [Form(text, "problem") for text in ("no chest", "chest or pain", "pain .", "")]
    table = VocabularyForms(NAMES, memory, vectors=name_vectors).table(forms)
    assert table.numbers.shape[1] == len(NUMBERS) + len(BY_ENCODER)
    for number, form in enumerate(forms):
        near = cosines(name_vectors, form.text)
        rows = range(table.ptr[number], table.ptr[number + 1])
        own = {int(table.concept[row]): table.numbers[row, len(NUMBERS) :] for row in rows}
        order = sorted((c for c in own if 0 <= c < len(NAMES)), key=lambda c, near=near: (-near[c], c))
        for rank, concept in enumerate(order, 1):
            assert own[concept] == pytest.approx([near[concept], 1 / rank], abs=1e-5)
        assert own[NIL].tolist() == [0, 0]
        if form.text == "chest or pain":
            assert own[len(NAMES)] == pytest.approx([(near[1] + near[2]) / 2, 0], abs=1e-5)


def test_a_text_has_the_same_vector_in_any_company(name_vectors: NameVectors) -> None:
    texts = ["chest pain", "", "no pain in the chest", "pain"]
    together = vectors(name_vectors.encoder, texts)
    alone = np.concatenate([vectors(name_vectors.encoder, [text]) for text in texts])
    np.testing.assert_allclose(together, alone, atol=1e-6)
    assert np.square(together).sum(1) == pytest.approx([1, 0, 1, 1])


def test_a_vector_is_the_mean_with_special_subwords(name_vectors: NameVectors) -> None:
    scorer = name_vectors.encoder.scorer
    before, after = scorer.tokenizer.around
    assert before and after
    for text in ("chest pain", "no pain in the chest"):
        ids = [*before, *scorer.tokenizer.subwords(text.split(), 99).ids.tolist(), *after]
        with torch.no_grad():
            outputs = scorer.network.encoder(input_ids=torch.tensor([ids])).last_hidden_state[0].numpy()
        expected = outputs.mean(0) / np.linalg.norm(outputs.mean(0))
        np.testing.assert_allclose(vectors(name_vectors.encoder, [text])[0], expected, atol=1e-5)


def test_a_model_keeps_its_encoder(linked: list[Document], folder: Path, tmp_path: Path) -> None:
    model = Recognizer("separators", "small", epochs=3, l2=1.0, link=NAMES, link_encoder=folder).fit(linked)
    [stage] = [one for one in model.stages_ if isinstance(one, ConceptStage)]
    assert len(stage.ranker.dense) == len(NUMBERS) + len(BY_ENCODER)
    assert "encoder" in stage.describe()["similarity"]
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    text = "no chest pain ."
    assert again.predict(text) == model.predict(text)
    assert again.predict(text).mentions[0].concepts
    assert "similarity" in {part.name for one in stage.candidates(again.predict(text))[0] for part in one.features}


def test_the_encoder_learns_from_the_same_mentions(linked: list[Document], folder: Path) -> None:
    stage, _ = fit_concepts(linked, None, [NAMES], None, folder)
    plain, _ = fit_concepts(linked, None, [NAMES])
    assert not np.array_equal(stage.ranker.dense[: len(NUMBERS)], plain.ranker.dense)
    assert stage.to_part().parts.keys() - plain.to_part().parts.keys() == {"encoder"}


def test_damaged_vectors_are_refused(linked: list[Document], folder: Path) -> None:
    part = fit_concepts(linked, None, [NAMES], None, folder)[0].to_part()
    for names in (part.arrays["names0"][:-1], part.arrays["names0"].astype(np.int16)):
        damaged = replace(part, arrays={**part.arrays, "names0": names})
        with pytest.raises(ModelError, match="names0"):
            ConceptStage.from_part(damaged)


def test_an_encoder_alone_is_refused(notes: list[Document], folder: Path) -> None:
    with pytest.raises(UsageError, match="give link, too"):
        Recognizer("separators", "small", link_encoder=folder).fit(notes)


def test_no_forms_have_no_candidates(name_vectors: NameVectors) -> None:
    table = VocabularyForms(NAMES, Memory({}), vectors=name_vectors).table([])
    assert table.numbers.shape == (0, len(NUMBERS) + len(BY_ENCODER))

"""Recognizers with word vectors: what they learn, keep, say and refuse."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest

from spanloom.cli.inspect import lines
from spanloom.errors import DataWarning, ModelError, UsageError
from spanloom.modelfile import ModelPart
from spanloom.recognize import Recognizer, load
from spanloom.text import prepare
from spanloom_lab import Cascade

TEMPLATES = ["bias", "low[0]", "vector[-1..1]"]


@pytest.fixture(scope="module")
def vectors(notes, tmp_path_factory):
    """A file of half of the words of all notes; each vector says which of a few types its word is mostly of."""
    documents = [prepare(document) for document in (*notes.train, *notes.dev, *notes.test)]
    words = sorted({word.lower() for document in documents for word in document.words if "\n" not in word})
    rng = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("vectors") / "notes.vec"
    kept = [word for word in words if hash_of(word) % 2]
    rows = rng.normal(size=(len(kept), 4)).astype(np.float32)
    text = "".join(f"{word} {' '.join(map(str, row.tolist()))}\n" for word, row in zip(kept, rows, strict=True))
    path.write_text(text, encoding="utf-8")
    return path


def hash_of(word):
    return sum(map(ord, word))


@pytest.fixture(scope="module")
def fitted(notes, vectors):
    return Recognizer(features=TEMPLATES, vectors=vectors, epochs=3, rate=0.3, rescore=False).fit(
        notes.train, dev=notes.dev
    )


def found(model, notes):
    return [document.mentions for document in model.predict(notes.test)]


def test_a_model_with_vectors_is_kept_without_the_file(fitted, notes, tmp_path):
    fitted.save(tmp_path / "model")
    again = load(tmp_path / "model")
    expected = found(fitted, notes)
    assert sum(map(len, expected)) > 20
    assert found(again, notes) == expected
    again.save(tmp_path / "again")
    for name in ("model.json", "weights.safetensors"):
        assert (tmp_path / "model" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()
    assert again.fitted.scorer.features.resources.vectors.table.dtype == np.float16


def test_vectors_matter(fitted, notes, vectors):
    """Without its dense weights a model is another; and they are of all positions."""
    scorer = fitted.fitted.scorer
    dense = scorer.features.dense(scorer.prepare(next(fitted._batches(notes.dev[:1]))))
    own = scorer.weights.features[-dense.width :].reshape(3, 5, -1)
    assert (np.abs(own).max(2) > 0).all()
    assert fitted.report_.vectors == pytest.approx(0.5, abs=0.3)


@pytest.mark.parametrize("optimizer", ["adagrad", "lbfgs"])
def test_any_number_of_threads_gives_the_same_file(notes, vectors, tmp_path, optimizer):
    for jobs in (1, 2):
        Recognizer(
            features=TEMPLATES, vectors=vectors, optimizer=optimizer, epochs=2, iterations=5, n_jobs=jobs, l2=1.0,
            rescore=False,
        ).fit(notes.train, dev=notes.dev).save(tmp_path / str(jobs))  # fmt: skip
    for name in ("model.json", "weights.safetensors"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()


def test_presets_look_at_the_word_and_its_neighbours(notes, vectors):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = Recognizer(features="small", vectors=str(vectors), epochs=1).fit(notes.train[:20], dev=notes.dev)
    assert made.describe()["templates"][-1] == "vector[-1..1]"


def test_an_explanation_has_one_line_for_each_position(fitted, notes):
    explained = [item for document in notes.dev for item in fitted.explain(document)]
    parts = [part for item in explained for contribution in item.contributions for part in contribution.features]
    names = {part.name for part in parts if part.name.startswith("vector")}
    assert names == {f"vector[{at}]{known}" for at in (-1, 0, 1) for known in ("", "=none")}
    for item in explained:
        for contribution in item.contributions:
            if contribution.features:
                total = contribution.times * sum(part.score for part in contribution.features)
                assert contribution.score == pytest.approx(total, abs=1e-4)


def test_inspect_tells_of_them(fitted):
    told = "\n".join(lines(json.loads(json.dumps(fitted.describe()))))
    assert "vector[-1..1]" in told
    assert "words, 4 numbers each" in told
    assert any("word vectors hold" in line for line in fitted.report_.chosen())


def test_a_cascade_takes_them_too(notes, vectors, tmp_path):
    made = Cascade(features=TEMPLATES, vectors=vectors, epochs=2, passes="two").fit(notes.train, dev=notes.dev)
    made.save(tmp_path / "model")
    expected = found(made, notes)
    assert sum(map(len, expected)) > 20
    assert found(load(tmp_path / "model"), notes) == expected


def test_own_templates_must_name_the_column(notes, vectors):
    with pytest.raises(UsageError, match=r"no template names the column vector; add 'vector\[-1\.\.1\]'"):
        Recognizer(features=["bias", "w[0]"], vectors=vectors).fit(notes.train)
    with pytest.raises(UsageError, match="needs word vectors; none are given"):
        Recognizer(features=TEMPLATES).fit(notes.train)
    with pytest.raises(UsageError, match="vectors is 7, expected the path of a file"):
        Recognizer(features=TEMPLATES, vectors=7).fit(notes.train)
    with pytest.raises(UsageError, match="expected the path of a file"):
        Recognizer(features=TEMPLATES, vectors=np.eye(2)).fit(notes.train)


def test_vectors_of_other_words_are_told_of(notes, tmp_path):
    path = tmp_path / "other.vec"
    path.write_text("xylophone 1 2\nzither 3 4\n")
    with pytest.warns(DataWarning, match=r"0\.0 % of the words of the training text have a vector in .*other\.vec"):
        Recognizer(features=TEMPLATES, vectors=path, epochs=1, rescore=False).fit(notes.train[:20], dev=notes.dev)


def test_a_model_without_its_vectors_is_refused(fitted):
    part = fitted.to_part()
    kept = part.parts["columns"]
    without = {name: array for name, array in kept.arrays.items() if not name.startswith("vector")}
    parts = {**part.parts, "columns": ModelPart(kept.values, without)}
    with pytest.raises((ModelError, UsageError), match="needs word vectors"):
        Recognizer.from_part(ModelPart(part.values, part.arrays, parts))
    table = kept.arrays["vectors"]
    parts["columns"] = ModelPart(kept.values, {**kept.arrays, "vectors": np.concatenate([table, table], axis=1)})
    with pytest.raises(ModelError, match="vectors"):
        Recognizer.from_part(ModelPart(part.values, part.arrays, parts))

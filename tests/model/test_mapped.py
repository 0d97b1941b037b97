"""Models whose weights stay in their file: the same predictions, whatever becomes of the file."""

from __future__ import annotations

import shutil
import sys
from mmap import mmap

import numpy as np
import pytest

from spanloom import Document, Mention, Recognizer, Segmenter, load
from spanloom.parallel import Processes
from spanloom.recognize import compact

TEXTS = ["no chest pain today", "pain in the chest", "", "fever , no pain"]


def trained(start: int = 3) -> Recognizer:
    documents = [Document("no chest pain", mentions=[Mention("problem", [(start, 13)])])] * 30
    return Recognizer(features=["bias", "w[-1..1]", "ngrams(w,2..3)"], epochs=2, tune_penalty=False).fit(documents)


def said(model) -> list[list[tuple[object, float]]]:
    return [[(mention.key, mention.score) for mention in one.mentions] for one in model.predict(TEXTS)]


@pytest.fixture
def path(tmp_path):
    trained().save(tmp_path / "model")
    return tmp_path / "model"


def said_of(path) -> list[list[tuple[object, float]]]:
    return said(load(path, mapped=True))


def test_a_mapped_model_predicts_the_same(path):
    read, mapped = load(path), load(path, mapped=True)
    assert said(mapped) == said(read)
    assert any(map(bool, said(read)))
    weights, own = mapped.model_.scorer.weights.features, read.model_.scorer.weights.features
    assert isinstance(weights.base, mmap) or isinstance(getattr(weights.base, "base", None), mmap)
    assert weights.flags == own.flags  # kernels are compiled for writable arrays
    np.testing.assert_array_equal(weights, own)


def test_what_is_written_to_a_mapped_array_does_not_reach_the_file(path):
    before = (path / "weights.safetensors").read_bytes()
    load(path, mapped=True).model_.scorer.weights.features[:] = 7
    assert (path / "weights.safetensors").read_bytes() == before
    assert said(load(path, mapped=True)) == said(load(path))


@pytest.mark.skipif(sys.platform == "win32", reason="a file that is mapped cannot be replaced there")
@pytest.mark.parametrize("how", ["replaced", "deleted"])
def test_a_file_that_goes_while_it_is_mapped(path, how):
    mapped, expected = load(path, mapped=True), said(load(path))
    if how == "replaced":
        trained(9).save(path, force=True)
    else:
        shutil.rmtree(path)
    assert said(mapped) == expected
    again = mapped.model_.scorer.weights.features.copy()
    np.testing.assert_array_equal(again, mapped.model_.scorer.weights.features)
    if how == "replaced":
        assert said(load(path, mapped=True)) == said(trained(9))


def test_processes_map_the_same_model(path):
    with Processes(2) as run:
        assert run.map(said_of, [path, path]) == [said(load(path))] * 2


def test_other_kinds_of_models_are_mapped(tmp_path):
    compact(trained(), threshold=0.01).save(tmp_path / "compact")
    assert said(load(tmp_path / "compact", mapped=True)) == said(load(tmp_path / "compact"))
    tokens, mention = [[0, 2], [2, 4], [4, 5]], Mention("place", [(0, 2)])
    documents = [Document("北京欢迎你", tokens=tokens, sentences=[[0, 3]], mentions=[mention])] * 20
    Segmenter("independent", epochs=2).fit(documents, dev=documents).save(tmp_path / "segmenter")
    texts = ["北京欢迎你", "欢迎北京"]
    read, mapped = load(tmp_path / "segmenter"), load(tmp_path / "segmenter", mapped=True)
    for one, other in zip(mapped.predict(texts), read.predict(texts), strict=True):
        assert one.words == other.words

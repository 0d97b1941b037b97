"""Clusters, vectors and names of a vocabulary as columns of taggers, linkers and segmenters."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from spanloom import Document, load
from spanloom.errors import UsageError

sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))

import capabilities

NAMES = ("segmenter", "joint linker", "tagger")
FOUND = {"segmenter": "mentions", "joint linker": "mentions", "tagger": "columns"}


@pytest.fixture(params=NAMES)
def kind(request, tmp_path):
    [kind] = [one for one in capabilities.kinds(tmp_path) if one.name == request.param]
    return kind


def sources(kind, tmp_path: Path):
    """Templates of the sources alone, so that nothing is found without them, and the sources."""
    path = tmp_path / "vectors.txt"
    tokens = {token for one in kind.data for token in (one.text if kind.name == "segmenter" else one.text.split())}
    path.write_text("".join(f"{token} {n % 5} {n % 7}\n" for n, token in enumerate(sorted(tokens - {" "}))), "utf-8")
    return {"features": ["bias", "cluster[-1..1]", "vector[-1..1]"], "clusters": 12, "vectors": str(path)}


def test_clusters_and_vectors_are_read_and_kept(kind, tmp_path: Path) -> None:
    own = sources(kind, tmp_path)
    model = kind.fit(**own)
    blind = kind.fit(features=["bias"])
    texts = [Document(one.text) for one in kind.data[:12]]
    what = FOUND[kind.name]
    found = [getattr(one, what) for one in model.predict(texts)]
    assert found != [getattr(one, what) for one in blind.predict(texts)]
    model.save(tmp_path / "saved")
    (tmp_path / "vectors.txt").unlink()
    assert [getattr(one, what) for one in load(tmp_path / "saved").predict(texts)] == found


def test_templates_without_their_source_are_refused(kind, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="vector"):
        kind.fit(features=["bias", "vector[0]"])
    with pytest.raises(UsageError, match="no template names the column vector"):
        kind.fit(features=["bias"], vectors=sources(kind, tmp_path)["vectors"])


def test_a_linker_reads_the_categories_of_its_vocabulary(tmp_path: Path) -> None:
    [kind] = [one for one in capabilities.kinds(tmp_path) if one.name == "joint linker"]
    path = tmp_path / "categories.tsv"
    rows = "".join(f"D{n}\t{name}\tillness\n" for n, name in enumerate(capabilities._DISEASES))
    path.write_text("id\tname\tcategory\n" + rows, "utf-8")
    made = kind.make(features=["bias", "category[-1..1]"], dictionary=False)
    model = made.fit(kind.data, dev=kind.data[:30], vocabulary=path)
    texts = [one.text for one in kind.data[:12]]
    found = [one.mentions for one in model.predict(texts)]
    assert [[m.key for m in one] for one in found] == [[m.key for m in one.mentions] for one in kind.data[:12]]
    model.save(tmp_path / "saved")
    assert [one.mentions for one in load(tmp_path / "saved").predict(texts)] == found

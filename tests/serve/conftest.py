"""Models trained on the bundled corpora, and the real command that serves them, in a process of its own."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from serve_helpers import Server, running

from spanloom.data import chinese_clinical, clinical
from spanloom.formats import read
from spanloom.link import Linker
from spanloom.recognize import Recognizer
from spanloom.segment import Segmenter
from spanloom_lab import Cascade


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory, notes: Any) -> dict[str, Path]:
    """A model of each kind."""
    folder = tmp_path_factory.mktemp("served")
    train, dev = notes.train, notes.dev  # without attributes
    marked = [list(read(clinical() / part)) for part in ("train", "dev")]
    made = {
        "clinical": Recognizer("shared", "small", rate=0.3, l2=0.1, epochs=4).fit(marked[0], dev=marked[1]),
        "cascade": Cascade(features="small", epochs=1).fit(train[:8], dev=dev[:3]),
        "linker": Linker("small", types=["problem"], iterations=1, folds=2, evidence=False).fit(
            train, dev=dev, vocabulary=clinical() / "vocabulary.tsv"
        ),
        "segmenter": Segmenter(features=["bias", "w[-1..1]"], epochs=2).fit(
            list(read(chinese_clinical() / "train.jsonl"))[:60], dev=list(read(chinese_clinical() / "dev.jsonl"))[:20]
        ),
    }
    for name, model in made.items():
        model.save(folder / name)
    return {name: folder / name for name in made}


@pytest.fixture(scope="session", autouse=True)
def open_files() -> None:
    """Room for a thousand connections, here and in the servers, which inherit it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 4096 if hard == resource.RLIM_INFINITY else min(4096, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


@pytest.fixture(scope="session")
def server(models: dict[str, Path]) -> Iterator[Server]:
    """All models behind one server, which must still be there after all tests."""
    with running(*models.values(), "--jobs", 2, "--max-text", 400_000) as found:
        yield found
        assert found.process.poll() is None
        assert httpx.get(found.url + "health").json()["status"] == "ok"


@pytest.fixture(scope="session")
def client(server: Server) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url, timeout=60) as found:
        yield found


@pytest.fixture(scope="session")
def sample() -> str:
    return (clinical() / "sample.txt").read_text(encoding="utf-8")

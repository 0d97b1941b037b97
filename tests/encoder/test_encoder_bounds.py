"""What is refused before training begins: a device that is not there, memory that will not do."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from spanloom import Document, Recognizer
from spanloom.errors import UsageError
from spanloom.learn.memory import check_memory, free_memory, needed_memory
from spanloom.recognize.encoding import learning


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a graphics card")
def test_a_graphics_card_that_is_not_there(folder: Path, notes: list[Document]) -> None:
    with pytest.raises(UsageError, match="device is 'cuda', but PyTorch finds no graphics card"):
        Recognizer(encoder=folder, device="cuda").fit(notes)


def test_memory_that_will_not_do(folder: Path, notes: list[Document], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning, "free_memory", lambda: 1000)
    with pytest.raises(UsageError, match=r"takes about 0\.0 GB, and 0\.0 GB are free; take a smaller encoder"):
        Recognizer(encoder=folder).fit(notes)


def test_memory_grows_with_all_that_it_depends_on() -> None:
    given = (1000, 16, 2, 2, 64, 32)
    for place in range(len(given)):
        more = [2 * value if at == place else value for at, value in enumerate(given)]
        assert needed_memory(*more) > needed_memory(*given)
    check_memory(5, None)
    free = free_memory()
    assert free is None or free > 1 << 20

"""Files that tests write."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Written = Callable[..., str]


@pytest.fixture
def written(tmp_path: Path) -> Written:
    """Writes a file and gives its path: `written("a.obo", "...")`."""

    def write(name: str, content: str | bytes) -> str:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return write

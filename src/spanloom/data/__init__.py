"""Files that come with Spanloom: a small annotated corpus of invented clinical notes, and its vocabulary."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

__all__ = ["clinical"]


def clinical() -> Path:
    """The folder of the bundled clinical corpus.

    It holds ``train``, ``dev`` and ``test`` (each note as a ``.txt`` beside its brat ``.ann``), ``vocabulary.tsv`` (the
    concepts), ``sample.txt`` (a note that nobody annotated) and ``GUIDELINES.md``. Every note is invented.

    >>> sorted(path.name for path in clinical().iterdir())
    ['GUIDELINES.md', 'dev', 'sample.txt', 'test', 'train', 'vocabulary.tsv']
    >>> (clinical() / "train" / "echo-01.txt").read_text(encoding="utf-8").splitlines()[0]
    'Indication:'
    """
    return Path(str(files(__name__) / "clinical"))

"""Files that come with Spanloom: two small annotated corpora of invented clinical notes, and a vocabulary."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

__all__ = ["chinese_clinical", "clinical"]


def clinical() -> Path:
    """Return the folder of the bundled clinical corpus.

    It holds ``train``, ``dev`` and ``test`` (each note as a ``.txt`` beside its brat ``.ann``), ``vocabulary.tsv`` (the
    concepts), ``sample.txt`` (a note without annotation) and ``GUIDELINES.md``. Every note is invented.

    >>> sorted(path.name for path in clinical().iterdir())
    ['GUIDELINES.md', 'dev', 'sample.txt', 'test', 'train', 'vocabulary.tsv']
    >>> (clinical() / "train" / "echo-01.txt").read_text(encoding="utf-8").splitlines()[0]
    'Indication:'
    """
    return Path(str(files(__name__) / "clinical"))


def chinese_clinical() -> Path:
    """Return the folder of the bundled Chinese corpus: sections of discharge summaries with words and mentions.

    It holds ``train.jsonl``, ``dev.jsonl`` and ``test.jsonl`` in the native format: ``tokens`` are the gold words, the
    mention types are ``problem``, ``test``, ``medication`` and ``treatment``. A mention is made of whole words, a
    medication is one word, and mentions do not overlap, as in the corpus of Xu et al. (2014, "Materials and
    annotation"). Every text is invented. The rules of annotation are in ``docs/chinese_corpus.md``.

    >>> sorted(path.name for path in chinese_clinical().iterdir())
    ['dev.jsonl', 'test.jsonl', 'train.jsonl']
    >>> import json
    >>> with open(chinese_clinical() / "train.jsonl", encoding="utf-8") as lines:
    ...     record = json.loads(next(lines))
    >>> words = [record["text"][start:end] for start, end in record["tokens"]]
    >>> words[:9]
    ['主诉', '：', '反复', '胸闷', '、', '胸痛', '3', '年', '，']
    >>> start, end = record["mentions"][0]["spans"][0]
    >>> record["mentions"][0]["type"], record["text"][start:end]
    ('problem', '胸闷')
    """
    return Path(str(files(__name__) / "chinese_clinical"))

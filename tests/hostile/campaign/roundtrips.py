"""Random documents through every pair of formats: what is not the same afterwards was told by a writer."""

from __future__ import annotations

import random
import shutil
import traceback
import warnings
from collections import Counter
from collections.abc import Iterable
from itertools import product
from pathlib import Path

from campaign.frame import Record, generator
from spanloom.document import Document, Mention
from spanloom.document.surfaces import trimmed
from spanloom.errors import SpanloomError
from spanloom.formats import FORMATS, Losses, read, write
from spanloom.text import prepare

WORDS = (
    "pain", "No", "left", "atrium", "é", "日本", "x-ray", "T-", "1,5", "(", ")", "B-x", "O", "#", "|", "\U0001f600",
    "a_b",
)  # fmt: skip
GAPS = (" ", " ", " ", "  ", "\n", "\t", "\n\n", "")
TYPES = ("problem", "x y", "Ä", "a-b", "DNA")
CONCEPTS = ("MESH:D1", "X:2", " padded ", "a|b")
WRITTEN = tuple(name for name, kind in FORMATS.items() if kind.write is not None)


def run(cases: Iterable[int], seed: int, folder: Path) -> Record:
    """Each case is one document through all pairs."""
    record = Record("round-trips", seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case in cases:
            draw = generator("round-trips", seed, case)
            document = some_document(draw)
            for first, second in product(WRITTEN, WRITTEN):
                shutil.rmtree(folder / "case", ignore_errors=True)
                (folder / "case").mkdir()
                outcome, found = _pair(document, first, second, folder / "case")
                if outcome in ("same", "told", "refused"):
                    record.add(second, outcome)
                else:
                    record.fail(second, outcome, case, f"{first} to {second}: {found}")
    return record


def some_document(draw: random.Random) -> Document:
    """A document with mentions that nest, cross, skip words and touch."""
    text = "".join(draw.choice(WORDS) + draw.choice(GAPS) for _ in range(draw.randrange(1, 14)))
    spans = [
        sorted(draw.sample(range(len(text) + 1), min(len(text) + 1, draw.choice((2, 2, 2, 4, 6))) // 2 * 2))
        for _ in range(draw.randrange(6))
    ]
    mentions = [
        Mention(
            draw.choice(TYPES),
            list(zip(ends[::2], ends[1::2], strict=True)),
            id=draw.choice((None, "", f"T{number}", "odd id")),
            concepts=tuple(draw.sample(CONCEPTS, draw.choice((0, 0, 1, 2)))),
            score=draw.choice((None, 0.5)),
        )
        for number, ends in enumerate(spans)
        if ends
    ]
    mentions = [trimmed(mention, text) or mention for mention in mentions]  # as readers do
    document = Document(text, id=draw.choice(("n1", "a/b", " padded ", "")), mentions=mentions)
    return prepare(document) if draw.random() < 0.5 else document


def _pair(document: Document, first: str, second: str, place: Path) -> tuple[str, str]:
    """The outcome of one way."""
    outcome = "same"
    for number, name in enumerate((first, second)):
        try:
            losses, again = _through(document, name, place / str(number))
        except SpanloomError:
            return "refused", ""
        except Exception:
            return "foreign exception", traceback.format_exc().strip().splitlines()[-1][:200]
        if isinstance(again, str):
            return "its own reader refuses it", again
        before, after = _content(document), _content(again)
        if before != after and not losses.counts:
            return "lost without a word", f"{document!r} became {again!r}"[:600]
        if losses.counts:
            outcome = "told"
        document = again
    return outcome, ""


def _through(document: Document, name: str, place: Path) -> tuple[Losses, Document | str]:
    """Written and read again; what the reader says instead, if it refuses."""
    place.mkdir()
    path = place / "out" if FORMATS[name].folders else place / f"out{FORMATS[name].suffixes[0]}"
    losses = write([document], path, format=name)
    options = {}
    if FORMATS[name].texts_beside:
        options["texts"] = path.with_name("texts.jsonl")
        write([document], options["texts"])
    try:
        found = list(read(path, format=name, notice=lambda _: None, **options))
    except SpanloomError as error:
        return losses, str(error)[:300]
    return losses, found[0] if len(found) == 1 else f"{len(found)} documents came of one"


def _content(document: Document) -> tuple[str, Counter[object]]:
    mentions = Counter((mention.type, mention.spans, tuple(sorted(mention.concepts))) for mention in document.mentions)
    return document.text, mentions

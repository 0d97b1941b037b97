"""Line ends within sentences: how well a ready model reads abstracts on one line, wrapped, and with ragged lines.

    python benchmarks/line_breaks.py --data DATA

The first sixty test abstracts of BC5CDR are read by the ready model bc5cdr as they are, a title and an abstract each
on one line; then with line ends in place of blanks: wrapped at a width as an editor wraps them, and ragged, where each
line is shorter than the width by a random number of columns. Offsets stay. The second column counts the sentences, the
third the gold mentions that lie in two of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from common import Result, options, say
from spanloom import read
from spanloom.document import Document
from spanloom.document.align import align
from spanloom.evaluate import evaluate
from spanloom.models import load
from spanloom.text import prepare

MODEL = "bc5cdr"
DOCUMENTS = 60
# width, and by how many columns a line is shorter at most
WAYS: dict[str, tuple[int, int]] = {
    "wrapped at 80": (80, 0),
    "wrapped at 60": (60, 0),
    "wrapped at 45": (45, 0),
    "wrapped at 38": (38, 0),
    "wrapped at 28": (28, 0),
    "ragged, 60 to 80": (80, 20),
    "ragged, 40 to 80": (80, 40),
    "ragged, 30 to 60": (60, 30),
    "ragged, 15 to 45": (45, 30),
}


def wrapped(text: str, width: int, ragged: int, random: np.random.Generator) -> str:
    """The text with line ends in place of blanks."""
    characters, start, limit, blank = list(text), 0, width - int(random.integers(ragged + 1)), -1
    for place, character in enumerate(text):
        if character == " ":
            blank = place
        elif character == "\n":
            start, blank = place + 1, -1
        if place - start >= limit and blank >= start:
            characters[blank] = "\n"
            start, limit, blank = blank + 1, width - int(random.integers(ragged + 1)), -1
    return "".join(characters)


def rows(documents: list[Document], seed: int) -> Iterator[list[Any]]:
    """F1, sentences and divided mentions of each way."""
    model = load(MODEL)
    for name, (width, ragged) in {"one line": (0, 0), **WAYS}.items():
        random = np.random.default_rng(seed)
        gold = [
            document.copy(text=wrapped(document.text, width, ragged, random) if width else document.text)
            for document in documents
        ]
        texts = [prepare(Document(document.text, document.id)) for document in gold]
        f1 = 100 * evaluate(gold, model.predict(texts)).overall.f1
        split = [text.copy(mentions=document.mentions) for text, document in zip(texts, gold, strict=True)]
        divided = sum(one.ranges is not None and one.sentence < 0 for document in split for one in align(document))
        say(name, f"{f1:.1f}", divided)
        yield [name, round(f1, 1), sum(text.sentence_count for text in texts), divided]


def main() -> None:
    """Measure."""
    chosen = options("line_breaks", __doc__)
    documents = list(read(chosen.data / "bc5cdr" / "CDR_TestSet.BioC.xml"))[:DOCUMENTS]
    result = Result("Line ends within sentences cost a ready model one point of F1 at most", chosen.seed)
    found = list(rows(documents, chosen.seed))
    result.table(
        f"{DOCUMENTS} test abstracts of BC5CDR, model {MODEL}",
        ("lines", "F1", "sentences", "mentions in two sentences"),
        found,
        "Columns of the widths are characters; ragged lines are between the two numbers, drawn by the seed.",
    )
    for name, f1, *_ in found[1:]:
        result.at_most(f"points of F1 lost, {name}", round(found[0][1] - f1, 1), 1.0)
    result.data["rows"] = found
    result.save(chosen.out)


if __name__ == "__main__":
    main()

"""What the model `clinical` learns from: the bundled notes, and the invented notes of the folder `clinical`.

A file `NAME.txt` of that folder is a note with its annotation. Below a line of the note are its mentions, one a line::

    The left and right atria were enlarged; no pericardial effusion.
    > problem left ... atria ... enlarged
    > problem pericardial effusion [negated]

Behind `>` are the type, the parts of the mention with ` ... ` between them, ` #n` where the first part is not its first
occurrence in the line, and attributes in brackets, as ``[experiencer family, historical]``. An occurrence is made of
whole words. A part is the first occurrence behind the part before it. `>2` is for a mention that begins in the line
before the last one of the note, such as one over a line break. The rules of annotation are those of the bundled notes
(`GUIDELINES.md` there).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from biomedical import Parts, with_copies

from spanloom import read
from spanloom.data import clinical
from spanloom.document import Document, Mention
from spanloom.errors import DataError

__all__ = ["SENTENCES", "material", "note", "notes"]

HERE = Path(__file__).parent / "clinical"
TYPES = ("problem", "test", "treatment", "drug", "anatomy")
ATTRIBUTES = {
    "negated": {"negated": True}, "uncertain": {"uncertain": True}, "historical": {"historical": True},
    "experiencer family": {"experiencer": "family"},
}  # fmt: skip
LINE = re.compile(r">(2?) (\S+) (.+?)(?: #([1-9]))?(?: \[([^\]]*)\])?")
PARTS = ("dev", "test", "train", "train", "train", "train")  # by the number of a note


SENTENCES = (
    "The left and right atria are enlarged; there is no pleural or pericardial effusion.",
    "He denies chest pain, palpitations and shortness of breath.",
    "Mr. ___ is a 74-year-old man with hypertension, type 2 diabetes and chronic kidney disease.",
    "The patient was given aspirin 325 mg and started on a heparin drip.",
    "CT of the abdomen and pelvis showed acute appendicitis without perforation or abscess.",
    "Lungs: scattered wheezes, no crackles. Abdomen soft, tender in the right lower quadrant.",
    "Possible left lower lobe pneumonia; pulmonary embolism cannot be excluded.",
    "Her mother had breast cancer and her brother type 1 diabetes.",
    "PMH: HTN, CAD s/p CABG 2015, stroke 2019. Allergies: penicillin (rash).",
    "Na 128, K 5.9, Cr 2.1, WBC 14.2 with 12% bands, troponin negative.",
    "Metoprolol was held because of bradycardia, and warfarin was replaced by apixaban.",
    "Fractures of the fourth, fifth and sixth ribs on the left, pneumothorax not seen.",
    "If the fever comes back, call the clinic; acetaminophen as needed for pain.",
    "Repeat chest x-ray in six weeks to exclude an underlying malignancy.",
    "She lives alone on the third floor and used to work as a teacher in Ohio.",
    "PT SEEN FOR SOB, NO FEVER, B/L LE EDEMA, CXR WITH PULMONARY EDEMA.",
)
"""Ordinary sentences, whose mentions the card shows as the model finds them."""


def note(path: Path) -> Document:
    """Read a note with its annotation.

    Args:
        path: the file.

    Raises:
        DataError: a line of annotation does not have the format, or its mention is not in the text above it.
    """
    lines = path.read_text(encoding="utf-8").split("\n")
    texts: list[str] = []
    found: dict[tuple[object, ...], Mention] = {}
    for number, line in enumerate(lines, 1):
        if not line.startswith(">"):
            texts.append(line)
            continue

        def refuse(message: str, line: str = line, number: int = number) -> DataError:
            return DataError(f"{path}:{number}: {line!r}: {message}")

        parsed = LINE.fullmatch(line)
        if parsed is None or not texts:
            raise refuse("expected '> TYPE PART ... PART #n [ATTRIBUTE, ATTRIBUTE]' below a line of the note")
        two, kind, quoted, occurrence, listed = parsed.groups()
        names = [] if listed is None else listed.split(", ")
        if kind not in TYPES:
            raise refuse(f"found the type {kind!r}, expected one of {', '.join(TYPES)}")
        if not set(names) <= set(ATTRIBUTES) or (names and kind == "anatomy"):
            raise refuse(f"expected attributes of {', '.join(ATTRIBUTES)}, and none of anatomy")
        above = "\n".join(texts[-2:] if two else texts[-1:])
        before = sum(len(one) + 1 for one in texts) - len(above) - 1
        spans: list[tuple[int, int]] = []
        at = 0
        for part in quoted.split(" ... "):
            for _ in range(1 if spans else int(occurrence or 1)):
                place = re.compile(rf"(?<!\w){re.escape(part)}(?!\w)").search(above, at)
                if place is None:
                    raise refuse(f"{part!r} is not in {above[at:]!r}; quote whole words, in the order of the text")
                at = place.end()
            if spans and not above[spans[-1][1] : place.start()].strip():
                spans[-1] = (spans[-1][0], place.end())  # only a line break is between
            else:
                spans.append(place.span())
        attributes = {name: value for one in names for name, value in ATTRIBUTES[one].items()}
        mention = Mention(kind, [(before + a, before + b) for a, b in spans], attributes=attributes)
        if (kind, mention.spans) in found:
            raise refuse("the mention is there already")
        found[kind, mention.spans] = mention
    mentions = sorted(found.values(), key=lambda one: one.spans)
    return Document("\n".join(texts), id=path.stem, mentions=mentions)


def notes(folder: Path = HERE) -> dict[str, list[Document]]:
    """Return the invented notes of ``train``, ``dev`` and ``test``: the number behind a note's name decides.

    Raises:
        DataError: a note is not as it should be.
    """
    parts: dict[str, list[Document]] = {"train": [], "dev": [], "test": []}
    for path in sorted(folder.glob("*.txt")):
        parts[PARTS[int(path.stem.rpartition("-")[2]) % 6]].append(note(path))
    return parts


def material(_: Path) -> Parts:
    """Return the bundled and the invented notes, their mentions with attributes, without heads and concepts.

    There are copies of training notes: a quarter in lower case, a quarter in title case.
    """
    invented = notes()
    train, dev, test = (
        [*_named(read(clinical() / part), "bundled notes"), *_named(invented[part], "new notes")]
        for part in ("train", "dev", "test")
    )
    return with_copies(train, 4), dev, test


def _named(documents: Iterable[Document], corpus: str) -> list[Document]:
    """Return documents with their text, and their mentions with attributes; and with the name of their corpus."""
    return [
        Document(
            one.text,
            id=one.id,
            mentions=[Mention(own.type, own.spans, attributes=own.attributes) for own in one.mentions],
            meta={"corpus": corpus},
        )
        for one in documents
    ]


if __name__ == "__main__":  # check files: python models/clinical.py [FILE ...]
    import sys

    for path in map(Path, sys.argv[1:] or sorted(HERE.glob("*.txt"))):
        try:
            one = note(path)
        except DataError as error:
            print(error)
        else:
            print(f"{path.name}: {len(one.text.split())} words, {len(one.mentions)} mentions")

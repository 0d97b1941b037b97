"""Documents that the tests of all drawings share, and what their drawings must be.

``python tests/view/view_documents.py`` draws them again, into the folder ``golden``. Look at what changed.
"""

from __future__ import annotations

import re
from pathlib import Path

from spanloom.document import Document, Mention
from spanloom.view import render, to_html, to_svg

GOLDEN = Path(__file__).parent / "golden"


def find(text: str, *words: str) -> list[tuple[int, int]]:
    return [(text.index(word), text.index(word) + len(word)) for word in words]


def three() -> Document:
    """Three mentions that cross and skip words, two with heads, one with a score and concepts, and one nested."""
    text = "EGD showed hiatal hernia and vertical laceration in distal esophagus with blood."
    hernia, laceration = find(text, "hernia", "laceration")
    return Document(
        text,
        id="EGD",
        mentions=[
            Mention("disorder", find(text, "hiatal hernia"), head=hernia, score=0.904),
            Mention("disorder", [hernia, *find(text, "in distal esophagus")], head=hernia, score=0.41),
            Mention("disorder", [laceration, *find(text, "esophagus")], head=laceration, concepts=("C0151970", "C2")),
            Mention("disorder", find(text, "vertical laceration", "distal", "with blood"), score=0.2),
            Mention("part", find(text, "distal esophagus")),
        ],
    )


def hebrew() -> Document:
    text = "המטופל מתלונן על כאב בחזה ובזרוע שמאל, 12 mg aspirin ניתן."
    return Document(
        text,
        id="עברית",
        mentions=[
            Mention("problem", find(text, "כאב", "בחזה"), score=0.9),
            Mention("problem", find(text, "כאב", "ובזרוע שמאל"), head=find(text, "כאב")[0]),
            Mention("drug", find(text, "aspirin")),
        ],
    )


def mixed() -> Document:
    text = "Patient said: كان الألم في الصدر شديدا yesterday."
    return Document(
        text,
        id="mixed",
        mentions=[
            Mention("problem", find(text, "الألم في الصدر"), head=find(text, "الألم")[0], score=0.5),
            Mention("problem", find(text, "الألم", "شديدا")),
            Mention("time", find(text, "yesterday")),
        ],
    )


def chinese() -> Document:
    text = "患者左上臂及右下肢疼痛三天，心电图正常。"
    return Document(
        text,
        id="中文",
        mentions=[
            Mention("problem", find(text, "左上臂", "疼痛"), head=find(text, "疼痛")[0], score=0.9),
            Mention("problem", find(text, "右下肢疼痛")),
            Mention("part", find(text, "左上臂")),
        ],
    )


def hostile() -> Document:
    text = "<script>alert(1)</script> & \x00 cafe\u0301 👩🏽‍🔬 🇩🇪🇫🇷 \x1b[31m pain\tx\r\n"
    text += "]]> --> \udc80 \u202e</p> \ufffe 'q' \"q\" &lt;"
    found = [
        Mention('<i>"x', find(text, "<script>", "script> &"), score=0.9, concepts=("</i>", "\x07", "'&quot;")),
        Mention("emoji", find(text, "👩🏽‍🔬")),
        Mention("half", find(text, "\u0301")),
        Mention("nul\x00", find(text, "\x00", "\x1b[31m")),
        Mention("line", find(text, "x\r\n]]>", "\udc80"), head=find(text, "]]>")[0]),
        Mention("outside", [(-5, 2), (900, 950)], head=(-9, 800)),
    ]
    return Document(text, id="</title><b>hostile</b>\x00", mentions=found)


DOCUMENTS = {"three": three, "hebrew": hebrew, "mixed": mixed, "chinese": chinese, "hostile": hostile}


def drawings() -> dict[str, str]:
    """File names, and what stands in the files: without style sheets, which have tests of their own."""
    drawn = {}
    for name, make in DOCUMENTS.items():
        drawn[f"{name}.html"] = re.sub("<style>.*?</style>", "", to_html([make()]), flags=re.S)
        drawn[f"{name}.svg"] = re.sub("<style>.*?</style>", "", to_svg([make()], width=70), flags=re.S)
        drawn[f"{name}.txt"] = render(make(), width=70)
    return drawn


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for file, drawing in drawings().items():
        (GOLDEN / file).write_text(drawing, encoding="utf-8", newline="\n")

"""The page of suspects."""

from __future__ import annotations

import pytest
from lxml.html import HtmlElement, document_fromstring

from spanloom.clean import Suspect, suspects_page
from spanloom.clean import page as module
from spanloom.document import Document, Mention

TEXT = "Pain in left arm.\nNo fever, mild nausea."


def mention(kind: str, words: str, score: float | None = None) -> Mention:
    start = TEXT.index(words)
    return Mention(kind, [(start, start + len(words))], score=score)


NOTE = Document(TEXT, id="note", mentions=[mention("part", "arm", 0.1), mention("sign", "fever", 0.02)])
SUSPECTS = [
    Suspect(1, "boundary", 0.9, NOTE.mentions[0], mention("part", "left arm", 0.85)),
    Suspect(1, "wrong", 0.6, NOTE.mentions[1], None),
    Suspect(1, "missing", 0.4, None, mention("problem", "nausea", 0.8)),
]


def articles(page: str) -> list[HtmlElement]:
    return list(document_fromstring(page).iter("article"))


def sides(article: HtmlElement) -> list[str]:
    """The words of each side: what is listed, or that nothing is there."""
    found = article.find_class("pair")[0].findall("div")
    return [" ".join("".join(s.itertext()) for s in side.xpath(".//li|.//p[@class='faint']")) for side in found]


def test_each_suspect_stands_beside_its_text_in_the_order_of_the_list() -> None:
    found = articles(suspects_page([Document("other"), NOTE], SUSPECTS))
    assert [article.get("class") for article in found] == ["e boundary y0", "e wrong y2", "e missing y1"]
    assert [article.get("style") for article in found] == [
        "--text:0;--type:0",
        "--text:1;--type:2",
        "--text:2;--type:1",
    ]
    assert ["".join(article.find("h2").itertext()) for article in found] == [
        "boundary note, 90.0%", "wrong note, 60.0%", "missing note, 40.0%",
    ]  # fmt: skip
    assert [side.split() for side in sides(found[0])] == [
        ["part", "arm", "13-16", "10.0%"],
        ["part", "left", "arm", "8-16", "85.0%"],
    ]
    assert sides(found[1])[1] == sides(found[2])[0] == "nothing here"
    [sentence] = found[0].find_class("t")
    assert sentence.text_content() == "Pain in left arm."
    labels = [bar.get("data-l") for bar in sentence.iter("i") if bar.get("data-l")]
    assert sorted(labels) == ["annotated: part 10%", "expected: part 85%"]
    assert found[2].find_class("t")[0].text_content() == "No fever, mild nausea."


def test_counts_and_no_suspect_at_all() -> None:
    page = suspects_page([Document("other"), NOTE], SUSPECTS, title="A & <b>")
    root = document_fromstring(page)
    rows = {row.find("th").text: row.find("td").text for row in root.iter("tr")}
    assert rows == {"wrong": "1", "missing": "1", "boundary": "1", "type": "0"}
    assert root.find(".//h1").text == "A & <b>"
    empty = suspects_page([NOTE], [])
    assert articles(empty) == [] and "<p>None.</p>" in empty


def test_a_long_list_is_cut_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 2)
    page = suspects_page([Document("other"), NOTE], SUSPECTS)
    assert len(articles(page)) == 2 and "The 2 most certain of 3 are shown." in page


def test_hostile_text_is_text() -> None:
    text = "<script>alert(1)</script>\x00\u202e pain"
    kind = "</h2><img src=x onerror=y>\x07"
    note = Document(text, id='"><b>', mentions=[Mention(kind, [(0, 8)], score=0.1)])
    page = suspects_page([note], [Suspect(0, "type", 0.5, note.mentions[0], Mention("a'\"b", [(0, 8)], score=0.5))])
    root = document_fromstring(page)
    assert not list(root.iter("script")) and not list(root.iter("img"))
    [article] = root.iter("article")
    assert len(article.findall("h2")) == 1 and '"><b>' in article.find("h2").text_content()
    assert article.get("class") == "e type y0 y1"
    [shown] = [choice for choice in root.iter("select") if choice.get("id") == "type"]
    assert sorted(option.text for option in shown)[1:] == ["a'\"b", "all"] and len(shown) == 3
    assert "\x00" not in page and "\x07" not in page

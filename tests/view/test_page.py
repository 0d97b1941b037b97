"""The HTML page: what stands in it, that nothing is loaded, and that no text can break it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from lxml.html import HtmlElement, document_fromstring
from test_terminal import documents
from view_documents import DOCUMENTS, GOLDEN, chinese, drawings, hebrew, hostile, mixed, three

from spanloom.document import Document, Mention
from spanloom.text import prepare
from spanloom.view import to_html
from spanloom.view.style import DARK, KINDS, LIGHT, MOST_ROWS, PAPER
from spanloom.view.svg import clean

OURS = set(
    "html head meta title style body header main h1 h2 p ul ol li i b small span bdi details summary section".split()  # noqa: SIM905
)
LOADING = ("link", "img", "iframe", "object", "embed", "base", "video", "audio")
REFERENCES = ("src", "href", "action", "data", "poster", "background", "srcset", "formaction", "xlink:href", "cite")


def parse(html: str) -> HtmlElement:
    return document_fromstring(html.encode())


def sentences(root: HtmlElement) -> list[str]:
    return [paragraph.text_content() for paragraph in root.iter("p") if paragraph.get("class") == "t"]


def bars(root: HtmlElement) -> list[HtmlElement]:
    return [bar for paragraph in root.iter("p") if paragraph.get("class") == "t" for bar in paragraph.iter("i")]


def label(root: HtmlElement, bar: HtmlElement) -> str | None:
    """What the page writes beside a bar; nothing beside those that are not the first of a mention."""
    names = bar.get("class").split()
    if "f" not in names:
        return None
    style = root.find(".//style").text
    own = [re.search(rf'\.{name}{{--m:"(.*?)"}}', style) for name in names if re.fullmatch(r"l\d+", name)]
    kind = re.search(rf'\.{names[0]} {{.*--q: "(.*?)";', style)
    written = own[0][1] if own else kind[1]
    return bar.get("data-l") or re.sub(r"\\([0-9a-f]+) ", lambda found: chr(int(found[1], 16)), written)


def external_references(html: str) -> list[str]:
    """Whatever could make a browser load something: attributes that name another place, imports and URLs of styles."""
    root = parse(html)
    found = [
        value
        for element in root.iter()
        if isinstance(element.tag, str)
        for name, value in element.attrib.items()
        if name in REFERENCES and not (name == "href" and value.startswith("#"))
    ]
    found += [element.tag for element in root.iter(*LOADING)]
    styles = [element.text or "" for element in root.iter("style")]
    styles += [element.get("style") for element in root.iter() if element.get("style")]
    return found + [match for style in styles for match in re.findall(r"@import|url\(|https?:|//", style)]


@pytest.mark.parametrize("name", sorted(f"{name}.{end}" for name in DOCUMENTS for end in ("html", "svg", "txt")))
def test_golden(name: str) -> None:
    expected = (GOLDEN / name).read_bytes().decode()
    assert drawings()[name] == expected, "look at it, then run: python tests/view/view_documents.py"


def test_no_other_golden_files() -> None:
    assert sorted(path.name for path in GOLDEN.iterdir()) == sorted(drawings())


@pytest.mark.parametrize("make", DOCUMENTS.values(), ids=DOCUMENTS)
def test_nothing_is_loaded_and_no_script_runs(make) -> None:
    html = to_html([make(), make()], title=make().id)
    assert external_references(html) == []
    root = parse(html)
    assert list(root.iter("script")) == []
    (policy,) = [element.get("content") for element in root.iter("meta") if element.get("http-equiv")]
    assert policy.startswith("default-src 'none'")
    assert "script-src" not in policy
    assert not any(name.startswith("on") for element in root.iter() for name in element.attrib)


@pytest.mark.parametrize("make", [three, hebrew, mixed, chinese])
def test_a_paragraph_is_the_sentence_and_nothing_else(make) -> None:
    document = make()
    assert sentences(parse(to_html([document]))) == [document.text]


def test_hostile_text_is_text() -> None:
    root = parse(to_html([hostile()]))
    assert "".join(sentences(root)).startswith("<script>alert(1)</script> & ␀ cafe\u0301 👩🏽‍🔬 🇩🇪🇫🇷 ␛[31m pain\tx")
    assert {element.tag for element in root.iter() if isinstance(element.tag, str)} <= OURS
    names = [label(root, bar) for bar in bars(root)]
    assert "<i>\"x 90% </i> ␇ '&quot;" in names


def test_one_track_a_mention() -> None:
    root = parse(to_html([three()]))
    named = [bar for bar in bars(root) if label(root, bar) is not None]
    assert [label(root, bar) for bar in named] == [
        "disorder 90%", "disorder 41%", "disorder 20%", "disorder C0151970 C2", "part",
    ]  # fmt: skip
    assert [bar.get("class").split()[1] for bar in named] == ["r0", "r1", "r0", "r2", "r3"]
    third = [bar for bar in bars(root) if "r2" in bar.get("class").split()]
    assert [re.findall(r"\bz\d+", bar.get("class")) for bar in third][:3] == [[], ["z1"], ["z2"]]
    kinds = [" ".join(part for part in bar.get("class").split() if part in ("h", "g", "s1", "e1")) for bar in third]
    assert kinds[0] == "h s1 e1" and kinds[1:-1] == ["g"] * (len(kinds) - 2) and kinds[-1] == "s1 e1"
    assert named[3].get("title") == "disorder C0151970 C2: laceration … esophagus (head: laceration)"


def test_the_list_says_the_same_in_words() -> None:
    items = [item.text_content().strip() for item in parse(to_html([three()])).iter("li")]
    assert "disorder laceration … esophagus, C0151970, C2, head: laceration 38-48, 59-68" in items
    assert "disorder hiatal hernia, head: hernia 11-24 90.4%" in items
    again = Document("pain, pain", mentions=[Mention("x", [(0, 4)], score=0.5), Mention("x", [(6, 10)])])
    assert [item.text_content().strip() for item in parse(to_html([again])).find(".//ol").iter("li")] == [
        "x pain 0-4 50.0%; 6-10"
    ]


def test_words_that_run_leftward_have_their_ends_the_other_way() -> None:
    root = parse(to_html([mixed()]))
    marked = {bar.getparent().text_content(): "r" in bar.get("class").split() for bar in bars(root)}
    assert marked["الألم"] and marked["الصدر"] and not marked["yesterday"]


def test_paragraphs_are_those_of_the_text() -> None:
    text = "No pain. No fever.\nHome today.\n\nPlan:\n- rest"
    tokens = [[0, 2], [3, 8], [9, 11], [12, 18], [19, 23], [24, 30], [32, 37], [38, 39], [40, 44]]
    document = Document(text, tokens=tokens, sentences=[[0, 2], [2, 4], [4, 6], [6, 7], [7, 9]])
    assert sentences(parse(to_html([document]))) == text.split("\n\n")
    assert sentences(parse(to_html([Document(text)]))) == text.split("\n\n")
    long = "Sentence of words. " * 1000
    cut = sentences(parse(to_html([prepare(Document(long))])))
    assert " ".join(cut) == long.strip() and 2 < len(cut) < 10


def test_labels_that_are_often_there_are_written_once() -> None:
    mentions = [Mention("x", [(i, i + 1)], concepts=('C"1</style>',)) for i in range(0, 8, 2)]
    html = to_html([Document("a b c d", mentions=mentions)])
    root = parse(html)
    assert html.count("</style>") == 1 and "data-l" not in html.partition("<body>")[2]
    assert {label(root, bar) for bar in bars(root)} == {'x C"1</style>'}


def test_a_page_is_not_much_larger_than_its_text() -> None:
    text = "The quick brown mouse genes are expressed in the liver of all the animals. " * 200
    starts = range(0, len(text), 75)
    mentions = [Mention("gene", [(i + 16, i + 27)], concepts=("SO:0000704",)) for i in starts]
    mentions += [Mention("organ", [(i + 49, i + 54)]) for i in starts]
    assert len(to_html([Document(text, mentions=mentions)])) < 4.5 * len(text)


def test_a_mention_over_sentences_goes_on() -> None:
    document = Document("No pain.\n\nNo fever.", mentions=[Mention("finding", [(3, 18)])])
    root = parse(to_html([document]))
    assert [label(root, bar) for bar in bars(root) if label(root, bar)] == ["finding →", "→ finding"]
    assert [item.text_content().split() for item in root.find(".//ol").iter("li")] == [
        ["finding", "pain.␊␊No", "fever", "3-18"]
    ]


def test_empty_documents() -> None:
    assert sentences(parse(to_html([]))) == []
    assert sentences(parse(to_html([Document("")]))) == []
    outside = parse(to_html([Document("", mentions=[Mention("a", [(4, 9)])])]))
    assert [item.text_content().split() for item in outside.find(".//ol").iter("li")] == [["a", "4-9"]]


def test_what_has_no_place_is_listed() -> None:
    found = [Mention("a", [(0, 10)], id=str(i), score=i / 100) for i in range(MOST_ROWS + 10)]
    root = parse(to_html([Document("chest pain", mentions=found)]))
    assert len([bar for bar in bars(root) if label(root, bar)]) == MOST_ROWS
    assert any("10 mentions more than can be drawn" in p.text_content() for p in root.iter("p"))
    assert sum(item.text_content().count("0-10") for item in root.iter("li")) == MOST_ROWS + 10


def test_ten_thousand_mentions() -> None:
    text = "pain in arm. " * 700
    found = [Mention(f"t{i % 50}", [(i % 9000, i % 9000 + 4), (i % 9000 + 6, i % 9000 + 9)]) for i in range(10_000)]
    html = to_html([Document(text, mentions=found)])
    root = parse(html)
    assert sum(len(place.text.split("; ")) for place in root.iter("small")) == 10_000
    assert len(html) < 3_000_000


@settings(max_examples=60, deadline=None)
@given(documents())
def test_any_document(document: Document) -> None:
    html = to_html([document])
    assert html.encode("utf-8")
    root = parse(html)
    assert external_references(html) == []
    assert list(root.iter("script")) == []
    blank = {clean(char) for char in "\n\x0b\x0c\r\x1c\x1d\x1e\x1f\x85\u2028\u2029"}  # may be left out
    shown, expected = "".join(sentences(root)), clean(document.text)
    assert [char for char in shown if char not in blank and not char.isspace()] == [
        char for char in expected if char not in blank and not char.isspace() and char != "␉"
    ]
    listed = [place for place in root.iter("small") for place in place.text.split("; ")]
    assert len(listed) == len(document.mentions)


def luminance(color: str) -> float:
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize(("colors", "paper"), [(LIGHT, PAPER["light"]), (DARK, PAPER["dark"])])
def test_bars_stand_out_from_the_page(colors, paper) -> None:
    """WCAG 2.2, 1.4.11: graphics have a contrast of 3 and more."""
    for color in colors:
        low, high = sorted((luminance(color), luminance(paper)))
        assert (high + 0.05) / (low + 0.05) >= 3, color


def test_types_differ_in_colour_or_pattern() -> None:
    html = to_html([Document("pain", mentions=[Mention(f"t{i:02}", [(0, 4)]) for i in range(KINDS + 1)])])
    looks = re.findall(r"^\.t\d+ \{ (.*) --q: .* \}$", html, re.M)
    assert len(looks) == KINDS + 1 and len(set(looks)) == KINDS
    assert "prefers-color-scheme: dark" in html and "@media print" in html

"""The page of errors, and `evaluate --html`."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from lxml.html import HtmlElement
from test_page import external_references, parse
from test_terminal import documents
from view_documents import find, hostile

from spanloom.document import Document, Mention
from spanloom.evaluate import Point, calibration, evaluate, precision_recall
from spanloom.evaluate.measures import Learning
from spanloom.formats import read, write
from spanloom.models import load
from spanloom.view import error_page as module
from spanloom.view.error_page import error_page


def page(gold: list[Document], predicted: list[Document]) -> str:
    return error_page(gold, predicted, evaluate(gold, predicted, bootstrap=0))


def scored(gold: list[Document], predicted: list[Document]) -> str:
    return error_page(
        gold,
        predicted,
        evaluate(gold, predicted, bootstrap=0),
        calibration=calibration(gold, predicted),
        curve=precision_recall(gold, predicted),
        note="as predicted, with mention penalty 0.25",
    )


def articles(root: HtmlElement) -> list[HtmlElement]:
    return list(root.iter("article"))


TEXT = "Pain in left and right arm. Infarctions either watershed or embolic. No fever, no cough, mild nausea."


def gold_errors() -> Document:
    found = [
        Mention("part", find(TEXT, "left", "arm"), concepts=("C1",)),
        Mention("problem", find(TEXT, "Infarctions", "embolic")),
        Mention("problem", find(TEXT, "fever")),
        Mention("problem", find(TEXT, "cough")),
        Mention("problem", find(TEXT, "nausea")),
    ]
    return Document(TEXT, id="note", mentions=found)


def predicted_errors() -> Document:
    """One right, one with a gap missed, one with a fragment wrong, one of a wrong type, one missed, one spurious."""
    found = [
        Mention("part", find(TEXT, "left and right arm"), score=0.7),
        Mention("problem", find(TEXT, "Infarctions"), score=0.6),
        Mention("sign", find(TEXT, "fever"), score=0.3),
        Mention("problem", find(TEXT, "nausea"), score=0.9),
        Mention("part", find(TEXT, "watershed"), score=0.2),
    ]
    return Document(TEXT, id="note", mentions=found)


def test_gold_stands_over_the_prediction() -> None:
    root = parse(page([gold_errors()], [predicted_errors()]))
    assert [(item.get("data-kind"), item.get("data-score")) for item in articles(root)] == [
        ("missed", None),
        ("spurious", "0.200000"),
        ("type", "0.300000"),
        ("gap missed", "0.700000"),
        ("fragment wrong", "0.600000"),
    ]
    missed = articles(root)[3]
    gold, found = missed.find_class("pair")[0].findall("div")
    assert [side.find("h5").text for side in (gold, found)] == ["gold", "predicted"]
    [sentence] = missed.find_class("t")  # once, so both sides have its lines
    assert sentence.text_content() == TEXT
    sides = {bar.get("data-l"): "a" in bar.get("class").split() for bar in sentence.iter("i") if bar.get("data-l")}
    assert sides == {"gold: part C1": True, "predicted: part 70%": False}
    assert [item.text_content().split(" ", 1)[1].strip() for side in (gold, found) for item in side.iter("li")] == [
        "left … arm, C1 8-12, 23-26",
        "left and right arm 8-26 70.0%",
    ]


def test_a_heading_says_what_is_wrong_with_which_mention() -> None:
    root = parse(page([gold_errors()], [predicted_errors()]))
    assert [item.find("h4").text_content() for item in articles(root)] == [
        "cough: missed, gold problem note",
        "watershed: invented, found as part note, 20.0%",
        "fever: found as sign, gold problem note, 30.0%",
        "left … arm: gap not seen: two words too long note, 70.0%",
        "Infarctions … embolic: wrong part: one word too short at the end note, 60.0%",
    ]


def test_words_at_the_borders() -> None:
    text = "No severe chest pain today, chest x-ray."
    whole = find(text, "chest pain")

    def heading(gold: Mention, found: Mention) -> str:
        root = parse(page([Document(text, mentions=[gold])], [Document(text, mentions=[found])]))
        return articles(root)[0].find("h4").text_content().removesuffix(" document 1")

    gold = Mention("a", whole)
    assert heading(gold, Mention("a", find(text, "pain"))) == "chest pain: border: one word too short at the start"
    long = Mention("a", find(text, "No severe chest pain today"))
    assert heading(gold, long) == "chest pain: border: three words too long"
    assert heading(gold, Mention("a", find(text, "pain today"))) == (
        "chest pain: border: one word too many, one word missing"
    )
    assert heading(gold, Mention("a", find(text, "hest pain"))) == "chest pain: border: inside a word"
    head, linked = gold.replace(head=whole[0]), gold.replace(concepts=("C1",))
    assert heading(head, gold.replace(head=find(text, "pain")[0])) == "chest pain: head pain, gold chest pain"
    assert heading(linked, gold.replace(concepts=("C2", "C3"))) == "chest pain: linked to C2, C3, gold C1"


def test_what_is_not_looked_at_is_dimmed() -> None:
    text = "left and right arm pain"
    gold = [Mention("part", find(text, "left and right arm")), Mention("part", find(text, "right arm"))]
    found = [Mention("part", find(text, "left"), score=0.5), gold[1]]
    root = parse(page([Document(text, mentions=gold)], [Document(text, mentions=found)]))
    [article] = articles(root)
    [sentence] = article.find_class("t")
    assert "".join(piece.text_content() for piece in sentence.find_class("on")) == "left and right arm"
    labels = {bar.get("data-l"): "d" in bar.get("class").split() for bar in sentence.iter("i") if bar.get("data-l")}
    assert labels == {"gold: part": True, "predicted: part 50%": False, "predicted: part": True}
    assert {" ".join(bar.get("class").split()[2:4]) for bar in sentence.iter("i")} >= {"a s1", "a d", "d s1"}


def test_confusions() -> None:
    root = parse(page([gold_errors()], [predicted_errors()]))
    [table] = root.find_class("matrix")
    head = [cell.text_content() for cell in table.find("thead").iter("th")]
    body = {
        row.find("th").text_content(): dict(zip(head, [cell.text_content() for cell in row.iter("td")], strict=True))
        for row in table.findall("tr")
    }
    assert head == ["problem", "part", "sign", "missed"]
    assert {name: {key: cell for key, cell in row.items() if cell} for name, row in body.items()} == {
        "problem": {"problem": "1 +1", "sign": "1", "missed": "1"},
        "part": {"part": "0 +1"},
        "sign": {},
        "invented": {"part": "1"},
    }


def test_many_types_are_summed_in_the_matrix() -> None:
    text = "pain " * 30
    mentions = [Mention(f"type {i}", [(5 * i, 5 * i + 4)]) for i in range(30)]
    [table] = parse(page([Document(text, mentions=mentions)], [Document(text)])).find_class("matrix")
    head = [cell.text_content() for cell in table.find("thead").iter("th")]
    assert (len(head), head[-2:]) == (22, ["other types", "missed"])
    assert [cell.text_content() for cell in table.findall("tr")[20].iter("td")][-1] == "10"


def test_novelty_is_told_where_the_training_data_are_given() -> None:
    gold, found = [gold_errors()], [predicted_errors()]
    assert "the training data were not given" in page(gold, found)
    html = error_page(gold, found, evaluate(gold, found, bootstrap=0), known=[Document("Nausea", mentions=[
        Mention("problem", [(0, 6)])])])  # fmt: skip
    assert "the training data were not given" not in html
    rows = {row.find("th").text_content(): [cell.text for cell in row.iter("td")] for row in parse(html).iter("tr")}
    assert rows["seen in training"] == ["100.00", "100.00", "100.00", "1", "1"]
    assert rows["not seen in training"] == ["0.00", "0.00", "0.00", "4", "4"]


def test_choosing_needs_no_script_and_holds_no_text() -> None:
    html = page([hostile()], [hostile().copy(mentions=[])])
    root = parse(html)
    rules = root.find(".//style").text
    for name, values in {"kind": ["kind-missed"], "type": ["y0"], "order": ["text", "type", "high", "low"]}.items():
        offered = [option.get("value") for option in root.get_element_by_id(name).iter("option")]
        assert offered[:1] == [""] and set(values) <= set(offered)
        assert all(f'body:has(#{name} [value="{value}"]:checked)' in rules for value in offered[1:])
    classes = {name for item in articles(root) for name in item.get("class").split()}
    assert classes <= {"e", "kind-missed", *(f"y{i}" for i in range(len(hostile().mentions)))}


def test_kinds_are_counted() -> None:
    root = parse(page([gold_errors()], [predicted_errors()]))
    table = root.findall(".//table")[1]
    counts = {row.find("th").text_content(): row.find("td").text for row in table.iter("tr")}
    assert counts == {
        "missed": "1", "spurious": "1", "boundary": "0", "type": "1", "gap missed": "1", "gap invented": "0",
        "fragment wrong": "1", "head": "-", "concept": "-", "NIL": "-",
    }  # fmt: skip
    anchors = {link.get("href")[1:] for link in table.iter("a")}
    assert anchors == {head.get("id") for head in root.get_element_by_id("errors").iter("h3")}


def test_it_reads_in_full() -> None:
    kinds = ["missed", "spurious", "type", "gap missed", "fragment wrong"]
    root = parse(page([gold_errors()], [predicted_errors()]))
    errors = root.get_element_by_id("errors")
    assert [head.text.strip() for head in errors.iter("h3")] == kinds
    places = [dict(part.split(":") for part in item.get("style").split(";")) for item in articles(root)]
    assert [place["--text"] for place in places] == ["4", "2", "3", "0", "1"]
    sure = sorted(range(5), key=lambda i: int(places[i]["--high"]))
    assert [articles(root)[i].get("data-score") for i in sure] == ["0.700000", "0.600000", "0.300000", "0.200000", None]


def test_plots() -> None:
    gold, found = [gold_errors()], [predicted_errors()]
    html = scored(gold, found)
    root = parse(html)
    drawings = list(root.iter("svg"))
    assert [drawing.get("aria-label") for drawing in drawings] == [
        "precision and recall over the threshold",
        "reliability diagram",
    ]
    texts = [text.text for text in drawings[0].iter("text")]
    assert any("with mention penalty 0.25" in text for text in texts)
    assert any(text.startswith("best F1") for text in texts)
    names = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(names) == len(set(names))
    assert html == scored(gold, found)
    assert "#000000" not in html and "var(--ink)" in html


def test_penalties_and_learning() -> None:
    gold, found = [gold_errors()], [predicted_errors()]
    points = [Point(-0.5, 0.6, 0.3, 0.4), Point(0.0, 0.5, 0.4, 0.44), Point(0.5, 0.3, 0.6, 0.4)]
    learning = Learning({"F1": [0.2, 0.5, 0.4]}, [30.0, 20.0, 15.0], kept=2)
    html = error_page(
        gold, found, evaluate(gold, found, bootstrap=0), curve=precision_recall(gold, found), penalties=points,
        learning=learning,
    )  # fmt: skip
    drawings = list(parse(html).iter("svg"))
    assert [drawing.get("aria-label") for drawing in drawings] == [
        "precision and recall over the threshold",
        "learning curve",
    ]
    texts = [[text.text for text in drawing.iter("text")] for drawing in drawings]
    assert "mention penalty -0.50 to 0.50" in texts[0]
    assert {"F1", "objective", "kept", "development F1"} <= set(texts[1])
    names = [element.get("id") for element in parse(html).iter() if element.get("id")]
    assert len(names) == len(set(names))


def test_learning_of_several_chains() -> None:
    gold = [gold_errors()]
    learning = Learning({"problem": [0.2, 0.5], "part": [0.1], r"$\x_1^2$": [0.3], "_a\0": [0.1], "$": []})
    html = error_page(gold, [predicted_errors()], evaluate(gold, gold, bootstrap=0), learning=learning)
    (drawing,) = parse(html).iter("svg")
    assert {"problem", "part", r"$\x_1^2$"} <= {text.text for text in drawing.iter("text")}
    assert "objective" not in {text.text for text in drawing.iter("text")}


def test_there_is_no_script_and_nothing_is_loaded() -> None:
    for html in (scored([gold_errors()], [predicted_errors()]), page([hostile()], [hostile().copy(mentions=[])])):
        references = [value for value in external_references(html) if not value.startswith("#")]
        assert references == []
        root = parse(html)
        assert list(root.iter("script")) == [] and "script-src" not in html
        assert not any(name.startswith("on") for element in root.iter() for name in element.attrib)


def test_many_errors_are_cut_and_counted() -> None:
    text = "pain " * 600
    found = [Mention("problem", [(5 * i, 5 * i + 4)], score=i / 600) for i in range(600)]
    root = parse(page([Document(text)], [Document(text, mentions=found)]))
    assert len(articles(root)) == module.MOST
    assert "600" in root.get_element_by_id("errors").find("h3").text_content()
    assert articles(root)[0].get("data-score") == f"{599 / 600:.6f}"
    assert "The 500 most confident are shown." in root.text_content()


def test_very_long_sentences_are_cut() -> None:
    text = "word " * 20_000
    root = parse(page([Document(text, mentions=[Mention("a", [(50_000, 50_004)])])], [Document(text)]))
    shown = articles(root)[0].find(".//p").text_content()
    assert "word" in shown and len(shown) < 600


@settings(max_examples=40, deadline=None)
@given(documents(), documents())
def test_any_documents(gold: Document, other: Document) -> None:
    predicted = gold.copy(mentions=other.mentions)
    inside = [
        document.copy(mentions=[m for m in document.mentions if all(0 <= a < b <= len(gold.text) for a, b in m.spans)])
        for document in (gold, predicted)
    ]
    html = page(inside[:1], inside[1:])
    assert html.encode("utf-8")
    assert [value for value in external_references(html) if not value.startswith("#")] == []


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    gold, found = tmp_path / "gold.jsonl", tmp_path / "found.jsonl"
    write([gold_errors()], gold)
    write([predicted_errors()], found)
    return gold, found


def test_command(command, files, tmp_path) -> None:
    result = command("evaluate", *files, "--html", tmp_path / "r.html")
    assert result.returncode == 0, result.stderr
    assert result.stdout == command("evaluate", *files).stdout
    html = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "Errors of found.jsonl on gold.jsonl" in html
    assert html.count("<svg") == 2
    again = command("evaluate", *files, "--html", tmp_path / "r.html")
    assert (again.returncode, again.stdout) == (2, "")
    assert command("evaluate", *files, "--html", tmp_path / "r.html", "--force").returncode == 0


def test_curves_of_a_model(command, model, corpus, tmp_path) -> None:
    result = command("evaluate", "--model", model, corpus / "train.jsonl", "--html", tmp_path / "r.html", "--quiet")
    assert result.returncode == 0, result.stderr
    html = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert html.count("<svg") == 3
    assert "as predicted, with the tuned mention penalty" in html
    assert "learning curve" in html


def test_sweep_at_the_tuned_penalty_is_the_prediction(model, corpus) -> None:
    recognizer = load(model)
    documents = list(read(corpus / "train.jsonl"))
    tuned = recognizer.fitted.penalty
    none, own = recognizer.sweep(documents, [tuned - 100, tuned])
    assert not any(document.mentions for document in none)
    predicted = list(recognizer.predict(documents))
    assert [[m.key for m in d.mentions] for d in own] == [[m.key for m in d.mentions] for d in predicted]


def test_other_names(command, files, tmp_path) -> None:
    result = command("evaluate", *files, "--html", tmp_path / "r.pdf")
    assert result.returncode == 2
    assert "expected a name that ends in .html" in result.stderr


def test_without_matplotlib(files, tmp_path) -> None:
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        f"from spanloom.cli import main; main(['evaluate', *{[str(f) for f in files]!r}, '--html', 'r.html'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", cwd=tmp_path, check=False
    )
    assert done.returncode == 2
    assert re.search(r'needs matplotlib; install it with: pip install "spanloom\[report\]"', done.stderr)
    assert not (tmp_path / "r.html").exists()

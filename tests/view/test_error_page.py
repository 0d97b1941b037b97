"""The page of errors, and `evaluate --html`."""

from __future__ import annotations

import json
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


def test_errors_side_by_side() -> None:
    root = parse(page([gold_errors()], [predicted_errors()]))
    assert [(item.get("data-kind"), item.get("data-score")) for item in articles(root)] == [
        ("missed", None),
        ("spurious", "0.200000"),
        ("type", "0.300000"),
        ("gap missed", "0.700000"),
        ("fragment wrong", "0.600000"),
    ]
    gold, found = articles(root)[3].find_class("pair")[0].findall("div")
    assert [side.find("h5").text for side in (gold, found)] == ["gold", "predicted"]
    assert gold.find("p").text_content() == found.find("p").text_content() == TEXT
    assert [item.text_content().split(" ", 2)[2] for side in (gold, found) for item in side.iter("li")] == [
        "left … arm, C1 8-12, 23-26",
        "left and right arm, 70.0% 8-26",
    ]


def test_kinds_are_counted() -> None:
    root = parse(page([gold_errors()], [predicted_errors()]))
    table = root.findall(".//table")[1]
    counts = {row.find("th").text_content(): row.find("td").text for row in table.iter("tr")}
    assert counts == {
        "missed": "1", "spurious": "1", "boundary": "0", "type": "1", "gap missed": "1", "gap invented": "0",
        "fragment wrong": "1", "head": "-", "concept": "-", "NIL": "-",
    }  # fmt: skip
    anchors = {link.get("href")[1:] for link in table.iter("a")}
    assert anchors == {head.get("id") for head in root.iter("h3")}


def test_it_reads_without_its_script() -> None:
    kinds = ["missed", "spurious", "type", "gap missed", "fragment wrong"]
    root = parse(page([gold_errors()], [predicted_errors()]))
    assert root.get_element_by_id("choose").get("hidden") is not None
    assert not any(item.get("hidden") for item in articles(root))
    assert [head.text.strip() for head in root.iter("h3")] == kinds


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


def test_one_script_and_nothing_else_is_loaded() -> None:
    for html in (scored([gold_errors()], [predicted_errors()]), page([hostile()], [hostile().copy(mentions=[])])):
        references = [value for value in external_references(html) if not value.startswith("#")]
        assert references == []
        root = parse(html)
        (script,) = root.iter("script")
        assert script.text == module._SCRIPT
        assert not any(name.startswith("on") for element in root.iter() for name in element.attrib)


def test_hostile_types_stay_values() -> None:
    root = parse(page([hostile()], [hostile().copy(mentions=[])]))
    types = [json.loads(item.get("data-types")) for item in articles(root)]
    offered = [option.get("value") for option in root.get_element_by_id("choose").find(".//select[@name='type']")]
    assert sorted({name for names in types for name in names}) == sorted(offered[1:])


def test_many_errors_are_cut_and_counted() -> None:
    text = "pain " * 600
    found = [Mention("problem", [(5 * i, 5 * i + 4)], score=i / 600) for i in range(600)]
    root = parse(page([Document(text)], [Document(text, mentions=found)]))
    assert len(articles(root)) == module.MOST
    assert "600" in root.find(".//h3").text_content()
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

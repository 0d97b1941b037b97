"""`view --hypergraph`: the best sub-hypergraphs of a model as a page and as a drawing."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from spanloom import Recognizer, read
from spanloom.cli import hypergraph
from spanloom.structures import STRUCTURES

TEXT = "No chest pain today."


def boxes(drawing: str) -> list[str]:
    root = ElementTree.fromstring(drawing)
    name = "{http://www.w3.org/2000/svg}"
    return [group.find(f"{name}text").text for group in root.iter(f"{name}g") if group.get("class") == "node"]


@pytest.mark.parametrize("name", [name for name in STRUCTURES if not STRUCTURES[name].heads])
def test_every_structure(command, corpus, tmp_path, name):
    recognizer = Recognizer(name, ["bias", "low[-1..1]"], epochs=3, rate=0.5)
    recognizer.fit(read(corpus / "train.jsonl"), dev=read(corpus / "dev.jsonl")).save(tmp_path / "m")
    (tmp_path / "t.txt").write_text(TEXT)
    result = command("view", tmp_path / "t.txt", "--hypergraph", tmp_path / "m", "--output", tmp_path / "h.html")
    assert (result.returncode, result.stdout) == (0, ""), result.stderr
    page = (tmp_path / "h.html").read_text()
    assert page.count("<svg ") == page.count("<figure>") >= 1
    [predicted] = recognizer.predict(list(read(tmp_path / "t.txt")))
    types = {mention.type for mention in predicted.mentions}
    assert types
    if not STRUCTURES[name].joint:
        assert all(f"Sentence 1, {kind}<" in page for kind in types)
        assert page.count("<svg ") == len(types)


def test_one_drawing(command, model, tmp_path):
    (tmp_path / "t.txt").write_text("Lisinopril was stopped for cough.")  # one sentence with mentions of one type
    output = tmp_path / "h.svg"
    result = command("view", tmp_path / "t.txt", "--hypergraph", model, "--output", output)
    assert result.returncode == 0, result.stderr
    assert {"O", "I"} <= set(boxes(output.read_text()))


def test_several_drawings_are_no_svg(command, model, corpus, tmp_path):
    result = command("view", corpus / "train.jsonl", "--hypergraph", model, "--output", tmp_path / "h.svg")
    assert result.returncode == 2
    assert "an .svg holds one drawing, and these documents have" in result.stderr
    assert not (tmp_path / "h.svg").exists()


def test_nothing_is_found(command, model, tmp_path):
    (tmp_path / "t.txt").write_text(".")
    assert command("view", tmp_path / "t.txt", "--hypergraph", model, "--output", tmp_path / "h.html").returncode == 0
    assert "No mention is found." in (tmp_path / "h.html").read_text()


def test_hostile_text(command, model, tmp_path):
    (tmp_path / "t.txt").write_text("No <script>alert(1)</script> \x01 chest pain.")
    assert command("view", tmp_path / "t.txt", "--hypergraph", model, "--output", tmp_path / "h.html").returncode == 0
    page = (tmp_path / "h.html").read_text()
    assert "<script" not in page and "\x01" not in page


def test_long_sentences_are_said_to_be_left_out(command, model, tmp_path):
    (tmp_path / "t.txt").write_text("chest pain and " * hypergraph.MOST)
    assert command("view", tmp_path / "t.txt", "--hypergraph", model, "--output", tmp_path / "h.html").returncode == 0
    assert "tokens, too many to draw" in (tmp_path / "h.html").read_text()


def test_wrong_use(command, model, corpus, tmp_path):
    result = command("view", corpus / "dev.jsonl", "--hypergraph", model)
    assert (result.returncode, "give it an --output" in result.stderr) == (2, True)

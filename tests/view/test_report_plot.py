"""The figure of a report: its rows, and how it is shown and saved."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from spanloom.document import Document, Mention
from spanloom.errors import UsageError
from spanloom.evaluate import evaluate

SVG = "{http://www.w3.org/2000/svg}"
TEXT = "chest pain and fever"
HOSTILE = "</text><script>alert(1)</script>\x07"


def gold() -> Document:
    return Document(TEXT, mentions=[Mention(HOSTILE, [(0, 10)]), Mention("sign", [(15, 20)])])


def test_a_bar_for_each_row_that_counts_a_mention() -> None:
    report = evaluate([gold()], [gold().copy(mentions=gold().mentions[1:])], bootstrap=20)
    figure = report.plot()
    assert figure.svg == report.plot().svg
    root = ElementTree.fromstring(figure.svg)
    bars = [path for path in root.iter(f"{SVG}path") if path.get("class") == "f1"]
    rows = {**report.types, **report.structures, **report.sentences, **report.keys}
    counted = [name for name, score in rows.items() if score.gold or score.predicted]
    assert len(bars) == len(counted) + 2  # exact and partial
    assert len(list(root.iter(f"{SVG}circle"))) == 2 * len(bars)
    texts = [text.text or "" for text in root.iter(f"{SVG}text")]
    assert "type" in texts and "sign" in texts and any(text.startswith("F1 66.7 (") for text in texts)
    assert f"{SVG}script" not in {element.tag for element in root.iter()}
    assert "<script" not in figure._repr_html_()


def test_it_is_saved_whole_and_never_over_another_file(tmp_path: Path) -> None:
    figure = evaluate([gold()], [gold()], bootstrap=0).plot()
    figure.save(tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text(encoding="utf-8") == figure.svg
    with pytest.raises(UsageError, match="is there already"):
        figure.save(tmp_path / "a.svg")
    figure.save(tmp_path / "a.svg", force=True)
    with pytest.raises(UsageError, match=r"a.png, expected a name that ends in .svg"):
        figure.save(tmp_path / "a.png")

"""`spanloom train recognizer --annotators`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spanloom import load, read
from spanloom.cli.messages import Messages
from spanloom.cli.reading import Reading
from spanloom.data import clinical
from spanloom.errors import UsageError
from spanloom.formats import write


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The notes as two annotators mark them, each without every fifth mention."""
    folder, paths = tmp_path_factory.mktemp("annotators"), []
    notes = list(read(clinical() / "train"))[:12]
    for number, name in enumerate(("ada", "eve")):
        own = [one.copy(mentions=[m for i, m in enumerate(one.mentions) if (i + number) % 5]) for one in notes]
        paths.append(str(folder / f"{name}.jsonl"))
        write(own, paths[-1])
    return paths


def test_files_are_annotators(command, files, tmp_path) -> None:
    given = [word for path in files for word in ("--train", path)]
    model = str(tmp_path / "model")
    done = command(
        "train", "recognizer", *given, "--annotators", "--features", "fast", "--epochs", "2", "--l2", "1",
        "--attributes", "off", "--dev", str(clinical() / "dev"), "--output", model,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "annotator ada: " in done.stderr
    assert list(load(model).report_.annotators.annotators) == ["ada", "eve"]
    shown = command("inspect", model)
    assert "annotator" in shown.stdout
    assert "eve: " in shown.stdout
    told = json.loads(command("inspect", model, "--json").stdout)
    assert told["training"]["annotators"]["shared"] == 12


def test_no_text_in_common(files: list[str]) -> None:
    with pytest.raises(UsageError, match="no document has two annotators"):
        list(Reading(Messages(True)).by_annotators(files[:1]))


def test_names(files: list[str], tmp_path: Path) -> None:
    """Files of one name are told apart by their folders; what a document says of its annotator counts."""
    other = tmp_path / "ada.jsonl"
    notes = [one.copy(meta={"annotator": "Eve"}) if i else one for i, one in enumerate(read(files[1]))]
    write(notes, other)
    found = list(Reading(Messages(True)).by_annotators([files[0], str(other)]))
    assert {one.meta["annotator"] for one in found} == {files[0], str(other), "Eve"}


def test_the_same_documents_in_two_files_are_told(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert len(list(Reading(Messages()).for_training(files))) == 24
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("spanloom: 12 training documents with the identifier or the text of an earlier one")

"""Models that come as packages: found by name, listed, and told of where they are not there or broken."""

from __future__ import annotations

import json
import shutil
import sys
from importlib import invalidate_caches, metadata
from pathlib import Path
from typing import Any

import pytest

import spanloom
from spanloom.errors import DataWarning, ModelError
from spanloom.formats import to_record
from spanloom.models import installed, locate

SAID = {"finds": "problems, bodies", "licence": "public domain", "f1": 0.5, "bytes": 1_234_567, "more": [1]}


def package(
    site: Path, model: Path, catalogue: Any = None, *, name: str = "ready-made", code: str | None = None
) -> None:
    """A distribution as pip installs it: its metadata, and a module with a folder of models."""
    module = name.replace("-", "_")
    folder = site / module
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text(code or "from pathlib import Path\n\nFOLDER = Path(__file__).parent\n")
    text = catalogue if isinstance(catalogue, str) else json.dumps({"notes": SAID} if catalogue is None else catalogue)
    (folder / "catalogue.json").write_text(text)
    (folder / "notes").mkdir()
    for file in model.iterdir():
        (folder / "notes" / file.name).write_bytes(file.read_bytes())
    about = site / f"{module}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[spanloom.models]\n{name} = {module}\n")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A folder that packages are installed in, the only one with models."""
    path = tmp_path / "site"
    path.mkdir()

    def of_here(group: str) -> list[Any]:
        found = metadata.distributions(path=[str(path)])
        return [entry for one in found for entry in one.entry_points if entry.group == group]

    monkeypatch.setattr("spanloom.models.entry_points", of_here)
    monkeypatch.syspath_prepend(str(path))
    monkeypatch.chdir(tmp_path)
    before = set(sys.modules)
    invalidate_caches()
    yield path
    for module in set(sys.modules) - before:
        if str(path) in str(getattr(sys.modules[module], "__file__", "")):
            del sys.modules[module]


def test_a_name_is_found(site: Path, model: Path) -> None:
    package(site, model)
    [one] = installed().values()
    assert (one.name, one.package, one.f1, one.size) == ("notes", "ready-made", 0.5, 1_234_567)
    loaded: Any = spanloom.load("notes")
    text = "No chest pain today."
    assert to_record(loaded(text)) == to_record(loaded.predict(text))
    assert [to_record(each) for each in loaded([text])] == [to_record(each) for each in loaded.predict([text])]
    assert to_record(loaded(text)) == to_record(spanloom.load(model).predict(text))  # type: ignore[attr-defined]


def test_a_table_is_annotated_by_a_name(site: Path, model: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    package(site, model)
    annotator = pytest.importorskip("spanloom.lake").Annotator("notes", id=None)
    assert annotator.model == str(site / "ready_made" / "notes")
    [found] = annotator([pa.record_batch({"text": ["No chest pain today."]})])
    assert found["problem"].to_pylist() == [None]


def test_a_model_in_a_folder_wins_and_that_is_told(site: Path, model: Path, tmp_path: Path) -> None:
    package(site, model)
    (tmp_path / "notes").mkdir()
    with pytest.warns(
        DataWarning, match=r"^notes: the installed model of this name is taken, .*; \./notes names that$"
    ):
        assert locate("notes") == site / "ready_made" / "notes"
    shutil.copytree(model, tmp_path / "notes", dirs_exist_ok=True)
    with pytest.warns(DataWarning, match="^notes: the model in this folder is taken, not the installed one"):
        assert locate("notes") == "notes"
    with pytest.warns(DataWarning) as caught:
        spanloom.load("notes")
    assert [one.filename for one in caught] == [__file__]
    with pytest.raises(ModelError, match=r"model\.json is missing"):
        spanloom.load(Path("other") / "notes")
    with pytest.raises(ModelError, match=r"model\.json is missing"):
        spanloom.load("./others")
    with pytest.raises(ModelError, match="cannot be read"):
        spanloom.load("n" * 5000)


def test_an_unknown_name_lists_those_that_are_there(site: Path, model: Path) -> None:
    with pytest.raises(ModelError) as caught:
        spanloom.load("genes")
    told = "there is no such folder, and no installed model of this name; "
    more = "none is installed; in Spanloom's folder: pip install ./models ./models-sa ./models-zh"
    assert str(caught.value) == f"genes: no model here: {told}{more}"
    package(site, model, {"notes": SAID, "others": SAID})
    with pytest.raises(ModelError) as caught:
        spanloom.load("genes")
    assert str(caught.value) == f"genes: no model here: {told}installed are notes, others"


def test_two_packages(site: Path, model: Path) -> None:
    package(site, model, name="b-models")
    package(site, model, {"notes": SAID, "more": SAID}, name="a-models")
    assert {name: one.package for name, one in installed().items()} == {"notes": "a-models", "more": "a-models"}


@pytest.mark.parametrize(
    ("catalogue", "code"),
    [
        ("", None),
        ("[]", None),
        ('{"notes": {}}', None),
        ({"notes": {**SAID, "f1": 2}}, None),
        ('{"notes": {"finds": "x", "licence": "y", "f1": NaN, "bytes": 1}}', None),
        ({"../notes": SAID}, None),
        ({"": SAID}, None),
        ({"a/b": SAID}, None),
        (None, "import nothing_of_this_name"),
        (None, "FOLDER = None"),
        (None, "x = 1"),
    ],
)
def test_broken_packages(site: Path, model: Path, catalogue: Any, code: str | None) -> None:
    package(site, model, catalogue, code=code)
    with pytest.raises(ModelError, match="ready-made") as caught:
        installed()
    assert "\n" not in str(caught.value)
    assert spanloom.load(model).kind == "recognizer"  # a path needs no catalogue


def test_verbs(site: Path, model: Path, command: Any, corpus: Path) -> None:
    empty = command("models")
    assert (empty.returncode, empty.stderr) == (0, "")
    assert "no models are installed" in empty.stdout
    assert json.loads(command("models", "--json").stdout) == []
    package(site, model)
    assert command("models").stdout == (
        "name   F1    MB   licence        finds\nnotes  50.0  1.2  public domain  problems, bodies\n"
    )
    [one] = json.loads(command("models", "--json").stdout)
    assert (one["name"], one["folder"]) == ("notes", str(site / "ready_made" / "notes"))
    done = command("predict", "notes", "-", input="No chest pain today.\n")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["text"].startswith("No chest pain")
    assert command("evaluate", corpus / "dev.jsonl", "--model", "notes").returncode == 0
    assert command("inspect", "notes").returncode == 0
    done = command("predict", "genes", "-", input="x")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith("installed are notes")

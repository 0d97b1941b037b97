"""Models that come ready: they load, find what they say, are small, and hold no readable text."""

from __future__ import annotations

import doctest
import json
import re
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from spanloom.models import load

ROOT = Path(__file__).parents[1]
PACKAGES = {"models": "spanloom_models", "models-sa": "spanloom_models_sa", "models-zh": "spanloom_models_zh"}
FOLDERS = [ROOT / place / "src" / module for place, module in PACKAGES.items()]
CATALOGUES = {folder: json.loads((folder / "catalogue.json").read_text(encoding="utf-8")) for folder in FOLDERS}
MODELS = {name: (folder / name, said) for folder, listed in CATALOGUES.items() for name, said in listed.items()}
LARGEST, ALL = 15e6, 40e6  # bytes of a model without a vocabulary, and of a distribution
LINKED = 25e6  # of a model with vocabularies
PAGE = (ROOT / "docs" / "models-ready.md").read_text(encoding="utf-8")
SHOWN = ["craft", "clinical", "names", "chinese"]
TEXTS = {
    "genia": ("Expression of the IL-2 gene in human T cells needs NF-kappa B.", "protein"),
    "bc5cdr": ("Chest pain and myocardial infarction after cocaine and aspirin.", "Chemical"),
    "ncbi_disease": ("Mutations of BRCA1 cause hereditary breast cancer and ovarian cancer.", "SpecificDisease"),
    "gum": ("The president of the United States met students in Chicago on Monday.", "place"),
    "craft": ("The Pax6 gene is expressed in the retina of mouse embryos.", "UBERON"),
    "clinical": ("Chest film: no pleural or pericardial effusion.", "problem"),
    "biomedical": ("Aspirin may cause bleeding of the stomach in patients with hypertension.", "disease"),
    "names": ("Angela Merkel met Emmanuel Macron in Paris on Tuesday.", "person"),
    "chinese": ("鲁迅1881年生于浙江绍兴。", "LOC"),
}


def bytes_in(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file() and file.suffix != ".pyc")


@pytest.mark.parametrize("folder", FOLDERS, ids=PACKAGES)
def test_every_model_is_listed_and_small(folder: Path) -> None:
    listed = CATALOGUES[folder]
    assert sorted(listed) == sorted(path.name for path in folder.iterdir() if (path / "model.json").exists())
    assert set(listed) <= set(TEXTS)
    sizes = {name: bytes_in(folder / name) for name in listed}
    assert sizes == {name: said["bytes"] for name, said in listed.items()}
    assert all(sizes[name] <= (LINKED if "concepts" in said else LARGEST) for name, said in listed.items())
    assert bytes_in(folder) <= ALL
    for name, said in listed.items():
        assert f"| `{name}` | {said['finds']} | {said['licence']} | {100 * said['f1']:.1f} (" in PAGE


@pytest.mark.parametrize("name", MODELS)
def test_a_model_finds_what_it_says(name: str) -> None:
    folder, said = MODELS[name]
    model: Any = load(folder)
    text, wanted = TEXTS[name]
    found = model(text).mentions
    assert any(mention.type.startswith(wanted) for mention in found), [(m.type, m.text(text)) for m in found]
    assert all(0 < mention.score <= 1 for mention in found)
    assert list(model.types_) == said["types"]


def test_what_the_page_shows_is_found() -> None:
    by_name = SimpleNamespace(load=lambda name: load(MODELS[name][0]))  # also where the packages are not installed
    shown = doctest.DocTestParser().get_doctest(PAGE, {"spanloom": by_name}, "models-ready.md", None, 0)
    assert [name for name in MODELS if f'load("{name}")' in "".join(one.source for one in shown.examples)] == SHOWN
    assert doctest.DocTestRunner().run(shown).failed == 0


@pytest.mark.parametrize("name", MODELS)
def test_a_model_holds_nothing_readable_of_its_text(name: str) -> None:
    folder, said = MODELS[name]
    model: Any = load(folder)
    assert model.describe()["strongest"] == {}
    assert model.report_.compact is not None
    assert getattr(model, "second_", None) is None or said["params"].get("rescore", True)
    parts = model.to_part().parts
    assert not {"clusters", "categories", "counts"} & set(parts.get("columns", model.to_part()).arrays)
    assert "dictionaries" not in parts


@pytest.mark.parametrize("name", MODELS)
def test_a_model_has_a_card(name: str) -> None:
    folder, said = MODELS[name]
    card = folder.with_name(f"{name}.md").read_text(encoding="utf-8")
    for part in ("**Licence**", "**Data**", "**Split**", "**Not for**", said["licence"], "bootstrap interval"):
        assert part in card
    assert f"{100 * said['f1']:.1f}**" in card
    assert said["interval"][0] < said["f1"] < said["interval"][1]
    if "commit" in said:  # the first models were made before it was noted
        assert re.fullmatch("[0-9a-f]{7,}", said["commit"])
        assert f"of commit {said['commit']}," in card


@pytest.mark.parametrize("place", PACKAGES)
def test_a_package_names_its_entry_point(place: str) -> None:
    said = tomllib.loads((ROOT / place / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert said["entry-points"]["spanloom.models"] == {said["name"]: PACKAGES[place]}
    ours = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert said["requires-python"] == ours["requires-python"]


def test_what_is_shared_alike_is_a_package_of_its_own() -> None:
    alike = [{"SA" in said["licence"] for said in CATALOGUES[folder].values()} for folder in FOLDERS]
    assert alike == [{False}, {True}, {True}]

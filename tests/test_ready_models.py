"""The models of the folder `models/`: they load, find what they say, are small, and hold no readable word of text."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from spanloom.models import load

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "models" / "src" / "spanloom_models"
CATALOGUE = json.loads((FOLDER / "catalogue.json").read_text(encoding="utf-8"))
LARGEST, ALL = 8e6, 25e6  # bytes of a model, and of all
TEXTS = {
    "genia": ("Expression of the IL-2 gene in human T cells needs NF-kappa B.", "protein"),
    "bc5cdr": ("Chest pain and myocardial infarction after cocaine and aspirin.", "Chemical"),
    "ncbi_disease": ("Mutations of BRCA1 cause hereditary breast cancer and ovarian cancer.", "SpecificDisease"),
    "gum": ("The president of the United States met students in Chicago on Monday.", "place"),
}


def test_every_model_is_listed_and_small() -> None:
    assert sorted(CATALOGUE) == sorted(path.name for path in FOLDER.iterdir() if (path / "model.json").exists())
    assert set(CATALOGUE) <= set(TEXTS)
    sizes = {name: sum(file.stat().st_size for file in (FOLDER / name).iterdir()) for name in CATALOGUE}
    assert sizes == {name: said["bytes"] for name, said in CATALOGUE.items()}
    assert max(sizes.values()) <= LARGEST
    assert sum(file.stat().st_size for file in FOLDER.rglob("*") if file.is_file()) <= ALL
    page = (ROOT / "docs" / "models-ready.md").read_text(encoding="utf-8")
    for name, said in CATALOGUE.items():
        assert f"| `{name}` | {said['finds']} | {said['licence']} | {100 * said['f1']:.1f} (" in page


@pytest.mark.parametrize("name", CATALOGUE)
def test_a_model_finds_what_it_says(name: str) -> None:
    model: Any = load(FOLDER / name)
    text, wanted = TEXTS[name]
    found = model(text).mentions
    assert any(mention.type.startswith(wanted) for mention in found), [(m.type, m.text(text)) for m in found]
    assert all(0 < mention.score <= 1 for mention in found)
    assert list(model.types_) == CATALOGUE[name]["types"]


@pytest.mark.parametrize("name", CATALOGUE)
def test_a_model_holds_nothing_readable_of_its_text(name: str) -> None:
    model: Any = load(FOLDER / name)
    assert model.describe()["strongest"] == {}
    assert model.report_.compact is not None
    assert model.second_ is None or CATALOGUE[name]["params"].get("rescore", True)
    assert not {"clusters", "categories", "counts"} & set(
        model.to_part().parts.get("resources", model.to_part()).arrays
    )


@pytest.mark.parametrize("name", CATALOGUE)
def test_a_model_has_a_card(name: str) -> None:
    card, said = (FOLDER / f"{name}.md").read_text(encoding="utf-8"), CATALOGUE[name]
    for part in ("**Licence**", "**Data**", "**Split**", "**Not for**", said["licence"], "bootstrap interval"):
        assert part in card
    assert f"{100 * said['f1']:.1f}**" in card
    assert said["interval"][0] < said["f1"] < said["interval"][1]


def test_the_package_names_its_entry_point() -> None:
    said = tomllib.loads((ROOT / "models" / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert said["entry-points"]["spanloom.models"] == {"spanloom-models": "spanloom_models"}
    ours = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert said["requires-python"] == ours["requires-python"]

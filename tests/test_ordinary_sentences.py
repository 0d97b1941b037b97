"""Ready models in ordinary sentences: how many of their errors are embarrassing, such as a country as a chemical.

An error is embarrassing if a mention overlaps annotated ones, and its type is absurd beside that of each of them. A
description, as `gum` finds them, may hold a name of another type: *residents of Cape Town* are persons. The
sentences (`tests/data/ordinary_sentences.jsonl`) are used for nothing else. To see the errors of all models, or of
some: ``python tests/test_ordinary_sentences.py [NAME ...]``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from spanloom import Document, read
from spanloom.document import Mention
from spanloom.models import load

ROOT = Path(__file__).parents[1]
SENTENCES = list(read(ROOT / "tests" / "data" / "ordinary_sentences.jsonl"))
PAGE = (ROOT / "docs" / "models-ready.md").read_text(encoding="utf-8")
FOLDERS = {
    path.name: path
    for place in ("models", "models-sa", "models-zh")
    for path in (ROOT / place / "src").glob("*/*")
    if (path / "model.json").exists()
}
MOST = json.loads((ROOT / "tests" / "data" / "ordinary_errors.json").read_text(encoding="utf-8"))
"""Embarrassing errors of each model, at most."""

NAMES = frozenset(("person", "organization", "place", "time", "event", "work"))
BODIES = frozenset(("anatomy", "cell", "cell_line", "cellular_component"))
MEDICAL = frozenset(("disease", "symptom", "chemical", "gene", "species", "process", *BODIES))
ABSURD = {  # class of a type -> what it is not
    "gene": NAMES | {"anatomy", "symptom", "species", "thing"},
    "disease": NAMES | {"chemical", "gene", "species", "thing"},
    "chemical": NAMES | {"anatomy", "disease", "symptom", "species", "cell", "thing"},
    "species": NAMES | {"chemical", "disease", "symptom", "anatomy", "gene", "thing"},
    "body": NAMES | {"chemical", "gene", "thing"},
    "cell_line": NAMES | {"anatomy", "disease", "symptom", "chemical", "thing"},
    "process": NAMES | {"anatomy", "chemical", "species", "thing"},
    "person": (MEDICAL | {"place", "time", "event", "thing"}) - {"gene"},  # genes may be named by persons
    "place": MEDICAL - BODIES | {"person", "time", "thing", "anatomy"},
    "organization": MEDICAL | {"time", "thing"},
    "time": MEDICAL | NAMES - {"time", "event"} | {"thing"},
    "care": NAMES | {"species", "thing"},  # tests and treatments may be named by all that is medical
    "event": MEDICAL - {"process"} | {"person", "place", "organization"},
}
CLASSES = {  # type, of some models in lower case or with more behind it -> class; others are in no class
    "protein": "gene", "dna": "gene", "rna": "gene", "gene_or_protein": "gene", "sequence": "gene", "pr": "gene",
    "so": "gene", "disease": "disease", "specificdisease": "disease", "diseaseclass": "disease",
    "modifier": "disease", "compositemention": "disease", "mondo": "disease", "chemical": "chemical",
    "chebi": "chemical", "species": "species", "ncbitaxon": "species", "cell": "body", "cell_type": "body",
    "cl": "body", "anatomy": "body", "uberon": "body",
    "cellular_component": "body", "go_cc": "body", "cell_line": "cell_line",
    "process": "process", "go_bp": "process", "go_mf": "process", "mop": "process", "person": "person",
    "per": "person", "place": "place", "loc": "place", "organization": "organization", "org": "organization",
    "time": "time", "event": "event", "problem": "disease", "drug": "chemical", "test": "care", "treatment": "care",
}  # fmt: skip


def errors(name: str) -> Iterator[tuple[Document, Mention, list[Mention]]]:
    """Yield the embarrassing errors of a model: a sentence, what is found, and the annotated mentions there."""
    model: Any = load(FOLDERS[name])
    sentences = [one for one in SENTENCES if (one.id.startswith("chinese")) == (name == "chinese")]
    # that the text differs from that of the corpora is no news here
    found = model.predict([Document(one.text) for one in sentences], notice=lambda _: None)
    for gold, document in zip(sentences, found, strict=True):
        for mention in document.mentions:
            absurd = ABSURD.get(CLASSES.get(mention.type.lower(), ""), frozenset())
            there = [
                one for one in gold.mentions
                if any(a < end and start < b for a, b in one.spans for start, end in mention.spans)
            ]  # fmt: skip
            longer = name == "gum" and all(mention.end - mention.start > one.end - one.start + 4 for one in there)
            if there and not longer and all(one.type in absurd for one in there):
                yield gold, mention, there


@pytest.mark.parametrize("name", MOST)
def test_embarrassing_errors_are_no_more(name: str) -> None:
    found = [(mention.text(gold.text), mention.type, gold.id) for gold, mention, _ in errors(name)]
    assert len(found) <= MOST[name], found
    assert f"| `{name}` | {MOST[name]} |" in PAGE


def test_the_sentences() -> None:
    assert {*FOLDERS} == {*MOST}
    assert len({one.text for one in SENTENCES}) == len(SENTENCES) == 300
    kinds = [one.id.split("-")[0] for one in SENTENCES]
    assert {kind: kinds.count(kind) for kind in kinds} == dict.fromkeys(
        ("abstract", "discharge", "news", "social", "chinese"), 60
    )
    assert {mention.type for one in SENTENCES for mention in one.mentions} <= NAMES | MEDICAL | {"thing"}
    for one in SENTENCES:
        assert all(mention.text(one.text).strip() == mention.text(one.text) != "" for mention in one.mentions)


def test_every_type_of_a_model_has_a_class() -> None:
    types = {kind for path in FOLDERS.values() for kind in catalogue(path)}
    own = {"abstract", "animal", "object", "plant", "substance", "other"}  # of GUM: too wide to be absurd
    assert {kind.lower() for kind in types} - own <= {*CLASSES}
    assert {*CLASSES.values()} == {*ABSURD}


def catalogue(path: Path) -> list[str]:
    listed = json.loads((path.parent / "catalogue.json").read_text(encoding="utf-8"))
    types: list[str] = listed[path.name]["types"]
    return types


if __name__ == "__main__":
    for chosen in sys.argv[1:] or MOST:
        every = list(errors(chosen))
        print(f"{chosen}: {len(every)}")
        for gold, mention, there in every:
            right = ", ".join(f"{one.text(gold.text)} ({one.type})" for one in there)
            print(f"  {mention.type}: {mention.text(gold.text)}, not {right}, in {gold.id}")

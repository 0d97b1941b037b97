"""Make the models that come ready: train them on the corpora, make them compact, measure them, write their cards.

    python models/make.py --data DATA [--only genia]

Each model is trained on the text of a corpus, without its tokens, since the text of users has none, and made compact by
its development data. Test data are looked at once, when all is chosen. A model goes to `src/spanloom_models/NAME`, its
card to `NAME.md` beside it, its figures to `catalogue.json`, and a table of all to `docs/models-ready.md`. With --only,
other models stay as they are. The corpora stay where they are: no text of them goes into a model or a card.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from spanloom import __version__, load, read
from spanloom.document import Document, Mention
from spanloom.evaluate import calibration, evaluate
from spanloom.recognize import Recognizer, compact

HERE = Path(__file__).parent
PACKAGE = HERE / "src" / "spanloom_models"
PAGE = HERE.parent / "docs" / "models-ready.md"
CATALOGUE = PACKAGE / "catalogue.json"
LARGEST = 8e6  # bytes of a model
COMMON = {"features": "fast", "l2": 1.0, "n_jobs": 1, "random_state": 0}
GENRES = ("academic", "court", "interview", "news")  # those of GUM under CC BY; bio and voyage are CC BY-SA

Parts = tuple[list[Document], list[Document], list[Document]]


class Recipe(NamedTuple):
    """How a model is made, and what its card says.

    Args:
        name: of the model.
        title: of its card.
        finds: what it finds, in a few words.
        licence: of the annotations that it learned from, and so of the model.
        sources: the corpus, whose it is, and how to cite it.
        split: what is training, development and test data.
        not_for: what it must not be used for, beside what holds for all.
        parts: from the folder of the corpora to training, development and test data.
        params: of the recognizer.
    """

    name: str
    title: str
    finds: str
    licence: str
    sources: str
    split: str
    not_for: str
    parts: Callable[[Path], Parts]
    params: dict[str, Any]


def bare(documents: Iterable[Document]) -> list[Document]:
    """Return documents with their text and mentions only."""
    return [
        Document(one.text, id=one.id, mentions=[Mention(mention.type, mention.spans) for mention in one.mentions])
        for one in documents
    ]


def split_of(place: str, names: Sequence[str], format: str | None = None) -> Callable[[Path], Parts]:
    """Return the reader of a corpus of three files."""

    def parts(data: Path) -> Parts:
        train, dev, test = (bare(read(data / place / name, format=format)) for name in names)
        return train, dev, test

    return parts


def gum(data: Path) -> Parts:
    """Return GUM's genres under CC BY."""
    train, dev, test = (
        bare(one for one in read(data / "gum" / f"{name}.jsonl") if one.meta.get("genre") in GENRES)
        for name in ("train", "dev", "test")
    )
    return train, dev, test


JSONL = ("train.jsonl", "dev.jsonl", "test.jsonl")
RECIPES = (
    Recipe(
        "genia", "Genes, proteins and cells in abstracts", "protein, DNA, RNA, cell_line, cell_type; nested",
        "CC BY 3.0",
        "GENIA corpus 3.02, annotations by the GENIA Project, Tsujii Laboratory, University of Tokyo, of abstracts of "
        "MEDLINE. Kim et al. (2003), *GENIA corpus: a semantically annotated corpus for bio-textmining*. Types are "
        "collapsed to five, as in Finkel and Manning (2009).",
        "The first 81 % of the sentences for training, the next 9 % for development, the last 10 % for testing, as "
        "abstracts.",
        "The abstracts are on transcription factors in human blood cells: other fields have other names.",
        split_of("genia_documents", JSONL), {"structure": "separators"},
    ),
    Recipe(
        "bc5cdr", "Chemicals and diseases in abstracts", "Chemical, Disease", "public domain mark",
        "BioCreative V CDR corpus. Li et al. (2016), *BioCreative V CDR task corpus: a resource for chemical disease "
        "relation extraction*. The names of CTD's vocabulary are not used.",
        "The task's own: 500 abstracts each for training, development and testing.",
        "The abstracts are on side effects of drugs.",
        split_of("bc5cdr", [f"CDR_{part}Set.BioC.xml" for part in ("Training", "Development", "Test")]),
        {"structure": "separators"},
    ),
    Recipe(
        "ncbi_disease", "Diseases in abstracts",
        "SpecificDisease, DiseaseClass, Modifier, CompositeMention", "public domain",
        "NCBI Disease Corpus, National Library of Medicine. Dogan, Leaman and Lu (2014), *NCBI disease corpus: a "
        "resource for disease name recognition and concept normalization*.",
        "The corpus' own: 593, 100 and 100 abstracts.",
        "The abstracts are on hereditary diseases above all.",
        split_of("ncbi_disease", [f"NCBI{part}set_corpus.txt" for part in ("train", "develop", "test")], "pubtator"),
        {"structure": "separators"},
    ),
    Recipe(
        "gum", "English names and descriptions", "ten types of persons, places, things, times and more; nested",
        "CC BY 4.0",
        "GUM, the Georgetown University Multilayer Corpus, annotations CC BY 4.0. Zeldes (2017), *The GUM Corpus: "
        "Creating Multilayer Resources in the Classroom*. Only its genres whose texts are under CC BY: academic, "
        "court, interview and news (Wikinews, CC BY 2.5).",
        "The corpus' own, of these genres.",
        "It marks all descriptions of things, such as *the second of the two doors*, and not names alone. There is "
        "little training text, so that it misses much.",
        gum, {"structure": "separators"},
    ),
)  # fmt: skip


def made(recipe: Recipe, data: Path) -> dict[str, Any]:
    """Train a model, make it compact, save it, and return its line of the catalogue."""
    train, dev, test = recipe.parts(data)
    began = time.process_time()
    model = Recognizer(**{**COMMON, **recipe.params}).fit(train, dev=dev)
    training = time.process_time() - began
    small = compact(model, dev=dev, progress=lambda step: say(recipe.name, step.stage, step.dev_f1))
    small.save(PACKAGE / recipe.name, force=True)
    ready: Any = load(PACKAGE / recipe.name)
    ready.predict(dev[:2])  # kernels are compiled
    began = time.process_time()
    found = ready.predict(test)
    seconds = time.process_time() - began
    report = evaluate(test, found, bootstrap=1000)
    low, high = report.overall.intervals.f1
    told = small.report_.compact
    say(recipe.name, report.overall.f1, told)
    return {
        "title": recipe.title, "finds": recipe.finds, "licence": recipe.licence, "types": list(ready.types_),
        "precision": report.overall.precision, "recall": report.overall.recall, "f1": report.overall.f1,
        "interval": [low, high], "by_type": {name: score.f1 for name, score in report.types.items()},
        "calibration_error": calibration(test, found).error, "dev_f1": told.f1_after, "dev_f1_before": told.f1_before,
        "tokens_per_second": sum(one.token_count for one in found) / seconds,
        "bytes": size(recipe.name), "training_seconds": training, "threshold": told.threshold,
        "documents": [len(train), len(dev), len(test)], "params": {**COMMON, **recipe.params},
        "spanloom": __version__,
    }  # fmt: skip


def size(name: str) -> int:
    """Return the bytes of a model's two files."""
    return sum(file.stat().st_size for file in (PACKAGE / name).iterdir())


def card(recipe: Recipe, said: dict[str, Any]) -> str:
    """Return the card of a model."""
    low, high = said["interval"]
    train, dev, test = said["documents"]
    by_type = "\n".join(f"| {name} | {100 * f1:.1f} |" for name, f1 in sorted(said["by_type"].items()))
    params = ", ".join(f"{name}={value!r}" for name, value in said["params"].items() if name != "n_jobs")
    return f"""# {recipe.title}: `{recipe.name}`

It finds {recipe.finds}. Types: {", ".join(said["types"])}.

- **Licence**: {recipe.licence}, that of the annotations.
- **Data**: {recipe.sources}
- **Split**: {recipe.split} {train} documents for training, {dev} for development, {test} for testing.
- **Training**: `Recognizer({params})` on plain text, without the corpus' tokens; then `spanloom compact`, weights
  below {said["threshold"]:g} left out. Development F1 {100 * said["dev_f1_before"]:.1f} before and
  {100 * said["dev_f1"]:.1f} after. It holds no readable names of features and no word of the training text; what a
  model can reveal stands in `docs/privacy.md`.
- **Test data**: precision {100 * said["precision"]:.1f}, recall {100 * said["recall"]:.1f}, **F1
  {100 * said["f1"]:.1f}** (95 % bootstrap interval {100 * low:.1f} to {100 * high:.1f}), of exact boundaries and types.
- **Probabilities**: calibration error {100 * said["calibration_error"]:.1f} % on the test data.
- **Speed and size**: {round(said["tokens_per_second"], -3):,.0f} tokens a second on one core,
  {said["bytes"] / 1e6:.1f} MB.
- **Not for** decisions on patients, or for text that differs much from that of the corpus, before it was measured
  there. {recipe.not_for}

| type | test F1 |
|---|---|
{by_type}
"""


def page(catalogue: dict[str, Any]) -> str:
    """Return the page of the documentation."""
    rows = "\n".join(
        f"| `{name}` | {one['finds']} | {one['licence']} | {100 * one['f1']:.1f} "
        f"({100 * one['interval'][0]:.1f} to {100 * one['interval'][1]:.1f}) | {100 * one['calibration_error']:.1f} "
        f"| {round(one['tokens_per_second'], -3):,.0f} | {one['bytes'] / 1e6:.1f} |"
        for name, one in catalogue.items()
    )
    return (HERE / "page.md").read_text(encoding="utf-8").replace("TABLE", rows)


def ordered(kept: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield what is there, in the order of the recipes."""
    yield from ((recipe.name, kept[recipe.name]) for recipe in RECIPES if recipe.name in kept)


def say(*parts: object) -> None:
    """Progress, on standard error."""
    print(*parts, file=sys.stderr, flush=True)


def main() -> None:
    """Make the models, and write what is said of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, type=Path, help="the folder that holds the corpora, such as gum/")
    parser.add_argument("--only", action="append", help="names of models [all]")
    chosen = parser.parse_args()
    kept = json.loads(CATALOGUE.read_text(encoding="utf-8")) if CATALOGUE.exists() else {}
    for recipe in RECIPES:
        if chosen.only is None or recipe.name in chosen.only:
            kept[recipe.name] = made(recipe, chosen.data)
            if size(recipe.name) > LARGEST:
                shutil.rmtree(PACKAGE / recipe.name)
                sys.exit(f"{recipe.name} has {kept[recipe.name]['bytes'] / 1e6:.1f} MB, more than {LARGEST / 1e6:g}")
        else:
            continue
        catalogue = dict(ordered(kept))
        CATALOGUE.write_text(json.dumps(catalogue, indent=1) + "\n", encoding="utf-8")
        text = card(recipe, catalogue[recipe.name])
        (PACKAGE / f"{recipe.name}.md").write_text(text, encoding="utf-8")
        PAGE.write_text(page(catalogue), encoding="utf-8")


if __name__ == "__main__":
    main()

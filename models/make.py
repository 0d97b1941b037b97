"""Make the models that come ready: train them on the corpora, make them compact, measure them, write their cards.

    python models/make.py --data DATA [--only genia] [--work WORK]

Each model is trained on the text of a corpus, and made compact by its development data. Recognizers see no tokens of
it, since the text of users has none; a segmenter learns its words. Test data are looked at once, as plain text, when
all is chosen. A model goes to its distribution, such as `models`, its card to `NAME.md` beside it, its figures to
`catalogue.json`, and a table of all to `docs/models-ready.md`. With --only, other models stay as they are. With --work,
trained models are kept in a folder until they are compact, and an interrupted run takes those of the same commit. The
corpora stay where they are: no text of them goes into a model or a card. A card names the commit that its model was
made from.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from unittest.mock import patch

import biomedical
import clinical
import names
from biomedical import CHANGES, bare, changed, with_copies, with_restored

from spanloom import __version__, load, read
from spanloom.document import Document, Mention
from spanloom.document.annotation import judged
from spanloom.document.parts import split
from spanloom.evaluate import Score, calibration, evaluate, evaluate_attributes, evaluate_concepts
from spanloom.evaluate.words import evaluate_words
from spanloom.features.letter_case import UsualCase
from spanloom.recognize import Recognizer, compact
from spanloom.segment import Segmenter
from spanloom.text import prepare
from spanloom.vocabulary import Vocabulary, read_vocabulary

HERE = Path(__file__).parent
ROOT = HERE.parent
MODELS = HERE / "src" / "spanloom_models"
MODELS_SA = ROOT / "models-sa" / "src" / "spanloom_models_sa"
MODELS_ZH = ROOT / "models-zh" / "src" / "spanloom_models_zh"
PAGE = ROOT / "docs" / "models-ready.md"
LARGEST = 15e6  # bytes of a model without a vocabulary
PACKAGES = (MODELS, MODELS_SA, MODELS_ZH)
COMMON = {"n_jobs": 1, "random_state": 0}
FAST = {"features": "fast", "l2": 1.0}
ONTOLOGIES = ("CL", "MOP", "SO", "UBERON")  # under CC BY
COPIES = " {} of the training documents are there a second time, in lower case or in title case."
CASES = ("in capitals", "in title case", "in lower case")
GENRES = ("academic", "court", "interview", "news")  # those of GUM under CC BY; bio and voyage are CC BY-SA
# what some models have figures of beside mentions: what cards call it, and how they describe it
MORE = {
    "gaps": ("Mentions with gaps", "These are much harder: take what it finds of them as a beginning."),
    "words": ("Words", "F1 above is that of names."),
    "concepts": (
        "Concepts",
        "A mention counts where its concept is right, too; types without a vocabulary are left out.",
    ),
    **{
        name: (f"Attribute `{name}`", "Of mentions that it finds with the right type and boundaries.")
        for name in ("negated", "uncertain", "historical", "experiencer")
    },
}

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
        params: of the estimator.
        package: the folder of the distribution that it is in.
        estimator: its class.
        sentences: ordinary ones; the card shows what is found in them, and figures of each corpus or genre and of
            changed text.
        vectors: whether it has those of GloVe's most frequent words.
        as_is: whether it learns copies as they are, without the usual letter case of words, which it has later.
        vocabularies: from the folder of the corpora to the vocabularies that mentions are linked to.
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
    package: Path = MODELS
    estimator: Callable[..., Any] = Recognizer
    sentences: Sequence[str] = ()
    vectors: bool = False
    as_is: bool = False
    vocabularies: Callable[[Path], list[Vocabulary]] | None = None

    @property
    def folder(self) -> Path:
        """Where the model is."""
        return self.package / self.name


def commit() -> str:
    """Return the short hash of the commit, marked where the program was changed since."""

    def git(*arguments: str) -> str:
        return subprocess.check_output(["git", "-C", ROOT, *arguments], text=True).strip()

    changed = git("status", "--porcelain", "--", "src", "models/*.py")
    return git("rev-parse", "--short", "HEAD") + (", changed" if changed else "")


COMMIT = commit()  # of the program that runs, whatever is committed meanwhile


def split_of(place: str, names: Sequence[str], format: str | None = None, copies: int = 0) -> Callable[[Path], Parts]:
    """Return the reader of a corpus of three files; `copies` is the second argument of `with_copies`, 0 for none."""

    def parts(data: Path) -> Parts:
        train, dev, test = (bare(read(data / place / name, format=format)) for name in names)
        return with_copies(train, copies) if copies else train, dev, test

    return parts


def gum(data: Path) -> Parts:
    """Return GUM's genres under CC BY."""
    train, dev, test = (
        bare(one for one in read(data / "gum" / f"{name}.jsonl") if one.meta.get("genre") in GENRES)
        for name in ("train", "dev", "test")
    )
    return with_restored(train, 4), dev, test


def craft(data: Path) -> Parts:
    """Return CRAFT's articles: of those for training a tenth, drawn by their texts, is for development.

    Mentions have the concepts of the ontologies that the model has.
    """
    articles, test = (
        [
            one.copy(mentions=[
                mention.replace(concepts=old.concepts if old.type in ONTOLOGIES else ())
                for mention, old in zip(one.mentions, whole.mentions, strict=True)
            ])
            for whole in read(data / "craft" / f"{name}.jsonl")
            for one in bare([whole])
        ]
        for name in ("train", "dev")
    )  # fmt: skip
    drawn = split(articles, {"train": 9, "dev": 1})
    return drawn["train"], drawn["dev"], test


def ontologies(data: Path) -> list[Vocabulary]:
    """Return the ontologies that may be given away, without the definitions of their terms."""
    return [
        Vocabulary.build(
            replace(concept, definition="") for concept in read_vocabulary(data / "ontologies" / f"{name}.obo")
        )
        for name in ONTOLOGIES
    ]


def uner(data: Path) -> Parts:
    """Return UNER Chinese, with its words."""
    train, dev, test = (
        [one.copy(columns={}, meta={}) for one in read(data / "uner_zh" / f"zh_gsdsimp-ud-{name}.iob2")]
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
        "abstracts." + COPIES.format("A sixth"),
        "The abstracts are on transcription factors in human blood cells: other fields have other names.",
        split_of("genia_documents", JSONL, copies=12), {**FAST, "structure": "separators"},
        sentences=biomedical.SENTENCES,
    ),
    Recipe(
        "bc5cdr", "Chemicals and diseases in abstracts", "Chemical, Disease", "public domain mark",
        "BioCreative V CDR corpus. Li et al. (2016), *BioCreative V CDR task corpus: a resource for chemical disease "
        "relation extraction*. The names of CTD's vocabulary are not used.",
        "The task's own: 500 abstracts each for training, development and testing.",
        "The abstracts are on side effects of drugs.",
        split_of("bc5cdr", [f"CDR_{part}Set.BioC.xml" for part in ("Training", "Development", "Test")]),
        {**FAST, "structure": "separators"}, sentences=biomedical.SENTENCES,
    ),
    Recipe(
        "ncbi_disease", "Diseases in abstracts",
        "SpecificDisease, DiseaseClass, Modifier, CompositeMention", "public domain",
        "NCBI Disease Corpus, National Library of Medicine. Dogan, Leaman and Lu (2014), *NCBI disease corpus: a "
        "resource for disease name recognition and concept normalization*.",
        "The corpus' own: 593, 100 and 100 abstracts." + COPIES.format("Half"),
        "The abstracts are on hereditary diseases above all.",
        split_of("ncbi_disease", [f"NCBI{part}set_corpus.txt" for part in ("train", "develop", "test")], "pubtator",
                 copies=4),
        {**FAST, "structure": "separators"}, sentences=biomedical.SENTENCES, as_is=True,
    ),
    Recipe(
        "gum", "English names and descriptions", "ten types of persons, places, things, times and more; nested",
        "CC BY 4.0",
        "GUM, the Georgetown University Multilayer Corpus, annotations CC BY 4.0. Zeldes (2017), *The GUM Corpus: "
        "Creating Multilayer Resources in the Classroom*. Only its genres whose texts are under CC BY: academic, "
        "court, interview and news (Wikinews, CC BY 2.5).",
        "The corpus' own, of these genres. Half of the training documents are there a second time, with lost letter "
        "case restored as in other documents.",
        "It marks all descriptions of things, such as *the second of the two doors*, and not names alone. There is "
        "little training text, so that it misses much.",
        gum, {**FAST, "structure": "separators"}, sentences=names.SENTENCES,
    ),
    Recipe(
        "craft", "Concepts of biology in articles",
        "genes and proteins, chemicals, cells and their parts, anatomy, organisms, diseases, processes and sequences, "
        "by eleven ontologies; nested, and with gaps",
        "CC BY 3.0",
        "CRAFT, the Colorado Richly Annotated Full-Text corpus, version 5, annotations by the University of Colorado, "
        "of articles of PubMed Central. Bada et al. (2012), *Concept annotation in the CRAFT corpus*; Cohen et al. "
        "(2017), *The Colorado Richly Annotated Full Text (CRAFT) corpus: multi-model annotation in the biomedical "
        "domain*. A type is the ontology that a concept is of. Mentions of CL, MOP, SO and UBERON have concepts of the "
        "ontologies of these names (OBO Foundry, CC BY), of which it holds names, identifiers and parents.",
        "The corpus' own training articles, of which a tenth, drawn by the digests of their texts, is for development; "
        "what is tested are its own development articles. Its test articles were not at hand.",
        "The articles are on the genes of mice above all. It misses most of the mentions that skip words.",
        craft, {**FAST, "structure": "shared"}, sentences=biomedical.SENTENCES, vocabularies=ontologies,
    ),
    Recipe(
        "clinical", "Notes of hospitals and surgeries",
        "problems, tests, drugs, treatments and anatomy, and whether they are negated, uncertain, historical or of the "
        "family; nested, crossing, and with gaps",
        "Apache-2.0",
        "invented notes, and **no data of patients**. The 36 notes that Spanloom brings, and 209 more of 33 kinds in "
        "`models/clinical` of its repository, were written by its authors with the help of a language model. The "
        "annotation follows the guidelines of the bundled notes, and was checked twice: by the author of a note and by "
        "another one, no clinician; that of the 42 notes in everyday language, all for training and development, once, "
        "by their author. Vectors of the 60,000 most frequent words of GloVe 6B (Pennington et al. 2014, "
        "public domain); their letter case by the table of frequencies of spacy-lookups-data (MIT).",
        "The bundled notes' own; of the new notes by their numbers, four sixths, a sixth and a sixth."
        + COPIES.format("Half"),
        "Test notes are invented by those who invented the training notes: expect less in real notes, and measure it. "
        "It has seen few mentions of the family or of the past, and most of its notes are short. Where sections begin "
        "is found by rules (`spanloom predict --sections`).",
        clinical.material, {"features": "best", "l2": 0.3, "structure": "shared"},
        sentences=clinical.SENTENCES, vectors=True,
    ),
    Recipe(
        "biomedical", "Biomedical text in general",
        "genes and proteins, diseases, chemicals, species, cells, cell lines, anatomy, cellular components, processes "
        "and parts of sequences; nested",
        "CC BY-SA 3.0",
        "BC5CDR (Li et al. 2016, public domain mark): chemicals and diseases. NCBI Disease (Dogan et al. 2014, public "
        "domain): diseases. CRAFT 5 (Cohen et al. 2017, CC BY 3.0): genes and proteins, species, processes (GO), "
        "sequences (SO). Cancer Genetics of BioNLP 2013 (Pyysalo et al. 2013, CC BY-SA 3.0): genes and proteins, "
        "chemicals, species, cells, anatomy. AnatEM (Pyysalo and Ananiadou 2013, CC BY-SA 3.0), "
        "without the texts of Cancer Genetics, which it has, too: "
        "cells, cellular components, anatomy. GENIA corpus 3.02 (Kim et al. 2003, CC BY 3.0): cell lines. Each type is "
        "learned from these corpora alone. What is made of the model is to be shared alike.",
        "Those of the corpora; of CRAFT as for `craft`. A text that is tested on in one corpus is not trained on in "
        "another. A fifth of the training documents are copies, half of them in lower case and half in title case. "
        "Mentions of a type count where the corpus annotates it.",
        "Corpora draw their types by different guidelines: it has one of them for each text, and not always that of "
        "the corpus. It knows no negation. In text that is not biomedical, names may be taken for cell lines or genes.",
        biomedical.material, {**FAST, "structure": "separators", "epochs": 8}, MODELS_SA,
        sentences=biomedical.SENTENCES, as_is=True,
    ),
    Recipe(
        "names", "Names in English news and web text",
        "names of persons, organizations, places, times, events and other things, such as works and languages; nested",
        "CC BY-SA 4.0",
        "GUM, the Georgetown University Multilayer Corpus, annotations CC BY 4.0. Zeldes (2017), *The GUM Corpus: "
        "Creating Multilayer Resources in the Classroom*. Genres whose texts are under CC BY (academic, court, "
        "interview, news) or CC BY-SA (bio of Wikipedia, voyage of Wikivoyage). GUM marks noun phrases; those "
        "whose head is a proper noun are taken, cut to the name by `models/names.py`. Vectors of the 60,000 most "
        "frequent words of GloVe 6B (Pennington et al. 2014, public domain); their letter case, and that of 300,000 "
        "words of web text, by the table of frequencies of spacy-lookups-data (MIT). What is made of the model is to "
        "be shared alike.",
        "The corpus' own." + COPIES.format("Half"),
        "Dates are times, hours and durations mostly not; nationalities such as *German* are not marked. It has seen "
        "84 documents, misses names of kinds that are rare there, and finds hardly any events. Descriptions such as "
        "*the chancellor* are left "
        "to `gum`.",
        names.material, {**FAST, "structure": "separators"}, MODELS_SA,
        sentences=names.SENTENCES, vectors=True, as_is=True,
    ),
    Recipe(
        "chinese", "Chinese words and names", "words, and names of persons, places and organizations",
        "CC BY-SA 4.0",
        "UNER Chinese GSDSimp, names annotated by Universal NER: Mayhew et al. (2024), *Universal NER: A "
        "Gold-Standard Multilingual Named Entity Recognition Benchmark*; on the words of Universal Dependencies "
        "Chinese GSDSimp (Qi, Yasuoka and others, from the GSD treebank of Google), of texts of Wikipedia. What is "
        "made of the model is to be shared alike.",
        "The corpus' own.",
        "The texts are of an encyclopedia, in simplified characters.",
        uner, {"min_count": 2}, MODELS_ZH, Segmenter,
    ),
)  # fmt: skip


def fitted(
    recipe: Recipe, train: list[Document], dev: list[Document], data: Path, work: Path | None
) -> tuple[Any, float]:
    """Return a trained model, and the seconds of processor time that it took."""
    kept = None if work is None else work / f"{recipe.name}-{COMMIT}"
    if kept is not None and (kept / "seconds").exists():
        return load(kept / "model"), float((kept / "seconds").read_text())
    began = time.process_time()
    more: dict[str, Any] = {} if recipe.vocabularies is None else {"link": recipe.vocabularies(data)}
    unknown = patch.object(UsualCase, "of", return_value=None)  # of no word, so that all is read as it is
    with TemporaryDirectory() as folder, unknown if recipe.as_is else nullcontext():
        if recipe.vectors:
            more["vectors"] = names.glove(Path(folder))
        model = recipe.estimator(**COMMON, **recipe.params, **more).fit(
            train, dev=dev, progress=lambda step: log(recipe.name, step.stage, step.dev_f1)
        )
    if recipe.vectors:
        model.set_params(vectors="glove.npy")  # wherever it was
    if recipe.as_is:
        usual = UsualCase.of(map(prepare, bare(train)), names.usual_words() if recipe.vectors else ())
        for one in model.structured:
            one.scorer.features.resources = replace(one.scorer.features.resources, usual=usual)
    training = time.process_time() - began
    if kept is not None:
        kept.mkdir(parents=True, exist_ok=True)
        model.save(kept / "model", force=True)
        (kept / "seconds").write_text(str(training))
    return model, training


def made(recipe: Recipe, data: Path, work: Path | None) -> dict[str, Any]:
    """Train a model, make it compact, save it, and return its line of the catalogue."""
    train, dev, test = recipe.parts(data)
    model, training = fitted(recipe, train, dev, data, work)
    small = compact(model, dev=dev, progress=lambda step: log(recipe.name, step.stage, step.dev_f1))
    small.save(recipe.folder, force=True)
    ready: Any = load(recipe.folder)
    compacted = small.report_.compact
    vectors = {"vectors": f"GloVe, {names.WORDS:,} words"} if recipe.vectors else {}
    return {
        "title": recipe.title, "finds": recipe.finds, "licence": recipe.licence, "types": list(ready.types_),
        **measured(recipe, ready, test), "dev_f1": compacted.f1_after, "dev_f1_before": compacted.f1_before,
        "bytes": size(recipe), "training_seconds": training, "threshold": compacted.threshold,
        "documents": [len(train), len(dev), len(test)],
        "params": {**COMMON, **recipe.params, **vectors},
        "spanloom": __version__, "commit": COMMIT,
    }  # fmt: skip


def marked(ready: Any, test: Sequence[Document]) -> tuple[list[Document], float]:
    """Return what a model finds in plain text, and the tokens a second of one core, the best of three times."""
    raw = bare(test)
    ready.predict(raw[:2])  # kernels are compiled
    seconds = []
    for _ in range(3):
        began = time.process_time()
        found = list(ready.predict(raw))
        seconds.append(time.process_time() - began)
    return found, sum(one.token_count for one in found) / min(seconds)


def measured(recipe: Recipe, ready: Any, test: Sequence[Document]) -> dict[str, Any]:
    """Return all figures on test data, and the speed."""
    found, rate = marked(ready, test)
    more = of_several(recipe, ready, test, found) if recipe.sentences else {}
    return {**scored(test, found), **more, "tokens_per_second": rate}


def scored(gold: Sequence[Document], found: Sequence[Document]) -> dict[str, Any]:
    """Return the figures on test data: of all mentions, of those with gaps, and of words, where gold has any."""
    gold, found = [one.copy(meta={}) for one in gold], list(judged(gold, found))
    report = evaluate(gold, found, bootstrap=1000)
    more = {"gaps": report.structures["discontiguous"]}
    if gold[0].tokens is not None:
        more["words"] = evaluate_words(gold, found, bootstrap=1000).words
    attributes = evaluate_attributes(gold, found, bootstrap=1000).attributes
    for name, scores in attributes.items():
        more[name] = scores.values["family" if name == "experiencer" else "true"]
    if linked := {mention.type for one in gold for mention in one.mentions if mention.concepts}:
        own = [
            [one.copy(mentions=[mention for mention in one.mentions if mention.type in linked]) for one in side]
            for side in (gold, found)
        ]
        more["concepts"] = evaluate_concepts(*own, bootstrap=1000).mentions
    return {
        **figures(report.overall), "by_type": {name: score.f1 for name, score in report.types.items()},
        "calibration_error": calibration(gold, found).error,
        **{name: {**figures(score), "gold": int(score.gold)} for name, score in more.items() if score.gold},
    }  # fmt: skip


def of_several(recipe: Recipe, ready: Any, test: Sequence[Document], found: Sequence[Document]) -> dict[str, Any]:
    """Return figures of each corpus, and of the text changed in several ways; and what is found in sentences."""

    def f1(gold: Sequence[Document], found: Sequence[Document]) -> float:
        return evaluate([one.copy(meta={}) for one in gold], list(judged(gold, found))).overall.f1

    corpora = {}
    for name in dict.fromkeys(one.meta["corpus"] for one in test if "corpus" in one.meta):
        own = [n for n, one in enumerate(test) if one.meta["corpus"] == name]
        corpora[name] = f1([test[n] for n in own], [found[n] for n in own])
    altered = {way: f1(other := changed(test, way), ready.predict(bare(other))) for way in CHANGES}
    shown = [
        [text, "; ".join(f"{one.type}: {one.text(text)}{marks(one)}" for one in ready.predict(text).mentions)]
        for text in recipe.sentences
    ]
    return {"corpora": corpora, "changed": altered, "sentences": shown}


def marks(mention: Mention) -> str:
    """Return the attributes of a mention, in brackets, as a card shows them."""
    found = [name if value is True else str(value) for name, value in mention.attributes.items() if value]
    return f" [{', '.join(found)}]" if found else ""


def figures(score: Score) -> dict[str, Any]:
    """Return precision, recall and F1 with its interval, 0 to 1."""
    f1 = [] if score.intervals is None else list(score.intervals.f1)
    return {"precision": score.precision, "recall": score.recall, "f1": score.f1, "interval": f1}


def size(recipe: Recipe) -> int:
    """Return the bytes of a model's two files."""
    return sum(file.stat().st_size for file in recipe.folder.iterdir())


def card(recipe: Recipe, entry: dict[str, Any]) -> str:
    """Return the card of a model."""
    train, dev, test = entry["documents"]
    by_type = "\n".join(f"| {name} | {100 * f1:.1f} |" for name, f1 in sorted(entry["by_type"].items()))
    params = ", ".join(f"{name}={value!r}" for name, value in entry["params"].items() if name != "n_jobs")
    learned = "with the corpus' words" if "words" in entry else "without the corpus' tokens"
    counted = "of words and of mentions, their mean, " if "words" in entry else ""
    readable = " and no word of the training text"
    if recipe.vocabularies is not None:
        readable = ", but the texts of the training mentions that have concepts"
    origin = ""
    if "commit" in entry:
        origin = f"- **Made** by `models/make.py` of commit {entry['commit']}, Spanloom {entry['spanloom']}.\n"
    if "letter_case" in entry:
        origin += (
            f"- **Letter case**: of words, added by `models/make.py --letter-case` of commit {entry['letter_case']}.\n"
        )
    more = "".join(
        f"- **{MORE[name][0]}**: {rates(entry[name])}, of {entry[name]['gold']:,} in the test data. {MORE[name][1]}\n"
        if entry[name]["f1"]
        else f"- **{MORE[name][0]}**: none is found of the {entry[name]['gold']:,} in the test data.\n"
        for name in MORE
        if name in entry
    )
    several = ""
    if recipe.sentences:
        of_corpora = "\n".join(f"| {name} | {100 * f1:.1f} |" for name, f1 in entry["corpora"].items())
        of_changes = "\n".join(f"| {way} | {100 * f1:.1f} |" for way, f1 in entry["changed"].items())
        of_sentences = "\n".join(f"- {text}\n  *{shown or 'nothing'}*" for text, shown in entry["sentences"])
        table = f"\n| corpus or genre | test F1 |\n|---|---|\n{of_corpora}\n" if of_corpora else ""
        several = (
            f"{table}\n| test text | F1 |\n|---|---|\n{of_changes}\n\n"
            f"## Ordinary sentences\n\nWhat it finds in them, with its errors:\n\n{of_sentences}\n"
        )
    return f"""# {recipe.title}: `{recipe.name}`

It finds {recipe.finds}. Types: {", ".join(entry["types"])}.

- **Licence**: {recipe.licence}, that of the annotations.
- **Data**: {recipe.sources}
- **Split**: {recipe.split} {train} documents for training, {dev} for development, {test} for testing.
- **Training**: `{recipe.estimator.__name__}({params})` on plain text, {learned}; then `spanloom compact`,
  weights below {entry["threshold"]:g} left out. Development F1 {counted}{100 * entry["dev_f1_before"]:.1f} before and
  {100 * entry["dev_f1"]:.1f} after. It holds no readable names of features{readable}; what a
  model can reveal is described in `docs/privacy.md`.
- **Test data**: {rates(entry)}, of exact boundaries and types.
{more}- **Probabilities**: calibration error {100 * entry["calibration_error"]:.1f} % on the test data.
- **Speed and size**: {round(entry["tokens_per_second"], -3):,.0f} tokens a second on one core,
  {entry["bytes"] / 1e6:.1f} MB.
- **Not for** decisions on patients, or for text that differs much from that of the corpus, before it was measured
  there. {recipe.not_for}
{origin}
| type | test F1 |
|---|---|
{by_type}
{several}"""


def rates(entry: dict[str, Any]) -> str:
    """Return precision, recall and F1 in words."""
    low, high = entry["interval"]
    return (
        f"precision {100 * entry['precision']:.1f}, recall {100 * entry['recall']:.1f}, **F1 {100 * entry['f1']:.1f}** "
        f"(95 % bootstrap interval {100 * low:.1f} to {100 * high:.1f})"
    )


def page(catalogue: dict[str, Any]) -> str:
    """Return the page of the documentation."""
    rows = "\n".join(
        f"| `{name}` | {one['finds']} | {one['licence']} | {short(one)} | {in_cases(one)} "
        f"| {100 * one['calibration_error']:.1f} | {round(one['tokens_per_second'], -3):,.0f} "
        f"| {one['bytes'] / 1e6:.1f} |"
        for name, one in catalogue.items()
    )
    more = "\n".join(
        f"| `{name}` | {MORE[what][0].lower()} | {one[what]['gold']:,} | {100 * one[what]['precision']:.1f} "
        f"| {100 * one[what]['recall']:.1f} | {short(one[what])} |"
        for name, one in catalogue.items()
        for what in MORE
        if what in one
    )
    absurd = json.loads((ROOT / "tests" / "data" / "ordinary_errors.json").read_text(encoding="utf-8"))
    counted = "\n".join(f"| `{name}` | {absurd[name]} |" for name in catalogue if name in absurd)
    written = (HERE / "page.md").read_text(encoding="utf-8")
    return written.replace("TABLE", rows).replace("MORE", more).replace("ABSURD", counted)


def short(entry: dict[str, Any]) -> str:
    """Return F1 with its interval, as a cell."""
    low, high = entry["interval"]
    return f"{100 * entry['f1']:.1f} ({100 * low:.1f} to {100 * high:.1f})"


def in_cases(entry: dict[str, Any]) -> str:
    """Return F1 on text of other letter cases, as a cell."""
    return " / ".join(f"{100 * entry['changed'][way]:.1f}" for way in CASES if "changed" in entry)


def catalogue_of(package: Path) -> dict[str, Any]:
    """Return the catalogue of a distribution."""
    path = package / "catalogue.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return found


def written(recipe: Recipe, entry: dict[str, Any]) -> None:
    """Write a model's card, its line of the catalogue of its distribution, and the page of all models."""
    kept = catalogue_of(recipe.package) | {recipe.name: entry}
    own = {one.name: kept[one.name] for one in RECIPES if one.package == recipe.package and one.name in kept}
    (recipe.package / "catalogue.json").write_text(json.dumps(own, indent=1) + "\n", encoding="utf-8")
    (recipe.package / f"{recipe.name}.md").write_text(card(recipe, entry), encoding="utf-8")
    every = {name: one for package in PACKAGES for name, one in catalogue_of(package).items()}
    PAGE.write_text(page({one.name: every[one.name] for one in RECIPES if one.name in every}), encoding="utf-8")


def log(*parts: object) -> None:
    """Progress, on standard error."""
    print(*parts, file=sys.stderr, flush=True)


def main() -> None:
    """Make the models, and write what is said of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, type=Path, help="the folder that holds the corpora, such as gum/")
    parser.add_argument("--only", action="append", help="names of models [all]")
    parser.add_argument("--work", type=Path, help="a folder that keeps trained models, to go on after an interruption")
    parser.add_argument("--measure", action="store_true", help="only measure the models that are there")
    chosen = parser.parse_args()
    for recipe in RECIPES:
        if chosen.only is not None and recipe.name not in chosen.only:
            continue
        if chosen.measure:
            figures_now = measured(recipe, load(recipe.folder), recipe.parts(chosen.data)[2])
            written(recipe, catalogue_of(recipe.package)[recipe.name] | figures_now)
            continue
        entry = made(recipe, chosen.data, chosen.work)
        log(recipe.name, entry)
        if entry["bytes"] > LARGEST and recipe.vocabularies is None:
            shutil.rmtree(recipe.folder)
            sys.exit(f"{recipe.name} has {entry['bytes'] / 1e6:.1f} MB, more than {LARGEST / 1e6:g}")
        written(recipe, entry)


if __name__ == "__main__":
    main()

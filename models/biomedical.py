"""What the model `biomedical` learns from: six corpora, whose types are mapped to those that they share.

A corpus says nothing of a type that it does not annotate, or annotates by guidelines that make the model worse on other
corpora: its documents are ``unknown`` there (``meta.annotation``), and the type is learned from the others alone.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from spanloom import read
from spanloom.document import Batch, Document, Mention
from spanloom.document.parts import split
from spanloom.features.letter_case import UsualCase, feature_tokens
from spanloom.text import prepare

__all__ = [
    "CHANGES", "SENTENCES", "SOURCES", "Source", "bare", "changed", "material", "union", "with_copies", "with_restored",
]  # fmt: skip

Parts = tuple[list[Document], list[Document], list[Document]]
WAYS, FOLDS = ("in lower case", "in title case"), 20
NLM = {"SpecificDisease": "disease", "DiseaseClass": "disease", "Modifier": "disease", "CompositeMention": "disease"}
ANATOMY = {
    "Cell": "cell",
    **dict.fromkeys(
        (
            "Anatomical_system", "Developing_anatomical_structure", "Immaterial_anatomical_entity",
            "Multi-tissue_structure", "Organ", "Organism_subdivision", "Organism_substance", "Tissue",
        ),
        "anatomy",
    ),
}  # fmt: skip


class Source(NamedTuple):
    """A corpus.

    Args:
        name: of its folder.
        files: for training, development and testing; where there are two, the second is for testing, and a tenth of the
            first, drawn by its texts, is for development.
        types: from its types to those of the model; others are left out.
        format: of its files, where it cannot be told by their names.
    """

    name: str
    files: Sequence[str]
    types: dict[str, str]
    format: str | None = None

    def parts(self, data: Path) -> Parts:
        """Return training, development and test documents: text, mentions, and what the annotation says of types."""
        every = [[self.mapped(one) for one in read(data / self.name / file, format=self.format)] for file in self.files]
        if len(every) == 2:
            drawn = split(every[0], {"train": 9, "dev": 1})
            every = [drawn["train"], drawn["dev"], every[1]]
        train, dev, test = every
        return train, dev, test

    def mapped(self, document: Document) -> Document:
        """Return a document's text with the mentions of the types that count, each once."""
        own = [mention for mention in document.mentions if mention.type in self.types]
        found = dict.fromkeys((self.types[mention.type], mention.spans) for mention in own)
        annotation = {"default": "unknown", "types": dict.fromkeys(sorted(set(self.types.values())), "complete")}
        mentions = [Mention(name, spans) for name, spans in found]
        return Document(
            document.text, id=document.id, mentions=mentions, meta={"annotation": annotation, "corpus": self.name}
        )


JSONL = ("train.jsonl", "dev.jsonl", "test.jsonl")
SOURCES = (
    Source(
        "bc5cdr", [f"CDR_{part}Set.BioC.xml" for part in ("Training", "Development", "Test")],
        {"Disease": "disease", "Chemical": "chemical"},
    ),
    Source("ncbi_disease", [f"NCBI{part}set_corpus.txt" for part in ("train", "develop", "test")], NLM, "pubtator"),
    Source(
        "craft", JSONL[:2],
        {"PR": "gene_or_protein", "NCBITaxon": "species", "GO_BP": "process", "SO": "sequence"},
    ),
    Source(
        "cancer_genetics", JSONL,
        {"Gene_or_gene_product": "gene_or_protein", "Simple_chemical": "chemical", "Organism": "species", **ANATOMY},
    ),
    # those of Cancer Genetics follow other guidelines: with them, F1 of AnatEM's on development data is 24, not 47
    Source("anatem", JSONL, {**ANATOMY, "Cellular_component": "cellular_component"}),
    Source("genia_documents", JSONL, {"cell_line": "cell_line"}),
)  # fmt: skip


SENTENCES = (
    "Mutations in BRCA1 and BRCA2 increase the risk of hereditary breast and ovarian cancer.",
    "The patient is a 74 year old man with hypertension, type 2 diabetes and chronic kidney disease.",
    "She complained of pain in her left arm and shortness of breath since Monday.",
    "He was given aspirin 100 mg and metoprolol, and his troponin was raised.",
    "Infection with SARS-CoV-2 can cause acute respiratory distress syndrome.",
    "The spike protein of the virus binds to ACE2 on the surface of lung cells.",
    "Patients who took paxlovid (nirmatrelvir/ritonavir) recovered faster than those on placebo.",
    "Semaglutide lowers blood sugar, but it may cause nausea and pancreatitis.",
    "p53 activates the transcription of p21 in HeLa cells after DNA damage.",
    "T cells from mice without IL-2 did not proliferate.",
    "The Pax6 gene is expressed in the retina of mouse embryos.",
    "Zebrafish larvae were exposed to ethanol for 24 hours.",
    "Chancellor Scholz met President Macron in Berlin on Tuesday to talk about Ukraine.",
    "Apple will open a new store in Frankfurt next year.",
    "Marie Curie was born in Warsaw in 1867 and discovered radium.",
    "My dog ate chocolate and the vet gave him charcoal.",
    "I stopped taking Prozac because it gave me terrible headaches.",
    "There is no evidence of pneumonia, and the heart and lungs are normal.",
    "Water, salt and sugar are mixed before the flour is added.",
    "The World Health Organization warned of an outbreak of cholera in Haiti.",
)
"""Ordinary sentences, whose mentions the card shows as the model finds them."""


def _by_character(change: Callable[[str], str]) -> Callable[[str], str]:
    """Return a change of a text that keeps its length."""
    return lambda text: "".join(new if len(new := change(old)) == 1 else old for old in text)


def _ragged(text: str) -> str:
    """Return a text with line ends in place of blanks, after 40 to 80 characters."""
    draw, parts, width, limit = random.Random(0), list(text), 0, 60
    for place, character in enumerate(text):
        width += 1
        if character == " " and width > limit:
            parts[place], width, limit = "\n", 0, draw.randint(40, 80)
    return "".join(parts)


CHANGES: dict[str, Callable[[str], str]] = {
    "in capitals": _by_character(str.upper),
    "in lower case": _by_character(str.lower),
    "in title case": lambda text: re.sub(r"[A-Za-z]+", lambda found: found[0][0].upper() + found[0][1:], text),
    "without commas and full stops": lambda text: re.sub(r"[.,;:](?=\s|$)", " ", text),
    "with ragged line ends": _ragged,
}
"""Changes of a text that keep the places of its mentions."""


def changed(documents: Iterable[Document], way: str) -> list[Document]:
    """Return documents whose text is changed in one of the ways of `CHANGES`."""
    return [one.copy(text=CHANGES[way](one.text)) for one in documents]


def with_copies(documents: Sequence[Document], every: int) -> list[Document]:
    """Return documents and copies: of each ``every`` documents one in lower case, and the next in title case."""
    copies = [changed([one], WAYS[n % every])[0] for n, one in enumerate(documents) if n % every < len(WAYS)]
    return [*documents, *copies]


def with_restored(documents: Sequence[Document], every: int) -> list[Document]:
    """Return documents and copies as in `with_copies`, whose letter case is restored as a model will that of new text.

    The words of a twentieth of the documents have their usual case in the others.
    """
    plain, copies = [prepare(one) for one in bare(documents)], []
    for fold in range(FOLDS):
        usual = UsualCase.of(one for n, one in enumerate(plain) if n % FOLDS != fold)
        for n, one in enumerate(documents):
            if n % FOLDS == fold and n % every < len(WAYS):
                (other,) = changed(bare([one]), WAYS[n % every])
                copies.append(one.copy(text=feature_tokens(Batch.of([prepare(other)]), usual).text))
    return [*documents, *copies]


def bare(documents: Iterable[Document]) -> list[Document]:
    """Return documents with their text and mentions only."""
    return [
        Document(one.text, id=one.id, mentions=[Mention(mention.type, mention.spans) for mention in one.mentions])
        for one in documents
    ]


def union(data: Path, sources: Iterable[Source] = SOURCES) -> Parts:
    """Return the documents of several corpora: what is tested on is nowhere trained or tuned on.

    Args:
        data: the folder of the corpora.
        sources: the corpora; where several have a text for training or development, it is one document with the types
            of all.
    """
    every = [source.parts(data) for source in sources]
    train, dev, test = ([one for each in parts for one in each] for parts in zip(*every, strict=True))
    seen = {_key(one) for one in test}
    kept: list[list[Document]] = []
    for documents in (dev, train):
        new: dict[str, Document] = {}
        for one in documents:
            if _key(one) not in seen:
                new[_key(one)] = _joined(new[_key(one)], one) if _key(one) in new else one
        seen.update(new)
        kept.append([*new.values()])
    return kept[1], kept[0], test


def material(data: Path, sources: Iterable[Source] = SOURCES) -> Parts:
    """Return what `union` does, and copies of training documents: an eighth in lower case, an eighth in title case."""
    train, dev, test = union(data, sources)
    return with_copies(train, 8), dev, test


def _joined(document: Document, other: Document) -> Document:
    """Return a document with the mentions of another one of its text, of types that it says nothing of."""
    annotation, more = (one.meta["annotation"]["types"] for one in (document, other))
    new = [one for one in other.mentions if one.type not in annotation] if document.text == other.text else []
    types = annotation | more if document.text == other.text else annotation
    meta = document.meta | {"annotation": {"default": "unknown", "types": types}}
    return document.copy(mentions=[*document.mentions, *new], meta=meta)


def _key(document: Document) -> str:
    """Return a text's letters and digits."""
    return re.sub(r"\W+", "", document.text).lower()

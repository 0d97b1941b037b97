"""What the model `biomedical` learns from: six corpora, whose types are mapped to those that they share.

A corpus says nothing of a type that it does not annotate, or annotates by guidelines that make the model worse on other
corpora: its documents are ``unknown`` there (``meta.annotation``), and the type is learned from the others alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from spanloom import read
from spanloom.document import Document, Mention
from spanloom.document.parts import split

__all__ = ["SOURCES", "Source", "union"]

Parts = tuple[list[Document], list[Document], list[Document]]
NLM = {"SpecificDisease": "disease", "DiseaseClass": "disease", "Modifier": "disease", "CompositeMention": "disease"}
ANATOMY = {
    "Cell": "cell",
    "Cellular_component": "cellular_component",
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
        said = {"default": "unknown", "types": dict.fromkeys(sorted(set(self.types.values())), "complete")}
        mentions = [Mention(name, spans) for name, spans in found]
        return Document(document.text, id=document.id, mentions=mentions, meta={"annotation": said})


JSONL = ("train.jsonl", "dev.jsonl", "test.jsonl")
SOURCES = (
    Source(
        "bc5cdr", [f"CDR_{part}Set.BioC.xml" for part in ("Training", "Development", "Test")],
        {"Disease": "disease", "Chemical": "chemical"},
    ),
    Source("ncbi_disease", [f"NCBI{part}set_corpus.txt" for part in ("train", "develop", "test")], NLM, "pubtator"),
    Source(
        "craft", JSONL[:2],
        {
            "PR": "gene_or_protein", "CHEBI": "chemical", "NCBITaxon": "species", "CL": "cell", "UBERON": "anatomy",
            "GO_CC": "cellular_component", "GO_BP": "process", "SO": "sequence",
        },
    ),
    Source(
        "cancer_genetics", JSONL,
        {"Gene_or_gene_product": "gene_or_protein", "Simple_chemical": "chemical", "Organism": "species", **ANATOMY},
    ),
    Source("anatem", JSONL, ANATOMY),
    Source("genia_documents", JSONL, {"cell_line": "cell_line"}),
)  # fmt: skip


def union(data: Path, sources: Iterable[Source] = SOURCES) -> Parts:
    """Return the documents of several corpora, each text once: what is tested on is nowhere trained or tuned on.

    Args:
        data: the folder of the corpora.
        sources: the corpora; where two of them have a text, the first one's document is taken.
    """
    every = [source.parts(data) for source in sources]
    train, dev, test = ([one for each in parts for one in each] for parts in zip(*every, strict=True))
    seen = {_key(one) for one in test}
    kept: list[list[Document]] = []
    for documents in (dev, train):
        new: dict[str, Document] = {}
        for one in documents:
            if _key(one) not in seen:
                new.setdefault(_key(one), one)
        seen.update(new)
        kept.append([*new.values()])
    return kept[1], kept[0], test


def _key(document: Document) -> str:
    """Return a text's letters and digits."""
    return re.sub(r"\W+", "", document.text).lower()

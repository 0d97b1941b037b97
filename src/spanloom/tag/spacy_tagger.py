"""Parts of speech from a pipeline of spaCy, for those who have one; spaCy itself is optional."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from spanloom.document import Document
from spanloom.errors import DataError, ModelError, UsageError
from spanloom.extras import entry_points, extra
from spanloom.modelfile import Described, ModelPart
from spanloom.text import prepare

PREFIX = "spacy:"
_INSTALLED = "spacy_models"  # the group of entry points by which pipelines make themselves known
_UNUSED = ("parser", "ner", "entity_ruler", "entity_linker", "lemmatizer", "textcat", "senter")  # tags need none


class _Described(Described):
    """Values of a pipeline in a model file."""

    spacy: str


class SpacyTagger:
    """Fills the column ``pos`` with the tags of a spaCy pipeline: fine-grained ones, parts of speech where it has none.

    The pipeline sees the documents' own tokens and sentences. It is loaded when it is first needed. Nothing is
    downloaded, and a model that was trained with it keeps its name only.

    Args:
        name: of an installed pipeline, such as ``en_core_web_sm``, or the path of a pipeline's folder.
    """

    column = "pos"

    def __init__(self, name: str) -> None:
        self.name = name

    @cached_property
    def pipeline(self) -> Any:
        """The loaded pipeline.

        Raises:
            UsageError: spaCy or the pipeline is not installed, or it cannot be loaded.
        """
        needed = f"the column {self.column!r} is filled by the spaCy pipeline {self.name!r}, but"
        with extra("spacy", f"the spaCy pipeline {self.name!r}, which fills the column {self.column!r},"):
            import spacy
        # else spaCy would import any package of this name, and a model file may hold any name
        installed = sorted({entry.name for entry in entry_points(_INSTALLED)})
        if self.name not in installed and not Path(self.name, "config.cfg").is_file():
            known = f"installed: {', '.join(installed)}" if installed else "no pipeline is installed"
            raise UsageError(f"{needed} it is neither installed ({known}) nor a pipeline's folder; install it")
        try:
            return spacy.load(self.name, exclude=list(_UNUSED))
        except Exception as error:  # of any component; spaCy has no base class for what may be wrong with a folder
            raise UsageError(f"{needed} it cannot be loaded: {' '.join(str(error).split())}") from None

    def stream(self, documents: Iterable[Document], *, keep: bool = False) -> Iterator[Document]:
        """Copies of the documents with the column filled, lazily.

        Args:
            documents: tokens and sentences are made where they are missing.
            keep: leave a document that has the column as it is.

        Raises:
            UsageError: the pipeline cannot be used.
            DataError: it leaves a token without a tag.
        """
        for document in documents:
            if keep and self.column in document.columns:
                yield document
            else:
                ready = prepare(document)
                yield ready.copy(columns={**ready.columns, self.column: self._tags(ready)})

    def _tags(self, document: Document) -> list[str]:
        words = document.words
        if not words:
            return []
        from spacy.tokens import Doc

        starts = set() if document.sentences is None else set(document.sentences[:, 0].tolist())
        given = Doc(self.pipeline.vocab, words=words, sent_starts=[number in starts for number in range(len(words))])
        tags = [token.tag_ or token.pos_ for token in self.pipeline(given)]
        if not all(tags):
            raise DataError(
                f"the spaCy pipeline {self.name!r} gives the token {words[tags.index('')]!r} of document "
                f"{document.id!r} no part of speech; name one with a tagger or a morphologizer"
            )
        return tags

    def filling(self) -> str:
        """Describe what the column is filled with."""
        return f"the spaCy pipeline {self.name!r}"

    def to_part(self) -> ModelPart:
        """The name, as a part of a model file."""
        return _Described(spacy=self.name).part()

    @classmethod
    def from_part(cls, part: ModelPart) -> SpacyTagger:
        """Restore a tagger from the result of `to_part`."""
        values = part.read(_Described)
        if others := part.values.keys() - vars(values).keys():
            raise ModelError(f"{part.name}{min(others)} is unknown, expected spacy alone")
        return cls(values.spacy)

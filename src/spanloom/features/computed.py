"""Computed columns: values from the text for columns that the data lack.

One function a column, from a document to one value for each token; the empty string is no value. A column of the data
with the same name is used unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pkgutil import resolve_name
from types import MappingProxyType
from typing import Final, cast

import numpy as np

from spanloom.document import Document
from spanloom.features.letter_case import UsualCase
from spanloom.features.word_vectors import TokenVectors
from spanloom.text import Phrases, Rules, note_type, section_names, tokenize
from spanloom.vocabulary import Concept

CATEGORY_COLUMN: Final = "category"
UNNAMED_CATEGORY: Final = "concept"  # where a vocabulary has no categories
SEPARATOR: Final = "|"  # between several categories of a concept
_LONGEST_WORD: Final = 40  # characters; longer tokens have no lemma, and take long
_CACHED_LEMMAS: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class Resources:
    """Resources of columns that are computed: rules, categories, word vectors, and the usual case of words.

    Args:
        rules: for ``section`` and ``note``.
        categories: names with their categories, for ``category``; without them that column is not computed.
        vectors: of words or tokens, for the dense columns ``vector``.
        usual: letter case of words, for sentences in capitals, in lower case, or in title case.
    """

    rules: Rules = field(default_factory=Rules)
    categories: Phrases | None = None
    vectors: TokenVectors | None = None
    usual: UsualCase | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that can be computed."""
        return tuple(name for name in COMPUTED if name != CATEGORY_COLUMN or self.categories is not None)


@lru_cache(_CACHED_LEMMAS)
def lemma(word: str) -> str:
    """Return the lemma of an English word, in lower case; the word itself if no rule applies.

    The dictionary and the rules are those of `simplemma`. The context is not used: ``left`` is ``left``, the side and
    the verb.

    >>> [lemma(word) for word in ("Atria", "denied", "COPD", "84.2")]
    ['atrium', 'deny', 'copd', '84.2']
    """
    plain = 0 < len(word) <= _LONGEST_WORD and not any("\ud800" <= character <= "\udfff" for character in word)
    return (_lemmatizer()(word, "en") if plain else word).lower()


@cache  # loaded for the first lemma: most models use none, and loading slows the start
def _lemmatizer() -> Callable[[str, str], str]:
    return cast("Callable[[str, str], str]", resolve_name("simplemma:lemmatize"))


def _sections(document: Document, resources: Resources) -> list[str]:
    names = section_names(document, resources.rules.sections)
    sizes = [] if document.sentences is None else np.diff(document.sentences).ravel().tolist()
    return [name for name, size in zip(names, sizes, strict=True) for _ in range(size)]


def _categories(document: Document, resources: Resources) -> list[str]:
    if resources.categories is None or document.sentences is None:
        return [""] * document.token_count
    return resources.categories.column(document.words, document.sentences.tolist())


COMPUTED: Final = MappingProxyType[str, Callable[[Document, Resources], list[str]]](
    {
        "lemma": lambda document, _: list(map(lemma, document.words)),
        "section": _sections,
        "note": lambda document, own: [note_type(document, own.rules.notes, own.rules.sections)] * document.token_count,
        CATEGORY_COLUMN: _categories,
    }
)
"""Column -> its values at the tokens of a document.

``lemma``: of the word, in English. ``section``: of the token's sentence. ``note``: the type of the document.
``category``: of a name of the vocabulary that the token belongs to, ``B-`` at its first token and ``I-`` behind it, so
that a model sees where names begin (Ratinov & Roth 2009, section 6); several categories are joined by ``+``.
"""


def category_phrases(concepts: Iterable[Concept]) -> Phrases:
    """Return the names of a vocabulary as phrases with their categories.

    Concepts without a category are left out, unless none has one: then all are of the category ``concept``. Names are
    tokenized as text is, and compared without regard to case and plural.

    >>> phrases = category_phrases([Concept("1", "pleural effusion", category="sign|problem"), Concept("2", "lung")])
    >>> phrases.find(["Pleural", "effusions"])[0].labels, len(phrases)
    (('problem', 'sign'), 1)
    >>> category_phrases([Concept("2", "lung")]).labels
    {('lung',): ('concept',)}
    """
    named = [(category, concept.names) for concept in concepts for category in concept.category.split(SEPARATOR)]
    if not any(category for category, _ in named):
        named = [(UNNAMED_CATEGORY, names) for _, names in named]
    entries = [(name, category) for category, names in named if category for name in names]
    return Phrases(([name[start:end] for start, end in tokenize(name).tolist()], label) for name, label in entries)

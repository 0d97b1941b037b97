"""The feature sets of Xu et al. (2014), "Experiment settings", and the feature set of a training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from spanloom.document import Document
from spanloom.errors import DataError, UsageError
from spanloom.features import FeatureSet
from spanloom.model.resources import Sources
from spanloom.scoring import Scorer
from spanloom.segment.characters import COLUMNS
from spanloom.text import Phrases
from spanloom.vocabulary import read_concepts

_CHARACTERS: Final = ("bias", "w[-2..2]", "w[-1]|w[1]", "ngrams(w,2..3)")
_CLASSES: Final = (
    "norm[0]",
    "class[-2..2]",
    "ngrams(class,2..3)",
    "w[0]|class[1]",
    "class[-1]|w[0]",
    "same[0..2]",
)
_DICTIONARIES: Final = (
    "dictionary[-1..1]",
    "dictionary[-1]|dictionary[0]",
    "dictionary[0]|dictionary[1]",
    "dictionary[0]|w[0]",
)
SETS: Final[dict[str, tuple[str, ...]]] = {
    "set1": _CHARACTERS,
    "set2": (*_CHARACTERS, *_CLASSES),
    "set3": (*_CHARACTERS, *_CLASSES, *_DICTIONARIES),
}
"""``set1``: characters and their trigrams; ``set2``: classes of characters, too; ``set3``: dictionaries, too.

The paper's supplement, which lists its templates, is not at hand; these follow its text and Tseng et al. (2005).
"""

_WIDTHS: Final = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}  # full-width forms of ASCII


def fold(character: str) -> str:
    """A character without regard to case and width, as dictionaries are compared.

    >>> fold("Ｂ") + fold("超")
    'b超'
    """
    return character.translate(_WIDTHS).lower()


def make_features(
    features: str | Sequence[str], dictionaries: bool, documents: Sequence[Document] = (),
    clusters: str | int | None = None, vectors: str | Path | None = None,
) -> FeatureSet:  # fmt: skip
    """The feature set that parameters name.

    Args:
        features: a key of `SETS`, or templates.
        dictionaries: whether there are dictionaries.
        documents: the training text, each of whose tokens is a character.
        clusters, vectors: of characters, as for `spanloom.model.resources.Sources`.

    Raises:
        UsageError: a template that cannot be read; dictionaries without a template for them, or the reverse.
    """
    templates = SETS[features] if isinstance(features, str) else tuple(features)
    result = Sources(templates, clusters, None, None, None, vectors, letter_case=False).feature_set(documents)
    named = {column.name for column in result.columns}
    if dictionaries and "dictionary" not in named:
        raise UsageError("dictionaries are given, but no template names the column dictionary; take the features set3")
    if "dictionary" in named and not dictionaries:
        raise UsageError("the features name the column dictionary; give dictionaries, or take the features set2")
    return result


def own_columns(reader: FeatureSet | Scorer) -> list[str]:
    """Return those of `COLUMNS` that a feature set, or a scorer, reads."""
    return [name for name in COLUMNS if name in reader.needs]


def read_dictionaries(
    dictionaries: Mapping[str, str | Path | Sequence[str]] | None, vocabulary: str | Path | None
) -> Phrases | None:
    """Phrases over characters, with labels.

    Args:
        dictionaries: label -> a file with one phrase a line, or the phrases.
        vocabulary: a table of concepts, whose categories are labels (see `spanloom.vocabulary`).

    Raises:
        UsageError: a file that cannot be read.
        DataError: a file that is not UTF-8, or holds no phrase.

    >>> phrases = read_dictionaries({"test": ["B超", "血压"]}, None)
    >>> phrases.find("行Ｂ超")[0].labels
    ('test',)
    """
    entries: list[tuple[str, str]] = []
    for label, source in (dictionaries or {}).items():
        phrases = phrase_lines(label, source) if isinstance(source, str | Path) else list(source)
        entries += [(phrase, label) for phrase in phrases]
    if vocabulary is not None:
        try:
            concepts = read_concepts(vocabulary)
        except OSError as error:
            raise UsageError(f"vocabulary {str(vocabulary)!r} cannot be read: {error.strerror}") from None
        named = [(name, concept.category) for concept in concepts if concept.category for name in concept.names]
        if not named:
            message = "none of its concepts has a category, expected a column of that name"
            raise UsageError(f"vocabulary {str(vocabulary)!r}: {message}")
        entries += named
    if not dictionaries and vocabulary is None:
        return None
    return phrases_of(entries)


def phrases_of(entries: Sequence[tuple[str, str]]) -> Phrases:
    """Phrases over characters, from texts and labels."""
    return Phrases(((list("".join(phrase.split())), label) for phrase, label in entries), fold=fold)


def phrase_lines(label: str, path: str | Path) -> list[str]:
    """Return the phrases of a file, one a line.

    Raises:
        UsageError: a file that cannot be read.
        DataError: a file that is not UTF-8, or holds no phrase.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise UsageError(f"dictionary {label!r}: {str(path)!r} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise DataError(f"found bytes that are not UTF-8 ({error.reason}); convert the file", path=path) from None
    phrases = [line.strip() for line in lines if line.strip()]
    if not phrases:
        raise DataError("found no phrase, expected one a line", path=path)
    return phrases

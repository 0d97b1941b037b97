"""The feature set of a training: templates, and the files and data that their columns need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from warnings import warn

from spanloom import vocabulary
from spanloom.document import Batch, Document
from spanloom.errors import DataWarning, UsageError
from spanloom.features import PRESETS, FeatureSet, Resources, available_columns, category_phrases, parse_all
from spanloom.features.clusters import Clusters, induce, read_paths
from spanloom.features.computed import CATEGORY_COLUMN
from spanloom.features.letter_case import UsualCase
from spanloom.features.vector_files import read_vectors
from spanloom.features.word_vectors import VECTOR_COLUMN, TokenVectors, WordVectors
from spanloom.scoring import encoder
from spanloom.text import Phrases, Rules, read_rules, sentence_words

_RULED = ("section", "note")
ENGLISH = "english"
"""Name of the vectors that come with Spanloom."""
WINDOW = f"{VECTOR_COLUMN}[-1..1]"
"""What vectors of words that are given add to a preset."""
HERE = f"{VECTOR_COLUMN}[0]"
"""What an encoder that is given adds, whose outputs have seen the neighbours."""
CATEGORIES = (
    f"{CATEGORY_COLUMN}[-1..1]", f"{CATEGORY_COLUMN}[0]|low[0]", f"{CATEGORY_COLUMN}[0]|{CATEGORY_COLUMN}[1]",
    f"{CATEGORY_COLUMN}[-1]|{CATEGORY_COLUMN}[0]",
)  # fmt: skip
"""What a vocabulary that is given adds to a preset that names no category."""
_FEW_COVERED = 0.05  # of the words of training text, counted as often as they occur
_TRIED_PRESETS = ("biomedical", "best", "fast")  # others are those of papers
_TRIED_TOKENS = (20_000, 250_000)  # of training text: a smaller model stays small, and more text needs vectors less
_ENGLISH_SHARE = 0.85  # of the words of English text, which have one of the vectors that come with Spanloom
_FEW = 0.2  # of the words of training text, that clusters of the same language hold


def tried_features(features: FeatureSet, preset: object, documents: Sequence[Document]) -> FeatureSet | None:
    """Return features with the vectors that come with Spanloom, if they are worth trying for the training text.

    Args:
        features: without vectors.
        preset: the parameter ``features``.
        documents: the training text, with tokens.
    """
    least, most = _TRIED_TOKENS
    if preset not in _TRIED_PRESETS or not least <= sum(one.token_count for one in documents) <= most:
        return None
    vectors, words = WordVectors.english(), [word for document in documents for word in document.words]
    if vectors.share(words) < _ENGLISH_SHARE:
        return None
    own = replace(features.resources, vectors=vectors.standardized(words))
    return features.extended([WINDOW], own)


@dataclass(frozen=True, slots=True)
class Sources:
    """Sources of features, as given by the recognizer's parameters of the same names.

    With ``letter_case`` the usual case of words is learned, which tokens of one character do not have.
    """

    features: str | Sequence[str]
    clusters: str | int | None
    ignore: Sequence[str] | None
    sections: str | Path | Mapping[str, Mapping[str, str]] | None
    vocabulary: str | Path | vocabulary.Vocabulary | None
    vectors: str | Path | None = None
    hash_bits: int | None = None
    vocabulary_columns: str | None = None
    letter_case: bool = True

    def names(self, column: str) -> bool:
        """Return whether a template names the column, and the column is not to be ignored."""
        templates = PRESETS.get(self.features, ()) if isinstance(self.features, str) else self.features
        used = {named.name for template in parse_all(templates) for named in template.columns}
        return column in used.difference(self.ignore or ())

    def feature_set(
        self, train: Sequence[Document], dev: Sequence[Document] = (), more: Sequence[str] = ()
    ) -> FeatureSet:
        """The feature set for some prepared documents.

        Args:
            train: what is learned from: clusters are induced from these alone, for development data must be as new to
                them as text to come.
            dev: development data; a preset uses the columns that these have, too.
            more: templates beside those that the parameters name.

        Raises:
            UsageError: a file that cannot be read, or that no template has a use for.
            DataError: a file that is damaged, or a vocabulary that cannot be read.
        """
        for name, value, kinds in (
            ("sections", self.sections, str | Path | Mapping),
            ("vocabulary", self.vocabulary, str | Path | vocabulary.Vocabulary),
            ("vectors", self.vectors, str | Path),
        ):
            if value is not None and not isinstance(value, kinds):
                raise UsageError(f"{name} is {value!r}, expected the path of a file")
        rules = Rules() if self.sections is None else read_rules(self.sections)
        vectors, words = self._vectors(train)
        usual = UsualCase.of(train, words) if self.letter_case else None
        resources = Resources(rules, self._categories(), vectors, usual)
        clusters = self._clusters(train)
        if isinstance(self.features, str):
            available = available_columns(chain(train, dev))
            result = FeatureSet.preset(
                self.features, available=available, ignore=self.ignore or (), clusters=clusters, resources=resources,
                hash_bits=self.hash_bits,
            )  # fmt: skip
        else:
            templates = list(self.features)
            result = FeatureSet(templates, clusters=clusters, resources=resources, hash_bits=self.hash_bits)
        if self.vectors is not None and isinstance(self.features, str):
            more = [HERE if Path(self.vectors).is_dir() else WINDOW, *more]
        if self.vocabulary is not None and isinstance(self.features, str) and CATEGORY_COLUMN not in result.computed:
            more = [*CATEGORIES, *more]
        if more:
            result = result.extended(more)
        if self.vectors is not None and not result.positions:
            raise UsageError(f"vectors is given, but no template names the column {VECTOR_COLUMN}; add {WINDOW!r}")
        for name, given, columns in (
            ("sections", self.sections, _RULED),
            ("vocabulary", self.vocabulary, ("category",)),
        ):
            if given is not None and not set(columns) & set(result.computed):
                raise UsageError(
                    f"{name} is given, but no template names the column {' or '.join(columns)}; take features that do, "
                    "such as the preset clinical"
                )
        return result

    def _clusters(self, documents: Sequence[Document]) -> Clusters | None:
        if self.clusters is None:
            return None
        if isinstance(self.clusters, int):
            return induce(sentence_words(documents), self.clusters)
        try:
            clusters = read_paths(self.clusters)
        except OSError as error:
            raise UsageError(f"clusters {str(self.clusters)!r} cannot be read: {error.strerror}") from None
        share = clusters.share(word for document in documents for word in document.words)
        if share < _FEW:
            message = (
                f"{100 * share:.1f} % of the different words of the training text have a cluster in {self.clusters}; "
                "is it of raw text of the same language and kind?"
            )
            warn(message, DataWarning, stacklevel=2)
        return clusters

    def _vectors(self, documents: Sequence[Document]) -> tuple[TokenVectors | None, Sequence[str]]:
        """Return vectors, standardized for the words of documents, and the words of their file."""
        if self.vectors is None:
            return None, ()
        words: Sequence[str] = ()
        if self.vectors == ENGLISH:
            vectors = WordVectors.english()
        elif Path(self.vectors).is_dir():
            made: TokenVectors = encoder.FrozenEncoder.open(self.vectors, Batch.of(documents))
            return made, ()
        else:
            words, numbers = read_vectors(self.vectors)
            vectors = WordVectors.of(words, numbers)
        text = [word for document in documents for word in document.words]
        share = vectors.share(text)
        if share < _FEW_COVERED:
            message = (
                f"{100 * share:.1f} % of the words of the training text have a vector in {self.vectors}; is "
                "it of the same language, with words that are cut alike?"
            )
            warn(message, DataWarning, stacklevel=2)
        return vectors.standardized(text), words

    def _categories(self) -> Phrases | None:
        if self.vocabulary is None:
            if self.vocabulary_columns is not None:
                raise UsageError("vocabulary_columns names columns of vocabulary; give it, too")
            return None
        if isinstance(self.vocabulary, vocabulary.Vocabulary):
            return category_phrases(self.vocabulary)
        return category_phrases(vocabulary.read_vocabulary(self.vocabulary, columns=self.vocabulary_columns))

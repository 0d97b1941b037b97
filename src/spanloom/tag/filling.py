"""The parameter `pos`: a tagger that gives documents the column that they lack, before features are looked at.

With `AUTO` it is trained with the model, on the column of the training data: new text seldom has the column, and a
model that learned from it would refuse such text. Development data then get the tagger's column, as new text will, so
that nothing is chosen by tags that people made.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from pathlib import Path

from spanloom.document import Batch, Document
from spanloom.errors import UsageError
from spanloom.features import FeatureSet
from spanloom.learn import Listener, Progress
from spanloom.learn.folds import spread
from spanloom.modelfile import ModelPart, load
from spanloom.tag.pos_tagger import PosTagger
from spanloom.tag.spacy_tagger import PREFIX, SpacyTagger

Filler = PosTagger | SpacyTagger
Source = str | Path | Filler | None
"""`AUTO`, a trained tagger, the folder of one, or ``spacy:`` and a pipeline of spaCy."""

AUTO = "auto"
NONE = "none"  # as None, for command lines and TOML files
COLUMN = "pos"
_MOST_TAGS = 100  # of a column that is learned by default; a tagger's time grows with their square
_EPOCHS = 5


def open_tagger(pos: Source) -> Filler | None:
    """The tagger that the parameter means; none for `AUTO`, which is trained by `learn_tagger`.

    Raises:
        ModelError: the folder holds no tagger, or a damaged one.
        UsageError: it is no tagger, one that is not trained, or a pipeline of spaCy that cannot be used.
    """
    check_source(pos)
    if pos in (None, AUTO, NONE):
        return None
    if isinstance(pos, str) and pos.startswith(PREFIX):
        pos = SpacyTagger(pos.removeprefix(PREFIX))
    if isinstance(pos, str | Path):
        return load(PosTagger, pos)
    _ = pos.fitted if isinstance(pos, PosTagger) else pos.pipeline
    return pos


def check_source(pos: object) -> None:
    """Check that the parameter has a valid value.

    Raises:
        UsageError: it has not.
    """
    if pos is not None and not isinstance(pos, str | Path | Filler):
        raise UsageError(f"pos is {pos!r}, expected a tagger, the folder of one, or {AUTO!r}")


def learn_tagger(
    pos: Filler | None, reads_tags: bool, train: Sequence[Document], dev: list[Document], n_jobs: int | None, seed: int,
    callback: Listener,
) -> tuple[Filler | None, list[Document]]:  # fmt: skip
    """Train the tagger that `AUTO` stands for, where it can be: on the column ``pos`` of the training data.

    Args:
        pos: another tagger, if one was given.
        reads_tags: whether `AUTO` was asked for, and features use the column.
        train: prepared.
        dev: prepared.
        n_jobs: threads; the result does not depend on it.
        seed: of all random choices.
        callback: called when it is trained.

    Returns:
        The tagger, and the development data with its tags; what was given where training data lack the column, or
        where it is not asked for.
    """
    if not reads_tags:
        return pos, dev
    tags, tokens = set[str](), 0
    for document in train:
        if not document.token_count:
            continue
        if not _has_tags(document):
            return pos, dev
        tags.update(document.columns[COLUMN])
        tokens += document.token_count
    if not tags or len(tags) > _MOST_TAGS:
        return pos, dev
    callback(Progress("part-of-speech tagger"))
    tagged = [document for document in spread(train, tokens) if document.token_count]
    own = PosTagger(column=COLUMN, epochs=_EPOCHS, n_jobs=n_jobs, random_state=seed).fit(tagged)
    return own, own.predict(dev)


def _has_tags(document: Document) -> bool:
    """Return whether all tokens have a tag that a tagger can learn."""
    tags = document.columns.get(COLUMN, ())
    return len(tags) == len(document.words) and all(tag and not any(map(str.isspace, tag)) for tag in tags)


def tagger_text(tagger: Filler | None) -> str | None:
    """Return a description of a model's tagger; ``None`` if it has none."""
    return None if tagger is None else f"fills the column {tagger.column!r} with {tagger.filling()}"


def check_use(tagger: Filler | None, features: FeatureSet) -> None:
    """Check that a template names the tagger's column.

    Raises:
        UsageError: none does.
    """
    if tagger is not None and tagger.column not in features.needs:
        raise UsageError(
            f"pos is given, but no template names the column {tagger.column!r}, which the tagger fills; take features "
            "that do, such as the preset biomedical for the column 'pos'"
        )


def filler_of(part: ModelPart) -> Filler:
    """The tagger of a part of a model file; raises what `spanloom.modelfile.damaged` turns into a `ModelError`."""
    return (SpacyTagger if "spacy" in part.values else PosTagger).from_part(part)


def fill(documents: Iterable[Document], tagger: Filler | None, n_jobs: int | None = 1) -> list[Document]:
    """Prepared documents; those that lack the tagger's column as copies that have it.

    Args:
        documents: prepared.
        tagger: trained; without one the documents stay as they are.
        n_jobs: threads; the result does not depend on it.
    """
    given = list(documents)
    if tagger is None or all(tagger.column in document.columns for document in given):
        return given
    if isinstance(tagger, PosTagger):
        tagger = copy(tagger).set_params(n_jobs=n_jobs)
    return list(tagger.stream(given, keep=True))


def fill_batch(batch: Batch, tagger: Filler | None, n_jobs: int | None = 1) -> Batch:
    """Return a batch that has the tagger's column; its documents stay as they are.

    Args:
        batch: T tokens.
        tagger: trained; without one the batch stays as it is.
        n_jobs: threads; the result does not depend on it.
    """
    if tagger is None or batch.has(tagger.column):
        return batch
    filled = fill(batch.documents, tagger, n_jobs)
    return batch.with_columns({tagger.column: [tag for document in filled for tag in document.columns[tagger.column]]})

"""A spaCy component that runs a Spanloom model on spaCy's own tokens; extra ``spacy``.

spaCy finds it under the name ``spanloom`` without an import, by the entry point of the package::

    nlp.add_pipe("spanloom", config={"model": "my-model"})

``doc.spans["spanloom"]`` holds a `Span` for each part of each mention: ``label_`` is the type, ``kb_id_`` the first
concept, and the parts of one mention have one ``id_``. ``doc._.spanloom`` gives the mentions themselves. With ``ents``
those that ``doc.ents`` can hold are there, too, and ``doc._.spanloom_left_out`` gives the others.

spaCy imports this module for each pipeline, whether or not it has the component, so models
are imported when the first model is loaded.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from spanloom.document import Document, Mention
from spanloom.document.span import join_spans
from spanloom.errors import UsageError, check_number
from spanloom.extras import extra
from spanloom.formats.record import mention_record
from spanloom.model.protocol import MentionModel, finds_mentions

with extra("spacy", "the spaCy component"):
    import srsly
    from spacy.language import Language
    from spacy.tokens import Doc, SpanGroup
    from spacy.util import minibatch

_FOLDER = "model"  # in the folder of a saved pipeline's component


class SpanloomComponent:
    """Marks up documents of spaCy; made by ``nlp.add_pipe("spanloom", config={...})``.

    Args:
        model: the folder of a trained model. A folder that is not there is asked for when the first text comes, because
            a pipeline that was saved has its model within it.
        spans_key: where in ``doc.spans`` the mentions go.
        threshold: leave out mentions with a lower score; a linker has none.
        ents: fill ``doc.ents``, too, which holds neither overlaps nor gaps: the surest mention goes there first, then
            each that shares no token with one that is there; of equal scores, or without any, the longer. Entities of
            other components stay where they share no token with ours.

    Raises:
        ModelError: a damaged model.
        UsageError: something else than a model that marks up text, or a threshold that is not valid.
    """

    def __init__(self, model: str, spans_key: str = "spanloom", threshold: float = 0.0, ents: bool = False) -> None:
        self.path, self.spans_key, self.threshold, self.ents = model, spans_key, threshold, ents
        self._model = _load(model, threshold) if Path(model).exists() else None

    def __call__(self, doc: Doc) -> Doc:
        """Mark up one document."""
        return next(self.pipe([doc]))

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Mark up a stream of documents, some at a time."""
        for docs in minibatch(stream, size=batch_size):  # type: ignore[no-untyped-call]
            for doc, document in zip(docs, self._predict(docs), strict=True):
                _mark(doc, document.mentions, self.spans_key)
                if self.ents:
                    doc.spans[self.spans_key].attrs["left_out"] = _fill_ents(doc, document.mentions)
                yield doc

    def _predict(self, docs: list[Doc]) -> Iterator[Document]:
        if self._model is None:
            self._model = _load(self.path, self.threshold)  # raises if something is missing
        with_tags = getattr(self._model, "pos_", None) is None  # a tagger in the model knows its own tags
        documents = [to_document(doc, with_tags) for doc in docs]
        options = {"threshold": self.threshold} if self.threshold else {}  # which is absent where there are no scores
        return self._model.stream(documents, **options)

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The model's files."""
        with TemporaryDirectory() as folder:
            self.to_disk(folder)
            files = {file.name: file.read_bytes() for file in sorted(Path(folder, _FOLDER).iterdir())}
        return bytes(srsly.msgpack_dumps(files))

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> SpanloomComponent:
        """Take the model that `to_bytes` gave.

        Raises:
            ModelError: a damaged model.
        """
        files = srsly.msgpack_loads(data)
        with TemporaryDirectory() as folder:
            Path(folder, _FOLDER).mkdir()
            for name, content in files.items():
                Path(folder, _FOLDER, Path(name).name).write_bytes(content)
            return self.from_disk(folder)

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Save the model within the folder of a pipeline."""
        if self._model is None:
            self._model = _load(self.path, self.threshold)
        Path(path).mkdir(parents=True, exist_ok=True)
        self._model.save(Path(path, _FOLDER), force=True)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> SpanloomComponent:
        """Take the model that `to_disk` saved.

        Raises:
            ModelError: no model, or a damaged one.
        """
        self._model = _load(Path(path, _FOLDER), self.threshold)
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # a worker that does not share our memory gets the model's files, which are read as carefully as any
        return _restored, (self.path, self.spans_key, self.threshold, self.ents, self.to_bytes())


def _restored(path: str, spans_key: str, threshold: float, ents: bool, data: bytes) -> SpanloomComponent:
    component = SpanloomComponent.__new__(SpanloomComponent)
    component.path, component.spans_key, component.threshold, component.ents = path, spans_key, threshold, ents
    return component.from_bytes(data)


@Language.factory(
    "spanloom",
    assigns=["doc.spans", "doc._.spanloom", "doc.ents"],
    default_config={"spans_key": "spanloom", "threshold": 0.0, "ents": False},
)
def _make(nlp: Language, name: str, model: str, spans_key: str, threshold: float, ents: bool) -> SpanloomComponent:
    return SpanloomComponent(model, spans_key, threshold, ents)


def _load(path: str | Path, threshold: float) -> MentionModel:
    model = import_module("spanloom.models").load(path)
    if not finds_mentions(model):
        raise UsageError(f"{path}: a model of kind {model.kind!r}, expected one that marks up text with mentions")
    check_number("threshold", threshold, 0, 1)
    if threshold and "scores" not in model.capable:
        raise UsageError(f"threshold is {threshold}, but a {model.kind} has no scores; leave threshold out")
    return model


def to_document(doc: Doc, tags: bool = True) -> Document:
    """A document of spaCy as one of ours: its text, tokens and sentences; white space is no token.

    Args:
        doc: sentences are taken over if something set them.
        tags: whether its tags (``token.tag_``), if something set them, become the column ``pos``.

    >>> import spacy
    >>> to_document(spacy.blank("en")("No pain.")).words
    ['No', 'pain', '.']
    """
    words = [token for token in doc if not token.is_space]
    document = Document(doc.text, tokens=[(token.idx, token.idx + len(token)) for token in words])
    if words and doc.has_annotation("SENT_START"):
        number = {token.i: i for i, token in enumerate(words)}
        inside = ([number[token.i] for token in sentence if token.i in number] for sentence in doc.sents)
        document = document.copy(sentences=[(tokens[0], tokens[-1] + 1) for tokens in inside if tokens])
    if tags and words and doc.has_annotation("TAG"):
        document.columns["pos"] = [token.tag_ for token in words]
    return document


def _mark(doc: Doc, mentions: list[Mention], key: str) -> None:
    """Put mentions into ``doc.spans``, part by part."""
    spans: list[Any] = []
    scores: list[float | None] = []
    lost = 0
    for number, mention in enumerate(mentions):
        parts = [
            doc.char_span(start, end, label=mention.type, kb_id=_concept(mention), span_id=str(number))
            for start, end in mention.spans
        ]
        if None in parts:
            lost += 1
        else:
            spans += parts
            scores += [mention.score] * len(parts)
    if lost:
        message = f"{lost} of {len(mentions)} mentions begin or end inside a token of spaCy: they are in doc._.spanloom"
        warnings.warn(f"{message}, not in doc.spans[{key!r}]", stacklevel=2)
    attributes = {"scores": scores, "mentions": [mention_record(mention) for mention in mentions]}
    doc.spans[key] = SpanGroup(doc, name=key, spans=spans, attrs=attributes)


def _fill_ents(doc: Doc, mentions: list[Mention]) -> list[int]:
    """Put mentions into ``doc.ents``, the surest first, and return the numbers of those that have no place there."""
    taken: set[int] = set()
    entities: list[Any] = []
    left_out = []
    for number in sorted(range(len(mentions)), key=lambda i: _rank(mentions[i])):
        mention = mentions[number]
        names: dict[str, Any] = {"label": mention.type, "kb_id": _concept(mention), "span_id": str(number)}
        whole = len(join_spans(doc.text, mention.spans)) == 1
        span = doc.char_span(mention.start, mention.end, **names) if whole else None
        if span is None or not taken.isdisjoint(range(span.start, span.end)):
            left_out.append(number)
        else:
            taken.update(range(span.start, span.end))
            entities.append(span)
    others = [entity for entity in doc.ents if taken.isdisjoint(range(entity.start, entity.end))]
    doc.set_ents([*entities, *others])
    return sorted(left_out)


def _concept(mention: Mention) -> str:
    """Return the one concept that a span of spaCy holds."""
    return mention.concepts[0] if mention.concepts else ""


def _rank(mention: Mention) -> tuple[float, int, int, str]:
    return -(mention.score or 0.0), mention.start - mention.end, mention.start, mention.type


def _mentions(doc: Doc) -> list[Mention]:
    """Return the mentions that all components of this kind found; the getter of ``doc._.spanloom``."""
    records = (record for group in doc.spans.values() for record in group.attrs.get("mentions", ()))
    return [Mention(**record) for record in records]


def _left_out(doc: Doc) -> list[Mention]:
    """Return the mentions that are not in ``doc.ents``; the getter of ``doc._.spanloom_left_out``."""
    attributes = (group.attrs for group in doc.spans.values())
    return [Mention(**found["mentions"][number]) for found in attributes for number in found.get("left_out", ())]


Doc.set_extension("spanloom", getter=_mentions, force=True)
Doc.set_extension("spanloom_left_out", getter=_left_out, force=True)

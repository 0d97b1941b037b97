"""Annotation of record batches of Arrow: what engines for big tables take as a function."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from numbers import Integral, Real
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from spanloom.document import Document
from spanloom.document.arrays import MentionArrays
from spanloom.errors import ModelError, UsageError, check_number, clip, plural, reason_of
from spanloom.extras import extra
from spanloom.formats.attributes import to_json_text
from spanloom.model.protocol import MentionModel, finds_mentions, gives_arrays
from spanloom.modelfile import read_digest
from spanloom.models import load, locate
from spanloom.recognize.expanding import expanded

if TYPE_CHECKING:
    from pyarrow import RecordBatch, Schema, Table


LONGEST = 1_000_000
"""Bytes of a text that is annotated; what is longer is no note, and would take a worker's memory."""
MENTIONS, PROBLEM = "mentions", "problem"
_ROWS = 1024  # at once
_EXPECTED: Final[tuple[tuple[str, Any, str], ...]] = (
    ("text", str, "the name of the column of texts"),
    ("id", str | None, "the name of a column, or None for none"),
    ("keep", Iterable, "a list of columns"),
    ("threshold", Real, "a probability"),
    ("longest", Integral, "a number of bytes"),
    ("encoder", str | Path | None, "the folder of an encoder"),
    ("expand", bool, "True or False"),
)
"""Of arguments: their valid values, and the message for others."""
_MOST_MODELS: Final = 4  # that a process keeps
_loading = Lock()  # threads of an engine must not load the same model at the same time


@dataclass
class Annotator:
    """A function from record batches to record batches, which finds the mentions of a column of texts.

    It is pickled as the path of the model and its digest, so that engines send it to their workers; a process opens the
    model once, and computes in one thread: run a process for each core. A row that cannot be annotated has null
    ``mentions``, and the reason in ``problem``; it is never an error.

    Args:
        model: the folder of a model that finds mentions.
        text: the column of texts: strings, or bytes of UTF-8.
        id: the column of identifiers, of any type; ``None`` for none.
        keep: other columns to keep.
        threshold: leave out mentions with a lower score.
        longest: bytes of a text; a longer one is a problem.
        encoder: the folder of the encoder that the model names, if it is elsewhere.
        expand: whether the mentions that coordinated ones stand for are added; see `spanloom.recognize.expanding`.

    Attributes: ``digest`` of the model, and ``counts`` of ``rows``, ``mentions`` and ``problems`` of what this object
    annotated in this process.

    Raises:
        ModelError: no model, or a damaged one.
        UsageError: a model without mentions, an option that it does not support, or pyarrow is missing.

    >>> import pyarrow as pa
    >>> from tempfile import TemporaryDirectory
    >>> from spanloom import Document, Mention, Recognizer
    >>> documents = [Document("no chest pain", mentions=[Mention("problem", [(3, 13)])])] * 50
    >>> with TemporaryDirectory() as folder:
    ...     Recognizer(features=["bias", "w[0]", "w[-1]"]).fit(documents).save(f"{folder}/model")
    ...     annotator = Annotator(f"{folder}/model", id=None)
    ...     [found] = annotator([pa.record_batch({"text": ["no chest pain today", None]})])
    >>> found["mentions"][0].as_py()[0]["spans"], found["problem"].to_pylist()
    ([{'start': 3, 'end': 13}], [None, 'the text is missing'])
    """

    model: str | Path
    text: str = field(default="text", kw_only=True)
    id: str | None = field(default="id", kw_only=True)
    keep: Sequence[str] = field(default=(), kw_only=True)
    threshold: float = field(default=0.0, kw_only=True)
    longest: int = field(default=LONGEST, kw_only=True)
    encoder: str | Path | None = field(default=None, kw_only=True)
    expand: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        with extra("arrow", "an annotator of tables"):
            import pyarrow as pa  # noqa: F401
        self._check_types()
        self.model, self.keep = str(Path(locate(self.model)).absolute()), tuple(self.keep)
        self.encoder = None if self.encoder is None else str(Path(self.encoder).absolute())
        self.digest = read_digest(self.model)
        self.counts: Counter[str] = Counter()
        names = [*self.keep] if self.id is None else [self.id, *self.keep]
        for name in names:
            if not isinstance(name, str):
                raise UsageError(f"keep has {clip(repr(name))[1:-1]}, expected names of columns")
            if name in (MENTIONS, PROBLEM) or names.count(name) > 1:
                raise UsageError(f"column {clip(name)} would occur twice in the output; rename it, or leave it out")
        check_number("longest", self.longest, 1, whole=True)
        model = self._opened()
        check_number("threshold", self.threshold, 0, 1)
        if self.threshold and "scores" not in model.capable:
            raise UsageError(f"threshold is {self.threshold}, but a {model.kind} has no scores; leave threshold out")

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "counts": Counter()}

    def schema(self, schema: Schema) -> Schema:
        """Return the schema of what is made of tables of some schema: the kept columns, ``mentions`` and ``problem``.

        Raises:
            UsageError: a column is missing, or the column of texts holds something else.
        """
        made = self._schema(schema)
        kind = schema.field(self.text).type
        if not holds_text(kind):
            raise UsageError(f"column {clip(self.text)} is {kind}, expected text; name another with text=")
        return made

    def __call__(self, batches: Iterable[RecordBatch]) -> Iterator[RecordBatch]:
        """Annotate record batches lazily; rows keep their order, and big batches come back in parts.

        Raises:
            UsageError: a column is missing, or what is given are no record batches.
            ModelError: the model was replaced while the job runs.
        """
        model = self._opened()
        for batch in _checked(batches):
            schema = self._schema(batch.schema)
            for start in range(0, max(1, batch.num_rows), _ROWS):
                yield self._annotated(model, batch.slice(start, _ROWS), schema)

    def table(self, table: Table) -> Table:
        """Annotate a table of Arrow.

        Raises:
            UsageError: a column is missing.
            ModelError: the model was replaced while the job runs.
        """
        import pyarrow as pa

        return pa.Table.from_batches(self(table.to_batches()), self._schema(table.schema))

    def _check_types(self) -> None:
        """Check what the arguments are, before anything is done with them."""
        if not isinstance(self.model, str | Path):
            raise UsageError(f"model is a {type(self.model).__name__}, expected the folder of a model; save it first")
        if isinstance(self.keep, str):
            raise UsageError(f"keep is {clip(self.keep)}, expected a list of columns: [{clip(self.keep)}]")
        for name, kinds, expected in _EXPECTED:
            value = getattr(self, name)
            if not isinstance(value, kinds) or isinstance(value, bool) is not (kinds is bool):
                raise UsageError(f"{name} is {clip(repr(value))[1:-1]}, expected {expected}")

    def _opened(self) -> MentionModel:
        with _loading:
            return _loaded(str(self.model), self.digest, None if self.encoder is None else str(self.encoder))

    def _schema(self, schema: Schema) -> Schema:
        import pyarrow as pa

        kept = [name for name in (self.id, *self.keep) if name is not None]
        for name in (self.text, *kept):
            count = schema.names.count(name)
            if count != 1:
                found = f"found {', '.join(map(clip, schema.names)) or 'no column'}"
                what = "a table without" if not count else f"a table with {plural(count, 'column')} named"
                raise UsageError(f"{what} {clip(name)}; {found}; name another")
        fields = [schema.field(name) for name in kept]
        return pa.schema([*fields, pa.field(MENTIONS, mention_type()), pa.field(PROBLEM, pa.string())])

    def _annotated(self, model: MentionModel, batch: RecordBatch, schema: Schema) -> RecordBatch:
        import pyarrow as pa

        texts, problems = texts_of(batch.column(self.text), self.longest)
        rows = [i for i, text in enumerate(texts) if text is not None]
        columns = self._found(model, [Document(texts[i] or "", id=str(i)) for i in rows], rows, problems)
        mentions = spread(columns, [problem is None for problem in problems])
        self.counts["rows"] += len(texts)
        self.counts["mentions"] += len(mentions.flatten())
        failed = len(problems) - problems.count(None)
        self.counts["problems"] += failed
        kept = [batch.column(name) for name in schema.names[:-2]]
        reasons = pa.array(problems, pa.string()) if failed else pa.nulls(len(problems), pa.string())
        return pa.RecordBatch.from_arrays([*kept, mentions, reasons], schema=schema)

    def _found(
        self, model: MentionModel, documents: Sequence[Document], rows: Sequence[int], problems: list[str | None]
    ) -> list[Any]:
        """Return columns of what is found; a document that fails is looked for by halves, and left out."""
        if not documents:
            return []
        try:
            options = {"threshold": self.threshold} if self.threshold else {}
            if gives_arrays(model) and not self.expand:
                return [column_of_arrays(found) for found in model.stream_arrays(documents, **options)]
            found = model.stream(documents, **options)
            if self.expand:
                found = expanded(found, getattr(model, "second_", None))
            return [column_of_documents(list(found))]
        except Exception as error:
            if len(documents) == 1:
                problems[rows[0]] = f"not annotated: {reason_of(error)}"
                return []
        half = len(documents) // 2
        return [
            *self._found(model, documents[:half], rows[:half], problems),
            *self._found(model, documents[half:], rows[half:], problems),
        ]


def _checked(batches: Iterable[RecordBatch]) -> Iterator[RecordBatch]:
    """Yield record batches.

    Raises:
        UsageError: it is something else.
    """
    import pyarrow as pa

    expected = "expected record batches of Arrow; for a table there is the method table"
    if isinstance(batches, pa.Table) or not isinstance(batches, Iterable):
        raise UsageError(f"found a {type(batches).__name__}, {expected}")
    for batch in batches:
        if not isinstance(batch, pa.RecordBatch):
            raise UsageError(f"found a {type(batch).__name__} among the batches, {expected}")
        yield batch


@lru_cache(_MOST_MODELS)
def _loaded(path: str, digest: str, encoder: str | None) -> MentionModel:
    """Return a model of mentions that uses one thread; the same object for the same arguments.

    Args:
        path: its folder.
        digest: the digest that it must have, see `read_digest`.
        encoder: the folder of the encoder that it names, if it names one.

    Raises:
        ModelError: no model, a damaged one, or one with another digest.
        UsageError: it finds no mentions.
    """
    _check(path, digest)
    model = load(path, encoder=encoder, mapped=True)  # shared by the processes of all cores
    _check(path, digest)  # it may have been replaced while it was read
    if not finds_mentions(model):
        raise UsageError(f"{path} is a {model.kind.replace('-', ' ')}, which finds no mentions; name a model that does")
    return model.set_params(n_jobs=1)


def _check(path: str, digest: str) -> None:
    found = read_digest(path)
    if found != digest:
        raise ModelError(
            f"{Path(path) / 'model.json'}: the model was replaced while the job runs: its digest is {found}, expected "
            f"{digest}; put the old one back, or start again with the new one"
        )


# Mentions as a column of Arrow: a list of structs for each row.


def mention_type() -> Any:
    """Return the type of the column ``mentions``, a `pyarrow.DataType`; attributes and their scores are JSON text.

    >>> mention_type().value_type.names
    ['type', 'spans', 'head', 'score', 'concepts', 'concept_scores', 'attributes', 'attribute_scores']
    """
    import pyarrow as pa

    span = _span()
    fields = {"type": pa.string(), "spans": pa.list_(span), "head": span, "score": pa.float64()}
    fields |= {"concepts": pa.list_(pa.string()), "concept_scores": pa.list_(pa.float64())}
    return pa.list_(pa.struct({**fields, **dict.fromkeys(("attributes", "attribute_scores"), pa.string())}))


def column_of_arrays(found: MentionArrays) -> Any:
    """Return the mentions of D documents as a column of D rows."""
    import pyarrow as pa

    count = len(found.kind)
    names = [name.encode() for name in found.types]
    ends = np.cumsum([0, *map(len, names)]).astype(np.int32)
    texts = pa.Array.from_buffers(pa.string(), len(names), [None, pa.py_buffer(ends), pa.py_buffer(b"".join(names))])
    types = texts.take(_numbers(found.kind, np.int64))
    spans = pa.ListArray.from_arrays(_numbers(found.bounds, np.int32), _spans(found.spans))
    heads, scores = _spans(found.heads, found.heads[:, 0] >= 0), _numbers(found.scores, np.float64)
    nothing = _numbers(np.zeros(count + 1), np.int32)
    none = [pa.ListArray.from_arrays(nothing, pa.nulls(0, kind)) for kind in (pa.string(), pa.float64())]
    more = [pa.nulls(count, pa.string())] * 2
    kind = mention_type()
    values = pa.StructArray.from_arrays([types, spans, heads, scores, *none, *more], fields=list(kind.value_type))
    return pa.ListArray.from_arrays(_numbers(found.ptr, np.int32), values, kind)


def column_of_documents(documents: Sequence[Document]) -> Any:
    """Return the mentions of D documents as a column of D rows."""
    import pyarrow as pa

    rows = [
        [
            {
                "type": mention.type,
                "spans": [span._asdict() for span in mention.spans],
                "head": None if mention.head is None else mention.head._asdict(),
                "score": mention.score,
                "concepts": mention.concepts,
                "concept_scores": mention.concept_scores,
                "attributes": to_json_text(mention) or None,
                "attribute_scores": json.dumps(dict(mention.attribute_scores)) if mention.attribute_scores else None,
            }
            for mention in document.mentions
        ]
        for document in documents
    ]
    return pa.array(rows, mention_type())


def spread(columns: Sequence[Any], rows: Sequence[bool]) -> Any:
    """Return a column with the values in the rows that are true, and null in the others.

    >>> import pyarrow as pa
    >>> found = column_of_documents([Document("pain"), Document("no")])
    >>> spread([found], [True, False, True]).to_pylist()
    [[], None, []]
    """
    import pyarrow as pa

    found = pa.concat_arrays([pa.nulls(0, mention_type()), *columns])
    if all(rows):
        return found
    there = np.array(rows, bool)
    return found.take(pa.array(np.cumsum(there) - 1, pa.int64(), mask=~there))


def _span() -> Any:
    import pyarrow as pa

    return pa.struct({"start": pa.int32(), "end": pa.int32()})


def _spans(pairs: Any, present: Any = None) -> Any:
    """Return (S, 2) starts and ends as structs, null where they are not present."""
    import pyarrow as pa

    valid = None if present is None else pa.py_buffer(np.packbits(present, bitorder="little"))
    borders = [_numbers(side, np.int32) for side in pairs.T]
    return pa.Array.from_buffers(_span(), len(pairs), [valid], children=borders)


def _numbers(values: Any, kind: Any) -> Any:
    """Return (N,) numbers as an array of Arrow; `pyarrow.array` would import pandas, which takes a second."""
    import pyarrow as pa

    kept = np.ascontiguousarray(values, kind)
    return pa.Array.from_buffers(pa.from_numpy_dtype(kind), len(kept), [None, pa.py_buffer(kept)])


# The texts of a column, and what is wrong with the rows that have none.


def holds_text(kind: Any) -> bool:
    """Return whether a column of this type holds text: strings, bytes of UTF-8, either in a dictionary, or only nulls.

    >>> import pyarrow as pa
    >>> [holds_text(kind) for kind in (pa.string(), pa.dictionary(pa.int8(), pa.binary()), pa.int64())]
    [True, True, False]
    """
    import pyarrow.types as is_

    if is_.is_dictionary(kind):
        return holds_text(kind.value_type)
    return any(
        test(kind)
        for test in (
            *(is_.is_string, is_.is_large_string, is_.is_string_view, is_.is_null),
            *(is_.is_binary, is_.is_large_binary, is_.is_binary_view, is_.is_fixed_size_binary),
        )
    )


def texts_of(column: Any, longest: int) -> tuple[list[str | None], list[str | None]]:
    """Return the text of each row of a column of Arrow, and the reason why a row has none.

    Args:
        column: of any type.
        longest: bytes of a text; a longer one is a problem, and never becomes an object.

    >>> import pyarrow as pa
    >>> texts_of(pa.array(["no pain", None, "fever"]), longest=6)[1]
    ['the text has 7 bytes, expected 6 at most', 'the text is missing', None]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not holds_text(column.type):
        return [None] * len(column), [f"the column is {column.type}, expected text"] * len(column)
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    raw = column.cast(pa.large_binary())
    lengths = pc.binary_length(raw)
    limit, nothing = _numbers([longest], np.int64)[0], pa.nulls(1, raw.type)[0]
    short = pc.if_else(pc.less_equal(lengths, limit), raw, nothing)
    texts: list[str | None] = [None] * len(column)
    problems = texts.copy()
    for row, (value, length) in enumerate(zip(short.to_pylist(), lengths.to_pylist(), strict=True)):
        if length is None:
            problems[row] = "the text is missing"
        elif value is None:
            problems[row] = f"the text has {length:,} bytes, expected {longest:,} at most"
        else:
            try:
                texts[row] = value.decode()
            except UnicodeDecodeError:
                problems[row] = "the text is not UTF-8"
    return texts, problems

"""Mentions as a column of Arrow: a list of structs for each row."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from spanloom.document import Document
from spanloom.formats.attributes import to_json_text
from spanloom.model.arrays import MentionArrays


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
    types = pa.array(found.types, pa.string()).take(pa.array(found.kind))
    spans = pa.ListArray.from_arrays(pa.array(found.bounds, pa.int32()), _spans(found.spans))
    heads, scores = _spans(found.heads, found.heads[:, 0] < 0), pa.array(found.scores, pa.float64())
    nothing = np.zeros(count + 1, np.int32)
    none = [pa.ListArray.from_arrays(nothing, pa.array([], kind)) for kind in (pa.string(), pa.float64())]
    more = [pa.nulls(count, pa.string())] * 2
    return _column(np.asarray(found.ptr), [types, spans, heads, scores, *none, *more])


def column_of_documents(documents: Sequence[Document]) -> Any:
    """Return the mentions of D documents as a column of D rows."""
    import pyarrow as pa

    mentions = [mention for document in documents for mention in document.mentions]
    ptr = np.cumsum([0, *(len(document.mentions) for document in documents)])
    bounds = np.cumsum([0, *(len(mention.spans) for mention in mentions)])
    pieces = np.array([span for mention in mentions for span in mention.spans], np.int64).reshape(-1, 2)
    heads = np.array([mention.head or (-1, -1) for mention in mentions], np.int64).reshape(-1, 2)
    columns = [
        pa.array([mention.type for mention in mentions], pa.string()),
        pa.ListArray.from_arrays(pa.array(bounds, pa.int32()), _spans(pieces)),
        _spans(heads, heads[:, 0] < 0),
        pa.array([mention.score for mention in mentions], pa.float64()),
        pa.array([list(mention.concepts) for mention in mentions], pa.list_(pa.string())),
        pa.array([list(mention.concept_scores) for mention in mentions], pa.list_(pa.float64())),
        pa.array([to_json_text(mention) or None for mention in mentions], pa.string()),
        pa.array([_json(mention.attribute_scores) for mention in mentions], pa.string()),
    ]
    return _column(ptr, columns)


def spread(columns: Sequence[Any], rows: Sequence[bool]) -> Any:
    """Return a column with the values in the rows that are true, and null in the others.

    >>> import pyarrow as pa
    >>> found = column_of_documents([Document("pain"), Document("no")])
    >>> spread([found], [True, False, True]).to_pylist()
    [[], None, []]
    """
    import pyarrow as pa

    found = pa.concat_arrays([pa.array([], mention_type()), *columns])
    if all(rows):
        return found
    there = np.array(rows, bool)
    return found.take(pa.array(np.cumsum(there) - 1, pa.int64(), mask=~there))


def _json(scores: Mapping[str, float]) -> str | None:
    return json.dumps(dict(scores)) if scores else None


def _span() -> Any:
    import pyarrow as pa

    return pa.struct({"start": pa.int32(), "end": pa.int32()})


def _spans(pairs: Any, absent: Any = None) -> Any:
    """Return (S, 2) starts and ends as structs, null where they are absent."""
    import pyarrow as pa

    mask = None if absent is None else pa.array(absent, pa.bool_())
    borders = [pa.array(side.astype(np.int32)) for side in pairs.T]
    return pa.StructArray.from_arrays(borders, fields=list(_span()), mask=mask)


def _column(ptr: Any, columns: Sequence[Any]) -> Any:
    import pyarrow as pa

    kind = mention_type()
    values = pa.StructArray.from_arrays(columns, fields=list(kind.value_type))
    return pa.ListArray.from_arrays(pa.array(ptr, pa.int32()), values).cast(kind)

"""Names of a table's columns: ours, those that other programs use, and those that the user gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, TypeAlias

from spanloom.errors import UsageError, clip
from spanloom.formats.layouts import words

Columns: TypeAlias = Mapping[str, str] | Sequence[str] | None
"""Our name -> that in the file; or a list of ``ours=theirs``, which `read` also takes as a text with commas."""


# our name -> names that mean the same, whatever their case; the first that a table has counts
OF_TEXTS: Final = MappingProxyType(
    {
        "id": ("id", "doc_id", "document_id", "note_id"),
        "text": ("text", "note_text", "sentence", "content", "sentence_text", "document_text"),
    }
)
OF_SPANS: Final = MappingProxyType(
    {
        "id": words("doc_id document_id note_id docid documentid filename file_name file document doc id pmid name"),
        "start": words(
            "start begin start_char start_offset begin_offset char_start start_idx start_index start_pos begin_char "
            "startoffset beginoffset startchar startidx startindex "
            "char_begin offset_start off0 start_span span_start"
        ),
        "end": words(
            "end end_char end_offset char_end end_idx end_index end_pos "
            "endoffset endchar endidx endindex offset_end off1 end_span span_end"
        ),
        "spans": ("spans", "offsets", "span"),
        "type": words(
            "type label entity_type entity_label entitytype tag category ner_type entity_group ner_tag "
            "semantic_type entity"
        ),
        "text": words(
            "text surface span_text entity_text mention_text covered_text surface_form quote span mention entity"
        ),
        "score": ("score",),
        "concepts": words("concepts concept concept_id cui code identifier norm_id normalized_id mesh_id"),
        "attributes": ("attributes",),
    }
)


def given_names(columns: Columns, known: Sequence[str]) -> dict[str, str]:
    """Return the user's names of columns: our name -> the name in the file.

    Args:
        columns: a mapping, or a list of ``ours=theirs``.
        known: our names.

    Raises:
        UsageError: an item without ``=``, or an unknown or repeated name.

    >>> given_names(["text=note", "id=key"], ["id", "text"])
    {'text': 'note', 'id': 'key'}
    """
    if isinstance(columns, Mapping):
        names = dict(columns)
    else:
        pairs = [name.partition("=") for name in columns or ()]
        wrong = next((ours for ours, sign, theirs in pairs if not sign or not theirs), None)
        if wrong is not None:
            raise UsageError(f"the columns of a table are named as text=NAME,id=NAME, but found {clip(wrong)}")
        names = {ours.strip(): theirs.strip() for ours, _, theirs in pairs}
        if len(names) < len(pairs):
            raise UsageError(f"the columns {clip(','.join(map(str, columns or ())))} name one twice; leave one out")
    unknown = next((ours for ours in names if ours not in known), None)
    if unknown is not None:
        raise UsageError(f"this format has no column {clip(unknown)}; expected one of: {', '.join(known)}")
    return names


def places(header: Sequence[str], names: Mapping[str, str], known: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Return our name -> the place of that column in a table.

    Args:
        header: names in the table; case, and white space at their ends, are ignored.
        names: the user's names, from `given_names`.
        known: `OF_TEXTS` or `OF_SPANS`.

    Raises:
        UsageError: the user names a column that the table lacks.

    >>> places(["NOTE_ID", "NOTE_TEXT"], {}, OF_TEXTS)
    {'id': 0, 'text': 1}
    """
    lower = [name.strip().lower() for name in header]
    found = {}
    for ours, others in known.items():
        choices = [names[ours].strip().lower()] if ours in names else [*others]
        place = next((lower.index(name) for name in choices if name in lower), None)
        if place is None and ours in names:
            shown = ", ".join(map(clip, header[:20]))
            raise UsageError(f"there is no column {clip(names[ours])}; the table has: {shown}")
        if place is not None:
            found[ours] = place
    return found

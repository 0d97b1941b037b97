"""UIMA CAS as XMI, one document a file, through dkpro-cassis; extra ``xmi``.

These annotations are mentions:

- ``spanloom.Mention``, with its parts (see `spanloom.formats.xmi_types`);
- ``NamedEntity`` of DKPro Core, of INCEpTION and WebAnno, and its subtypes: ``value`` is the type, ``identifier`` the
  concept;
- the span layers that a user of INCEpTION or WebAnno made (``custom.*``, ``webanno.custom.*``): likewise;
- types whose name ends in ``Mention``, as those of cTAKES do: the name is the type, and the CUIs of
  ``ontologyConceptArr`` are the concepts;
- or, with the option ``types``, those types and their subtypes instead.

Offsets in XMI count UTF-16 units, and become code points.
"""

from __future__ import annotations

import io
import warnings
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from spanloom.document import Document, Mention
from spanloom.document.identifiers import normalize_identifier
from spanloom.document.validate import Problem, find_errors
from spanloom.errors import DataError
from spanloom.extras import extra
from spanloom.files import STDIO
from spanloom.formats.base import Format, Scanned
from spanloom.formats.source import read_bytes
from spanloom.formats.xmi_types import (
    ANNOTATION,
    COLUMNS,
    ENTITY,
    HEAD,
    MENTION,
    METADATA,
    SENTENCE,
    TOKEN,
    reason,
    types_of,
)
from spanloom.formats.xmi_writer import write

_CUSTOM = ("custom.", "webanno.custom.")
_INITIAL = "_InitialView"
_LINKS = {"Governor", "Dependent", "first", "next"}  # features of layers that are no spans
_READ = {
    TOKEN,
    SENTENCE,
    MENTION,
    HEAD,
    METADATA,
    "uima.tcas.DocumentAnnotation",
    *(kind for kind, *_ in COLUMNS.values()),
}


def scan(path: str | Path, types: Collection[str] | None = None, stem: str | None = None) -> Iterator[Scanned]:
    """The document of an XMI file.

    Args:
        path: the file, or ``-``.
        types: full names of the types whose annotations are mentions.
        stem: the ``id`` of a document without one; the file's name without its ending if not given.
    """
    with extra("xmi", "an XMI file"):
        import cassis

    name = str(path)
    file = None if name == STDIO else Path(path)
    raw = read_bytes(path)
    known = types_of(file, raw)
    try:
        with warnings.catch_warnings():
            # the library warns of offsets that it cannot convert, and goes on
            warnings.simplefilter("error", UserWarning)
            cas = cassis.load_cas_from_xmi(io.BytesIO(raw), typesystem=known)
            document, problems = _document(_view(cas), types)
        problems += find_errors(document)
    except DataError:
        raise
    except Exception as error:  # of whatever kind: the library trusts its input
        raise DataError(f"found XMI that cannot be understood ({reason(error)}); export it again") from None
    document.id = document.id or stem or (file.stem if file is not None else "")
    yield Scanned(document, [replace(problem, path=name) for problem in problems], name)


def _view(cas: Any) -> Any:
    """The view with the text."""
    names = [sofa.sofaID for sofa in cas.sofas if sofa.sofaString is not None]
    if len(names) == 1 or _INITIAL in names:
        return cas.get_view(names[0] if len(names) == 1 else _INITIAL)
    found = ", ".join(map(repr, names)) or "none"
    raise DataError(f"views with a text: {found}; expected one, or one that is called {_INITIAL!r}")


def _document(view: Any, types: Collection[str] | None) -> tuple[Document, list[Problem]]:
    document = Document(view.sofa_string)
    problems: list[Problem] = []
    annotations = sorted(view.select(ANNOTATION), key=lambda fs: fs.xmiID)
    _add_tokens(document, annotations, problems)
    whole = [fs for fs in annotations if fs.type.name == MENTION] if types is None else []
    parts = {part.xmiID for fs in whole for part in _elements(fs.parts)}
    others: Counter[str] = Counter()
    for fs in annotations:
        if fs.type.name == MENTION and types is None:
            document.mentions.append(_whole(fs))
        elif fs.xmiID not in parts and _is_mention(view.typesystem, fs.type, types):
            document.mentions.append(_single(fs))
        elif fs.type.name == METADATA:
            document.id = fs.documentId or ""
        elif fs.xmiID not in parts and fs.type.name not in _READ:
            others[fs.type.name] += 1
    if others:
        document.meta["xmi"] = {"not_read": dict(others)}
        shown = ", ".join(f"{count} {name}" for name, count in others.most_common(5))
        problems.append(Problem("warning", "annotations not read", f"annotations that are no mentions: {shown}"))
    return document, problems


def _elements(array: Any) -> list[Any]:
    return [] if array is None else list(array.elements or ())


def _is_mention(system: Any, kind: Any, types: Collection[str] | None) -> bool:
    if types is not None:
        return any(system.contains_type(name) and system.is_instance_of(kind.name, name) for name in types)
    if system.contains_type(ENTITY) and system.is_instance_of(kind.name, ENTITY):
        return True
    if kind.name.startswith(_CUSTOM):
        return not _LINKS & {feature.name for feature in kind.all_features}
    return bool(kind.name.endswith("Mention"))


def _whole(fs: Any) -> Mention:
    spans = [(part.begin, part.end) for part in _elements(fs.parts)] or [(fs.begin, fs.end)]
    head = None if fs.head is None else (fs.head.begin, fs.head.end)
    return Mention(fs.value or "", spans, fs.mentionId, head, tuple(_elements(fs.concepts)), fs.score)


def _single(fs: Any) -> Mention:
    value = next((text for name in ("value", "label") if (text := _text(fs, name))), "")
    identifier = _text(fs, "identifier")
    concepts = [identifier] if identifier else []
    if any(feature.name == "ontologyConceptArr" for feature in fs.type.all_features):
        found = (_text(concept, "cui") for concept in _elements(fs.ontologyConceptArr))
        concepts += dict.fromkeys(normalize_identifier(cui) for cui in found if cui)
    return Mention(value or fs.type.name.rpartition(".")[2], [(fs.begin, fs.end)], None, None, tuple(concepts))


def _text(fs: Any, name: str) -> str:
    value = getattr(fs, name, None)
    return value if isinstance(value, str) else ""


def _add_tokens(document: Document, annotations: list[Any], problems: list[Problem]) -> None:
    """Tokens, sentences and columns; those that no document can have are left out, with a warning."""
    tokens = sorted((fs for fs in annotations if fs.type.name == TOKEN), key=lambda fs: (fs.begin, fs.end))
    if not tokens:
        return
    spans = [(fs.begin, fs.end) for fs in tokens]
    words = Document(document.text, tokens=spans)
    wrong = find_errors(words)
    if wrong:
        message = f"tokens that cannot be used ({wrong[0].place} {wrong[0].message}); they are not read"
        problems.append(Problem("warning", "tokens not read", message))
        return
    document.tokens = words.tokens
    _add_sentences(document, annotations, problems)
    for name, (_, feature, reference) in COLUMNS.items():
        values = [_text(getattr(token, reference, None), feature) for token in tokens]
        if any(values):
            document.columns[name] = values


def _add_sentences(document: Document, annotations: list[Any], problems: list[Problem]) -> None:
    sentences = sorted((fs for fs in annotations if fs.type.name == SENTENCE), key=lambda fs: fs.begin)
    if not sentences or document.tokens is None:
        return
    starts, ends = document.tokens[:, 0], document.tokens[:, 1]
    ranges = [(int(starts.searchsorted(fs.begin)), int(ends.searchsorted(fs.end, "right"))) for fs in sentences]
    with_sentences = document.copy(sentences=[pair for pair in ranges if pair[0] < pair[1]], columns={})
    wrong = find_errors(with_sentences)
    if wrong:
        message = f"sentences that cannot be used ({wrong[0].place}: {wrong[0].message}); they are not read"
        problems.append(Problem("warning", "sentences not read", message))
    else:
        document.sentences = with_sentences.sentences


XMI = Format("xmi", (".xmi",), scan, write, gaps=True, keeps_ids=True, named_by_file=True, scan_options=("types",))

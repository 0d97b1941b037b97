"""UIMA types: those that are written, and those of a file, which stand beside it or are taken from the file itself.

Written are types that other tools know, of DKPro Core: ``NamedEntity`` for each part of a mention, ``Token``,
``Sentence``, ``POS``, ``Lemma``, ``DocumentMetaData``; and two of our own, for what those have no place for.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.parsers.expat import ExpatError, ParserCreate, errors

from spanloom.errors import DataError
from spanloom.formats.source import read_bytes

_DKPRO = "de.tudarmstadt.ukp.dkpro.core.api"
ENTITY = f"{_DKPRO}.ner.type.NamedEntity"
TOKEN, SENTENCE = f"{_DKPRO}.segmentation.type.Token", f"{_DKPRO}.segmentation.type.Sentence"
METADATA = f"{_DKPRO}.metadata.type.DocumentMetaData"
MENTION, HEAD = "spanloom.Mention", "spanloom.Head"
ANNOTATION, ARRAY = "uima.tcas.Annotation", "uima.cas.FSArray"
POS, LEMMA = f"{_DKPRO}.lexmorph.type.pos.POS", f"{_DKPRO}.segmentation.type.Lemma"
# token column -> the type of its annotations, the feature with the value, and the feature of a token that refers to it
COLUMNS = {"pos": (POS, "PosValue", "pos"), "lemma": (LEMMA, "value", "lemma")}
TYPES_FILE = "TypeSystem.xml"

_ROOT = "http://www.omg.org/XMI XMI"
_STRING, _STRINGS, _TOP = "uima.cas.String", "uima.cas.StringArray", "uima.cas.TOP"
_ARRAYS = {"ontologyConceptArr"}  # features that refer to concepts, in the types of cTAKES
_DEEPEST = 20  # elements within each other; XMI has three
_DOCUMENT = "uima.tcas.DocumentAnnotation"
# type -> its supertype and its features; of DKPro's types those features that are used
_WRITTEN: dict[str, tuple[str, dict[str, str]]] = {
    METADATA: (_DOCUMENT, {"documentId": _STRING, "documentTitle": _STRING, "documentUri": _STRING}),
    SENTENCE: (ANNOTATION, {}),
    POS: (ANNOTATION, {"PosValue": _STRING, "coarseValue": _STRING}),
    LEMMA: (ANNOTATION, {"value": _STRING}),
    TOKEN: (ANNOTATION, {"pos": POS, "lemma": LEMMA}),
    ENTITY: (ANNOTATION, {"value": _STRING, "identifier": _STRING}),
    HEAD: (ANNOTATION, {}),
    MENTION: (
        ANNOTATION,
        {
            "value": _STRING, "mentionId": _STRING, "concepts": _STRINGS, "score": "uima.cas.Double", "head": HEAD,
            "parts": ARRAY,
        },
    ),
}  # fmt: skip


def written_types() -> Any:
    """The types that are written, a `cassis.TypeSystem`."""
    import cassis

    return _with_written(cassis.TypeSystem())


def _with_written(types: Any) -> Any:
    """Types with those of ours that they lack."""
    lacking = {name: fields for name, fields in _WRITTEN.items() if not types.contains_type(name)}
    for name, (supertype, features) in lacking.items():
        kind = types.create_type(name, supertype)
        for feature, range_type in features.items():
            types.create_feature(kind, feature, range_type, elementType=ENTITY if range_type == ARRAY else None)
    return types


def types_of(path: Path | None, raw: bytes) -> Any:
    """The types of a file: of ``NAME.TypeSystem.xml`` or ``TypeSystem.xml`` beside it, else those that we write.

    Types and features that are in neither are taken from the file itself: what has ``begin`` and ``end`` is an
    annotation, and values are text.

    Args:
        path: the file; ``None`` for standard input.
        raw: what stands in it.

    Raises:
        DataError: no XML, or XML with a document type, which could define entities; no types.
    """
    import cassis

    found = _elements(raw, path, _ROOT)
    beside = [] if path is None else [path.with_suffix(f".{TYPES_FILE}"), path.with_name(TYPES_FILE)]
    file = next((file for file in beside if file.is_file()), None)
    if file is None:
        types = written_types()
    else:
        data = read_bytes(file)
        _elements(data, file)
        try:
            types = _with_written(cassis.load_typesystem(data.decode("utf-8-sig")))
        except Exception as error:  # of whatever kind: the library trusts its input
            raise DataError(f"found no types of UIMA ({reason(error)}); get the file again", path=file) from error
    for name, attributes in found.items():
        _complete(types, name, attributes)
    return types


def reason(error: Exception) -> str:
    """What the library says of input that it cannot use."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:160]}"


def _complete(types: Any, name: str, attributes: dict[str, str]) -> None:
    if types.contains_type(name):
        kind = types.get_type(name)
    else:
        kind = types.create_type(name, ANNOTATION if attributes.keys() >= {"begin", "end", "sofa"} else _TOP)
    if name.startswith("uima."):
        return
    known = {feature.name.removesuffix("_") for feature in kind.all_features}
    for feature, range_type in attributes.items():
        if feature not in known:
            types.create_feature(kind, feature, ARRAY if feature in _ARRAYS else range_type)


def _elements(raw: bytes, path: Path | None, root: str | None = None) -> dict[str, dict[str, str]]:
    """The types in a file with their features, each with the type of its values, as far as the file shows it.

    Expat reads neither files nor addresses; what it accepts here has no document type, and so no entities.
    """
    found: dict[str, dict[str, str]] = {}
    stack: list[str] = []
    parser = ParserCreate(namespace_separator=" ")

    def refuse(*_: object) -> None:
        message = "found a document type (<!DOCTYPE), which may define entities; expected none: remove it"
        raise DataError(message, path=path, line=parser.CurrentLineNumber)

    def opened(tag: str, attributes: dict[str, str]) -> None:
        if not stack and root is not None and tag != root:
            shown = tag.rpartition(" ")[2][:80]
            raise DataError(
                f"found the element <{shown}>, expected <xmi:XMI>; is this another format?", path=path, line=1
            )
        if len(stack) == _DEEPEST:
            message = f"found more than {_DEEPEST} elements within each other, expected feature structures"
            raise DataError(message, path=path, line=parser.CurrentLineNumber)
        if len(stack) == 1:
            kind = found.setdefault(_type_name(tag), {})
            kind |= {name: _STRING for name in attributes if " " not in name}
        elif len(stack) == 2:
            found[_type_name(stack[1])][tag] = _STRINGS
        stack.append(tag)

    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = opened
    parser.EndElementHandler = lambda _: stack.pop()
    try:
        parser.Parse(raw, True)
    except ExpatError as error:
        reason = errors.messages.get(error.code, "unknown")
        message = f"found no well-formed XML in column {error.offset + 1} ({reason}); get the file again, or correct it"
        raise DataError(message, path=path, line=error.lineno) from None
    except (LookupError, ValueError) as error:  # an encoding that Python does not know, or that Expat cannot use
        raise DataError(f"found an encoding that cannot be read ({error}); convert it to UTF-8", path=path) from None
    return {name: kind for name, kind in found.items() if name not in ("uima.cas.NULL", "uima.cas.View")}


def _type_name(tag: str) -> str:
    """``http:///a/b.ecore c`` is ``a.b.c``."""
    space, _, name = tag.rpartition(" ")
    package = space.removeprefix("http:///").removesuffix(".ecore").replace("/", ".")
    return name if package in ("", "uima.noNamespace") else f"{package}.{name}"

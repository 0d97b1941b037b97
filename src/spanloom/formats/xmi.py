"""UIMA CAS as XMI, one document a file, through dkpro-cassis; extra ``xmi``.

These annotations are mentions:

- ``spanloom.Mention``, with its parts (see below);
- ``NamedEntity`` of DKPro Core, of INCEpTION and WebAnno, and its subtypes: ``value`` is the type, ``identifier`` the
  concept;
- the span layers that a user of INCEpTION or WebAnno made (``custom.*``, ``webanno.custom.*``): likewise, and their
  first feature with words is the type of those without ``value`` and ``label``;
- types whose name ends in ``Mention``, as those of cTAKES do: the name is the type, and the CUIs of
  ``ontologyConceptArr`` are the concepts;
- or, with the option ``types``, those types and their subtypes instead.

Their other features with a text, a number or a truth value are attributes; of cTAKES those of its assertions, such as
``polarity``, and of DKPro Core none.

Offsets in XMI count UTF-16 units, and become code points.

Written are types that other tools know, of DKPro Core: ``NamedEntity`` for each part of a mention, ``Token``,
``Sentence``, ``POS``, ``Lemma``, ``DocumentMetaData``; and two of our own, for data that those have no place for.
"""

from __future__ import annotations

import io
import json
import re
import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.parsers.expat import ParserCreate

from spanloom.document import Document, Mention
from spanloom.document.span import normalize_identifier
from spanloom.document.validate import Problem, find_errors
from spanloom.errors import DataError, UsageError, clip, plural
from spanloom.extras import extra
from spanloom.files import STDIO
from spanloom.files.output import output_files, output_folder
from spanloom.formats.attributes import from_text
from spanloom.formats.base import Beside, Losses, Scanned, altered, by_key, count_unwritten, single, writing_as
from spanloom.formats.expat import feed
from spanloom.formats.file_names import free_name, put
from spanloom.formats.record_fields import Columns, given_names
from spanloom.formats.source import begins_with, read_bytes
from spanloom.formats.xmi_repair import ANNOTATION, ARRAY, DOCUMENT, reason, repaired, type_name

_DKPRO = "de.tudarmstadt.ukp.dkpro.core.api"
ENTITY = f"{_DKPRO}.ner.type.NamedEntity"
TOKEN, SENTENCE = f"{_DKPRO}.segmentation.type.Token", f"{_DKPRO}.segmentation.type.Sentence"
METADATA = f"{_DKPRO}.metadata.type.DocumentMetaData"
MENTION, HEAD = "spanloom.Mention", "spanloom.Head"
POS, LEMMA = f"{_DKPRO}.lexmorph.type.pos.POS", f"{_DKPRO}.segmentation.type.Lemma"
# token column -> the type of its annotations, the feature with the value, and the feature of a token that refers to it
COLUMNS = {"pos": (POS, "PosValue", "pos"), "lemma": (LEMMA, "value", "lemma")}
TYPES_FILE = "TypeSystem.xml"

_MARK = re.compile(rb"\A(?:\xef\xbb\xbf)?\s*(?:<[?!][^>]*>\s*)*<(?:\w+:)?XMI[\s>]")
_ROOT = "http://www.omg.org/XMI XMI"
_STRING, _STRINGS, _TOP = "uima.cas.String", "uima.cas.StringArray", "uima.cas.TOP"
_ARRAYS = {"ontologyConceptArr"}  # features that refer to concepts, in the types of cTAKES
_DEEPEST = 20  # elements within each other; XMI has three
# type -> its supertype and its features; of DKPro's types those features that are used
_WRITTEN: dict[str, tuple[str, dict[str, str]]] = {
    METADATA: (DOCUMENT, {"documentId": _STRING, "documentTitle": _STRING, "documentUri": _STRING}),
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
            "parts": ARRAY, "attributes": _STRING, "attributeScores": _STRING, "conceptScores": _STRING,
        },
    ),
}  # fmt: skip
_CUSTOM = ("custom.", "webanno.custom.")
_CTAKES = "org.apache.ctakes."
_OF_TOOLS = (_DKPRO, _CTAKES, "uima.", "org.apache.uima.")  # whose other annotations are no mentions
_NO_WORD = re.compile(r"true|false|[\d.,\-]+", re.IGNORECASE)
_INITIAL = "_InitialView"
_ASSERTED = {"polarity", "uncertainty", "conditional", "generic", "subject", "historyOf"}  # attributes in cTAKES
_LINKS = {"Governor", "Dependent", "first", "next"}  # features of layers that are no spans
_READ = {TOKEN, SENTENCE, MENTION, HEAD, METADATA, DOCUMENT, *(kind for kind, *_ in COLUMNS.values())}


def written_types() -> Any:
    """Return the types that are written, a `cassis.TypeSystem`."""
    import cassis

    return _with_written(cassis.TypeSystem())


def _with_written(types: Any) -> Any:
    """Return types with Spanloom's added where they are missing."""
    lacking = {name: fields for name, fields in _WRITTEN.items() if not types.contains_type(name)}
    for name, (supertype, features) in lacking.items():
        kind = types.create_type(name, supertype)
        for feature, range_type in features.items():
            types.create_feature(kind, feature, range_type, elementType=ENTITY if range_type == ARRAY else None)
    return types


def types_of(path: Path | None, raw: bytes, data: bytes | None = None) -> Any:
    """Read the types of a file: ``NAME.TypeSystem.xml`` or ``TypeSystem.xml`` beside it, else those of `written_types`.

    Types and features that are in neither are taken from the file itself: a type with ``begin`` and ``end`` is an
    annotation, and values are text.

    Args:
        path: the file; ``None`` for standard input.
        raw: its content.
        data: the types, in place of those beside the file.

    Raises:
        DataError: no XML, or XML with a document type, which could define entities; no types.
    """
    import cassis

    found = _types_in(raw, path, _ROOT)
    beside = [] if path is None else [path.with_suffix(f".{TYPES_FILE}"), path.with_name(TYPES_FILE)]
    file = next((file for file in beside if file.is_file()), None)
    data = read_bytes(file) if data is None and file is not None else data
    if data is None:
        types = written_types()
    else:
        _types_in(data, file)
        try:
            types = _with_written(cassis.load_typesystem(data.decode("utf-8-sig")))
        except Exception as error:  # of whatever kind: the library trusts its input
            raise DataError(f"found no types of UIMA ({reason(error)}); get the file again", path=file) from error
    for name, attributes in found.items():
        if types.contains_type(name):
            kind = types.get_type(name)
        else:
            kind = types.create_type(name, ANNOTATION if attributes.keys() >= {"begin", "end", "sofa"} else _TOP)
        known = {feature.name.removesuffix("_") for feature in kind.all_features}
        for feature, range_type in () if name.startswith("uima.") else attributes.items():
            if feature not in known:
                types.create_feature(kind, feature, ARRAY if feature in _ARRAYS else range_type)
    for name in {feature.name for kind in types.get_types(built_in=True) for feature in kind.features}:
        if not (name and name.isidentifier()):  # the library makes the code of a class out of it
            raise DataError(f"found the feature {clip(str(name))}, expected a name of letters, digits and _", path=path)
    return types


def _types_in(raw: bytes, path: Path | None, root: str | None = None) -> dict[str, dict[str, str]]:
    """Return the types in a file with their features, each with the type of its values, if the file shows it.

    Expat reads neither files nor addresses; input that it accepts here has no document type, and so no entities.
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
            message = f"found the element <{shown}>, expected <xmi:XMI>; is this another format?"
            raise DataError(message, path=path, line=1)
        if len(stack) == _DEEPEST:
            message = f"found more than {_DEEPEST} elements within each other, expected feature structures"
            raise DataError(message, path=path, line=parser.CurrentLineNumber)
        if len(stack) == 1:
            kind = found.setdefault(type_name(tag), {})
            kind |= {name: _STRING for name in attributes if " " not in name}
        elif len(stack) == 2:
            found[type_name(stack[1])][tag] = _STRINGS
        stack.append(tag)

    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = opened
    parser.EndElementHandler = lambda _: stack.pop()
    feed(parser, raw, path)
    return {name: kind for name, kind in found.items() if name not in ("uima.cas.NULL", "uima.cas.View")}


def scan(
    path: str | Path, types: Collection[str] | None = None, columns: Columns = None, stem: str | None = None
) -> Iterator[Scanned]:
    """Yield the document of an XMI file.

    Args:
        path: the file, or ``-``.
        types: full names of the types whose annotations are mentions.
        columns: ``mentions``, such types, joined by ``+``; ``type`` and ``concept``, their features with these.
        stem: the ``id`` of a document without one; the file's name without its ending if not given.
    """
    with extra("xmi", "an XMI file"):
        import cassis  # noqa: F401

    given = given_names(columns, ("mentions", "type", "concept"))
    types = given["mentions"].split("+") if "mentions" in given else types
    name = str(path)
    file = None if name == STDIO else Path(path)
    raw = read_bytes(path)
    known = types_of(file, raw)
    with _understanding():
        cas, view, problems = cas_of(raw, known)
        problems += _other_views(cas, view)
        document = _document(view, types, given, problems)
    own = file.stem if file is not None else ""
    if document.id and document.meta.get("annotator") != own:  # INCEpTION names files, not documents, by annotators
        document.meta.pop("annotator", None)
    document.id = document.id or stem or own
    problems = [replace(problem, path=name) for problem in problems]
    yield Scanned(document, problems, name, beside=Beside([None] * len(document.mentions)))


@contextmanager
def _understanding() -> Iterator[None]:
    """Turn the library's errors, of whatever kind, into ours: it trusts its input."""
    try:
        with warnings.catch_warnings():
            # the library warns of offsets that it cannot convert, and continues
            warnings.simplefilter("error", UserWarning)
            yield
    except DataError:
        raise
    except Exception as error:
        raise DataError(f"found XMI that cannot be understood ({reason(error)}); export it again") from None


def cas_of(raw: bytes, types: Any) -> tuple[Any, Any, list[Problem]]:
    """Return a `cassis.Cas`, its view with the text, and what had to be left out.

    Args:
        raw: XMI that `types_of` has accepted.
        types: as that gave them.

    Raises:
        DataError: it cannot be understood.
    """
    import cassis

    with _understanding():
        raw, problems = repaired(raw, types)
        cas = cassis.load_cas_from_xmi(io.BytesIO(raw), typesystem=types)
        names = [sofa.sofaID for sofa in cas.sofas if sofa.sofaString is not None]
        if len(names) != 1 and _INITIAL not in names:
            found = ", ".join(map(repr, names)) or "none"
            raise DataError(f"views with a text: {found}; expected one, or one that is called {_INITIAL!r}")
        return cas, cas.get_view(names[0] if len(names) == 1 else _INITIAL), problems


def _other_views(cas: Any, view: Any) -> Iterator[Problem]:
    """Yield a warning for other views with a text and annotations of it."""
    for sofa in cas.sofas:
        if sofa.sofaString is None or sofa.sofaID == view.get_sofa().sofaID:
            continue
        if count := sum(fs.type.name not in _READ for fs in cas.get_view(sofa.sofaID).select(ANNOTATION)):
            message = f"the view {clip(sofa.sofaID)} has a text of its own and {plural(count, 'annotation')}; not read"
            yield altered("views not read", message)


def _document(view: Any, types: Collection[str] | None, given: Mapping[str, str], problems: list[Problem]) -> Document:
    document = Document(view.sofa_string)
    annotations = sorted(view.select(ANNOTATION), key=lambda fs: fs.xmiID)
    add_tokens(document, annotations, problems)
    whole = MENTION if types is None else None
    parts = {part.xmiID for fs in annotations if fs.type.name == whole for part in _elements(fs.parts)}
    annotations = [fs for fs in annotations if fs.xmiID not in parts]
    layers = by_key((fs.type.name, fs) for fs in annotations if _is_mention(view.typesystem, fs.type, types))
    roles = {kind: _roles(kind, found, given, problems) for kind, found in layers.items()}
    others: Counter[str] = Counter()
    for fs in annotations:
        kind = fs.type.name
        if kind == whole:
            document.mentions.append(_whole(fs))
        elif kind in layers:
            found = list(_singles(fs, *roles[kind]))
            document.mentions += found
            unread = _texts(fs).keys() - {*roles[kind], *found[0].attributes} if kind.startswith(_CUSTOM) else ()
            others.update(f"{kind}|{name}" for name in unread)
        elif kind == METADATA:
            named = _text(fs, "documentId")
            document.id = _text(fs, "documentTitle") or named
            document.meta |= {"annotator": named} if named != document.id else {}
        elif kind not in _READ:
            others[kind] += 1
    if others:
        document.meta["xmi"] = {"not_read": dict(others)}
        links = {fs.type.name for fs in annotations if _links(fs.type)}
        own = [name for name in others if types is None and name not in links and not name.startswith(_OF_TOOLS)]
        shown = ", ".join(f"{count} {name}" for name, count in others.most_common(5))
        message = f"annotations and features that are not read: {shown}"
        if own:
            kind, _, feature = own[0].partition("|")
            message += f"; --columns mentions={kind}{f',type={feature}' if feature else ''} reads them (columns=)"
        problems.append(Problem("warning", "annotations not read", message, altered=bool(own)))
    return document


def _roles(
    layer: str, annotations: Sequence[Any], given: Mapping[str, str], problems: list[Problem]
) -> tuple[str, str]:
    """Return the features of a layer that hold the type and the concept.

    A notice is added for a layer of a user of which several features may be the type.
    """
    texts = by_key(pair for fs in annotations for pair in _texts(fs).items())
    concept = given.get("concept", "identifier")
    usual = [name for name in ("value", "label") if name in texts]
    words = [name for name, values in texts.items() if name != concept and not all(map(_NO_WORD.fullmatch, values))]
    worded = words if layer.startswith(_CUSTOM) else []
    chosen = given.get("type", next(iter(usual + worded), "value"))
    others = [name for name in worded if name != chosen]
    if len(worded) > 1 and "type" not in given and not {"value", "label"} & set(worded):
        message = f"the feature {chosen} of {layer} is read as the type, and {', '.join(others)} as attributes"
        message += f"; --columns mentions={layer},type={others[0]} reads another (columns=)"
        problems.append(altered("type of a layer", message))
    return chosen, concept


def _texts(fs: Any) -> dict[str, str]:
    """Return the features of an annotation that hold text, with it."""
    return {feature.name: text for feature in fs.type.all_features if (text := _text(fs, feature.name))}


def _elements(array: Any) -> list[Any]:
    return [] if array is None else list(array.elements or ())


def _is_mention(system: Any, kind: Any, types: Collection[str] | None) -> bool:
    known = (ENTITY,) if types is None else types
    if any(system.contains_type(name) and system.is_instance_of(kind.name, name) for name in known):
        return True
    own = not _links(kind) if kind.name.startswith(_CUSTOM) else bool(kind.name.endswith("Mention"))
    return types is None and own


def _links(kind: Any) -> bool:
    """Return whether a type is of relations or chains."""
    return not _LINKS.isdisjoint(feature.name for feature in kind.all_features)


def _whole(fs: Any) -> Mention:
    spans = [(part.begin, part.end) for part in _elements(fs.parts)] or [(fs.begin, fs.end)]
    head = None if fs.head is None else (fs.head.begin, fs.head.end)
    further: list[Any] = []
    for name, absent in (("attributes", {}), ("attributeScores", {}), ("conceptScores", ())):
        text = _text(fs, name)
        try:
            further.append(json.loads(text) if text else absent)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{name} of a mention is {clip(text)}, expected JSON ({error})") from None
    return Mention(fs.value or "", spans, fs.mentionId, head, tuple(_elements(fs.concepts)), fs.score, *further)


def _singles(fs: Any, kind: str, concept: str) -> Iterator[Mention]:
    """Yield a mention for each value of the feature with the type."""
    identifier = _text(fs, concept)
    concepts = [identifier] if identifier else []
    found = (_text(concept, "cui") for concept in _elements(getattr(fs, "ontologyConceptArr", None)))
    concepts += dict.fromkeys(normalize_identifier(cui) for cui in found if cui)
    attributes = _attributes(fs, kind, concept)
    for value in _values(fs, kind) or [fs.type.name.rpartition(".")[2]]:
        yield Mention(value, [(fs.begin, fs.end)], concepts=concepts, attributes=attributes)


def _attributes(fs: Any, kind: str, concept: str) -> dict[str, Any]:
    """Return the features of an annotation that are attributes."""
    name = fs.type.name
    if name.startswith(_DKPRO):
        return {}
    found: dict[str, Any] = {}
    for feature in fs.type.all_features:
        value, known = getattr(fs, feature.name, None), not name.startswith(_CTAKES) or feature.name in _ASSERTED
        used = feature.name in ("begin", "end", kind, concept)
        if known and not used and isinstance(value, str | int | float) and value != "":
            found[feature.name.removesuffix("_")] = from_text(value) if isinstance(value, str) else value
    return found


def _values(fs: Any, name: str) -> list[str]:
    """Return the texts of a feature, which may hold several."""
    value = getattr(fs, name, None)
    listed = getattr(value, "elements", None)
    return [one for one in (listed if isinstance(listed, list) else [value]) if isinstance(one, str) and one]


def _text(fs: Any, name: str) -> str:
    return next(iter(_values(fs, name)), "")


def add_tokens(document: Document, annotations: list[Any], problems: list[Problem]) -> None:
    """Add tokens, sentences and columns; invalid ones are left out, with a warning."""
    tokens = sorted((fs for fs in annotations if fs.type.name == TOKEN), key=lambda fs: (fs.begin, fs.end))
    if not tokens:
        return
    words = Document(document.text, tokens=[(fs.begin, fs.end) for fs in tokens])
    if not _are_sound("tokens", words, problems):
        return
    document.tokens = words.tokens
    sentences = sorted((fs for fs in annotations if fs.type.name == SENTENCE), key=lambda fs: fs.begin)
    if sentences and words.tokens is not None:
        starts, ends = words.tokens[:, 0], words.tokens[:, 1]
        ranges = [(int(starts.searchsorted(fs.begin)), int(ends.searchsorted(fs.end, "right"))) for fs in sentences]
        divided = words.copy(sentences=[pair for pair in ranges if pair[0] < pair[1]])
        if _are_sound("sentences", divided, problems):
            document.sentences = divided.sentences
    for name, (_, feature, reference) in COLUMNS.items():
        values = [_text(getattr(token, reference, None), feature) for token in tokens]
        if any(values):
            document.columns[name] = values


def _are_sound(what: str, document: Document, problems: list[Problem]) -> bool:
    """Return whether a document has no errors, which are a warning about its tokens or sentences."""
    if wrong := find_errors(document):
        message = f"{what} that cannot be used ({wrong[0].place} {wrong[0].message}); they are not read"
        problems.append(Problem("warning", f"{what} not read", message))
    return not wrong


def write(documents: Iterable[Document], path: str | Path, force: bool = False) -> Losses:
    """Write a folder of XMI files with ``TypeSystem.xml``, or one file for a path that ends in ``.xmi``.

    The types of one file are in ``NAME.TypeSystem.xml`` next to it. A file in a folder is named after its document's
    ``id``; without one it is ``document-000001``.

    Raises:
        UsageError: standard output, or several documents for one file.
        DataError: a character that XML cannot hold, or two documents of one ``id``.
    """
    with extra("xmi", "an XMI file"):
        import cassis  # noqa: F401
    if str(path) == STDIO:
        raise UsageError("XMI is written with its types in a file beside it, not to standard output; name a file")
    losses, target = Losses(), Path(path)
    types = written_types()
    if target.suffix.lower() == ".xmi":
        with output_files([target, target.with_suffix(f".{TYPES_FILE}")], force=force) as (file, beside):
            several = f"{path} names one document, but there are several; name a folder, and --format xmi"
            file.write(_spelled(single(documents, target, several), types, target, losses))
            beside.write(types.to_xml())
        return losses
    with output_folder(
        target, force=force, may_replace=lambda old: old.suffix == ".xmi" or old.name == TYPES_FILE
    ) as folder:
        for number, document in enumerate(documents, start=1):
            name = free_name(folder, document, number, ".xmi", target, losses)
            put(folder / f"{name}.xmi", _spelled(document, types, target, losses), target)
        put(folder / TYPES_FILE, types.to_xml(), target)
    return losses


def _spelled(document: Document, types: Any, path: Path, losses: Losses) -> str:
    import cassis

    with writing_as("XML", document, path):
        cas = cassis.Cas(typesystem=types)
        cas.sofa_mime = "text/plain"
        cas.sofa_string = document.text
        if document.id:
            cas.add(types.get_type(METADATA)(begin=0, end=len(document.text), documentId=document.id))
        cas.add_all(_tokens(document, types))
        for mention in document.mentions:
            cas.add_all(_mention(mention, types))
        spelled: str = cas.to_xmi()
    losses.add("token columns", len(document.columns.keys() - COLUMNS.keys()))
    count_unwritten(losses, document)
    return spelled


def _tokens(document: Document, types: Any) -> Iterator[Any]:
    if document.tokens is None:
        return
    tokens = document.tokens.tolist()
    found = [types.get_type(TOKEN)(begin=start, end=end) for start, end in tokens]
    for name, (kind, feature, reference) in COLUMNS.items():
        for token, value in zip(found, document.columns.get(name, ()), strict=False):
            token[reference] = types.get_type(kind)(begin=token.begin, end=token.end, **{feature: value})
            yield token[reference]
    yield from found
    if document.sentences is not None:
        kind = types.get_type(SENTENCE)
        yield from (kind(begin=tokens[a][0], end=tokens[b - 1][1]) for a, b in document.sentences.tolist())


def _mention(mention: Mention, types: Any) -> Iterator[Any]:
    entity = types.get_type(ENTITY)
    concept = mention.concepts[0] if mention.concepts else None
    parts = [entity(begin=start, end=end, value=mention.type, identifier=concept) for start, end in mention.spans]
    yield from parts
    head = None
    if mention.head is not None:
        head = types.get_type(HEAD)(begin=mention.head.start, end=mention.head.end)
        yield head
    yield types.get_type(MENTION)(
        begin=mention.start, end=mention.end, value=mention.type, mentionId=mention.id, head=head,
        concepts=types.get_type(_STRINGS)(elements=list(mention.concepts)) if mention.concepts else None,
        score=None if mention.score is None else float(mention.score),
        parts=types.get_type(ARRAY)(elements=parts), attributes=_json(dict(mention.attributes)),
        attributeScores=_json(dict(mention.attribute_scores)), conceptScores=_json(list(mention.concept_scores)),
    )  # fmt: skip


def _json(value: Any) -> str | None:
    """Return JSON in ASCII, which XML holds whatever the value; ``None`` of an empty value."""
    return json.dumps(value) if value else None


def claims(path: Path) -> bool:
    """Return whether a path ends in ``.xmi``, or is XML of that kind."""
    return path.suffix.lower() == ".xmi" or begins_with(_MARK, ".xml", path)

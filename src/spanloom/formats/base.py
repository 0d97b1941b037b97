"""Base of all formats: a name, a way to recognize files, a scanner and a writer."""

from __future__ import annotations

import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from spanloom.document import Document, Mention
from spanloom.document.annotators import annotator_of
from spanloom.document.validate import Problem
from spanloom.errors import DataError, DataWarning, UsageError, clip
from spanloom.formats.source import bare, unreadable

# kinds of loss
DISCONTIGUOUS = "discontiguous mentions"  # in formats that have no place for gaps
TOUCHING = "spans that touch, or only white space parts, written as one"  # likewise
UNNAMED = "documents without an identifier (called document-000001 and so on)"
TWICE = "concepts that occur twice"
UNSTRIPPED = "concepts with white space at their ends"
OTHER_TEXT = "texts that differ outside the tokens"
LINE_ENDS = "line ends (a space stands for each)"
ATTRIBUTES, ATTRIBUTE_SCORES, CONCEPT_SCORES = "attributes", "scores of attributes", "scores of concepts"
# what is counted, but is no news: a user who chooses such a format does not expect it there
_DETAILS = frozenset(
    (
        "texts", "tokens", "sentences", "scores", ATTRIBUTE_SCORES, CONCEPT_SCORES, TOUCHING, OTHER_TEXT, LINE_ENDS,
        UNNAMED,
    )
)  # fmt: skip
_VERB = re.compile(r"\bthat (cut|differ|mean|occur|overlap|read)\b")  # in the plural


Key = TypeVar("Key")
Value = TypeVar("Value")
Surface = str | Sequence[str | None] | None
"""A file's own text of a mention, or that of each of its parts; ``None`` if it gives none."""


class Beside(NamedTuple):
    """Data on the mentions of a document that a file has in addition to their offsets.

    Args:
        surfaces: of each mention.
        source: what should give a text, such as ``"line"``; a missing text is then a warning. Empty if texts are
            optional.
        names: of each mention in messages; from `place_of` by default.
        within: the place of the document in the file, such as ``"records[3]"``, for messages.
    """

    surfaces: Sequence[Surface]
    source: str = ""
    names: Sequence[str] | None = None
    within: str = ""


DEFAULTS: ContextVar[dict[str, Any]] = ContextVar("options of read", default={})  # noqa: B039  # never changed
"""Options of `read` and `validate` that a program gives once for all of its inputs, as the command line does."""


class Scanned(NamedTuple):
    """A document of a file with its place, or the problems that kept it from being read, or both.

    Args:
        document: the document; ``None`` if it could not be read.
        problems: found while reading; if one is an error, ``document`` must not be used.
        path: the file.
        line: the first line of the document, from 1; ``None`` where the file is the document.
        mention_places: file and line of each mention, where mentions have lines of their own.
        beside: for mentions with offsets as in the file, which `spanloom.formats.settling` converts, repairs and
            checks, with all else of the document; ``None`` if the reader has checked it.
    """

    document: Document | None
    problems: list[Problem]
    path: str
    line: int | None = None
    mention_places: list[tuple[str, int]] | None = None
    beside: Beside | None = None

    @classmethod
    def failed(cls, kind: str, message: str, path: str, line: int | None = None, place: str = "") -> Scanned:
        """Return the record of what an error kept from being read."""
        return cls(None, [Problem("error", kind, message, place, path=path, line=line)], path, line)

    @classmethod
    def altered(cls, kind: str, message: str, path: str, line: int | None = None) -> Scanned:
        """Return a warning on a file of which something was changed or left out."""
        return cls(None, [altered(kind, message, line, path)], path, line)

    def place_of(self, mention: int | None) -> tuple[str | None, int | None]:
        """Return the file and the line of a mention, or of the document."""
        if mention is None or self.mention_places is None:
            return self.path or None, self.line
        return self.mention_places[mention]


def no_document(path: str, expected: str) -> Scanned:
    """Return the record of a file without documents, with a warning."""
    return Scanned.failed("empty file", f"the file holds no document; expected {expected}", path)


def altered(kind: str, message: str, line: int | None = None, path: str | None = None, place: str = "") -> Problem:
    """Return the warning for something that a reader changed or left out."""
    return Problem("warning", kind, message, place, path=path, line=line, altered=True)


@dataclass(slots=True)
class Losses:
    """Losses of a writer, counted by kind.

    As a text, and as a truth value, they are those of annotation: mentions, gaps, concepts, identifiers, columns, meta.
    What is not expected in such a format, such as tokens in a table of mentions, is in ``counts`` only.

    >>> losses = Losses()
    >>> losses.add("discontiguous mentions", 3)
    >>> losses.add("mentions that cut a token")
    >>> losses.add("tokens", 12)
    >>> str(losses), bool(losses), losses.counts["tokens"]
    ('not written: 3 discontiguous mentions, 1 mention that cuts a token', True, 12)
    >>> losses.counts.clear()
    >>> losses.add("scores", 3)
    >>> str(losses), bool(losses)
    ('nothing was lost', False)
    """

    counts: Counter[str] = field(default_factory=Counter)
    annotators: dict[str, str] = field(default_factory=dict, repr=False, compare=False)
    """Identifier or text of a document -> its annotator, where a format has no place for that."""

    def add(self, kind: str, count: int = 1) -> None:
        """Count a loss; a count of 0 is ignored."""
        if count:
            self.counts[kind] += count

    def __bool__(self) -> bool:
        return not self.counts.keys() <= _DETAILS

    def __str__(self) -> str:
        counted = {kind: count for kind, count in self.counts.items() if kind not in _DETAILS}
        parts = (f"1 {_singular(kind)}" if count == 1 else f"{count:,} {kind}" for kind, count in counted.items())
        return f"not written: {', '.join(parts)}" if counted else "nothing was lost"


def _singular(kind: str) -> str:
    """Return the name of one loss.

    >>> _singular("concepts that occur twice"), _singular("mentions across sentences")
    ('concept that occurs twice', 'mention across sentences')
    """
    one = _VERB.sub(r"that \1s", re.sub(r"(?<!ou)s\b", "", kind, count=1))
    return one.replace(" that are ", " that is ").replace(" at their ", " at its ")


Scan = Callable[..., Iterator[Scanned]]
Write = Callable[..., Losses]


class Format(NamedTuple):
    """A file format.

    Args:
        name: name in ``--format``.
        suffixes: the file names it reads and writes.
        scan: ``scan(path, **options)`` yields the documents of a file, folder or ``-``, with their problems. It raises
            only errors that make the whole input unreadable.
        write: ``write(documents, path, force, **options)`` returns the losses; ``None`` for a format that is only read.
        claims: function that returns whether an existing path has this format, for ambiguous suffixes.
        gaps: whether it can represent discontiguous mentions.
        folders: whether a folder is one input, as in brat, instead of each of its files.
        keeps_ids: whether identifiers of mentions are written unchanged, so that they must be unique.
        reads_without_mentions: whether ``scan`` accepts ``mentions=False`` to skip mentions.
        named_by_file: whether documents may be named after their file; ``scan`` then accepts ``stem``, the file's name
            in a folder.
        texts_beside: whether the texts may be in other files; ``scan`` then accepts their records as ``texts``.
        counts: whether its files hold offsets in characters; ``offsets`` then sets how they are counted.
        encoded: whether its files are text; ``encoding`` then sets their encoding.
        packs: whether its files may be compressed by gzip, with ``.gz`` after their suffix.
        scan_options: names of the options of ``scan``.
        write_options: names of the options of ``write``.
        instead: what to write instead of a format that is only read.
    """

    name: str
    suffixes: tuple[str, ...]
    scan: Scan
    write: Write | None
    claims: Callable[[Path], bool] | None = None
    gaps: bool = False
    folders: bool = False
    keeps_ids: bool = False
    reads_without_mentions: bool = False
    named_by_file: bool = False
    texts_beside: bool = False
    counts: bool = False
    encoded: bool = True
    packs: bool = True
    scan_options: tuple[str, ...] = ()
    write_options: tuple[str, ...] = ()
    instead: str = ""

    def knows(self, path: Path) -> bool:
        """Return whether a path's name, its content, or the files beside it, are of this format.

        Raises:
            DataError: the file cannot be read.
        """
        try:
            return self.named(path) if self.claims is None else self.claims(path)
        except OSError as error:
            raise unreadable(path, error) from error

    def named(self, path: Path) -> bool:
        """Return whether a path ends in a suffix of this format, with ``.gz`` behind it where that may be."""
        return (bare(path) if self.packs else path).suffix.lower() in self.suffixes


NOTES = "notes"
"""The field of ``meta`` with notes on mentions, as the page of `spanloom annotate` exports them."""


def notes_of(meta: Mapping[str, Any]) -> dict[str, str]:
    """Return the notes on mentions in ``meta["notes"]``, by `place_of` of the mention; other entries are left out.

    >>> notes_of({"notes": [{"type": "problem", "spans": [[0, 4], [9, 12]], "note": "unsure"}, "seen twice"]})
    {'problem|0-4;9-12': 'unsure'}
    """
    given = meta.get(NOTES)
    pairs = ((noted_place(one), one) for one in (given if isinstance(given, list) else ()))
    return {place: str(one["note"]) for place, one in pairs if place}


def noted_place(entry: Any) -> str:
    """Return `place_of` the mention that an entry of ``meta["notes"]`` is about; empty for any other entry."""
    with suppress(KeyError, TypeError, ValueError):
        return place_of(entry["type"], entry["spans"]) if "note" in entry else ""
    return ""


def place_of(type: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return a mention's type and spans as one text.

    >>> place_of("problem", [(0, 3), (7, 9)])
    'problem|0-3;7-9'
    """
    return f"{type}|{';'.join(f'{start}-{end}' for start, end in spans)}"


def count_unwritten(
    losses: Losses, document: Document, *kinds: str, held: Sequence[str] = (), inside: Iterable[str] = ()
) -> None:
    """Count the parts of a document that a format has no place for, its sections and fields of ``meta`` among them.

    Args:
        losses: to add to.
        document: the document to be written.
        kinds: of ``"document identifiers"``, ``"tokens"``, ``"sentences"``, ``"token columns"`` and ``"mentions"``.
        held: the fields of ``meta`` that the format holds.
        inside: of the first of them, if it is an object, the fields that the format holds.

    Raises:
        DataError: another annotator's version of the document was written before; readers could not distinguish them.
    """
    annotator, name = annotator_of(document), document.id or document.text
    if annotator is not None and losses.annotators.setdefault(name, annotator) != annotator:
        raise repeated_name(document, name)
    parts = {
        "document identifiers": int(bool(document.id)),
        "tokens": document.token_count,
        "sentences": document.sentence_count,
        "token columns": len(document.columns),
        "mentions": len(document.mentions),
    }
    for kind in kinds:
        losses.add(kind, parts[kind])
    losses.add("sections", len(document.sections))
    losses.add("meta fields", len(document.meta.keys() - set(held)))
    own = document.meta.get(held[0]) if inside else None
    if isinstance(own, dict):
        losses.add(f"fields of meta.{held[0]}", len(own.keys() - set(inside)))


def count_mention(losses: Losses, mention: Mention, *kinds: str) -> None:
    """Count the parts of a mention that a format has no place for.

    Args:
        losses: to add to.
        mention: the mention to be written.
        kinds: of `TOUCHING`, ``"heads"``, ``"concepts"``, ``"scores"``, ``"mention identifiers"``, `ATTRIBUTES`,
            `ATTRIBUTE_SCORES` and `CONCEPT_SCORES`, in the order in which they are reported.
    """
    for kind in kinds:
        losses.add(kind, int(_OF_MENTION[kind](mention)))


_OF_MENTION: dict[str, Callable[[Mention], int]] = {
    TOUCHING: lambda mention: len(mention.spans) > 1,
    "heads": lambda mention: mention.head is not None,
    "concepts": lambda mention: len(mention.concepts),
    "scores": lambda mention: mention.score is not None,
    "mention identifiers": lambda mention: mention.id is not None,
    ATTRIBUTES: lambda mention: len(mention.attributes),
    ATTRIBUTE_SCORES: lambda mention: len(mention.attribute_scores),
    CONCEPT_SCORES: lambda mention: len(mention.concept_scores),
}


def count_attributes(losses: Losses, mention: Mention) -> None:
    """Count the attributes of a mention and all of their and the concepts' probabilities, as for a format of none."""
    if mention.attributes or mention.concept_scores:
        count_mention(losses, mention, ATTRIBUTES, ATTRIBUTE_SCORES, CONCEPT_SCORES)


def by_key(pairs: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    """Return the values of each key, in the order of both.

    >>> by_key([("T1", "a"), ("T2", "b"), ("T1", "c")])
    {'T1': ['a', 'c'], 'T2': ['b']}
    """
    found: dict[Key, list[Value]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


def single(documents: Iterable[Document], path: str | Path, several: str) -> Document:
    """Return the only document of an output; `several` is the message for more."""
    if not (found := list(islice(documents, 2))):
        raise DataError("there is no document to write", path=path)
    if len(found) > 1:
        raise UsageError(several)
    return found[0]


def name_of(document: Document, number: int) -> str:
    """Return the identifier of a document, or a name made of its number, from 1."""
    return document.id or f"document-{number:06d}"


def repeated_name(document: Document, name: str, path: str | Path | None = None) -> DataError:
    """Return the error for a document whose name an earlier one has, in a format that holds one of each name."""
    if annotator_of(document) is None:
        return DataError(f"two documents are called {clip(name)}; give each an identifier of its own", path=path)
    why = f"several annotators have marked document {clip(name)}, and this format holds one version of it; choose one,"
    how = "as spanloom annotate STORE --export with --layer NAME does, or write JSONL, which holds all"
    return DataError(f"{why} {how}", path=path)


def unwritable(document: Document, why: str, path: str | Path | None = None) -> DataError:
    """Return the error for a document that a format cannot represent; `why` follows the document's name."""
    return DataError(f"document {clip(document.id)}{why}", path=path)


@contextmanager
def writing_as(kind: str, document: Document, path: str | Path) -> Iterator[None]:
    """Turn errors of an encoder (JSON or XML, the `kind`) into a `DataError` that names the document."""
    try:
        yield
    except (TypeError, ValueError, RecursionError) as error:  # lxml, too, raises these
        remedy = "; remove the characters" if kind == "XML" else ""
        raise unwritable(document, f" cannot be written as {kind}: {error}{remedy}", path) from error


# Notices of a reader: data that it changed or left out, counted by kind and reported once, at the end.
#
# A reader reports each as a `Problem` whose ``altered`` is true: fragments that were sorted, a word that the
# text does not show, a file of no known format. `spanloom.formats.validate` lists them all; `read` reports
# the first of each kind and their number.

Notice = Callable[[str], None]


@dataclass(slots=True)
class _Kind:
    """Problems of one kind: the first, their number, and the number of files."""

    first: Problem
    count: int = 0
    files: set[str | None] = field(default_factory=set)


@dataclass(slots=True)
class Notices:
    """Problems by kind; those that are not ``altered`` are ignored.

    >>> notices = Notices()
    >>> repaired = Problem("warning", "order", "the fragments were sorted", "mention T1", path="a.ann", altered=True)
    >>> notices.add([repaired, repaired, Problem("warning", "odd", "is odd", path="a.ann")])
    >>> list(notices.lines())
    ['a.ann: mention T1: the fragments were sorted (2 such; spanloom validate lists them)']
    """

    kinds: dict[str, _Kind] = field(default_factory=dict)

    def add(self, problems: Iterable[Problem]) -> None:
        """Count data that were changed."""
        for problem in problems:
            if problem.altered:
                self._count(problem.kind, problem)

    def leave_out(self, problem: Problem) -> None:
        """Count a record that was left out because of an error."""
        self._count("", problem)

    def _count(self, name: str, problem: Problem) -> None:
        kind = self.kinds.setdefault(name, _Kind(problem))
        kind.count += 1
        kind.files.add(problem.path)

    def lines(self) -> Iterator[str]:
        """Yield one line for each kind."""
        for name, kind in self.kinds.items():
            line = ("" if name else "left out: ") + str(kind.first.to_error())
            if kind.count > 1:
                files = f" in {len(kind.files):,} files" if len(kind.files) > 1 else ""
                line += f" ({kind.count:,} such{files}; spanloom validate lists them)"
            yield line

    def report(self, notice: Notice | None) -> None:
        """Pass each line to ``notice``; without one, issue a `DataWarning`."""
        for line in self.lines():
            if notice is not None:
                notice(line)
            elif not sys.is_finalizing():  # an unfinished reader may end with the interpreter
                warnings.warn(line, DataWarning, stacklevel=3)


def accepted(
    scans: Iterable[Scanned], notices: Notices, leave_out: Callable[[Problem], None] | None = None
) -> Iterator[Document]:
    """Yield the documents of records, and count in `notices` what was changed.

    Args:
        scans: checked records.
        notices: to add to.
        leave_out: takes the first error of a record, which is left out; without it, the error is raised.
    """
    for scanned in scans:
        if (error := next((problem for problem in scanned.problems if problem.severity == "error"), None)) is not None:
            if leave_out is None:
                raise error.to_error()
            leave_out(error)
            continue
        notices.add(scanned.problems)
        if scanned.document is not None:
            yield scanned.document

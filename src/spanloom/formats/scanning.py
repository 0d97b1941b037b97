"""The format of each input, and its records, checked and repaired.

`spanloom.formats.listed` lists all formats.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, Final

from spanloom.document.counting import AUTO, Counting, counting_of
from spanloom.document.validate import Problem
from spanloom.errors import DataError, UsageError, clip, meant
from spanloom.files import STDIO
from spanloom.files.staging import leftover, leftovers
from spanloom.files.walk import meant_path
from spanloom.formats.base import DEFAULTS, Format, Scanned
from spanloom.formats.file_names import files_of, interrupted, not_read, stem_in
from spanloom.formats.listed import COLUMNS, CSV, FORMATS, JSON, TEXT, TSV
from spanloom.formats.looks import advice, of_content
from spanloom.formats.record_fields import Columns
from spanloom.formats.settling import settled
from spanloom.formats.source import BOM, HEAD, checked_encoding, decoded, decoding, head_of_input, opened

_LONGEST: Final = 255  # characters of a file's name
_NO_TEXTS: Final = (".md", ".yml", ".yaml")  # endings of files whose text has markup of its own
_SHOWN: Final = 60  # of one that is longer, and so a text

# How content begins whose format is certain, so that standard input needs no option. Each pattern asks for more than
# plain text begins with. The first that matches counts; some need a look behind a first line that others share.
_BEGINNINGS: Final = (
    ("bioc-json", rb'\{\s*"(?:(?!"text"\s*:)[^\[])*"(?:documents|PubTator3)"\s*:\s*\['),
    ("jsonl", rb'\{[ \t]*"[^"\n]*"[ \t]*:[^\n]*(?:\}[ \t\r]*\n|\Z)'),
    ("json", rb'\{\s*"[^"\n]*"\s*:'),
    ("label-studio", rb'\[\s*\{(?:(?!"text"\s*:)[^\[{])*"(?:data|annotations|predictions)"\s*:\s*[\[{]'),
    ("json", rb'\[\s*(?:\[\s*["\[]|\{\s*"[^"\n]*"\s*:|\]\s*\Z)'),
    ("xmi", rb"<(?:\?xml[^>]*>\s*<)?xmi:XMI\s"),
    ("bioc", rb"(?:<[?!][^>]*>\s*)*<collection[\s>]"),
    ("webanno", rb"#FORMAT=WebAnno TSV 3\."),
    ("pubtator", rb"[^\s|]+\|[ta]\|"),
    ("conllu", rb"(?:#[^\n]*\n)*1(?:-\d+)?\t(?:[^\t\n]*\t){8}"),
    ("parquet", rb"PAR1"),
    ("arrow", rb"ARROW1"),
)  # fmt: skip


def format_of(head: bytes) -> str | None:
    r"""Return the name of the format whose content begins so; ``None`` if it may be text.

    >>> format_of(b'{"text": "No pain"}\n'), format_of(b"No pain.\n")
    ('jsonl', None)
    """
    if found := [name for name, beginning in _BEGINNINGS if re.match(rb"\s*" + beginning, head)]:
        return found[0]
    text = head.decode("utf-8", "replace")
    if text.lstrip().startswith("<") and resolve_name("spanloom.formats.looks:shows_elements")(text):
        return "markup"
    return COLUMNS.name if resolve_name("spanloom.formats.columns:holds_tokens")(head) else None


def format_of_input() -> str | None:
    """Return the name of the format that standard input begins with, which stays unread; ``None`` if it may be text."""
    return format_of(head_of_input())


def format_named(name: str, writes: bool = False) -> Format:
    """Return the format of this name.

    Args:
        name: of the format.
        writes: whether to list only formats that are written.

    Raises:
        UsageError: no format has this name.
    """
    if name not in FORMATS:
        known = [kind.name for kind in _listed(writes)]
        raise UsageError(f"found the format {name!r}, expected one of: {', '.join(known)}{meant(name, known)}")
    return FORMATS[name]


def format_by_suffix(path: Path, writes: bool = False) -> Format:
    """Return the format of a path's name.

    Args:
        path: of a file or folder.
        writes: whether to list only formats that are written.

    Raises:
        UsageError: it has none.
    """
    if (kind := next((kind for kind in FORMATS.values() if kind.named(path)), None)) is None or str(path) == STDIO:
        raise _unknown(path, writes=writes)
    return kind


def _listed(writes: bool) -> list[Format]:
    return [kind for kind in FORMATS.values() if kind.write is not None or not writes]


def _known(path: Path, columns: Columns) -> Format:
    """Return the format of an existing file; a format known by the suffix alone reports wrong content itself."""
    named = isinstance(columns, Mapping) or any("=" in name for name in columns or ())
    kinds = [kind for kind in FORMATS.values() if kind.named(path)]
    if not path.is_file() and len(kinds) != 1 and (kinds or named or not columns):
        message = "is a pipe, which can be read only once, and its name does not determine the format; name it"
        raise UsageError(f"{path} {message} (--input-format), or redirect it to standard input (- < {path})")
    found = next((kind for kind in FORMATS.values() if kind.knows(path)), None)
    if found in (None, TEXT) and columns and not named:
        return COLUMNS
    if found is None and named:
        found = next((kind for kind in (CSV, TSV, JSON) if kind.named(path)), None)  # what the content does not show
    if found is None and (hint := advice(path)) is not None:
        raise UsageError(f"{path} is not read: {hint}")
    if found is None and not kinds:
        with opened(path) as file:  # the name does not determine the format; the content may
            head = file.read(HEAD).removeprefix(BOM)
        text = head.decode("utf-8", "replace")
        marked = path.suffix not in _NO_TEXTS and resolve_name("spanloom.formats.inline_marks:shows_marks")(text)
        found = FORMATS.get(format_of(head) or ("markup" if marked else ""))
        if found is None and (hint := resolve_name("spanloom.formats.looks:looks_like")(text)) is not None:
            raise UsageError(f"the name {path} does not determine the format; the file looks like {hint}")
        if found is None:
            raise _unknown(path, head)
    return found or (JSON if JSON.named(path) else format_by_suffix(path))


def _unknown(path: Path, head: bytes = b"", writes: bool = False) -> UsageError:
    listed = _listed(writes)
    if str(path) == STDIO:
        names = ", ".join(kind.name for kind in listed)
        return UsageError(f"the format of - is not clear; name it (--input-format, --format): {names}")
    known = ", ".join(f"{' '.join(kind.suffixes)} ({kind.name})" for kind in listed)
    message = f"the name {path} does not determine the format; name the format, or a file that ends in one of: {known}"
    line = next(filter(None, map(bytes.strip, head.splitlines())), b"")
    shown = f"; this one begins with {clip(line.decode('utf-8', 'replace'), _SHOWN)}" if line else ""
    return UsageError(message + shown)


def _of_input(root: Path) -> Format:
    """Return the format that standard input begins with."""
    if (found := format_of_input()) is not None:
        return FORMATS[found]
    if not (head := head_of_input()):
        raise DataError("standard input is empty, expected documents")
    hint = of_content(head)
    raise _unknown(root) if hint is None else DataError(f"standard input is not read: {hint}")


def check_options(kind: Format, options: dict[str, Any], known: tuple[str, ...]) -> None:
    """Check the names of a format's options.

    Raises:
        UsageError: an option that it does not have.
    """
    if (unknown := next((name for name in options if name not in known), None)) is not None:
        raise UsageError(f"the format {kind.name} has no option {unknown!r}; it has: {', '.join(known) or 'none'}")


def scan_input(path: str | Path, name: str | None, options: dict[str, Any], mentions: bool) -> Iterator[Scanned]:
    """Choose the format now; open the file for the first document."""
    check_there(path)
    root = Path(path)
    options = DEFAULTS.get() | options
    if isinstance(options.get("columns"), str):
        options["columns"] = [name.strip() for name in options["columns"].split(",")]
    columns = options.get("columns")
    names = [*columns, *columns.values()] if isinstance(columns, Mapping) else columns
    sound = isinstance(names, list | tuple) and all(isinstance(one, str) and one for one in names)
    if columns is not None and not sound:
        expected = "names of columns, such as 'word,pos,tag', or a mapping, such as {'text': 'note'}"
        raise UsageError(f"columns is {clip(repr(columns))}, expected {expected}")
    counting = counting_of(options.pop("offsets", AUTO))
    encoding = checked_encoding(options.pop("encoding", None))
    kind = None if name is None else format_named(name)
    inputs: Sequence[tuple[Format, str | Path]]
    others: list[Path] = []
    with decoding(encoding):
        if str(path) == STDIO:
            inputs = [(kind or _of_input(root), path)]
        elif root.is_dir():
            inputs, others = files_of(root, kind, FORMATS.values())
        else:
            inputs = [(kind or _known(root, columns), path)]
    for one, _ in inputs:
        check_options(one, options, one.scan_options)
        if counting is not None and not one.counts:
            raise UsageError(f"the format {one.name} has no offsets; leave out offsets (--offsets)")
        if encoding is not None and not one.encoded:
            raise UsageError(f"the format {one.name} is in no encoding of text; leave out encoding (--encoding)")
    scans = (_scanned(one, root, file, options, encoding, counting, mentions) for one, file in inputs)
    left = [] if str(path) == STDIO else leftovers(root)
    return chain(interrupted(left), not_read(others), chain.from_iterable(scans))


def _scanned(
    kind: Format, root: Path, file: str | Path, options: dict[str, Any], encoding: str | None,
    counting: Counting | None, mentions: bool,
) -> Iterator[Scanned]:  # fmt: skip
    """Yield the records of one input."""
    if options.get("texts") is not None:
        options = options | {"texts": scan_input(options["texts"], None, {"encoding": encoding}, mentions=False)}
    if kind.named_by_file and isinstance(file, Path) and file != root:
        options = options | {"stem": stem_in(root, file)}
    if kind.reads_without_mentions and not mentions:
        options = options | {"mentions": False}
    yield from settled(_readable(decoded(kind.scan(file, **options), encoding), str(file)), counting, mentions)


def _readable(scan: Iterator[Scanned], path: str) -> Iterator[Scanned]:
    """Yield the records of a scan; an error that ends it, as of a damaged file, becomes its last record.

    An error of the system is no invalid record, and is raised.
    """
    try:
        yield from scan
    except DataError as error:
        if isinstance(error.__cause__, OSError):
            raise
        problem = Problem("error", "unreadable", error.message, path=error.path or path, line=error.line)
        yield Scanned(None, [problem], path, error.line)


def _missing(path: Path) -> DataError:
    """Return the error for a file that is not there, which may be a text in its place."""
    message, name = "there is no such file or folder", path.name
    for part in leftovers(path):
        message += f", but {part} is there, {leftover(part)}"
    if " " in name.strip() and (not path.suffix or " " in path.suffix):  # as a text is, and hardly a file
        message += "; spanloom predict and others take a text itself from standard input, as -, "
        message += "and Python as Document(text)"
    else:
        message += meant_path(path)
    return DataError(message, path=path if len(name) <= _LONGEST else f"{name[:_SHOWN]}…")


def check_there(path: str | Path) -> None:
    """Check that an input is there, or is standard input.

    Raises:
        DataError: there is no such file or folder.
        UsageError: the name is empty.
    """
    if path == "":  # as a variable of a shell that is not set; it would be the folder that one is in
        raise UsageError("the name of an input is empty, expected a file or a folder")
    try:
        there = str(path) == STDIO or Path(path).exists()
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        there = False
    if not there:
        raise _missing(Path(path))

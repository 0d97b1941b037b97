"""Folders as input: the format of each file, and advice about others, by suffix or beginning."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final

from spanloom.document.validate import Problem
from spanloom.errors import UsageError
from spanloom.formats.base import Format, Scanned
from spanloom.formats.file_names import visible
from spanloom.formats.source import BOM, HEAD, opened

# what stands beside data and is none
_BESIDE = re.compile(
    r"(?:readme|licen[cs]e|changelog|.*TypeSystem\.xml$|.*\.(?:md|rst|conf|cfg|ini|toml|ya?ml|py|sh|log|sha256|md5)$)",
    re.IGNORECASE,
)
_TEXT = "it holds more than text; extract the text first (pdftotext, pandoc), one .txt file for each document"
_TABLE = "a workbook; export its sheets as .csv, with columns id and text, or doc_id, start, end and type of mentions"
_UNNAMED = "a table whose columns do not say what they are; name them, with the format {}: --columns text=NAME,id=NAME"
_SPACY = "hand its documents to spanloom.integrations.spacy.to_document"
_PACKED = "it is packed; unpack it first"
_BY_ENDING: Final = MappingProxyType(
    {
        **dict.fromkeys((".pdf", ".docx", ".doc", ".odt", ".rtf", ".html", ".htm", ".epub", ".pptx", ".tex"), _TEXT),
        **dict.fromkeys((".xlsx", ".xls", ".ods"), _TABLE),
        ".csv": _UNNAMED.format("csv"),
        **dict.fromkeys((".zip", ".gz", ".tgz", ".tar", ".bz2", ".xz", ".7z", ".zst"), _PACKED),
        ".tsv": f"{_UNNAMED.format('tsv')}; of a column file, name the format conll",
        ".hl7": "HL7 messages; extract the text of the notes first (OBX-5), one .txt file for each",
        ".spacy": f"spaCy's DocBin; load it with spaCy, and {_SPACY}",
    }
)
# what shows near the begin of JSON of a kind -> what it is, and what to do; the first that shows counts
_BY_CONTENT: Final = (
    (
        rb'"resourceType"\s*:',
        "FHIR; take the texts of the notes out of it (presentedForm, content: base64), one .txt file for each",
    ),
    (
        rb'\A\s*\[\s*\{(?:.|\n){0,400}?"paragraphs"\s*:\s*\[',
        f"training data of spaCy 2; convert them with spaCy (spacy convert), and {_SPACY}",
    ),
    (
        rb'"(?:annotation_id|lead_time|annotator)"\s*:',
        "Label Studio's JSON-MIN; export the tasks as JSON, which says what is marked where",
    ),
    (
        rb"\A\s*\[\s*\{",
        "a JSON array of records; put one record on each line, in a .jsonl file (jq -c '.[]' IN > OUT.jsonl)",
    ),
    (
        rb'\A\s*\{(?:.|\n)*?"(?:text|mentions|entities|spans)"\s*:',
        "one JSON record; put it on one line, in a .jsonl file (jq -c . IN > OUT.jsonl)",
    ),
)
_KINDS: Final = tuple((re.compile(mark), advice) for mark, advice in _BY_CONTENT)


def files_of(root: Path, kind: Format | None, kinds: Iterable[Format]) -> tuple[list[tuple[Format, Path]], list[Path]]:
    """Return the inputs of a folder, each with its format, and the files that are no input.

    Args:
        root: the folder.
        kind: the format of all of them, if the user named one.
        kinds: formats to choose from otherwise.

    Raises:
        UsageError: there is nothing to read.
    """
    files = [file for file in visible(root) if file.is_file()]
    data = [file for file in files if not _BESIDE.match(file.name)]
    choices = list(kinds) if kind is None else [kind]
    whole = next((other for other in choices if other.folders and (other is kind or other.knows(root))), None)
    if whole is not None:
        return [(whole, root)], [file for file in data if file.suffix not in (".txt", *whole.suffixes)]
    known = ((next((other for other in choices if other.knows(file)), None), file) for file in files)
    inputs = [(other, file) for other, file in known if other is not None]
    if kind is not None and not inputs:
        inputs = [(kind, file) for file in _of_one_ending(root, data, kind)]
    if not inputs:
        raise UsageError(f"the folder {root} holds no file that ends in one of: {_endings(choices)}")
    taken = {file for _, file in inputs}
    return inputs, [file for file in data if file not in taken]


def _of_one_ending(root: Path, files: Sequence[Path], kind: Format) -> Sequence[Path]:
    """Return the files of a folder that lack the suffix of the format named by the user, if all have one suffix."""
    endings = sorted({file.suffix for file in files})
    if len(endings) > 1:
        message = (
            f"the folder {root} holds files that end in {', '.join(endings)}, and none in {_endings([kind])}; "
            "name the file to read"
        )
        raise UsageError(message)
    return files


def _endings(kinds: Sequence[Format]) -> str:
    return ", ".join(suffix for kind in kinds for suffix in kind.suffixes)


def stem_in(root: Path, file: Path) -> str:
    """Return a file's name in its folder: the subfolders, and its name without suffix."""
    return file.relative_to(root).with_suffix("").as_posix()


def not_read(files: Iterable[Path]) -> Iterator[Scanned]:
    """Yield warnings for files that are no input."""
    for file in files:
        hint = advice(file) or "the name tells no format that is known; name the file alone, with its format"
        message = f"not read: {hint}"
        yield Scanned(None, [Problem("warning", "files not read", message, path=str(file), altered=True)], str(file))


def advice(path: Path) -> str | None:
    """Return what an unrecognized file looks like, and what to do with it; ``None`` if unknown.

    Raises:
        DataError: the file cannot be read.

    >>> advice(Path("note.pdf"))
    'it holds more than text; extract the text first (pdftotext, pandoc), one .txt file for each document'
    """
    ending = path.suffix.lower()
    if ending != ".json":
        return _BY_ENDING.get(ending)
    with opened(path) as file:
        head = file.read(HEAD).removeprefix(BOM)
    return next((advice for mark, advice in _KINDS if mark.search(head)), None)

"""Files that are not read, and what to do with them instead: told by their endings, or by how their JSON begins."""

from __future__ import annotations

import re
from pathlib import Path
from types import MappingProxyType
from typing import Final

from spanloom.formats.source import BOM, HEAD, opened

_TEXT = "it holds more than text; extract the text first (pdftotext, pandoc), one .txt file for each document"
_TABLE = 'a table; write its texts as .jsonl, one {"id": ..., "text": ...} a line, or as .parquet, columns id and text'
_SPACY = "hand its documents to spanloom.integrations.spacy.to_document"
_PACKED = "it is packed; unpack it first"
_BY_ENDING: Final = MappingProxyType(
    {
        **dict.fromkeys((".pdf", ".docx", ".doc", ".odt", ".rtf", ".html", ".htm", ".epub", ".pptx", ".tex"), _TEXT),
        **dict.fromkeys((".csv", ".xlsx", ".xls", ".ods"), _TABLE),
        **dict.fromkeys((".zip", ".gz", ".tgz", ".tar", ".bz2", ".xz", ".7z", ".zst"), _PACKED),
        ".tsv": "a table, or a column file; of a column file, name the format conll; of a table, write texts as .jsonl",
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


def advice(path: Path) -> str | None:
    """What a file that no format claims looks like, and what to do with it; ``None`` if that is not known.

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

"""Files that are not read: what they are, by their endings or contents, and which tool gets the text out."""

from __future__ import annotations

import codecs
import re
from pathlib import Path
from types import MappingProxyType
from typing import Final

from spanloom.errors import DataError, clip
from spanloom.formats.looks import looks_like
from spanloom.formats.source import BOM, HEAD, bare, opened
from spanloom.text.patterns import pattern

_EACH = "one .txt file for each document"
_PDF = f"a PDF; get the text out first (pdftotext IN.pdf OUT.txt), {_EACH}"
_WORD = f"a document with more than text; get the text out first (pandoc --to plain IN --output OUT.txt), {_EACH}"
_OLD_WORD = f"an old document of Word; get the text out first (soffice --convert-to txt:Text IN), {_EACH}"
_SLIDES = f"slides; export them as PDF and get the text out first (pdftotext IN.pdf OUT.txt), {_EACH}"
_WORKBOOK = (
    "a workbook; save its sheet as .csv (soffice --convert-to csv IN), with columns id and text, or doc_id, start, end "
    "and type of mentions"
)
_OFFICE = f"a file of an office program; get the text out first (soffice --convert-to txt:Text IN), {_EACH}"
_HL7 = f"HL7 messages; get the texts of the notes out first (field OBX-5, with hl7apy or Mirth), {_EACH}"
FHIR: Final = (
    f"FHIR; get the texts of the notes out first (presentedForm or content: jq, then base64 --decode), {_EACH}"
)
"""Of files, and of records of a file of JSON lines."""
_FHIR_XML = f"FHIR in XML; get the texts of the notes out first (xmllint --xpath, then base64 --decode), {_EACH}"
_CDA = f"a clinical document (CDA) in XML; get the text out of its sections first (xmllint --xpath), {_EACH}"
_UNNAMED = (
    "a table with columns of unknown meaning; name them: --columns text=NAME,id=NAME, for a folder of tables "
    "with --input-format {}"
)
_OF_I2B2 = (
    "{} of i2b2; only concepts are read: name the folder with the .con files, and the .txt files beside them or in a "
    "folder beside it"
)
_PYTHON = (
    "a program; annotated texts in it are read if the file is named alone and holds them as one list without calls, as "
    'TRAIN_DATA = [("TEXT", {"entities": [(START, END, "TYPE")]})]'
)
_BESIDE = "{}, whose texts are in other files; write both as JSON lines: text, and entities with start, end and type"
_BY_TOKEN = "{} in XML, whose mentions refer to its tokens; convert it to {}, and read that"
_RDF = (
    "RDF, whose annotation (NIF) is not read; write it as JSON lines: text (nif:isString), and entities with start, "
    "end and type (nif:beginIndex, nif:endIndex and the class of each)"
)
_TREC = f"documents of TREC, without annotation; get the texts out first, {_EACH}"
_PACKED = "it is packed; unpack it first"
_PACKED_LINES = "packed JSON lines; give it a name that ends in .jsonl.gz, or name its format (--input-format jsonl)"
_BY_ENDING: Final = MappingProxyType(
    {
        ".pdf": _PDF,
        ".doc": _OLD_WORD,
        **dict.fromkeys((".docx", ".odt", ".rtf", ".html", ".htm", ".epub", ".tex"), _WORD),
        **dict.fromkeys((".pptx", ".ppt", ".odp"), _SLIDES),
        **dict.fromkeys((".xlsx", ".xls", ".ods"), _WORKBOOK),
        **dict.fromkeys((".hl7", ".hl7v2"), _HL7),
        **dict.fromkeys((".zip", ".gz", ".tgz", ".tar", ".bz2", ".xz", ".7z", ".zst"), _PACKED),
        ".ast": _OF_I2B2.format("assertions"),
        ".rel": _OF_I2B2.format("relations"),
        ".chains": _OF_I2B2.format("chains of coreference"),
        ".py": _PYTHON,
        **dict.fromkeys((".ttl", ".rdf", ".nt", ".n3", ".nq", ".trig", ".jsonld", ".owl"), _RDF),
        ".csv": _UNNAMED.format("csv"),
        ".tsv": f"{_UNNAMED.format('tsv')}; of a column file, name the format conll",
    }
)
# how files begin, whatever their name
_BY_MAGIC: Final = (
    (rb"%PDF-", _PDF),
    (rb"PK\x03\x04", _OFFICE),
    (rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", _OFFICE),
    (rb"\{\\rtf", _WORD),
    (rb"\s*(?:\x0b)?(?:MSH|FHS|BHS)\|\^~\\&", _HL7),
    (rb"\s*(?:#[^\n]{0,200}\n\s*){0,20}@prefix\s[^\n]{0,100}<", _RDF),
    (rb"\x1f\x8b", f"{_PACKED}, or give it a name that ends in .gz"),
)
# what shows near the begin of JSON or XML of a kind; the first that shows counts
_BY_CONTENT: Final = (
    (rb'\A\s*[\[{](?:.|\n)*?"resourceType"\s*:', FHIR),
    (
        rb'\A\s*\[\s*\{(?:.|\n){0,400}?"paragraphs"\s*:\s*\[',
        "training data of spaCy 2; convert them with spaCy (spacy convert IN.json OUT), to a .spacy file",
    ),
    (
        rb'"%(?:FEATURE_STRUCTURES|TYPES)"\s*:',
        "a CAS of UIMA in JSON; export it as UIMA CAS XMI or as WebAnno TSV 3.3 instead, both of which are read",
    ),
    (rb'"@context"\s*:(?:.|\n){0,2000}nlp2rdf', _RDF),
    (
        rb'"annotatable"\s*:\s*\{',
        "annotations of tagtog, whose texts are in HTML; export them as BioC or brat standoff",
    ),
    (
        rb'"form"\s*:\s*\[\s*\{[^]]*"box"',
        "a form of FUNSD, in boxes without one text; write each form as a JSON line: tokens, and ner_tags such as "
        "B-ANSWER",
    ),
    (rb'"projectKind"\s*:\s*"', _BESIDE.format("a project of Azure AI Language")),
    (
        rb"<annotations\s[^>]*textSource=",
        _BESIDE.format("annotations of Knowtator") + "; CRAFT has a converter to brat",
    ),
    (rb"<source_file\s|<charseq\s", _BESIDE.format("annotations of ACE (APF)")),
    (rb"<knowtator-project[\s>]", _BESIDE.format("annotations of Knowtator 2") + "; CRAFT has a converter to brat"),
    (rb"<deft_ere\s", _BESIDE.format("annotations of Rich ERE")),
    (rb"<FoLiA\s", _BY_TOKEN.format("FoLiA", "CoNLL, as with foliatools")),
    (rb"<NAF[\s>]|<KAF[\s>]", _BY_TOKEN.format("NAF", "CoNLL, or to JSON lines with text and entities")),
    (rb"<D-Spin[\s>]|<TextCorpus\s", _BY_TOKEN.format("TCF", "CoNLL, as WebLicht does")),
    (rb"<paula\s", _BY_TOKEN.format("PAULA", "WebAnno TSV or CoNLL, as with Pepper")),
    (rb"<(?:article|file)\b(?:.|\n){0,4000}?<\w+\s[^<>]*\bwd=", _BY_TOKEN.format("AnCora", "CoNLL")),
    (rb"<rdf:RDF[\s>]", _RDF),
    (rb"<DOC>\s*<DOCNO>", _TREC),
    (rb"<ClinicalDocument[\s>]", _CDA),
    (rb"""xmlns(?::\w+)?\s*=\s*["']http://hl7\.org/fhir["']""", _FHIR_XML),
)
_LABELS: Final = (
    "a list of the labels of doccano, not documents; their names for older exports are given as --tag-names 12=NAME "
    "(of documents after all, name the format: --input-format json)"
)
_STYLED: Final = pattern(rb'\s*\[\s*\{[^\[\]{}]*"(?:background_?color|suffix_?key)"\s*:', re.IGNORECASE)
_NAMES: Final = pattern(rb'\s*\[\s*\{\s*(?:"id"\s*:\s*\d+\s*,\s*)?"text"\s*:\s*"[^"\n]{1,80}"\s*\}')
_OF_LABELS: Final = pattern(
    r"(?:label|span_type|category_type|relation_type)s?(?:[_-]?config|[_-]?types?)?\.json", re.I
)
_LINES: Final = pattern(rb"\s*\{[^\n]*\}\s*(?:\n|\Z)")
_MAGICS: Final = tuple((re.compile(mark), advice) for mark, advice in _BY_MAGIC)
_KINDS: Final = tuple((re.compile(mark), advice) for mark, advice in _BY_CONTENT)


def advice(path: Path) -> str | None:
    """Return what an unrecognized file looks like, and what to do with it; ``None`` if unknown.

    Raises:
        DataError: the file cannot be read.

    >>> advice(Path("note.pdf"))
    'a PDF; get the text out first (pdftotext IN.pdf OUT.txt), one .txt file for each document'
    """
    ending = bare(path).suffix.lower()
    table = ending in (".csv", ".tsv")
    if not table and ending not in (".json", ".xml") and (known := _BY_ENDING.get(path.suffix.lower())) is not None:
        return _PACKED_LINES if known is _PACKED and _holds_lines(path) else known
    with opened(path) as file:
        head = file.read(HEAD).removeprefix(BOM)
    if table:
        return of_content(head) or _unnamed(head, _BY_ENDING[ending])
    if ending == ".json" and lists_labels(path, head):
        return _LABELS
    kinds = _KINDS if ending in (".json", ".xml") else ()
    return next((advice for mark, advice in kinds if mark.search(head)), None) or of_content(head)


def lists_labels(path: Path, head: bytes) -> bool:
    """Return whether a file of JSON that begins so lists the labels of a project of doccano.

    >>> lists_labels(Path("a.json"), b'[{"text": "problem", "suffix_key": "p"}]')
    True
    >>> [lists_labels(Path(name), b'[{"id": 1, "text": "sign"}]') for name in ("labels.json", "notes.json")]
    [True, False]
    """
    named = _OF_LABELS.fullmatch(bare(path).name) is not None
    return _STYLED.match(head) is not None or (named and _NAMES.match(head) is not None)


def _holds_lines(path: Path) -> bool:
    """Return whether a packed file holds JSON lines, regardless of its name."""
    try:
        with opened(path) as file:
            return _LINES.match(file.read(HEAD)) is not None
    except DataError:  # not packed by gzip, or damaged
        return False


def _unnamed(head: bytes, known: str) -> str:
    """Return what is wrong with a table that begins so."""
    if not head.strip():
        return "it is empty; expected a line with the names of columns, and a row for each text or mention"
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "it starts with the mark of UTF-16; convert it to UTF-8, or name it (--encoding utf-16)"
    if (looks := looks_like(head.decode("utf-8", "replace"))) is not None:
        return f"it looks like {looks}"
    line = head.splitlines()[0].decode("utf-8", "replace")
    return f"{known}; found {clip(line)}"


def of_content(raw: bytes) -> str | None:
    """Return what a file that begins so is, and what to do with it; ``None`` if it may be text.

    >>> of_content(b"%PDF-1.7")
    'a PDF; get the text out first (pdftotext IN.pdf OUT.txt), one .txt file for each document'
    """
    return next((advice for mark, advice in _MAGICS if mark.match(raw)), None)

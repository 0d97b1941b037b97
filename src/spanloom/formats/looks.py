"""What annotation looks like in a file that is read as plain text, and files that are not read at all."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Final

from spanloom.errors import DataError, clip
from spanloom.formats.inline_marks import SHAPE, shows_marks, unpaired
from spanloom.formats.layouts import plain, words
from spanloom.formats.source import bare, head_of
from spanloom.text.patterns import pattern

_SAMPLE: Final = 1 << 16  # characters in which annotation must show
_FIELD: Final = r"[\"'](?:text|tokens|words|content|sentence|sentences|entities|label|labels|data)[\"']\s*:"
_RECORD: Final = pattern(r"\{(?=[^\n]*\}[ \t\r]*$)[^\n]*?" + _FIELD, re.MULTILINE)  # in the first line
_RECORDS: Final = pattern(r"\s*[\[{](?:\s|[\[({]){0,20}(?:[\"']|\Z)(?s:.){0,2000}?" + _FIELD)
_INNER: Final = r"(?:[^<>]|</?(?:i|b|em|sub|sup|hi|italic)\b[^<>]{0,100}>){1,300}"
_AROUND: Final = pattern(
    r"(?:\w[ ,(]|\w)<(\w[\w.:-]{0,60})(?:\s[^<>]{0,300})?>" + _INNER + r"</\1>"
    r"|<(\w[\w.:-]{0,60})(?:\s[^<>]{0,300})?>" + _INNER + r"</\2>(?:\s{0,9}</[\w.]{1,60}>){0,5}\s{0,9}\w"
)
TYPED: Final = words("span mark em font")  # elements of HTML that mark mentions if they have an attribute with a type
_TYPE: Final = pattern(r"<\w+\s[^<>]{0,300}?\b(?:class|type|categ|data-\w+)\s{0,3}=", re.IGNORECASE)
_LINKED: Final = pattern(r"(?<!\w)\[[^\[\]\n]{1,100}\]\([A-Za-z][\w -]{0,40}\)")  # of Rasa
_TAGGED: Final = pattern(r".*\S[\t ]+(?:O|X|\[(?:CLS|SEP)\]|[BIESLUMW]-[^\W\d_]\S*)\s*")
_OUTSIDE: Final = frozenset(words("other none outside out null nil"))
_TAGS: Final = pattern(r"[ \t]*(?:(?:O|[BIESLUM]-\S+)[ \t]+)+(?:O|[BIESLUM]-\S+)[ \t]*")
_ANSWERS: Final = frozenset(words("yes no Yes No YES NO true false True False positive negative Positive Negative H L"))
_KIND: Final = pattern(r"[^\W\d_][\w-]{0,40}")
_INSIDE: Final = pattern(r".*\S[\t ]+[BIESLUMW]-[^\W\d_]\S*\s*")
_CELLS: Final = pattern(r"\t|\|\|?")
_NUMBERS: Final = pattern(r"(?:[\w.]{1,60}:)?(\d{1,9})(?:[ \-](\d{1,9}))?")
_PAIRED: Final = pattern(r"@@[^@#\n]{1,100}##")
_ENTRIES: Final = pattern(r"^\w{1,9}=\"[^\"\n]*\"(?: \d{1,6}:\d{1,6}){2}(?:,[ \d:]+)?\|\|", re.MULTILINE)
_PUBTATOR: Final = pattern(r"\s*([^\s|]{1,60})\|[ta]\|[^\n]*\n(?:\1\|[a-z]\|[^\n]*\n)*\1\t\d+\t\d+\t")
_DOUBLE: Final = pattern(r"\[\[(?=[^\[\]\n]{0,100}[A-Za-z])[^\[\]\n]{1,100}\]\]")
_BEHIND: Final = pattern(
    r"\|\|\|\s*\d{1,6}\s+\d{1,6}\s+\w[^|\n]{0,60}\|\|\||(?:^|[\t,])\d{1,6}:\d{1,6}:[A-Z]\w"
)  # of CCKS, of MTOP
_RANGES: Final = pattern(r"^\d{1,4},\d{1,4} \w\S*(?: ?\|\d{1,4},\d{1,4} \w\S*)*[ \t\r]*$", re.MULTILINE)
_PRINTED: Final = pattern(r"^Sentence(?:\[\d+\])?: .*(?:→|Token-Labels)", re.MULTILINE)
_SLASHED: Final = pattern(r"\S{1,60}/[A-Za-z]{1,12}")
_COMPLETE: Final = "add it, and name its format (--input-format markup)"
AS_LINES: Final = "write them as JSON lines: text, and entities with start, end and type"
_TABLE: Final = (
    "a table of mentions; put a line with the names of its columns on top, such as doc_id, start, end, type and text, "
    "and name the texts (--input-format tsv --texts TEXTS)"
)


def shows_elements(text: str) -> bool:
    """Return whether a text holds elements around some of its words, which are not those of HTML.

    >>> [shows_elements(f"No <{name}>pain</{name}>.") for name in ("problem", "b")]
    [True, False]
    """
    found = ((plain((one[1] or one[2]).rpartition(":")[2]), one[0]) for one in _AROUND.finditer(text))
    return any(name not in SHAPE or (name in TYPED and _TYPE.search(whole)) for name, whole in found)


def shows_annotation(text: str) -> bool:
    """Return whether the beginning of a text holds marks or elements around mentions."""
    head = text[:_SAMPLE]
    marked = "<" in head or "[" in head
    return marked and (shows_elements(head) or shows_marks(head) or bool(unpaired(head, plain_text=True)))


def looks_like(text: str) -> str | None:
    r"""Return what a text looks like, and how it is read; ``None`` if it looks like a text.

    >>> looks_like("n1\t3\t7\tpain\tproblem\n")[:20], looks_like("No pain.")
    ('a table of mentions;', None)
    """
    head = text[:_SAMPLE]
    found = next((advice for looks, advice in _KINDS if looks(head)), None)
    if found is None and ("<" in head or "[" in head) and (halves := unpaired(head, plain_text=True)):
        at, mark = halves[0]
        line = head.count("\n", 0, at) + 1
        return f"a text with marks, of which {clip(mark, 40)} in line {line} lacks the other half; {_COMPLETE}"
    return found


def _is_slashed(text: str) -> bool:
    """Return whether nearly all words have a tag behind them, as in ``Oslo/ns``, of few kinds."""
    items = text.split()
    tagged = [item for item in items if _SLASHED.fullmatch(item)]
    kinds = {item.rpartition("/")[2] for item in tagged}
    return len(items) > 19 and len(tagged) >= 0.8 * len(items) and 3 * len(kinds) <= len(tagged)


def _is_typed(text: str) -> bool:
    """Return whether nearly all lines are a word and one of a few types, as in ``aspirin<tab>Drug``."""
    lines = [line for line in text.splitlines() if line.strip()]
    rows = [line.split("\t") for line in lines]
    pairs = [(row[0], row[1].strip()) for row in rows if len(row) == 2 and row[0].strip()]
    kinds, named = {kind for _, kind in pairs}, {word for word, _ in pairs}
    few = len(kinds) < len(named) and 2 * len(kinds) <= len(pairs) + 1 and not kinds & _ANSWERS
    few = few and any(kind[:1].isupper() or kind in _OUTSIDE for kind in kinds)
    return len(pairs) > 2 and len(pairs) >= 0.95 * len(rows) and few and all(map(_KIND.fullmatch, kinds))


def _is_numbered(text: str) -> bool:
    """Return whether nearly all lines are a word and a small number, most often 0, as tags that are numbers are."""
    rows = [line.split() for line in text.splitlines() if line.strip()]
    pairs = (row[1] for row in rows if len(row) == 2)
    numbers = [int(one) for one in pairs if one.isascii() and one.isdecimal() and len(one) < 3]
    some = {number for number in numbers if number and any(any(map(str.isalpha, row[0])) for row in rows)}
    return len(numbers) > 3 and len(numbers) >= 0.95 * len(rows) and bool(some) and 2 * numbers.count(0) >= len(numbers)


def _in_turn(text: str) -> bool:
    """Return whether a third of the lines or more are tags alone, as those below lines of words."""
    lines = [line for line in text.splitlines() if line.strip()]
    tags = [line for line in lines if _TAGS.fullmatch(line)]
    return 0.3 * len(lines) <= len(tags) <= 0.5 * len(lines) and any("-" in line for line in tags)


def _is_tagged(text: str) -> bool:
    lines = [line for line in text.splitlines() if line.strip()]
    tagged = sum(map(bool, map(_TAGGED.fullmatch, lines)))
    return 2 * tagged >= len(lines) > 2 and any(map(_INSIDE.fullmatch, lines))


def _is_table(text: str) -> bool:
    """Return whether nearly each line has two offsets, and the file's name or a text that is as long."""
    rows = [[cell.strip() for cell in _CELLS.split(line)] for line in text.splitlines() if line.strip()]
    return bool(rows) and sum(map(_is_row, rows)) >= 0.8 * len(rows)


def _is_row(cells: list[str]) -> bool:
    numbers = [found for cell in cells if (found := _NUMBERS.fullmatch(cell)) is not None]
    lengths = {int(one[2]) - int(one[1]) for one in numbers if one[2]}
    lengths |= {int(end[1]) - int(start[1]) for start, end in pairwise(numbers)}
    if cells[0].endswith((".txt", ".text")) and len(cells) > 2 and any(length > 0 for length in lengths):
        return True
    return any(len(cell) in lengths or len(cell) - 1 in lengths for cell in cells if re.search(r"[^\W\d_]", cell))


_KINDS: Final[tuple[tuple[Callable[[str], object], str], ...]] = (
    (_RECORD.match, "records; name their format (--input-format jsonl)"),
    (_RECORDS.match, "records; name their format (--input-format json)"),
    (_PUBTATOR.match, "PubTator; name its format (--input-format pubtator)"),
    (shows_elements, "a text with elements around mentions; name its format (--input-format markup)"),
    (_LINKED.search, "a text with mentions as [TEXT](TYPE); name its format (--input-format markup)"),
    (shows_marks, "a text with marked mentions; name its format (--input-format markup)"),
    (_PAIRED.search, "a text with mentions as @@TEXT##; name its format (--input-format markup)"),
    (
        _DOUBLE.search,
        "a text with [[...]]; where these are mentions, write <TYPE>...</TYPE>, and name the format markup",
    ),
    (_ENTRIES.search, f"entries of i2b2 2009, whose texts are in other files; {AS_LINES}"),
    (_BEHIND.search, f"texts with offsets behind each; {AS_LINES} (where the last character is included, add 1)"),
    (_RANGES.search, "sentences with ranges of tokens below each; write each as a JSON line: tokens, and entities"),
    (_PRINTED.search, f"sentences as Flair prints them; {AS_LINES} (sentence.to_dict gives them)"),
    (_is_table, _TABLE),
    (_is_slashed, "words with a tag behind each; write a word and a tag a line, and name the format (conll)"),
    (
        _in_turn,
        "lines of words and lines of their tags; write a word and its tag a line, or lists of JSON (tokens, tags)",
    ),
    (_is_numbered, "a column file whose tags are numbers; put their names in their place"),
    (_is_typed, "a column file; name its format (--input-format conll, with --columns word,tag)"),
    (_is_tagged, "a column file; name its format (--input-format conll, with --columns word,tag)"),
)


# Files that are not read: what they are, by their endings or contents, and which tool gets the text out.

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
BY_ENDING: Final = MappingProxyType(
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


def advice(path: Path) -> str | None:
    """Return what an unrecognized file looks like, and what to do with it; ``None`` if unknown.

    Raises:
        DataError: the file cannot be read.

    >>> advice(Path("note.pdf"))
    'a PDF; get the text out first (pdftotext IN.pdf OUT.txt), one .txt file for each document'
    """
    ending = bare(path).suffix.lower()
    table = ending in (".csv", ".tsv")
    if not table and ending not in (".json", ".xml") and (known := BY_ENDING.get(path.suffix.lower())) is not None:
        with suppress(DataError):  # not packed by gzip, or damaged
            if known is _PACKED and _LINES.match(head_of(path)) is not None:
                return _PACKED_LINES
        return known
    head = head_of(path)
    if table:
        return of_content(head) or _unnamed(head, BY_ENDING[ending])
    if ending == ".json" and lists_labels(path, head):
        return _LABELS
    kinds = _BY_CONTENT if ending in (".json", ".xml") else ()
    return next((advice for mark, advice in kinds if re.search(mark, head)), None) or of_content(head)


def lists_labels(path: Path, head: bytes) -> bool:
    """Return whether a file of JSON that begins so lists the labels of a project of doccano.

    >>> lists_labels(Path("a.json"), b'[{"text": "problem", "suffix_key": "p"}]')
    True
    >>> [lists_labels(Path(name), b'[{"id": 1, "text": "sign"}]') for name in ("labels.json", "notes.json")]
    [True, False]
    """
    named = _OF_LABELS.fullmatch(bare(path).name) is not None
    return _STYLED.match(head) is not None or (named and _NAMES.match(head) is not None)


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
    return next((advice for mark, advice in _BY_MAGIC if re.match(mark, raw)), None)

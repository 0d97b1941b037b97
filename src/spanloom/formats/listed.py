"""All formats. Their modules are imported when a file is read or written: they are many, and most runs need one.

A new format is a new module with ``scan`` and ``write``, and an entry here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, Final

from spanloom.formats.base import Format
from spanloom.formats.record_fields import RECORD_OPTIONS
from spanloom.formats.source import bare, begins_with, has_pair

_TABLES: Final = ("columns", "texts", "tag_names")


def _lazy(place: str, **given: Any) -> Callable[..., Any]:
    """Return a function of a module that is imported when the function is called.

    Args:
        place: ``module:name``, within this package.
        given: arguments that it is called with.
    """

    def call(*arguments: Any, **more: Any) -> Any:
        return resolve_name(f"spanloom.formats.{place}")(*arguments, **given, **more)

    return call


def _claims(place: str, *suffixes: str) -> Callable[[Path], bool]:
    """Return the function that looks into files of some suffixes."""
    recognizes = _lazy(place)
    return lambda path: bare(path).suffix.lower() in suffixes and recognizes(path)


def _format(name: str, suffixes: str, place: str, true: str = "", *, looks: str = "", **more: Any) -> Format:
    """Return a format.

    Args:
        name: its name.
        suffixes: of its files.
        place: its module and functions; ``scan`` or ``write`` replaces the star.
        true: the fields of `Format` that are true.
        looks: suffixes of the files into which the module's ``claims`` looks.
        more: other fields of `Format`; one with ``instead`` is not written.
    """
    scan, write = (_lazy(place.replace("*", what)) for what in ("scan", "write"))
    fields = {"scan": scan, "write": None if "instead" in more else write, **dict.fromkeys(true.split(), True)}
    if looks:
        fields["claims"] = _claims(place.replace("*", "claims"), *looks.split())
    return Format(name, tuple(suffixes.split()), **(fields | more))


scan_bioc: Final = _lazy("bioc.reading:scan_value")
"""Returns the document of one of BioC among other records."""
_RECORDS: Final = "gaps keeps_ids reads_without_mentions counts"
_TABLE: Final = "gaps reads_without_mentions texts_beside counts"

COLUMNS: Final[Format] = _format(
    "conll", ".conll .iob2 .bio .iob .bioes .bilou", "columns:*", "reads_without_mentions named_by_file",
    claims=lambda path: COLUMNS.named(path) or _lazy("columns:claims")(path),
    scan_options=("columns",), write_options=("scheme",),
)  # fmt: skip
JSON: Final = _format("json", ".json", "json_array:*", _RECORDS, looks=".json .py", scan_options=RECORD_OPTIONS)
CSV: Final = _format("csv", ".csv", "table:*", _TABLE, looks=".csv", scan_options=_TABLES)
TSV: Final = _format(
    "tsv", ".tsv", "table:*", _TABLE, looks=".tsv", scan_options=_TABLES, scan=_lazy("table:scan", tabs=True),
    write=_lazy("table:write", tabs=True),
)  # fmt: skip
_TEN_COLUMNS: Final = re.compile(rb"^(?:# global.columns|\d[\d.-]*\t(?:[^\t\n]*\t){8})", re.MULTILINE)
TEXT: Final = _format("text", ".txt", "text:*", "named_by_file")
# The first that knows a path reads it: brat is before text, because a .txt with an .ann beside it is brat's. The
# first that has an ending writes it: tsv is before webanno, and leaves its files alone, which have no such header.
_ALL = (
    _format("jsonl", ".jsonl .ndjson", "json_array:*_jsonl", _RECORDS, scan_options=RECORD_OPTIONS),
    _format(
        "brat", ".ann .a1 .a2", "brat:*", "gaps folders reads_without_mentions counts",
        claims=partial(has_pair, ".ann .a1 .a2"), packs=False,
    ),
    _format(
        "i2b2", ".con", "i2b2:*", "folders reads_without_mentions", claims=partial(has_pair, ".con"), packs=False,
        instead="brat holds more, and many tools read it",
    ),
    _format("pubtator", ".pubtator", "pubtator:*", "counts", looks=".pubtator .txt"),
    _format(
        "conllu", ".conllu .conllup", "conllu:*", "reads_without_mentions",
        claims=lambda path: (
            any(begins_with(_TEN_COLUMNS, ending, path) for ending in (".conllu", ".conllup"))
            or (bare(path).suffix.lower() in (".conllu", ".conllup") and not _lazy("columns:claims")(path))
        ),
    ),
    _format("characters", ".chars", "characters:*_characters"),
    _format("spaced", ".seg", "characters:*_spaced"),
    _format(
        "bioc", ".xml", "bioc:*_xml", "gaps counts", scan_options=("columns",),
        claims=partial(begins_with, re.compile(rb"<collection"), ".xml"),
    ),
    _format(
        "bioc-json", ".json", "bioc:*_json", "gaps counts", scan_options=("columns",),
        claims=partial(
            begins_with,
            re.compile(rb'"(?:passages|PubTator3)"\s*:\s*\[|"key"\s*:[^{]{0,500}"documents"\s*:\s*\['), ".json",
        ),
    ),
    _format(
        "label-studio", ".json", "label_studio:*", "gaps keeps_ids counts", looks=".json", scan_options=RECORD_OPTIONS
    ),
    JSON,
    _format(
        "parquet", ".parquet", "arrow:*_parquet", _RECORDS, packs=False, encoded=False, scan_options=RECORD_OPTIONS
    ),
    _format(
        "arrow", ".arrow .feather", "arrow:*_arrow", _RECORDS, packs=False, encoded=False, scan_options=RECORD_OPTIONS
    ),
    _format(
        "xmi", ".xmi", "xmi:*", "gaps keeps_ids named_by_file", looks=".xmi .xml", packs=False, encoded=False,
        scan_options=("types", "columns"),
    ),
    _format(
        "markup", ".xml", "markup:*", "reads_without_mentions named_by_file counts", claims=_lazy("markup:claims"),
        instead="BioC XML and XMI hold more",
    ),
    _format("spacy", ".spacy", "docbin:*", "gaps reads_without_mentions", packs=False, encoded=False),
    COLUMNS,
    CSV,
    TSV,
    _format(
        "webanno", ".tsv", "webanno:*", "named_by_file", looks=".tsv", packs=False, scan_options=("types",),
        instead="INCEpTION reads xmi, too",
    ),
    _format(
        "store", ".store", "store:*", "reads_without_mentions", packs=False, encoded=False, scan_options=("layer",),
        claims=lambda path: path.is_file() and _lazy("store:claims")(path),
        instead="spanloom annotate DATA --output makes one",
    ),
    TEXT,
)  # fmt: skip
FORMATS: dict[str, Format] = {kind.name: kind for kind in _ALL}
WRITTEN = tuple(kind.name for kind in _ALL if kind.write is not None)

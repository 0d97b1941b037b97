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
from spanloom.formats.source import bare, begins_with

__all__ = ["COLUMNS", "CSV", "FORMATS", "JSON", "TEXT", "TSV"]

_TABLES: Final = ("columns", "texts", "tag_names")


def _late(place: str, **given: Any) -> Callable[..., Any]:
    """Return a function of a module that is imported when the function is called.

    Args:
        place: ``module:name``, within this package.
        given: arguments that it is called with.
    """

    def call(*arguments: Any, **more: Any) -> Any:
        return resolve_name(f"spanloom.formats.{place}")(*arguments, **given, **more)

    return call


def _claims(place: str, *suffixes: str, **given: Any) -> Callable[[Path], bool]:
    """Return the function that looks into files of some suffixes."""
    ask = _late(place, **given)
    return lambda path: bare(path).suffix.lower() in suffixes and ask(path)


COLUMNS: Final[Format] = Format(
    "conll", (".conll", ".iob2", ".bio", ".iob", ".bioes", ".bilou"), _late("columns:scan"), _late("columns:write"),
    lambda path: COLUMNS.named(path) or _late("columns:claims")(path),
    reads_without_mentions=True, named_by_file=True, scan_options=("columns",), write_options=("scheme",),
)  # fmt: skip
JSON: Final = Format(
    "json", (".json",), _late("json_array:scan"), _late("json_array:write"), _claims("json_array:claims", ".json"),
    gaps=True, keeps_ids=True, reads_without_mentions=True, counts=True, scan_options=RECORD_OPTIONS,
)  # fmt: skip
CSV: Final = Format(
    "csv", (".csv",), _late("table:scan"), _late("table:write"), _claims("table:claims", ".csv", ending=".csv"),
    gaps=True, reads_without_mentions=True, texts_beside=True, counts=True, scan_options=_TABLES,
)  # fmt: skip
TSV: Final = Format(
    "tsv", (".tsv",), _late("table:scan", tabs=True), _late("table:write", tabs=True),
    _claims("table:claims", ".tsv", ending=".tsv"),
    gaps=True, reads_without_mentions=True, texts_beside=True, counts=True, scan_options=_TABLES,
)  # fmt: skip
TEXT: Final = Format("text", (".txt",), _late("text:scan"), _late("text:write"), named_by_file=True)

# The first that knows a path reads it: brat stands before text, because a .txt with an .ann beside it is brat's. The
# first that has an ending writes it: tsv stands before webanno, and leaves its files alone, which have no such header.
_ALL = (
    Format(
        "jsonl", (".jsonl", ".ndjson"), _late("jsonl:scan"), _late("jsonl:write"),
        gaps=True, keeps_ids=True, reads_without_mentions=True, counts=True, scan_options=RECORD_OPTIONS,
    ),
    Format(
        "brat", (".ann",), _late("brat:scan"), _late("brat:write"),
        lambda path: (path.is_dir() or path.suffix in (".ann", ".txt")) and _late("brat:claims")(path),
        gaps=True, folders=True, reads_without_mentions=True, counts=True, packs=False,
    ),
    Format(
        "pubtator", (".pubtator",), _late("pubtator:scan"), _late("pubtator:write"),
        _claims("pubtator:claims", ".pubtator", ".txt"), counts=True,
    ),
    Format(
        "conllu", (".conllu", ".conllup"), _late("conllu:scan"), _late("conllu:write"), reads_without_mentions=True
    ),
    Format("characters", (".chars",), _late("characters:scan"), _late("characters:write")),
    Format("spaced", (".seg",), _late("spaced:scan"), _late("spaced:write")),
    Format(
        "bioc", (".xml",), _late("bioc:scan_xml"), _late("bioc:write_xml"),
        partial(begins_with, re.compile(rb"<collection"), ".xml"), gaps=True, counts=True, scan_options=("columns",),
    ),
    Format(
        "bioc-json", (".json",), _late("bioc:scan_json"), _late("bioc:write_json"),
        partial(
            begins_with,
            re.compile(rb'"(?:passages|PubTator3)"\s*:\s*\[|"key"\s*:[^{]{0,500}"documents"\s*:\s*\['), ".json",
        ),
        gaps=True, counts=True, scan_options=("columns",),
    ),
    Format(
        "label-studio", (".json",), _late("label_studio:scan"), _late("label_studio:write"),
        _claims("label_studio:claims", ".json"), gaps=True, keeps_ids=True, counts=True, scan_options=RECORD_OPTIONS,
    ),
    JSON,
    Format(
        "parquet", (".parquet",), _late("arrow:scan_parquet"), _late("arrow:write_parquet"),
        gaps=True, keeps_ids=True, reads_without_mentions=True, packs=False, encoded=False, counts=True,
        scan_options=RECORD_OPTIONS,
    ),
    Format(
        "arrow", (".arrow", ".feather"), _late("arrow:scan_arrow"), _late("arrow:write_arrow"),
        gaps=True, keeps_ids=True, reads_without_mentions=True, packs=False, encoded=False, counts=True,
        scan_options=RECORD_OPTIONS,
    ),
    Format(
        "xmi", (".xmi",), _late("xmi:scan"), _late("xmi:write"), _claims("xmi:claims", ".xmi", ".xml"),
        gaps=True, keeps_ids=True, named_by_file=True, packs=False, encoded=False, scan_options=("types", "columns"),
    ),
    Format(
        "spacy", (".spacy",), _late("docbin:scan"), _late("docbin:write"),
        gaps=True, reads_without_mentions=True, packs=False, encoded=False,
    ),
    COLUMNS,
    CSV,
    TSV,
    Format(
        "webanno", (".tsv",), _late("webanno:scan"), _late("webanno:write"), _claims("webanno:claims", ".tsv"),
        named_by_file=True, packs=False, scan_options=("types",),
    ),
    TEXT,
)  # fmt: skip
FORMATS: dict[str, Format] = {kind.name: kind for kind in _ALL}

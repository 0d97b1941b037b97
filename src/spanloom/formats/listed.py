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

__all__ = ["COLUMNS", "CSV", "FORMATS", "JSON", "TEXT", "TSV", "scan_bioc"]

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
    ask = _lazy(place)
    return lambda path: bare(path).suffix.lower() in suffixes and ask(path)


scan_bioc: Final = _lazy("bioc.reading:scan_value")
"""Returns the document of one of BioC among other records."""
COLUMNS: Final[Format] = Format(
    "conll", (".conll", ".iob2", ".bio", ".iob", ".bioes", ".bilou"), _lazy("columns:scan"), _lazy("columns:write"),
    lambda path: COLUMNS.named(path) or _lazy("columns:claims")(path),
    reads_without_mentions=True, named_by_file=True, scan_options=("columns",), write_options=("scheme",),
)  # fmt: skip
JSON: Final = Format(
    "json", (".json",), _lazy("json_array:scan"), _lazy("json_array:write"),
    _claims("json_array:claims", ".json", ".py"),
    gaps=True, keeps_ids=True, reads_without_mentions=True, counts=True, scan_options=RECORD_OPTIONS,
)  # fmt: skip
CSV: Final = Format(
    "csv", (".csv",), _lazy("table:scan"), _lazy("table:write"), _claims("table:claims", ".csv"),
    gaps=True, reads_without_mentions=True, texts_beside=True, counts=True, scan_options=_TABLES,
)  # fmt: skip
TSV: Final = Format(
    "tsv", (".tsv",), _lazy("table:scan", tabs=True), _lazy("table:write", tabs=True),
    _claims("table:claims", ".tsv"),
    gaps=True, reads_without_mentions=True, texts_beside=True, counts=True, scan_options=_TABLES,
)  # fmt: skip
TEXT: Final = Format("text", (".txt",), _lazy("text:scan"), _lazy("text:write"), named_by_file=True)

# The first that knows a path reads it: brat stands before text, because a .txt with an .ann beside it is brat's. The
# first that has an ending writes it: tsv stands before webanno, and leaves its files alone, which have no such header.
_ALL = (
    Format(
        "jsonl", (".jsonl", ".ndjson"), _lazy("jsonl:scan"), _lazy("jsonl:write"),
        gaps=True, keeps_ids=True, reads_without_mentions=True, counts=True, scan_options=RECORD_OPTIONS,
    ),
    Format(
        "brat", (".ann",), _lazy("brat:scan"), _lazy("brat:write"),
        partial(has_pair, ".ann"),
        gaps=True, folders=True, reads_without_mentions=True, counts=True, packs=False,
    ),
    Format(
        "i2b2", (".con",), _lazy("i2b2:scan"), None,
        partial(has_pair, ".con"),
        folders=True, reads_without_mentions=True, packs=False, instead="brat holds more, and many tools read it",
    ),
    Format(
        "pubtator", (".pubtator",), _lazy("pubtator:scan"), _lazy("pubtator:write"),
        _claims("pubtator:claims", ".pubtator", ".txt"), counts=True,
    ),
    Format(
        "conllu", (".conllu", ".conllup"), _lazy("conllu:scan"), _lazy("conllu:write"), reads_without_mentions=True
    ),
    Format("characters", (".chars",), _lazy("characters:scan"), _lazy("characters:write")),
    Format("spaced", (".seg",), _lazy("spaced:scan"), _lazy("spaced:write")),
    Format(
        "bioc", (".xml",), _lazy("bioc:scan_xml"), _lazy("bioc:write_xml"),
        partial(begins_with, re.compile(rb"<collection"), ".xml"), gaps=True, counts=True, scan_options=("columns",),
    ),
    Format(
        "bioc-json", (".json",), _lazy("bioc:scan_json"), _lazy("bioc:write_json"),
        partial(
            begins_with,
            re.compile(rb'"(?:passages|PubTator3)"\s*:\s*\[|"key"\s*:[^{]{0,500}"documents"\s*:\s*\['), ".json",
        ),
        gaps=True, counts=True, scan_options=("columns",),
    ),
    Format(
        "label-studio", (".json",), _lazy("label_studio:scan"), _lazy("label_studio:write"),
        _claims("label_studio:claims", ".json"), gaps=True, keeps_ids=True, counts=True, scan_options=RECORD_OPTIONS,
    ),
    JSON,
    Format(
        "parquet", (".parquet",), _lazy("arrow:scan_parquet"), _lazy("arrow:write_parquet"),
        gaps=True, keeps_ids=True, reads_without_mentions=True, packs=False, encoded=False, counts=True,
        scan_options=RECORD_OPTIONS,
    ),
    Format(
        "arrow", (".arrow", ".feather"), _lazy("arrow:scan_arrow"), _lazy("arrow:write_arrow"),
        gaps=True, keeps_ids=True, reads_without_mentions=True, packs=False, encoded=False, counts=True,
        scan_options=RECORD_OPTIONS,
    ),
    Format(
        "xmi", (".xmi",), _lazy("xmi:scan"), _lazy("xmi:write"), _claims("xmi:claims", ".xmi", ".xml"),
        gaps=True, keeps_ids=True, named_by_file=True, packs=False, encoded=False, scan_options=("types", "columns"),
    ),
    Format(
        "spacy", (".spacy",), _lazy("docbin:scan"), _lazy("docbin:write"),
        gaps=True, reads_without_mentions=True, packs=False, encoded=False,
    ),
    COLUMNS,
    CSV,
    TSV,
    Format(
        "webanno", (".tsv",), _lazy("webanno:scan"), None, _claims("webanno:claims", ".tsv"),
        named_by_file=True, packs=False, scan_options=("types",), instead="INCEpTION reads xmi, too",
    ),
    Format(
        "store", (".store",), _lazy("store:scan"), None,
        lambda path: path.is_file() and _lazy("store:claims")(path), packs=False, encoded=False,
        reads_without_mentions=True, scan_options=("layer",), instead="spanloom annotate DATA --output makes one",
    ),
    TEXT,
)  # fmt: skip
FORMATS: dict[str, Format] = {kind.name: kind for kind in _ALL}

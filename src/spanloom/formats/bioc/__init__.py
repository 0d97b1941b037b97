"""BioC in XML and JSON: `syntax` parses and prints files, `reading` and `writing` convert from and to documents."""

import re
from functools import partial

from spanloom.formats.base import Format
from spanloom.formats.bioc.reading import scan
from spanloom.formats.bioc.syntax import parse_json, parse_xml
from spanloom.formats.bioc.writing import JSON, XML, write
from spanloom.formats.source import begins_with

_is_xml = partial(begins_with, re.compile(rb"<collection"), ".xml")
_is_json = partial(
    begins_with, re.compile(rb'"(?:passages|PubTator3)"\s*:\s*\[|"key"\s*:[^{]{0,500}"documents"\s*:\s*\['), ".json"
)

BIOC = Format(
    "bioc", (".xml",), partial(scan, parse_xml), partial(write, XML), _is_xml, gaps=True, counts=True,
    scan_options=("columns",),
)  # fmt: skip
BIOC_JSON = Format(
    "bioc-json", (".json",), partial(scan, parse_json), partial(write, JSON), _is_json, gaps=True, counts=True,
    scan_options=("columns",),
)  # fmt: skip

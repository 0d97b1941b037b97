"""BioC in XML and JSON: `syntax` is what stands in a file, `reading` and `writing` what a document makes of it."""

import re
from functools import partial

from spanloom.formats.base import Format
from spanloom.formats.bioc.reading import scan_json, scan_xml
from spanloom.formats.bioc.writing import write_json, write_xml
from spanloom.formats.source import begins_with

_JSON = re.compile(rb'"(?:documents|passages|PubTator3)"\s*:\s*\[')
_XML = re.compile(rb"<collection")

BIOC = Format("bioc", (".xml",), scan_xml, write_xml, claims=partial(begins_with, _XML, ".xml"), gaps=True)
BIOC_JSON = Format(
    "bioc-json", (".json",), scan_json, write_json, claims=partial(begins_with, _JSON, ".json"), gaps=True
)

"""BioC in XML and JSON: `syntax` parses and prints files, `reading` and `writing` convert from and to documents."""

from functools import partial

from spanloom.formats.bioc.reading import scan
from spanloom.formats.bioc.syntax import parse_json, parse_xml
from spanloom.formats.bioc.writing import JSON, XML, write

__all__ = ["scan_json", "scan_xml", "write_json", "write_xml"]

scan_xml, scan_json = partial(scan, parse_xml), partial(scan, parse_json)
write_xml, write_json = partial(write, XML), partial(write, JSON)

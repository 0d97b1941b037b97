"""Normalization of concept identifiers from different sources to one form, ``PREFIX:LOCAL``."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import Final

# as written, in lower case -> as we write it
_PREFIXES: Final = MappingProxyType(
    {
        **{name.lower(): name for name in ("CHEBI", "CL", "DOID", "GO", "HP", "MESH", "MONDO", "MP", "NCBITaxon")},
        **{name.lower(): name for name in ("NCIT", "OMIM", "ORPHA", "PR", "SO", "UBERON", "UMLS")},
        "msh": "MESH",
        "mim": "OMIM",
        "cui": "UMLS",
        "umls_cui": "UMLS",
        "orphanet": "ORPHA",
    }
)
_UPPER: Final = frozenset({"MESH", "OMIM", "UMLS"})  # whose local parts have letters, always upper case
_MESH = re.compile(r"[CDQ](?:\d{6}|\d{9})", re.IGNORECASE)
_UMLS = re.compile(r"C\d{7}", re.IGNORECASE)
_WIKIDATA = re.compile(r"https?://www\.wikidata\.org/(?:entity|wiki)/Q\d+")
_ADDRESS = re.compile(
    r"https?://(?:purl\.obolibrary\.org/obo/|id\.nlm\.nih\.gov/|www\.ebi\.ac\.uk/efo/|www\.orpha\.net/ORDO/"
    r"|purl\.bioontology\.org/ontology/)([A-Za-z]+)[_/](\w+)"
)


def normalize_identifier(text: str) -> str:
    """Return the normal form of an identifier, in which identifiers are compared.

    - MeSH identifiers get the prefix that they often come without: ``D`` or ``C`` and six or nine digits. So do the
      concepts of UMLS: ``C`` and seven digits.
    - The prefixes of common vocabularies are spelled one way (``msh:`` and ``mesh:`` as ``MESH:``), and one of the form
      ``DO:DOID:4``, as in MEDIC, loses its first part.
    - Addresses of terms of OBO, EFO, ORDO and BioPortal, and of MeSH records, become identifiers; those of items of
      Wikidata become their numbers, such as ``Q42``.
    - Anything else stays as it is, but for white space around it: a number alone could be of any vocabulary.

    >>> [normalize_identifier(text) for text in ("D007674", " mesh:d007674", "C538288", "C0018787", "MIM:263200")]
    ['MESH:D007674', 'MESH:D007674', 'MESH:C538288', 'UMLS:C0018787', 'OMIM:263200']
    >>> normalize_identifier("http://purl.obolibrary.org/obo/DOID_4"), normalize_identifier("DO:DOID:4")
    ('DOID:4', 'DOID:4')
    >>> normalize_identifier("SPL:0002"), normalize_identifier("263200"), normalize_identifier("-1")
    ('SPL:0002', '263200', '-1')
    """
    text = text.strip()
    if text.startswith("http") and (address := _ADDRESS.fullmatch(text)):
        text = f"{address[1]}:{address[2]}"
    if _WIKIDATA.fullmatch(text):
        return text.rpartition("/")[2]
    prefix, colon, local = (part.strip() for part in text.partition(":"))
    if not colon:
        if _MESH.fullmatch(text):
            return f"MESH:{text.upper()}"
        return f"UMLS:{text.upper()}" if _UMLS.fullmatch(text) else text
    if prefix == "DO" and local.startswith("DOID:"):
        return local
    known = _PREFIXES.get(prefix.lower())
    if known is None or not local:
        return text
    return f"{known}:{local.upper() if known in _UPPER else local}"

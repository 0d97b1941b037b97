"""Identifiers in the forms in which corpora and vocabularies write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom.document.span import normalize_identifier


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("D007674", "MESH:D007674"),
        ("d007674", "MESH:D007674"),
        ("D000067208", "MESH:D000067208"),
        ("C538288", "MESH:C538288"),
        ("C000591739", "MESH:C000591739"),
        ("Q000008", "MESH:Q000008"),
        ("MESH:D007674", "MESH:D007674"),
        ("mesh:d007674", "MESH:D007674"),
        ("MSH:D007674", "MESH:D007674"),
        ("MESH: D007674 ", "MESH:D007674"),
        ("OMIM:263200", "OMIM:263200"),
        ("omim:ps263200", "OMIM:PS263200"),
        ("MIM:263200", "OMIM:263200"),
        ("C0018787", "UMLS:C0018787"),
        ("UMLS_CUI:C0018787", "UMLS:C0018787"),
        ("DO:DOID:14330", "DOID:14330"),
        ("doid:14330", "DOID:14330"),
        ("Orphanet:586", "ORPHA:586"),
        ("ncbitaxon:9606", "NCBITaxon:9606"),
        ("http://purl.obolibrary.org/obo/DOID_14330", "DOID:14330"),
        ("http://id.nlm.nih.gov/mesh/D007674", "MESH:D007674"),
        ("https://id.nlm.nih.gov/mesh/d007674", "MESH:D007674"),
        # left as they are
        ("263200", "263200"),
        ("-1", "-1"),
        ("", ""),
        ("MESH:", "MESH:"),
        (":x", ":x"),
        ("D00767", "D00767"),
        ("D0076745", "D0076745"),
        ("SPL:0002", "SPL:0002"),
        ("http://example.org/obo/DOID_4", "http://example.org/obo/DOID_4"),
    ],
)
def test_one_form(text, expected) -> None:
    assert normalize_identifier(text) == expected


@given(st.text(max_size=20) | st.from_regex(r"(mesh|DO:DOID|umls|http://purl.obolibrary.org/obo/)[:_]?[CD]?\d{0,9}"))
def test_twice_is_once(text) -> None:
    once = normalize_identifier(text)
    assert normalize_identifier(once) == once

"""Types, concepts and attributes of BioC annotations: the infons that hold them, and how they are written.

Concepts are in infons of many names: ``identifier``, ``cui``, ``concept_id``, and names of vocabularies such as
``MESH`` or ``NCBI Gene``, in any case and with any of ``_``, ``-``, ``.`` and blanks. Those under a vocabulary's name
get its prefix (``MESH`` with ``D003920`` is ``MESH:D003920``), and all are normalized. Several are joined by ``|`` (in
BC5CDR the concepts of a composite mention), ``+`` (the meaning is their combination), ``,`` or ``;``; ``-``, ``-1`` or
an empty value mean no concept.

Concepts that normalization would change on reading are written to `EXACT` as well.

All other infons are attributes under their own names, except those that look like identifiers and those about the
production of the file, such as ``annotator``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from spanloom.document.span import attribute_value, normalize_identifier
from spanloom.formats.attributes import from_text, to_text
from spanloom.formats.bioc.syntax import Infons
from spanloom.formats.layouts import words
from spanloom.formats.pubtator import split_identifier
from spanloom.formats.record_fields import Columns, given_names

TYPE: Final = "type"
_NO_ATTRIBUTES: Final = frozenset(
    words("compositerole annotator annotators updatedat createdat updatedby createdby spanloomconcepts")
)
_TYPES: Final = ("type", "entitytype", "semantictype", "category", "label", "class", "annotationtype", "tag", "nertag")
"""Names of infons with the type, without case and marks."""
EXACT: Final = "spanloom.concepts"
"""The infon with concepts as they are, a list in JSON; it counts as long as it agrees with the others."""
# names of infons without case and marks -> the prefix of the identifiers in them
_VOCABULARIES: Final = {
    "mesh": "MESH", "omim": "OMIM", "mim": "OMIM", "umls": "UMLS", "umlscui": "UMLS", "umlsid": "UMLS",
    "ncbigene": "NCBIGene", "ncbigeneid": "NCBIGene", "geneid": "NCBIGene", "entrezgene": "NCBIGene",
    "entrezid": "NCBIGene", "entrez": "NCBIGene", "entrezgeneid": "NCBIGene", "ncbitaxon": "NCBITaxon",
    "ncbitaxonomy": "NCBITaxon", "ncbitaxonomyid": "NCBITaxon", "taxid": "NCBITaxon", "taxonid": "NCBITaxon",
    "taxonomyid": "NCBITaxon", "taxonomy": "NCBITaxon", "chebi": "CHEBI", "chebiid": "CHEBI", "go": "GO", "goid": "GO",
    "hp": "HP", "hpo": "HP", "hpoid": "HP", "doid": "DOID", "mondo": "MONDO", "mp": "MP", "cl": "CL", "so": "SO",
    "pr": "PR", "uberon": "UBERON", "ncit": "NCIT", "orpha": "ORPHA", "orphanet": "ORPHA", "efo": "EFO",
    "snomed": "SNOMEDCT", "snomedct": "SNOMEDCT", "snomedid": "SNOMEDCT", "sctid": "SNOMEDCT", "rxnorm": "RXNORM",
    "rxcui": "RXNORM", "icd10": "ICD10", "icd10cm": "ICD10CM", "icd9": "ICD9", "icd9cm": "ICD9CM", "loinc": "LOINC",
    "meddra": "MEDDRA", "uniprot": "UniProt", "uniprotid": "UniProt", "hgnc": "HGNC", "hgncid": "HGNC",
    "ensembl": "ENSEMBL", "drugbank": "DRUGBANK", "drugbankid": "DRUGBANK", "chembl": "CHEMBL", "pubchem": "PUBCHEM",
    "cellosaurus": "CVCL", "dbsnp": "dbSNP", "rsid": "dbSNP",
}  # fmt: skip
_ANY: Final = frozenset(
    words(
        "identifier identifiers conceptid conceptids concepts databaseid dbid curie curies normalizedid normalizedids "
        "normid nativeid cui cuis ontologyid termid linkedid kbid groundingid grounding normalization meshid omimid"
    )
)
# names of infons that may hold something else: what has a prefix and a number in them is a concept
_PERHAPS: Final = frozenset(
    words("id concept code accession entityid reference uri iri link xref term norm normalized")
)
_LIST: Final = re.compile(r"(?:\w+:)?\w*[0-9]\s*(?:[,;]\s*(?:\w+:)?\w*[0-9]\s*)+")
_PREFIXED: Final = re.compile(r"(MESH|OMIM):(.+)")
_LOOKS: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.]+:[A-Za-z]*[_-]?[0-9]\w*")


class Names(NamedTuple):
    """The infons that the user names; empty for those of the usual names."""

    type: str = ""
    concept: str = ""

    @classmethod
    def given(cls, columns: Columns) -> Names:
        """Return the names of an option.

        Raises:
            UsageError: something else than ``type=NAME`` and ``concept=NAME``.
        """
        names = given_names(columns, ("type", "concept", "concepts"))
        return cls(names.get("type", ""), names.get("concept", names.get("concepts", "")))

    def types_of(self, infons: Infons) -> list[str]:
        """Return the types in infons, possibly none.

        >>> [Names().types_of(infons) for infons in ({"type": ["D", "E"]}, {"Entity_Type": "D"}, {"id": "1"})]
        [['D', 'E'], ['D'], []]
        """
        name = self.type or TYPE
        if not self.type and not infons.get(TYPE):
            usual = {_without_marks(key): key for key in reversed(infons) if infons[key]}
            name = next((usual[one] for one in _TYPES if one in usual), TYPE)
        value = infons.get(name)
        return [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, str) and one]


_USUAL: Final = Names()


def concepts_of(infons: Infons, names: Names = _USUAL) -> tuple[str, ...]:
    """Return the concepts in infons, in their order, each once.

    >>> concepts_of({"type": "Disease", "MESH": "D014786|D006311"}), concepts_of({"NCBI Gene": "3845"})
    (('MESH:D014786', 'MESH:D006311'), ('NCBIGene:3845',))
    >>> concepts_of({"identifier": "MESH:D014786,OMIM:102600"}), concepts_of({"MESH": "-1", "id": "T1"})
    (('MESH:D014786', 'OMIM:102600'), ())
    """
    found = tuple(dict.fromkeys(concept for key in infons for concept in _concepts(key, infons[key], names)))
    try:
        exact = json.loads(infons[EXACT])
    except (KeyError, TypeError, ValueError, RecursionError):
        return found
    sound = isinstance(exact, list) and all(isinstance(concept, str) for concept in exact)
    return tuple(exact) if sound and normalized(exact) == found else found


def _concepts(key: str, value: Any, names: Names) -> Iterator[str]:
    plain = _without_marks(key)
    prefix = _VOCABULARIES.get(plain, "")
    if names.concept:
        if key != names.concept:
            return
    elif not prefix and plain not in _ANY and plain not in _PERHAPS:
        return
    for name in _names(value):
        concept = normalize_identifier(name)
        if ":" not in concept and prefix:
            concept = f"{prefix}:{concept}"
        certain = names.concept or plain == "identifier" or (plain not in _PERHAPS and re.search(r"\d", name))
        if certain or _LOOKS.fullmatch(concept):
            yield concept


@lru_cache(maxsize=1024)
def _without_marks(key: str) -> str:
    return re.sub(r"[\W_]+", "", key.lower())


def _names(value: Any) -> Iterator[str]:
    """Yield the identifiers in the value of an infon."""
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, str | int) and not isinstance(item, bool):
            field = str(item).strip()
            yield from re.split(r"\s*[,;]\s*", field) if _LIST.fullmatch(field) else split_identifier(field)


def unread_infons(infons: Infons) -> Iterator[str]:
    """Yield the names of infons that look like identifiers, of an annotation without a concept."""
    yield from (key for key, value in infons.items() if key != TYPE and any(map(_looks, _names(value))))


def _looks(name: str) -> bool:
    return _LOOKS.fullmatch(name) is not None or (":" not in name and ":" in normalize_identifier(name))


def attributes_of(infons: Infons, names: Names = _USUAL) -> dict[str, bool | str]:
    """Return the attributes in infons.

    >>> attributes_of({"type": "Disease", "MESH": "D014786", "Negation": "true", "certainty": "high", "annotator": "A"})
    {'Negation': True, 'certainty': 'high'}
    """
    found: dict[str, bool | str] = {}
    for key, value in infons.items():
        name = _without_marks(key)
        if key in (TYPE, names.type, names.concept, "") or name in _NO_ATTRIBUTES:
            continue
        if name in _VOCABULARIES or name in _ANY or name in _PERHAPS or any(map(_looks, _names(value))):
            continue
        try:
            plain = attribute_value(value)
        except TypeError:  # an object of BioC JSON
            continue
        if plain not in (None, ""):
            found[key] = from_text(plain) if isinstance(plain, str) else bool(plain)
    return found


def normalized(concepts: Sequence[str]) -> tuple[str, ...]:
    """Return concepts in the form in which they are read, each once."""
    return tuple(dict.fromkeys(map(normalize_identifier, concepts)))


def infons_for(
    kind: str, concepts: Sequence[str], before: Infons | None = None,
    attributes: Mapping[str, bool | str] = MappingProxyType({}),
) -> Infons:  # fmt: skip
    """Return infons for a type, concepts and attributes.

    Args:
        kind: the type.
        concepts: as in a mention.
        before: infons as they were read; those that hold this type, these concepts or an attribute are kept, and
            so are those that are no attributes.
        attributes: as in a mention; those that would not be read so are left out.

    >>> infons_for("Disease", ["MESH:D014786", "MESH:D006311"])
    {'type': 'Disease', 'MESH': 'D014786|D006311'}
    >>> infons_for("Disease", ["MESH:D014786", "OMIM:102600"])
    {'type': 'Disease', 'identifier': 'MESH:D014786|OMIM:102600'}
    >>> infons_for("Disease", ["D014786"])
    {'type': 'Disease', 'MESH': 'D014786', 'spanloom.concepts': '["D014786"]'}
    >>> infons_for("D", [], {"type": "D", "MESH": "D1", "note": "a"}, {"note": "a"})
    {'type': 'D', 'note': 'a'}
    >>> infons_for("Disease", [], {"note": "a"}, {"Negation": True, "MESH": "high"})
    {'type': 'Disease', 'Negation': 'true'}
    """
    infons = {TYPE: kind} | dict(before or {}) | {TYPE: kind}
    known = attributes_of(infons)
    infons = {key: value for key, value in infons.items() if key not in known or known[key] == attributes.get(key)}
    for name, value in attributes.items():
        if name not in infons and attributes_of({name: to_text(value)}) == {name: value}:
            infons[name] = to_text(value)
    if concepts_of(infons) == tuple(concepts):
        return infons
    infons = {key: value for key, value in infons.items() if key != EXACT and not list(_concepts(key, value, _USUAL))}
    ours = normalized(concepts)
    split = [_PREFIXED.fullmatch(concept) for concept in ours]
    prefixes = {found[1] for found in split if found is not None}
    if len(prefixes) == 1 and None not in split:
        infons[prefixes.pop()] = "|".join(found[2] for found in split if found is not None)
    elif ours:
        infons["identifier"] = "|".join(ours)
    if concepts_of(infons) != tuple(concepts):
        infons[EXACT] = json.dumps(list(concepts), ensure_ascii=False)
    return infons

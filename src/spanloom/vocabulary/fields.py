"""What a column of a table, or a field of a JSON object, holds of a concept: usual names, and those that users give."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeAlias

from spanloom.document.span import normalize_identifier
from spanloom.errors import DataError, UsageError, clip
from spanloom.formats.layouts import words
from spanloom.vocabulary.records import Gathered, Notes, check_chosen, split_values

Columns: TypeAlias = Mapping[str, str | Sequence[str]] | Sequence[str] | str | None
"""Our name -> the name of a column or its number from 1, or several of them; or ``ours=theirs,ours=theirs``."""


# our name -> usual names, in small letters without other signs, the most specific first
_ONE: Final = MappingProxyType(
    {
        "id": words(
            "id conceptid classid cui conceptcui umlscui umlsid curie identifier uri iri geneid hgncid mondoid doid "
            "meshid meshui snomedid snomedctid snomedcode sctid drugbankid rxcui loincnum taxid taxonid entityid qid "
            "termid accession entry icd10cmcode icd10code icd10 icd9code icdcode icdocode atccode conceptcode code ui "
            "key 编码 代码 疾病编码 诊断编码"
        ),
        "name": words(
            "name preferredname preferredlabel preferredterm preflabel canonicalname conceptname commonname "
            "longcommonname entityname genename diseasename chemicalname drugname label term str string title display "
            "symbol conceptsynonymname scientificname longdescription longtitle description descriptor mention phrase "
            "entity concept word keyword bezeichnung benennung begriff libelle libellé nom nombre nome término termo "
            "descripción descrição omschrijving naam 名称 名字 术语 疾病名称 诊断名称"
        ),
        "definition": words("definition definitions def description scopenote"),
        "language": words("language lang languagecode lat"),
        "source": words("source sab vocabularyid vocabulary ontology ontologies terminology codesystem"),
        "active": words("active isactive"),
        "obsolete": words(
            "obsolete isobsolete deprecated isdeprecated inactive retired suppress suppressed invalidreason"
        ),
        "preferred": words("preferred ispreferred isprimary namestatus tty termtype nametype ispref"),
    }
)
_SEVERAL: Final = MappingProxyType(
    {
        "synonyms": words(
            "synonyms synonym aliases alias aka synonyme sinónimos sinonimos sinônimos synoniemen altlabel altlabels "
            "altnames altname alternativenames alternativename alternatenames alternatename alternativelabel "
            "alternativeterm alternativeterms othernames othername names exactsynonym exactsynonyms hasexactsynonym "
            "relatedsynonym relatedsynonyms hasrelatedsynonym narrowsynonym narrowsynonyms hasnarrowsynonym "
            "conceptsynonymname entryterms entryterm variants surfaceforms shortname shortnames abbreviation "
            "abbreviations acronym acronyms aliassymbol aliasname prevsymbol prevname brandname brandnames "
            "displayname shortdescription fullname otherdesignations fullnamefromnomenclatureauthority "
            "symbol approvedsymbol genericnames "
            "tradenames 别名 同义词"
        ),
        "alternatives": words("alternatives altids altid alternativeids alternateids alternativeid hasalternativeid"),
        "parents": words("parents parent parentids parentid isa broader broaderconcept subclassof superclass"),
        "category": words(
            "category categories semantictype semantictypes semtypes semtype sty tuis tui typeids types type domainid "
            "domain typeofgene class"
        ),
    }
)
JOINED: Final = "further rows of concepts that have several, joined"
_ENDINGS: Final = MappingProxyType({"id": ("id", "code", "identifier"), "name": ("name", "term", "label", "title")})
"""Endings of other names, if one column has them: disease_id, organ_name."""
FIELDS: Final = (*_ONE, *_SEVERAL)
"""What a column may hold of a concept."""
_NO: Final = frozenset(("", "-", "0", "f", "false", "n", "no", "none", "null", "inactive"))
_PREFERRED: Final = frozenset(("1", "p", "pn", "pt", "pf", "mh", "preferred", "t", "true", "y", "yes", "primary"))
_SIGNS: Final = re.compile(r"[^\w]|_")


def given_columns(columns: Columns) -> dict[str, tuple[str, ...]]:
    """Return the columns that a user names.

    Raises:
        UsageError: an item without ``=``, or a name that is not in `FIELDS`.

    >>> given_columns("id=cui,name=str,synonyms=brand,synonyms=inn")
    {'id': ('cui',), 'name': ('str',), 'synonyms': ('brand', 'inn')}
    >>> given_columns({"id": "cui", "synonyms": ["brand", "inn"]})
    {'id': ('cui',), 'synonyms': ('brand', 'inn')}
    """
    if isinstance(columns, Mapping):
        pairs = [
            (ours, str(theirs))
            for ours, given in columns.items()
            for theirs in ([given] if isinstance(given, str | int) else given)
        ]
    else:
        items = columns.split(",") if isinstance(columns, str) else columns or ()
        split = [item.partition("=") for item in items]
        wrong = next(("".join(parts) for parts in split if not parts[1] or not parts[2].strip()), None)
        if wrong is not None:
            raise UsageError(f"found the column {clip(wrong)}, expected pairs such as id=cui,name=str")
        pairs = [(ours.strip(), theirs.strip()) for ours, _, theirs in split]
    found: dict[str, tuple[str, ...]] = {}
    for ours, theirs in pairs:
        if ours not in FIELDS:
            raise UsageError(f"a vocabulary has no column {clip(ours)}; expected one of: {', '.join(FIELDS)}")
        if ours in found and ours not in _SEVERAL:
            raise UsageError(
                f"found two columns for {ours}, expected one; several can be given for {', '.join(_SEVERAL)}"
            )
        found[ours] = (*found.get(ours, ()), theirs)
    return found


def plain(name: str) -> str:
    """Return the name of a column as names are compared.

    >>> plain("#Preferred Label"), plain("concept_id")
    ('preferredlabel', 'conceptid')
    """
    return _SIGNS.sub("", name).lower()


def assigned(header: Sequence[str], given: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """Return our name -> names in the header, which are all in it; empty if it names no concepts.

    Args:
        header: names of columns or of fields.
        given: of `given_columns`; what it lacks is found by usual names, among the columns that it does not name.

    Raises:
        UsageError: a column that is given is not there.

    >>> assigned(["cui", "str", "sty", "note"], {})
    {'id': ('cui',), 'name': ('str',), 'category': ('sty',)}
    >>> assigned(["code", "text"], {"name": ["code"]})
    {'name': ('code',)}
    """
    found = {ours: tuple(_there(header, name) for name in names) for ours, names in given.items()}
    taken = {name for names in found.values() for name in names}
    free: dict[str, list[str]] = {}
    for name in dict.fromkeys(header):
        if name not in taken:
            free.setdefault(plain(name), []).append(name)
    stem = next((name for name in free if f"{name}label" in free), None)  # as SPARQL of Wikidata names columns
    if stem is not None and found.keys().isdisjoint(("id", "name")):
        found |= {"id": (free.pop(stem)[0],), "name": (free.pop(f"{stem}label")[0],)}
        if "synonyms" not in found and f"{stem}altlabel" in free:
            found["synonyms"] = (free.pop(f"{stem}altlabel")[0],)
    for ours, usual in _ONE.items():
        first = next((name for name in usual if name in free), None)
        if ours not in found and first is not None:
            found[ours] = (free.pop(first)[0],)
    for ours, usual in _SEVERAL.items():
        names = tuple(name for one in usual for name in free.pop(one, ()))
        if ours not in found and names:
            found[ours] = names
    for ours, endings in _ENDINGS.items():
        ending = [name for name in free if name.endswith(endings)]
        if ours not in found and len(ending) == 1 and len(free[ending[0]]) == 1:
            found[ours] = (free.pop(ending[0])[0],)
    if "name" not in found and "synonyms" in found:
        found["name"] = found["synonyms"][:1]
    return found if "name" in found else {}


def _there(header: Sequence[str], name: str) -> str:
    same = next((column for column in header if column.strip().lower() == name.strip().lower()), None)
    if same is None:
        raise UsageError(f"there is no column {clip(name)}; the vocabulary has: {', '.join(map(clip, header[:20]))}")
    return same


class Gathering:
    """Gathers what the rows of a table, or objects, give for each concept.

    Args:
        path: of the file.
        notes: to add to.
        languages, sources: of rows to keep; all when empty.
    """

    def __init__(
        self, path: str | Path, notes: Notes, languages: Collection[str] = (), sources: Collection[str] = ()
    ) -> None:
        self._path, self._notes = path, notes
        self._chosen = {"language": frozenset(languages), "source": frozenset(sources)}
        self._seen: dict[str, set[str]] = {name: set() for name in self._chosen}
        self._found: dict[str, Gathered] = {}
        self._bars: set[str] = set()  # lists in which | divides values
        self._unsure: list[tuple[Gathered, str, str]] = []  # cells with ; that may divide values

    def add(self, row: Mapping[str, Sequence[str]], line: int | None, place: str = "") -> None:
        """Add the content of a row.

        Args:
            row: our names -> values; an id and a name, or synonyms.
            line: where it starts.
            place: of a row without a line, for messages.

        Raises:
            DataError: the row has no identifier.
        """
        for name, chosen in self._chosen.items():
            value = "".join(row.get(name, ()))
            self._seen[name].add(value)
            if chosen and value not in chosen:
                self._notes.add("names of other languages or sources, left out")
                return
        one = {name: values[0] for name, values in row.items() if values and name in _ONE}
        identifier = normalize_identifier(one.get("id", ""))
        if one.get("active", "1").lower() in _NO or one.get("obsolete", "").lower() not in _NO:
            self._notes.add("inactive or obsolete rows, left out", identifier or None)
            return
        if not identifier:
            message = f"{place}found an empty id, expected each concept to have one"
            raise DataError(message, path=self._path, line=line)
        if identifier in self._found:
            self._notes.add(JOINED, identifier)
        gathered = self._found.setdefault(identifier, Gathered(line))
        rank = 0 if "preferred" not in one or one["preferred"].lower() in _PREFERRED else 1
        if name := one.get("name", ""):
            gathered.names.append((rank, name))
        commas = "wikidata.org/entity/" in one.get("id", "")  # whose labels SPARQL joins by them
        for field_, values in row.items():
            if field_ in _SEVERAL:
                values = [part for value in values for part in value.split(", ")] if commas else values
                for value in values:
                    self._bars.update({field_} if "|" in value else ())
                    if ";" in value and "|" not in value:
                        self._unsure.append((gathered, field_, value))
                    else:
                        _extend(gathered, field_, split_values(value))
        gathered.definition = gathered.definition or one.get("definition", "")

    def finish(self) -> Mapping[str, Gathered]:
        """Return what was gathered, by identifier.

        Raises:
            UsageError: a language or a source that no row has.
        """
        for gathered, name, value in self._unsure:
            if name not in self._bars:
                self._notes.add(f"cells of {name} split at ;", value)
            _extend(gathered, name, [value] if name in self._bars else split_values(value, ";"))
        for name, chosen in self._chosen.items():
            check_chosen(name, chosen, self._seen[name], self._path)
        return self._found


def _extend(gathered: Gathered, name: str, values: Sequence[str]) -> None:
    values = [value for value in values if value != "-"]  # how NCBI writes an empty cell
    if name == "synonyms":
        gathered.names.extend((1, value) for value in values)
    else:
        lists = {"alternatives": gathered.alternatives, "parents": gathered.parents, "category": gathered.categories}
        lists[name].extend(values)

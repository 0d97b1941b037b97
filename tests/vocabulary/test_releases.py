"""Vocabularies as publishers release them: SNOMED CT, OMOP, scispaCy, OWL, taxonomy, codes, lists of names."""

from __future__ import annotations

import gzip

import pytest

from spanloom.errors import DataError, DataWarning, UsageError
from spanloom.vocabulary import Concept, read_vocabulary

CORE = "900000000000207008"
FULL_NAME, SYNONYM, DEFINITION = "900000000000003001", "900000000000013009", "900000000000550004"
SNOMED = "id\teffectiveTime\tactive\tmoduleId\tconceptId\tlanguageCode\ttypeId\tterm\tcaseSignificanceId\n"


def descriptions(*rows: tuple[str, str, str, str, str, str]) -> str:
    cells = [(a, b, c, CORE, "22298006", d, e, f, "900000000000448009") for a, b, c, d, e, f in rows]
    return SNOMED + "".join("\t".join(row) + "\r\n" for row in cells)


ATTACK = descriptions(
    ("1", "20170731", "1", "en", SYNONYM, "Heart attack"),
    ("2", "20170731", "1", "en", SYNONYM, "Myocardial infarction"),
    ("3", "20170731", "0", "en", SYNONYM, "MI old"),
    ("4", "20170731", "1", "en", FULL_NAME, "Myocardial infarction (disorder)"),
    ("5", "20170731", "1", "es", SYNONYM, 'infarto "agudo" de miocardio'),
)


def notes(vocabulary) -> list[str]:
    return [str(note) for note in vocabulary.notes]


def test_descriptions_of_snomed(written) -> None:
    vocabulary = read_vocabulary(written("sct2_Description_Snapshot-en_INT.txt", ATTACK), languages=["en"])
    names = ("Heart attack", "Myocardial infarction (disorder)")
    assert [*vocabulary] == [Concept("22298006", "Myocardial infarction", names[1:] + names[:1], category="disorder")]
    assert notes(vocabulary) == [
        "inactive descriptions, left out: 1, such as 3", "descriptions in other languages, left out: 1",
    ]  # fmt: skip
    assert vocabulary.find("22298006") == 0
    with pytest.raises(UsageError, match="found no name of the language 'fr', expected one of en, es"):
        read_vocabulary(written("a.txt", ATTACK), languages=["fr"])


def test_a_release_of_snomed(written, tmp_path) -> None:
    terminology = "release/Snapshot/Terminology/"
    written(terminology + "sct2_Description_Snapshot-en_INT.txt", ATTACK)
    written("release/Full/Terminology/sct2_Description_Full-en_INT.txt", "broken")
    text = descriptions(("9", "20170731", "1", "en", DEFINITION, "Necrosis of the myocardium."))
    written(terminology + "sct2_TextDefinition_Snapshot-en_INT.txt", text)
    head = "id\teffectiveTime\tactive\tmoduleId\tsourceId\tdestinationId\trelationshipGroup\ttypeId\n"
    rows = "".join(
        f"{number}\t2017\t{active}\t{CORE}\t22298006\t{parent}\t0\t{kind}\n"
        for number, active, parent, kind in [(1, 1, 414795007, 116680003), (2, 0, 2, 116680003), (3, 1, 3, 363698007)]
    )
    written(terminology + "sct2_Relationship_Snapshot_INT.txt", head + rows)
    [concept] = read_vocabulary(tmp_path / "release")
    assert (concept.definition, concept.parents) == ("Necrosis of the myocardium.", ("414795007",))
    assert len(concept.names) == 4


def test_the_latest_state_of_a_full_release(written) -> None:
    text = descriptions(
        ("1", "20190731", "0", "en", SYNONYM, "Heart attack"),
        ("1", "20170731", "1", "en", SYNONYM, "Heart attack"),
        ("2", "20170731", "1", "en", SYNONYM, "old spelling"),
        ("2", "20190731", "1", "en", SYNONYM, "Myocardial infarction"),
    )
    assert [concept.names for concept in read_vocabulary(written("full.txt.gz", gzip.compress(text.encode())))] == [
        ("Myocardial infarction",)
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (ATTACK.replace("effectiveTime", "time"), ":1: found no column effectiveTime, expected id, effectiveTime"),
        (ATTACK + "1\t2\n", ":7: found 2 columns, expected 9 as in the first line"),
        (SNOMED, "found no concept"),
    ],
)
def test_errors_of_snomed(written, content, message) -> None:
    with pytest.raises(DataError, match=message):
        read_vocabulary(written("a.txt", content))


OMOP = """\
concept_id\tconcept_name\tdomain_id\tvocabulary_id\tconcept_class_id\tstandard_concept\tconcept_code\tvalid_start_date\tvalid_end_date\tinvalid_reason
4329847\tMyocardial infarction\tCondition\tSNOMED\tClinical Finding\tS\t22298006\t20020131\t20991231\t
1112807\taspirin "low"\tDrug\tRxNorm\tIngredient\tS\t1191\t19700101\t20991231\t
99\told\tDrug\tRxNorm\tIngredient\t\t9\t19700101\t20201231\tD
"""
SYNONYMS = "concept_id\tconcept_synonym_name\tlanguage_concept_id\n4329847\tHeart attack\t4180186\n99\tolder\t4180186\n"
INFARCTION = Concept(
    "4329847", "Myocardial infarction", ("Heart attack",), ("SNOMED:22298006",), ("321318",), category="Condition"
)  # fmt: skip


@pytest.mark.parametrize("change", [str, str.upper, lambda text: text.partition("\n")[2]])
@pytest.mark.parametrize("delimiter", ["\t", ","])
def test_omop(written, tmp_path, change, delimiter) -> None:
    head, rows = (change(OMOP).split("\n", 1) if change is str.upper else ("", change(OMOP)))  # fmt: skip
    rows = OMOP.partition("\n")[2] if change is str.upper else rows
    content = f"{head}\n{rows}".lstrip("\n")
    if delimiter == ",":
        content = content.replace('aspirin "low"', '"aspirin ""low"""').replace("\t", ",")
    path = written("athena/CONCEPT.csv", content)
    written("athena/CONCEPT_SYNONYM.csv", SYNONYMS)
    written(
        "athena/CONCEPT_RELATIONSHIP.csv", "4329847\t321318\tIs a\t2002\t2099\t\n4329847\t1\tMaps to\t2002\t2099\t\n"
    )
    vocabulary = read_vocabulary(tmp_path / "athena")
    assert [*vocabulary] == [
        INFARCTION, Concept("1112807", 'aspirin "low"', (), ("RxNorm:1191",), category="Drug"),
    ]  # fmt: skip
    assert notes(vocabulary)[:2] == [
        "inactive or obsolete rows, left out: 1, such as 99",
        "synonyms of concepts that are left out or not there: 1, such as 99",
    ]
    assert [concept.id for concept in read_vocabulary(path, sources=["RxNorm"])] == ["1112807"]
    assert vocabulary.find("SNOMED:22298006") == 0


def test_errors_of_omop(written) -> None:
    with pytest.raises(DataError, match=r":3: found 2 columns, expected 10: concept_id, concept_name"):
        read_vocabulary(written("CONCEPT.csv", "\n".join(OMOP.split("\n")[:2]) + "\n1\t2\n"))


SCISPACY = """\
{"concept_id": "C0027051", "aliases": ["heart attack", "MI"], "types": ["T047", "T046"], "canonical_name": "Myocardial Infarction", "definition": "Necrosis."}
{"concept_id": "C0008031", "aliases": [], "types": ["T184"], "canonical_name": "Chest Pain", "definition": null}
"""  # noqa: E501
OBJECTS = [
    Concept("UMLS:C0027051", "Myocardial Infarction", ("heart attack", "MI"), (), (), "Necrosis.", "T047|T046"),
    Concept("UMLS:C0008031", "Chest Pain", category="T184"),
]


@pytest.mark.parametrize(
    ("name", "content", "columns"),
    [
        ("umls.jsonl", SCISPACY, None),
        ("umls.jsonl.gz", gzip.compress(SCISPACY.encode()), None),
        ("kb.json", "[" + SCISPACY.strip().replace("}\n{", "},\n{") + "]", None),
        ("kb", SCISPACY.replace("concept_id", "nr").replace("aliases", "aka"), "id=nr,synonyms=aka"),
    ],
)
def test_objects(written, name, content, columns) -> None:
    assert [*read_vocabulary(written(name, content), columns=columns)] == OBJECTS


def test_names_by_identifier(written) -> None:
    path = written("a.json", '{"C0027051": ["Myocardial Infarction", "MI"], "C0008031": "Chest Pain"}')
    assert [concept.names for concept in read_vocabulary(path)] == [("Myocardial Infarction", "MI"), ("Chest Pain",)]
    path = written("b.json", '{"C1": {"label": "a", "x": 1}, "C2": {"label": "b"}}')
    vocabulary = read_vocabulary(path)
    assert [(c.id, c.names) for c in vocabulary] == [("C1", ("a",)), ("C2", ("b",))]
    assert notes(vocabulary) == ["fields that are not read: 1, such as x"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"a": 1, "b": 2}\n{"a": 1}\n', ":1: found the fields a, b, expected fields such as concept_id"),
        (SCISPACY + "{\n", ":3: not JSON"),
        (SCISPACY.replace("C0008031", ""), ":2: found an empty id"),
        ("[[1]]", r"found '\[1\]', expected an object for each concept"),
    ],
)
def test_errors_of_objects(written, content, message) -> None:
    with pytest.raises(DataError, match=message):
        read_vocabulary(written("a.jsonl", content))
    with pytest.raises(UsageError, match="found no object with the field 'nr'"):
        read_vocabulary(written("a.jsonl", SCISPACY), columns={"id": "nr"})


def test_an_object_without_a_name_is_left_out_and_counted(written) -> None:
    content = SCISPACY + '{"concept_id": "C9", "types": ["T1"]}\n{"concept_id": "C8", "aliases": ["cold"]}\n'
    with pytest.warns(DataWarning, match="concepts without a name, left out: 1, such as C9"):
        vocabulary = read_vocabulary(written("a.jsonl", content))
    assert [concept.id for concept in vocabulary][-1] == "C8" and vocabulary[-1].names == ("cold",)
    assert vocabulary.find("C9") < 0
    with pytest.raises(DataError, match=":2: found the fields types, expected fields such as concept_id"):
        read_vocabulary(written("a.jsonl", '{"concept_id": "C9"}\n{"types": ["T1"]}\n'))
    with pytest.raises(DataError, match=":1: found the fields concept_id, expected fields such as"):
        read_vocabulary(written("a.jsonl", '{"concept_id": "C9"}\n{"concept_id": "C8", "types": ["T1"]}\n'))


OWL = """<?xml version="1.0"?>
<!DOCTYPE rdf:RDF [
  <!ENTITY owl "http://www.w3.org/2002/07/owl#" >
  <!ENTITY obo "http://purl.obolibrary.org/obo/" >
]>
<rdf:RDF xmlns="http://purl.obolibrary.org/obo/x.owl#" xmlns:owl="http://www.w3.org/2002/07/owl#"
  xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#"
  xmlns:o="http://www.geneontology.org/formats/oboInOwl#" xmlns:obo="http://purl.obolibrary.org/obo/"
  xmlns:skos="http://www.w3.org/2004/02/skos/core#">
<owl:Ontology rdf:about="&obo;x.owl"><owl:imports rdf:resource="http://127.0.0.1:9/y.owl"/></owl:Ontology>
<owl:ObjectProperty rdf:about="&obo;BFO_1"><rdfs:label>part of</rdfs:label></owl:ObjectProperty>
<owl:Class rdf:about="&obo;DOID_5844">
  <rdfs:subClassOf rdf:resource="&obo;DOID_3393"/>
  <rdfs:subClassOf><owl:Restriction><owl:onProperty rdf:resource="&obo;BFO_1"/></owl:Restriction></rdfs:subClassOf>
  <obo:IAO_0000115 xml:lang="en">Necrosis.</obo:IAO_0000115>
  <o:hasExactSynonym>heart attack</o:hasExactSynonym>
  <o:hasBroadSynonym>heart disease</o:hasBroadSynonym>
  <o:hasAlternativeId>DOID:9408</o:hasAlternativeId>
  <o:hasOBONamespace>disease_ontology</o:hasOBONamespace>
  <rdfs:label xml:lang="de">Herzinfarkt</rdfs:label>
  <rdfs:label xml:lang="en">myocardial infarction</rdfs:label>
</owl:Class>
<owl:Class rdf:about="&obo;DOID_9"><owl:deprecated>true</owl:deprecated>
  <rdfs:label>old</rdfs:label><obo:IAO_0100001 rdf:resource="&obo;DOID_5844"/></owl:Class>
<owl:Class><owl:unionOf rdf:parseType="Collection"/></owl:Class>
<rdf:Description rdf:about="http://www.ebi.ac.uk/efo/EFO_1"><rdf:type rdf:resource="&owl;Class"/>
  <skos:prefLabel>heart</skos:prefLabel><skos:altLabel>cor</skos:altLabel></rdf:Description>
<rdf:Description rdf:about="http://a.b/c"><rdfs:label>a thing</rdfs:label></rdf:Description>
</rdf:RDF>
"""


@pytest.mark.parametrize("pack", [str.encode, lambda text: text.encode("utf-16")])
def test_owl(written, pack) -> None:
    vocabulary = read_vocabulary(written("a.owl", pack(OWL)))
    assert [*vocabulary] == [
        Concept(
            "DOID:5844", "myocardial infarction", ("Herzinfarkt", "heart attack"), ("DOID:9408", "DOID:9"),
            ("DOID:3393",), "Necrosis.", "disease_ontology",
        ),
        Concept("EFO:1", "heart", ("cor",)),
    ]  # fmt: skip
    assert notes(vocabulary) == [
        "imports, not followed: 1, such as http://127.0.0.1:9/y.owl",
        "broad synonyms, left out, as they name something wider: 1, such as 'heart disease'",
        "classes without an identifier, such as restrictions, left out: 1",
        "descriptions of what is no class, left out: 1, such as http://a.b/c",
        "obsolete terms, left out: 1, such as DOID:9",
        "parents that are not in the vocabulary: 1, such as DOID:3393",
    ]
    german = read_vocabulary(written("a.rdf", OWL), languages=["de"])
    assert german[0].names == ("Herzinfarkt", "heart attack")
    with pytest.raises(UsageError, match="found no name of the language 'fr', expected one of de, en"):
        read_vocabulary(written("a.owl", OWL), languages=["fr"])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('obo "http://purl.obolibrary.org/obo/"', 'obo SYSTEM "file:///etc/passwd"', "declaration of the entity 'obo'"),
        ('obo "http://purl.obolibrary.org/obo/"', 'obo "&owl;&owl;"', "declaration of the entity 'obo'"),
        ('obo "http://purl.obolibrary.org/obo/"', f'obo "{"x" * 201}"', "declaration of the entity 'obo'"),
        ("ENTITY obo", 'ENTITY % x "a"><!ENTITY obo', "a declaration of the entity 'x'"),
        ("</rdf:RDF>", "", "no well-formed XML"),
    ],
)  # fmt: skip
def test_hostile_owl(written, old, new, message) -> None:
    with pytest.raises(DataError, match=message):
        read_vocabulary(written("a.owl", OWL.replace(old, new)))


OWL_XML = """<?xml version="1.0"?>
<Ontology xmlns="http://www.w3.org/2002/07/owl#" xml:base="http://x.org/o" ontologyIRI="http://x.org/o">
<Prefix name="obo" IRI="http://purl.obolibrary.org/obo/"/>
<Prefix name="o" IRI="http://www.geneontology.org/formats/oboInOwl#"/>
<Import>http://127.0.0.1:9/y.owl</Import>
<Declaration><Class abbreviatedIRI="obo:DOID_5844"/></Declaration>
<Declaration><Class IRI="http://purl.obolibrary.org/obo/DOID_9"/></Declaration>
<Declaration><ObjectProperty IRI="http://purl.obolibrary.org/obo/BFO_1"/></Declaration>
<SubClassOf><Annotation><AnnotationProperty abbreviatedIRI="rdfs:comment"/><Literal>sure</Literal></Annotation>
  <Class abbreviatedIRI="obo:DOID_5844"/><Class IRI="http://purl.obolibrary.org/obo/DOID_3393"/></SubClassOf>
<SubClassOf><Class abbreviatedIRI="obo:DOID_5844"/><ObjectSomeValuesFrom>
  <ObjectProperty IRI="http://purl.obolibrary.org/obo/BFO_1"/><Class abbreviatedIRI="obo:DOID_9"/>
  </ObjectSomeValuesFrom></SubClassOf>
<AnnotationAssertion><AnnotationProperty abbreviatedIRI="rdfs:label"/><AbbreviatedIRI>obo:DOID_5844</AbbreviatedIRI>
  <Literal xml:lang="de">Herzinfarkt</Literal></AnnotationAssertion>
<AnnotationAssertion><AnnotationProperty abbreviatedIRI="rdfs:label"/><AbbreviatedIRI>obo:DOID_5844</AbbreviatedIRI>
  <Literal xml:lang="en">myocardial infarction</Literal></AnnotationAssertion>
<AnnotationAssertion><AnnotationProperty abbreviatedIRI="o:hasExactSynonym"/>
  <IRI>http://purl.obolibrary.org/obo/DOID_5844</IRI><Literal>heart attack</Literal></AnnotationAssertion>
<AnnotationAssertion><AnnotationProperty abbreviatedIRI="owl:deprecated"/><AbbreviatedIRI>obo:DOID_9</AbbreviatedIRI>
  <Literal datatypeIRI="http://www.w3.org/2001/XMLSchema#boolean">true</Literal></AnnotationAssertion>
<AnnotationAssertion><AnnotationProperty abbreviatedIRI="obo:IAO_0100001"/><AbbreviatedIRI>obo:DOID_9</AbbreviatedIRI>
  <AbbreviatedIRI>obo:DOID_5844</AbbreviatedIRI></AnnotationAssertion>
</Ontology>
"""
TURTLE = r"""# baseURI: http://x.org/o
@prefix obo: <http://purl.obolibrary.org/obo/> .
@prefix o: <http://www.geneontology.org/formats/oboInOwl#> .
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
@prefix owl: <http://www.w3.org/2002/07/owl#> .
<http://x.org/o> a owl:Ontology ; owl:imports <http://127.0.0.1:9/y.owl> .
obo:DOID_5844 a owl:Class ; # a comment; with marks . ,
  rdfs:subClassOf obo:DOID_3393 , [ a owl:Restriction ; owl:onProperty obo:BFO_1 ;
    owl:someValuesFrom [ owl:unionOf ( obo:A obo:B ) ] ] ;
  rdfs:label "Herzinfarkt"@de, '''myocardial
infarction'''@en ; o:hasExactSynonym "heart attack"^^<http://www.w3.org/2001/XMLSchema#string> ; ; .
obo:DOID_9 a owl:Class; owl:deprecated true; obo:IAO_0100001 obo:DOID_5844; o:rank 1.5.
_:b1 a owl:Axiom ; rdfs:label "none" .
[ a owl:AllDifferent ; owl:members ( obo:A ) ] .
[] rdfs:label "none" .
"""


@pytest.mark.parametrize("content", [OWL_XML, TURTLE, TURTLE.replace("\n", "\r\n")])
def test_owl_in_its_own_xml_and_in_turtle(written, content) -> None:
    vocabulary = read_vocabulary(written("a.owl", content))
    assert [*vocabulary] == [
        Concept(
            "DOID:5844", "myocardial infarction", ("Herzinfarkt", "heart attack"), ("DOID:9",), ("DOID:3393",)
        )
    ]  # fmt: skip
    assert "imports, not followed: 1, such as http://127.0.0.1:9/y.owl" in notes(vocabulary)
    assert "obsolete terms, left out: 1, such as DOID:9" in notes(vocabulary)
    german = read_vocabulary(written("a.ttl", content), languages=["de"])
    assert german[0].names == ("Herzinfarkt", "heart attack")


def test_a_thesaurus_in_n_triples(written) -> None:
    skos, subject = "http://www.w3.org/2004/02/skos/core#", "<http://x.org/1>"
    lines = (
        f"{subject} <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <{skos}Concept> .\n"
        f'{subject} <{skos}prefLabel> "caf\\u00E9 \\"noir\\""@fr .\n{subject} <{skos}altLabel> "coffee"@en .\n'
    )
    assert [*read_vocabulary(written("a.nt", lines))] == [Concept("http://x.org/1", 'café "noir"', ("coffee",))]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("@prefix a: <http://a#> .\na:b a:c .\n", r":2: found '\.', expected an address or a name"),
        ("@prefix a: <http://a#> .\na:b x:c a:d .\n", ":2: found 'x:c', expected a name whose prefix is declared"),
        ("@prefix a: <http://a#> .\na:b a:c a:d", ":2: found the end of the file, expected '.'"),
        ('@prefix a: <http://a#> .\na:b a:c "d', r""":2: found '"d', expected Turtle"""),
        ("@prefix a: <http://a#> .\na:b a:c " + "[" * 10_000, "found the end of the file, expected a ]"),
        ("@prefix a <http://a#> .\n", ":1: found '<http://a#>', expected a prefix and its address"),
        ("@prefix a: <http://a#> .\n", "found no concept, expected at least one"),
    ],
)
def test_hostile_turtle(written, content, message) -> None:
    with pytest.raises(DataError, match=message):
        read_vocabulary(written("a.ttl", content))


@pytest.mark.parametrize("content", ["Prefix(:=<http://x#>)\nOntology(<http://x>)\n", "Prefix: a: <http://x#>\n"])
def test_other_syntaxes_of_owl(written, content) -> None:
    with pytest.raises(DataError, match=r"functional or Manchester syntax, .*; convert it \(robot convert --input IN"):
        read_vocabulary(written("a.owl", content))


def test_the_taxonomy(written, tmp_path) -> None:
    names = (
        "9606\t|\tHomo sapiens Linnaeus, 1758\t|\t\t|\tauthority\t|\n9606\t|\thuman\t|\t\t|\tgenbank common name\t|\n"
        "9606\t|\tHomo sapiens\t|\t\t|\tscientific name\t|\n"
    )
    path = written("taxdump/names.dmp", names)
    assert [*read_vocabulary(path)] == [Concept("9606", "Homo sapiens", ("human",), ("NCBITaxon:9606",))]
    written("taxdump/nodes.dmp", "9606\t|\t9605\t|\tspecies\t|\t\n")
    [concept] = read_vocabulary(tmp_path / "taxdump")
    assert (concept.parents, concept.category) == (("9605",), "species")


@pytest.mark.parametrize(
    ("content", "names"),
    [
        ("A000    Cholera due to Vibrio cholerae 01\nI219    Acute MI, unspecified\n", 1),
        ("0010  Cholera due to vibrio cholerae\nV0179 Contact with a viral disease\nE8490 Accidents in the home\n", 1),
        (
            f"00002 A000    1 {'Cholera due to V. cholerae 01':60} Cholera due to Vibrio cholerae 01, biovar\n",
            2,
        ),
    ],
)
def test_lists_of_codes(written, content, names) -> None:
    vocabulary = read_vocabulary(written("icd10cm-codes-2025.txt", content))
    assert {len(concept.names) for concept in vocabulary} == {names}
    dots = {concept.id: concept.alternatives for concept in vocabulary}
    known = {"A000": "A00.0", "I219": "I21.9", "0010": "001.0", "V0179": "V01.79", "E8490": "E849.0"}
    assert all(dots[code] == (known[code],) for code in dots)


@pytest.mark.parametrize("head", ["", "name\n", "# my drugs\n"])
def test_lists_of_names(written, head) -> None:
    content = f"\ufeff{head}chest pain\nInfarct, Myocardial\n\naspirin\r\n"
    vocabulary = read_vocabulary(written("drugs.txt", content))
    assert [(concept.id, concept.name) for concept in vocabulary] == [
        (name, name) for name in ("chest pain", "Infarct, Myocardial", "aspirin")
    ]
    assert vocabulary.notes[-1].kind == "names of a list, which are their own identifiers"


def test_bounded_gzip(written) -> None:
    path = written(
        "names.txt.gz", gzip.compress(b"acetylsalicylic acid and caffeine in effervescent tablets\n" * 1_300_000)
    )
    with pytest.raises(DataError, match="holds more than 200 times its size"):
        read_vocabulary(path)

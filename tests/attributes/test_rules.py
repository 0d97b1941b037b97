"""Rules of scope: enumerations, gaps, lists below a heading, pseudo-cues, and texts that would take long."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom import Document, Mention
from spanloom.attributes import mark, read_cues, with_sections
from spanloom.errors import DataError, UsageError


def document(text: str, *surfaces: str, kind: str = "problem") -> Document:
    """Return a document with a mention of each surface; ``...`` is a gap."""
    mentions = []
    for surface in surfaces:
        spans, at = [], 0
        for part in surface.split(" ... "):
            at = text.index(part, at)
            spans.append((at, at + len(part)))
            at += len(part)
        mentions.append(Mention(kind, spans))
    return Document(text, mentions=mentions)


def negated(text: str, *surfaces: str) -> list[bool]:
    [marked] = mark([document(text, *surfaces)], ["negated"], "en")
    return [mention.attributes.get("negated", False) is True for mention in marked.mentions]


def test_one_negation_is_that_of_every_item() -> None:
    assert negated("No fever, chills, or rash.", "fever", "chills", "rash") == [True] * 3
    items = [f"finding{i}" for i in "abcdefghijklmnopqrstuvwxyz"]
    assert negated(f"Denies {', '.join(items)} or cough.", *items, "cough") == [True] * 27


def test_mentions_with_gaps_share_the_negation_of_their_words() -> None:
    text = "No pleural or pericardial effusion; small renal cyst."
    assert negated(text, "pleural ... effusion", "pericardial effusion", "renal cyst") == [True, True, False]
    text = "Trace mitral, mild tricuspid and no aortic regurgitation."
    surfaces = "mitral ... regurgitation", "tricuspid ... regurgitation", "aortic regurgitation"
    assert negated(text, *surfaces) == [False, False, True]
    assert negated("The abdomen is soft, non-tender.", "abdomen ... tender") == [True]


def test_a_list_below_a_heading_is_reached_up_to_a_blank_line() -> None:
    text = "Denies:\n- fever\n- chills\n\nPlan: rest for pain"
    assert negated(text, "fever", "chills", "pain") == [True, True, False]
    assert negated("Denies:\n- fever\nReports: cough\n- rash", "fever", "cough", "rash") == [True, False, False]


def test_a_cue_behind_a_mention_that_may_have_to_be_next_to_it() -> None:
    assert negated("Pain free.", "Pain") == negated("Pain absent.", "Pain") == [True]
    assert (negated("Pain was really free.", "Pain"), negated("Pain was really absent.", "Pain")) == ([False], [True])


@pytest.mark.parametrize(
    "text",
    ["No increase in pain.", "Not only pain.", "gram negative pain", "not without pain", "pain was not ruled out"],
)
def test_pseudo_cues_and_double_negation_do_not_negate(text: str) -> None:
    assert negated(text, "pain") == [False]
    assert negated(f"No fever. {text}", "pain") == [False]


@pytest.mark.parametrize(
    ("text", "surfaces", "expected"),
    [
        ("No effect on pain or sleep.", ("pain", "sleep"), [False, False]),
        ("No pain, change in weight or rash.", ("pain", "weight", "rash"), [True, False, True]),
        ("Effects on pain and sleep were not found.", ("pain", "sleep"), [False, False]),
        ("Pain with an effect on sleep was absent.", ("sleep",), [False]),
        ("The cause of pain was not found, and rash was not found.", ("pain", "rash"), [False, True]),
    ],
)
def test_what_is_said_of_a_relation_negates_nothing(text: str, surfaces: tuple[str, ...], expected: list[bool]) -> None:
    assert negated(text, *surfaces) == expected


def test_a_minus_is_a_cue_and_a_hyphen_or_bullet_is_not() -> None:
    assert negated("- fever, - cough, + rash", "fever", "cough", "rash") == [True, True, False]
    assert negated("-fever -cough +rash", "fever", "cough", "rash") == [True, True, False]
    assert negated("fever -, cough -, rash +", "fever", "cough", "rash") == [True, True, False]
    assert negated("- fever\n- cough", "fever", "cough") == [False, False]
    assert negated("alpha-, beta- and gamma-chains, IL-2, -4", "alpha", "beta", "gamma", "-4") == [False] * 4


def test_the_subject_of_a_negated_verb_is_there_unless_the_verb_has_no_object() -> None:
    assert negated("Neither CT nor US showed stones.", "CT", "US", "stones") == [False, False, True]
    assert negated("Neither fever nor rash developed in June.", "fever", "rash") == [True, True]
    assert negated("Neither aspirin nor heparin reduced pain.", "aspirin", "heparin", "pain") == [False] * 3
    assert negated("Patients without fever were given heparin.", "fever", "heparin") == [True, False]


@pytest.mark.parametrize(
    ("text", "surfaces", "expected"),
    [
        ("Neither A1 nor B1 was effective in pain.", ("A1", "B1"), [False, False]),
        ("Neither fever nor rash was recorded.", ("fever", "rash"), [True, True]),
        ("Aspirin neither reduced pain, fever, nor rash.", ("pain", "rash"), [False, False]),
        ("No rash was seen, and no patients had had fever.", ("rash", "fever"), [True, True]),
        ("The rats had pain but not rash and fever.", ("pain", "rash", "fever"), [False, True, True]),
        ("Aspirin but not heparin increased fever and rash.", ("heparin", "fever", "rash"), [True, False, False]),
        ("Absence of fever and rash.", ("fever", "rash"), [True, True]),
        ("Absence of tuberculosis (TB).", ("TB",), [True]),
        ("None of aspirin, heparin or codeine was found.", ("aspirin", "codeine"), [True, True]),
    ],
)
def test_subjects_and_contrasts(text: str, surfaces: tuple[str, ...], expected: list[bool]) -> None:
    assert negated(text, *surfaces) == expected


@pytest.mark.parametrize(
    ("text", "surfaces", "expected"),
    [
        ("No radiation of pain.", ("pain",), [False]),
        ("No signs of pain.", ("pain",), [True]),
        ("No radiation of pain, no rash.", ("pain", "rash"), [False, True]),
        ("There is no treatment for pain.", ("pain",), [False]),
        ("There is no evidence for pain.", ("pain",), [True]),
        ("No aspirin-induced rash.", ("aspirin", "rash"), [False, True]),
        ("No seizure-like spells.", ("seizure",), [True]),
        ("Denies nausea-vomiting-chills.", ("nausea", "vomiting", "chills"), [True] * 3),
        ("No nausea or gene mutations were found.", ("nausea", "gene mutations"), [True, True]),
        ("Line exchange was not needed.", ("Line", "Line exchange"), [False, True]),
        ("Line or pump failure was excluded.", ("Line", "Line or pump failure", "pump failure"), [True, True, True]),
        ("+ fever - cough - rash", ("fever", "cough", "rash"), [False, True, True]),
        ("HIV-positive, HCV-negative.", ("HIV", "HCV"), [False, True]),
    ],
)
def test_complements_and_modifiers_of_what_is_absent(
    text: str, surfaces: tuple[str, ...], expected: list[bool]
) -> None:
    assert negated(text, *surfaces) == expected


@pytest.mark.parametrize(
    ("text", "surfaces", "expected"),
    [
        ("Fever, the first sign of sepsis, was absent.", ("Fever", "sepsis"), [True, False]),
        ("Symptoms, such as fever and rash, were not reported.", ("fever", "rash"), [True, True]),
        ("The girl, who never had rash, has fever.", ("rash", "fever"), [True, False]),
        ("In men without rash, fever may follow pain, chills or cough.", ("rash", "fever"), [True, False]),
        ("Rash was seen in all men with pain and in none without.", ("pain",), [False]),
    ],
)
def test_clauses_within_clauses(text: str, surfaces: tuple[str, ...], expected: list[bool]) -> None:
    assert negated(text, *surfaces) == expected


def test_capitals_are_a_short_form_where_a_word_beside_them_shows_it() -> None:
    assert negated("NO mediates pain. NO, fever and rash rose.", "pain", "fever", "rash") == [False] * 3
    assert negated("NO pain. There is NO rash. NO fever.", "pain", "rash", "fever") == [True] * 3
    assert negated("THERE IS NO PAIN. NO IS NO ANSWER.", "PAIN") == [True]


def test_the_charge_of_an_ion_belongs_to_it() -> None:
    assert negated("In Mg(2+)-free and K(+)-free solution.", "Mg", "K") == [True, True]
    assert negated("In Mg(2+)-rich solution.", "Mg") == [False]


def test_none_of_a_number_is_a_negation() -> None:
    assert negated("0 of 14 patients had pain.", "pain") == negated("Pain in 0 of 14 patients.", "Pain") == [True]
    assert negated("3 of 14 patients had pain.", "pain") == negated("Pain: 3 of 14.", "Pain") == [False]


def test_sections_give_attributes_and_are_output() -> None:
    text = "PAST MEDICAL HISTORY:\ngout\n\nFAMILY HISTORY: asthma"
    [marked] = mark([document(text, "gout", "asthma")])
    assert [dict(mention.attributes) for mention in marked.mentions] == [
        {"historical": True},
        {"experiencer": "family"},
    ]
    [found] = with_sections([marked])
    assert [(section.name, text[slice(*section.span)]) for section in found.sections] == [
        ("past_history", "PAST MEDICAL HISTORY:\ngout"),
        ("family_history", "FAMILY HISTORY: asthma"),
    ]
    assert [mention.attributes["section"] for mention in found.mentions] == ["past_history", "family_history"]
    assert found.mentions[0].attributes["historical"] is True
    [again] = with_sections([found])
    assert again == found


def test_a_text_without_headings_has_no_sections() -> None:
    note = Document("No pain.", mentions=[Mention("problem", [(3, 7)])])
    [found] = with_sections([note])
    assert (list(found.sections), found.mentions[0].attributes) == ([], {})


def test_headings_of_other_languages_are_known() -> None:
    [spanish] = with_sections([Document("ANTECEDENTES FAMILIARES: diabetes en su madre.")])
    [chinese] = with_sections([Document("现病史：发热3天。既往史：高血压。")])
    assert [name for name, _ in spanish.sections] == ["family_history"]
    assert [name for name, _ in chinese.sections] == ["history", "past_history"]


def test_other_attributes_stay_and_marks_are_renewed() -> None:
    given = document("no pain", "pain")
    own = given.mentions[0].replace(attributes={"negated": True, "course": "acute"}, attribute_scores={"negated": 0.5})
    [marked] = mark([given.copy(mentions=[own])], ["negated"])
    assert marked.mentions[0].attributes == {"negated": True, "course": "acute"}
    assert marked.mentions[0].attribute_scores == {}
    [unmarked] = mark([document("pain", "pain").copy(mentions=[own.replace(spans=[(0, 4)])])], ["negated"])
    assert unmarked.mentions[0].attributes == {"course": "acute"}


def test_cues_of_ones_own_are_added(tmp_path) -> None:
    path = tmp_path / "cues.toml"
    path.write_text(
        '[words]\nmonth = ["may", "june"]\n[negated]\nbefore = ["sine"]\n[planned]\nbefore = ["(scheduled|due) for"]\n'
        'after = ["in {month}"]\nsections = ["todo"]\n[headings]\ntodo = "to-?dos?"\n'
    )
    given = [
        document("sine dolor; due for MRI, CT in June", "dolor", "MRI", "CT"),
        document("TO-DOS: EEG", "EEG"),
    ]
    first, second = mark(given, cues=read_cues(path), language="en")
    assert [dict(mention.attributes) for mention in first.mentions] == [
        {"negated": True},
        {"planned": True},
        {"planned": True},
    ]
    assert second.mentions[0].attributes == {"planned": True}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("negated = 3", "'negated' is 3, expected a table of lists"),
        ("[negated]\nbefore = 'no'", r"negated.before is .*, expected a list of phrases"),
        ("[negated]\nbefor = ['no']", "found 'negated.befor', expected a name of before, before_near"),
        ("[scope]\nend = ['but']", "found 'scope.end', expected a name of ends"),
        ("[negated]\nbefore = ['{who} had']", "names the list 'who', which .words. lacks"),
        ("[negated]\nbefore = ['$']", "the phrase '\\$' has no word"),
        ("[headings]\nplan = '('", "headings.plan is .*, expected a regular expression"),
        ("language = 3", "language is 3, expected a text"),
        ("[negated", "not a TOML file of cues"),
        (f"[negated]\nbefore = ['{'(a|b|c|d|e|f|g|h|i|j)' * 6}']", "expands to more than 100,000 phrases"),
        ("[words]\na = ['x', '{b}']\nb = ['{a}']", r"lists of .words. name each other in a circle: 'a' -> 'b' -> 'a'"),
        ("language = 'english'", "language is 'english', expected one of en, es, zh"),
        ("[negated]\nbefore = ['zonk (of']", r"found 'zonk \(of', expected \(a.b\) for alternatives"),
        ("[negated]\nbefore = ['{nope for']", "found '{nope for', expected .*{list} for one of .words."),
        ("[negated]\nbefore = ['a|b']", "found 'a.b', expected .a.b. for alternatives"),
        ("[negated]\nbefore = ['a $ b']", "found 'a . b', expected .* only at the end"),
        ("[negated]\nbefore = ['<nunber> of']", "has '<nunber>', expected one of <number>, <year>"),
        ("[negated]\nunless = ['negatd']", "negated.unless is 'negatd', expected one of .*; did you mean negated"),
        ("[negated]\nsections = ['nope']", "negated.sections is 'nope', expected one of complaint, history"),
        ("['']\nbefore = ['no']", "a table's name is empty, expected that of an attribute"),
        ("[scope]\nverbs = ['is not']", "scope.verbs has 'is not', expected single words"),
    ],
)
def test_files_that_hold_no_cues_are_refused(tmp_path, text: str, message: str) -> None:
    path = tmp_path / "cues.toml"
    path.write_text(text)
    with pytest.raises(DataError, match=message) as caught:
        read_cues(path)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


def test_unknown_names_are_refused(tmp_path) -> None:
    with pytest.raises(UsageError, match=r"no cues mark the attribute 'negate'; .* did you mean negated"):
        list(mark([], ["negate"]))
    with pytest.raises(UsageError, match="language is 'fr', expected one of en, es, zh"):
        list(mark([], language="fr"))
    with pytest.raises(UsageError, match="cannot be read"):
        read_cues(tmp_path / "nothing.toml")


def test_documents_without_words_or_mentions_are_passed_on() -> None:
    given = [Document(""), Document("   "), Document("no pain"), document("?", "?"), Document("")]
    assert [len(one.mentions) for one in mark(given)] == [0, 0, 0, 1, 0]


def test_a_long_text_without_line_breaks_takes_linear_time(assert_linear) -> None:
    def work(count: int):
        text = "no fever but cough or chills with pain in the arm of " * count
        step = len(text) // count
        mentions = [Mention("problem", [(step * i + 3, step * i + 8)]) for i in range(count)]
        note = Document(text, mentions=mentions)
        return lambda: list(mark([note]))

    assert_linear(work, 600)


def test_a_long_mention_and_many_lists_take_linear_time(assert_linear) -> None:
    def work(count: int):
        text = "Denies:\n" + "- no fever\n" * count + "word " * count
        note = Document(text, mentions=[Mention("problem", [(0, len(text))]), Mention("problem", [(10, 20)])] * 3)
        return lambda: list(mark([note]))

    assert_linear(work, 2000)


TEXTS = [
    "No fever, pleural or pericardial effusion.", "Possible pneumonia; her mother had asthma.", "Paciente sin fiebre.",
    "患者无发热、咳嗽。", "PMH: gout.\n\nDenies:\n- cough\n- rash", "", "Pain was absent.",
]  # fmt: skip


@given(st.lists(st.integers(0, len(TEXTS) - 1), max_size=8))
def test_marks_do_not_depend_on_company_or_order(numbers: list[int]) -> None:
    def marked(texts: list[str]) -> list[Document]:
        given = []
        for text in texts:
            step = [(i, i + 3) for i in range(0, max(0, len(text) - 3), 4)]
            given.append(Document(text, mentions=[Mention("problem", [span]) for span in step]))
        return list(mark(given))

    alone = {text: marked([text])[0] for text in TEXTS}
    assert marked([TEXTS[i] for i in numbers]) == [alone[TEXTS[i]] for i in numbers]


@pytest.mark.parametrize(
    ("text", "surface", "expected"),
    [
        ("No displaced fracture or subluxation, and a small joint effusion.", "joint effusion", False),
        ("No displaced fracture, subluxation, and joint effusion.", "joint effusion", True),
        ("No nail changes, plaques over the elbows.", "plaques", False),
        ("No nail changes, plaques.", "plaques", True),
        ("No nail changes or nodules, plaques.", "plaques", False),
        ("No nail changes or nodules, plaques, vesicles.", "plaques", True),
        ("No goiter is felt and the pulse was rapid.", "rapid", False),
        ("Without treatment the ulcer grew.", "ulcer", False),
        ("No cream was used for the eczema.", "eczema", False),
        ("No falls as there was weakness.", "weakness", False),
        ("GI: no melena, GU: polyuria", "polyuria", False),
        ("She denies any worsening of her tinnitus.", "tinnitus", False),
        ("She denies that the tinnitus is new.", "tinnitus", False),
        ("His father denies jaundice.", "jaundice", True),
        ("ROS: Denies thirst, polyuria, cramps.", "polyuria", True),
        ("Polyuria: denies.", "Polyuria", True),
        ("The cells are negative for mucin.", "cells", False),
        ("The cells are negative for mucin.", "mucin", True),
        ("Smear negative except for yeast.", "yeast", False),
        ("No history of gout.", "history of gout", True),
        ("Non-union of the radius.", "Non-union", True),
        ("Non-Wilms renal tumor.", "Non-Wilms renal tumor", False),
        ("Non-caseating granuloma.", "granuloma", False),
        ("Polyuria no, thirst yes.", "Polyuria", True),
        ("-ve Kernig sign, photophobia -ve.", "Kernig sign", True),
        ("-ve Kernig sign, photophobia -ve.", "photophobia", True),
        ("(-) thirst (+) polyuria", "thirst", True),
        ("(-) thirst (+) polyuria", "polyuria", False),
        ("Polyuria: the weight is stable and glucose was not found.", "Polyuria", False),
        ("Social history is negative for smoking.", "smoking", True),
        ("The pulse is weak, and Romberg sign was absent.", "weak", False),
    ],
)
def test_where_a_negation_ends(text: str, surface: str, expected: bool) -> None:
    assert negated(text, surface) == [expected]


@pytest.mark.parametrize(
    ("text", "surface", "expected"),
    [
        ("She was not found to have ascites.", "ascites", "negated"),
        ("HIV negative.", "HIV", "negated"),
        ("HIV-negative man.", "HIV", ""),
        ("ANA negative arthritis.", "arthritis", ""),
        ("Troponin negative, jaundice persists.", "jaundice", ""),
        ("Not in heart failure.", "heart failure", "negated"),
        ("No longer complaining of tinnitus.", "tinnitus", "negated"),
        ("He denies that he has vertigo.", "vertigo", "negated"),
        ("He denies that the vertigo is new.", "vertigo", ""),
        ("Ø jaundice.", "jaundice", "negated"),
        ("? UTI", "UTI", "uncertain"),
        ("Pain, ? UTI.", "UTI", "uncertain"),
        ("Itch?\nUTI treated.", "UTI", ""),
        ("Any itch? UTI treated.", "UTI", ""),
        ("Could be gout or septic arthritis/bursitis.", "bursitis", "uncertain"),
        ("Could not walk with gout.", "gout", ""),
        ("We were unable to assess gait.", "gait", ""),
        ("Orchidopexy at age 6.", "Orchidopexy", "historical"),
        ("At the age of 6 he had rickets.", "rickets", "historical"),
        ("Denies 1. itch 2. cramps.", "cramps", "negated"),
        ("1998年行阑尾切除术，现腹痛。", "阑尾切除术", "historical"),
        ("2005年3月因肺炎住院。", "肺炎", "historical"),
        ("1998年行阑尾切除术，现腹痛。", "腹痛", ""),
    ],
)
def test_cues_of_single_mentions(text: str, surface: str, expected: str) -> None:
    [marked] = mark([document(text, surface)])
    assert dict(marked.mentions[0].attributes) == dict.fromkeys(expected.split(), True)


def test_a_near_cue_reaches_all_items_of_a_long_list() -> None:
    text = "无恶心、呕吐、腹胀、腹泻、头痛。"
    [marked] = mark([document(text, "恶心", "腹泻", "头痛")], language="zh")
    assert [dict(mention.attributes) for mention in marked.mentions] == [{"negated": True}] * 3


def test_other_cues_go_on_at_a_comma() -> None:
    text = "History of gout, and stones. Rule out torsion, rupture of a cyst."
    [marked] = mark([document(text, "stones", "rupture")], language="en")
    assert [dict(mention.attributes) for mention in marked.mentions] == [{"historical": True}, {"uncertain": True}]


@pytest.mark.parametrize(
    ("text", "mention", "expected"),
    [
        ("None of the rats that received both developed anemia.", "anemia", {"negated": True}),
        ("None of the patients who developed anemia had fever.", "anemia", {}),
        ("None of the patients who developed anemia had fever.", "fever", {"negated": True}),
        ("None had diarrhea; three had nausea.", "nausea", {}),
        ("?? UTI", "UTI", {"uncertain": True}),
        ("At age 6, appendectomy.", "appendectomy", {"historical": True}),
        ("She was not in hospital for pneumonia.", "pneumonia", {}),
        ("None of the rats complained of pain.", "pain", {"negated": True}),
        ("None of eight tumors stained for opticin.", "tumors", {}),
        ("None of the tumors were found.", "tumors", {"negated": True}),
        ("None of the rats that received saline, water or ethanol developed anemia.", "ethanol", {}),
        ("None of the rats that received saline, water or ethanol developed anemia.", "anemia", {"negated": True}),
        ("Ten of the cases and none of the controls had anemia.", "anemia", {}),
        ("In that time, no treated rat developed anemia.", "anemia", {"negated": True}),
        ("Although free of fever, sulpiride caused ataxia and rash.", "ataxia", {}),
        ("Influence of a diet free of niacin on hepatitis.", "niacin", {"negated": True}),
        ("Influence of a diet free of niacin on hepatitis.", "hepatitis", {}),
        ("Aniridia (absence of iris) is rare.", "absence of iris", {}),
        ("No other anemia genes are known.", "anemia", {}),
        ("It inhibits A, but not an agonist of glutamate.", "glutamate", {}),
        ("It alters alpha- but not beta-mediated hypotension.", "hypotension", {}),
        ("Phenylephrine but not ephedrine reduces pain.", "ephedrine", {"negated": True}),
        ("Phenylephrine but not ephedrine reduces pain.", "pain", {}),
        ("Nitric oxide (NO) was measured. NO and angiotensin rose.", "angiotensin", {}),
        ("Nitric oxide (NO) was measured. No angiotensin was found.", "angiotensin", {"negated": True}),
        ("No worsening of pain.", "worsening of pain", {"negated": True}),
        ("No worsening of pain.", "pain", {}),
        ("Any pain ? Fever noted.", "Fever", {}),
        ("Cough ? Bronchitis", "Bronchitis", {"uncertain": True}),
        ("No crackles in the lungs, edema or cyanosis.", "lungs", {}),
        ("No crackles in the lungs, edema or cyanosis.", "edema", {"negated": True}),
        ("No actin in hippocampus, cortex and striatum.", "cortex", {}),
        ("A deletion of the enhancer was not found.", "deletion", {"negated": True}),
        ("A deletion of the enhancer was not found.", "enhancer", {}),
        ("A transcript of the gene (data not shown) rose.", "transcript", {}),
        ("It contains a protein that is not present in yeast.", "protein", {}),
        ("Events that cause anemia have not been identified.", "anemia", {}),
        ("Cells treated with heparin (without albumin) or insulin grew.", "albumin", {"negated": True}),
        ("Cells treated with heparin (without albumin) or insulin grew.", "insulin", {}),
        ("No pallor, no edema, jaundice.", "jaundice", {}),
        ("No pallor, no edema, jaundice or rash.", "jaundice", {"negated": True}),
        ("No edema, severe pallor.", "pallor", {}),
        ("Denies edema, severe headache, or nausea.", "headache", {"negated": True}),
        ("Neither actin nor tubulin, but keratin, was stained.", "actin", {"negated": True}),
        ("Insulin, but neither leptin nor ghrelin, increased intake.", "leptin", {"negated": True}),
        ("The shock was not due to lack of fluid.", "fluid", {}),
        ("Actin-negative cells grew.", "Actin", {"negated": True}),
        ("Actin-negative cells grew.", "Actin-negative cells", {}),
        ("The probe (GB No. AC001) binds actin.", "actin", {}),
        ("Nausea (SMX-NO) than actin.", "actin", {}),
        ("The patient 's nausea was treated.", "nausea", {}),
        ("Mutants that lacked actin showed edema.", "edema", {}),
        ("Morphine did not lead to more nausea than placebo.", "nausea", {}),
        ("Oxycodone p.r.n. pain.", "pain", {"uncertain": True}),
        ("Does codeine cause edema?", "edema", {"uncertain": True}),
        ("Does codeine cause edema?", "codeine", {}),
        ("Is codeine safe in gout?", "codeine", {}),
        ("Codeine in gout: help or harm?", "gout", {}),
        ("Absence of actin mutations.", "actin", {}),
        ("It was tested whether actin is required for growth.", "actin", {}),
        ("To exclude gout, urate was measured.", "gout", {"uncertain": True}),
        ("To exclude gout, urate was measured.", "urate", {}),
    ],
)
def test_clauses_relations_and_question_marks(text: str, mention: str, expected: dict[str, object]) -> None:
    at = text.index(mention)
    [found] = mark([Document(text, mentions=[Mention("problem", [(at, at + len(mention))])])], language="en")
    assert dict(found.mentions[0].attributes) == expected


@pytest.mark.parametrize(
    ("text", "surfaces"),
    [
        ("No chest pain (substernal) or dyspnea.", ("chest pain", "dyspnea")),
        ("No embolism (PE), thrombosis (DVT) or stroke.", ("embolism", "thrombosis", "stroke")),
        ("Denies a) fever, b) cough.", ("fever", "cough")),
        ("Denies: 1) fever 2) cough.", ("fever", "cough")),
    ],
)
def test_brackets_behind_a_cue_do_not_end_its_scope(text: str, surfaces: tuple[str, ...]) -> None:
    assert negated(text, *surfaces) == [True] * len(surfaces)


@pytest.mark.parametrize(
    ("before", "text", "surface", "after"),
    [
        ("a /", "- fever, + rash", "fever", ""),
        ("x -", "   NO fever", "fever", ""),
        ("", "No fever", "fever", "-induced rash"),
        ("Seen (today", "No fever) or cough", "cough", ""),
    ],
)
def test_rules_look_at_no_other_document(before: str, text: str, surface: str, after: str) -> None:
    [alone] = mark([document(text, surface)], language="en")
    assert alone.mentions[0].attributes["negated"] is True
    assert list(mark([Document(before), document(text, surface), Document(after)], language="en"))[1] == alone

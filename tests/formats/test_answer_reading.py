"""Answers of language models: every shape, where quotes stand, and what is told of those that do not."""

from __future__ import annotations

import json

import pytest

from spanloom import Document, Mention
from spanloom.errors import DataError, UsageError
from spanloom.formats import from_answers
from spanloom.formats.answers import AnswerReport, AnswerSettings, align_answers

TEXT = "Mild or severe pain in both knees. No fever.\nShe takes aspirin; the pain is worse at night."
SHAPES = {
    "list": [{"text": "severe pain", "type": "problem"}, {"text": "aspirin", "type": "drug"}],
    "other names": [{"mention": "severe pain", "label": "problem"}, {"entity": "aspirin", "entity_type": "drug"}],
    "hugging face": [{"entity_group": "problem", "word": "severe pain"}, {"entity": "drug", "word": "aspirin"}],
    "by type": {"problem": ["severe pain"], "drug": "aspirin", "site": []},
    "by type, with objects": {"problem": [{"text": "severe pain"}], "drug": [{"name": "aspirin"}], "site": None},
    "groups": [{"type": "problem", "mentions": ["severe pain"]}, {"type": "drug", "mentions": ["aspirin"]}],
    "objects in objects": [
        {"entity": {"text": "severe pain"}, "type": "problem"},
        {"mention": {"text": "aspirin", "start": 55, "end": 62}, "label": "drug"},
    ],
    "pairs": [["severe pain", "problem"], ["aspirin", "drug"]],
    "from text to type": {"severe pain": "problem", "aspirin": "drug"},
    "nested": {"result": {"entities": [["severe pain", "problem"], ["aspirin", "drug"]]}},
    "with the text": {"text": TEXT, "entities": {"problem": ["severe pain"], "drug": ["aspirin"]}, "relations": []},
    "fence": 'Sure!\n```json\n{"problem": ["severe pain"], "drug": ["aspirin"]}\n```\nAnything else?',
    "prose": 'I found {"problem": ["severe pain"]} and {"drug": ["aspirin"]} in note [1].',
    "lines": '{"text": "severe pain", "type": "problem"}\n{"text": "aspirin", "type": "drug"}',
    "a type twice": '{"problem": [], "drug": ["aspirin"], "problem": ["severe pain"]}',
    "a comma too many": '{"problem": ["severe pain"], "drug": ["aspirin",],}',
    "Python": "{'problem': ['severe pain'], \"drug\": ['aspirin'], 'site': None}",
    "thoughts": '<think>Is [pain] one? {"drug": []}</think>{"problem": ["severe pain"], "drug": ["aspirin"]}',
    "a string of JSON": json.dumps('{"problem": ["severe pain"], "drug": ["aspirin"]}'),
    "tags": TEXT.replace("severe pain", "<problem>severe pain</problem>").replace("aspirin", "<drug>aspirin</drug>"),
    "attributes": TEXT.replace("severe pain", '<e type="problem">severe pain</e>').replace(
        "aspirin", "<mark class=drug>aspirin</mark>"
    ),
    "wrapped": f"<answer>{TEXT}</answer>".replace("severe pain", "<problem>severe pain</>").replace(
        "aspirin", "<drug>aspirin</DRUG>"
    ),
    "tags in JSON": json.dumps(
        {
            "annotated_text": TEXT.replace("severe pain", "<problem>severe pain</problem>").replace(
                "aspirin", "<drug>aspirin</drug>"
            )
        }
    ),
    "links": TEXT.replace("severe pain", "[severe pain](problem)").replace("aspirin", "[aspirin](drug)"),
    "table": "| Mention | Entity type | # |\n|:--|---|--:|\n| severe pain | problem | 1 |\n|`aspirin`|**drug**|2|",
    "types first": "- problem: severe pain\n- drug: aspirin\n- site: none",
    "bold types": "* **problem:** severe pain\n* **drug**: aspirin",
    "bold texts": "- **severe pain**: problem\n- **aspirin**: drug",
    "brackets": "1. severe pain (problem)\n2. aspirin (drug)",
    "arrows": "• severe pain → problem\n• aspirin - drug",
    "headings": "## problem\n- severe pain\n\n**drug:**\n- aspirin\n",
    "nested lists": "- problem:\n  - severe pain\n- drug:\n  - aspirin\n",
}


def align(answer: object, text: str = TEXT, **options: object) -> tuple[list[Mention], AnswerReport]:
    [document], report = from_answers([Document(text, id="d")], {"d": answer}, **options)
    return document.mentions, report


def shown(mentions: list[Mention], text: str = TEXT) -> list[tuple[str, str]]:
    return [(mention.type, mention.text(text)) for mention in mentions]


def told(report: AnswerReport) -> list[tuple[str, str, str]]:
    return [(problem.kind, problem.place.removeprefix("document 'd'"), problem.message) for problem in report.problems]


@pytest.mark.parametrize("name", SHAPES)
def test_every_shape_gives_the_mentions(name):
    mentions, report = align(SHAPES[name])
    assert mentions == [Mention("problem", [(8, 19)]), Mention("drug", [(55, 62)])]
    assert (report.exact, report.quotes, report.problems) == (2, 2, [])


@pytest.mark.parametrize(
    "answer", ["[]", "{}", {"entities": []}, {"problem": [], "drug": None}, "None.", "```\n[]\n```", TEXT]
)
def test_no_mention_is_an_answer(answer):
    mentions, report = align(answer)
    assert (mentions, report.documents, report.quotes, report.problems) == ([], 1, 0, [])


def test_nested_and_crossing_tags():
    text = "Mild or severe pain in both knees"
    answer = "<p>Mild or <q>severe</p> <r>pain</r></q> in both knees"
    assert shown(align(answer, text)[0], text) == [("p", "Mild or severe"), ("q", "severe pain"), ("r", "pain")]
    answer = "[Mild or [severe](q) pain](p) in both knees"
    assert shown(align(answer, text)[0], text) == [("p", "Mild or severe pain"), ("q", "severe")]


@pytest.mark.parametrize("marked", ["**{}**", "@@{}##", "<mark>{}</mark>"])
def test_markup_without_types_needs_one(marked):
    answer = TEXT.replace("severe pain", marked.format("severe pain")).replace("aspirin", marked.format("aspirin"))
    mentions, report = align(answer, type="finding")
    assert shown(mentions) == [("finding", "severe pain"), ("finding", "aspirin")]
    assert report.exact == 2
    with pytest.raises(DataError, match=r"marks 'severe pain', which has no type; name one .*--type NAME"):
        align(answer)


def test_quotes_without_types_need_one():
    mentions, report = align(["severe pain", "aspirin"], type="finding")
    assert shown(mentions) == [("finding", "severe pain"), ("finding", "aspirin")]
    mentions, report = align([{"text": "severe pain"}, {"text": "aspirin", "type": "drug"}, 5, {"x": 1}])
    assert shown(mentions) == [("drug", "aspirin")]
    assert report.unusable == 3
    assert [place for _, place, _ in told(report)] == [": [2]", ": [3]", ": [0]"]


def test_markup_that_the_document_has_is_text():
    text = "Say <b>no</b> to [links](web) and **stars** &amp; @@pairs##."
    answer = text.replace("pairs", "<x>pairs</x>").replace("stars", "[stars](y)")
    assert shown(align(answer, text)[0], text) == [("y", "stars"), ("x", "pairs")]
    text = "p<0.05 & q>3, a <b and c> d"
    answer = text.replace("&", "&amp;").replace("q>3", "<x>q&gt;3</x>")
    assert shown(align(answer, text)[0], text) == [("x", "q>3")]


@pytest.mark.parametrize(
    ("text", "quote", "found"),
    [
        ("mild\n  chest\u00a0pain", "mild chest pain", "mild\n  chest\u00a0pain"),
        ("a “mild” pain", '"mild" pain', "“mild” pain"),
        ("non–small-cell", "non-small‑cell", "non–small-cell"),
        ("MILD Pain", "mild pain", "MILD Pain"),
        ("Straße", "STRASSE", "Straße"),
        ("cafe\u0301 au lait", "café", "cafe\u0301"),
        ("ệ here", "e\u0302\u0323", "ệ"),
        ("ｆｕｌｌ ½ width", "full 1⁄2", "ｆｕｌｌ ½"),
        ("soft\u00adhyphen", "softhyphen", "soft\u00adhyphen"),
        ("患者 胸\n痛 无", "胸痛", "胸\n痛"),
        ("no fever", '"fever".', "fever"),
        ("aspirin 81 mg", "Aspirin 81mg", "aspirin 81 mg"),
        ("10mg/d", "10 mg / d", "10mg/d"),
        ("no fever", "**fever**", "fever"),
    ],
)
def test_folding(text, quote, found):
    mentions, report = align([{"text": quote, "type": "x"}], text)
    assert shown(mentions, text) == [("x", found)]
    assert (report.exact, report.folded) == (int(quote.strip('"*.') in text), int(quote.strip('"*.') not in text))


def test_blanks_are_not_left_out_inside_words():
    assert align({"x": ["hera pist", "the"]}, "the therapist")[1].invented == 1


def test_a_quote_never_cuts_a_character():
    assert align({"x": ["1", "here"]}, "½ here")[1].invented == 1
    assert align({"x": ["가", "e", "he"]}, "각 e\u0301 he")[1].invented == 1  # "e" stands in "he", and is told


def test_whole_words_come_before_parts_of_words():
    mentions, report = align({"x": ["US"]}, "The us and RUSSIA")
    assert shown(mentions, "The us and RUSSIA") == [("x", "us")]
    mentions, report = align({"x": ["tumor", "MI"]}, "family of antitumor drugs")
    assert shown(mentions, "family of antitumor drugs") == [("x", "tumor")]
    assert (report.inside_words, report.invented) == (1, 1)
    assert told(report) == [
        ("invented", ": x[1]", "'MI' is not in the document; left out"),
        ("inside a word", ": x[0]", "'tumor' is inside a word: 'ly of antitumor drugs'; marked"),
    ]


PAINS = "pain here, pain there, no pain"


@pytest.mark.parametrize(("times", "kind", "starts"), [(1, "all", [0, 11, 26]), (1, "first", [0]), (1, "none", [])])
def test_a_quote_that_stands_there_more_often_is_ambiguous(times, kind, starts):
    mentions, report = align({"x": ["pain"] * times + ["there"]}, PAINS, ambiguous=kind)
    assert [mention.start for mention in mentions if mention.text(PAINS) == "pain"] == starts
    assert (report.exact, report.ambiguous) == (1, 1)
    done = {"all": "all are marked", "first": "the first is marked", "none": "left out"}[kind]
    message = f"'pain' occurs 3 times in the document, once in the answer; {done}"
    assert told(report) == [("ambiguous", ": x[0]", message)]


def test_a_quote_that_is_given_as_often_as_it_stands_there_is_not():
    mentions, report = align({"x": ["pain"] * 3}, PAINS)
    assert (len(mentions), report.exact, report.problems) == (3, 3, [])
    mentions, report = align({"x": ["pain"] * 5}, PAINS)
    assert (len(mentions), report.exact, report.repeated, report.problems) == (3, 3, 2, [])
    mentions, report = align({"x": ["pain"] * 2}, PAINS, ambiguous="first")
    assert ([mention.start for mention in mentions], report.ambiguous) == ([0, 11], 2)


def test_context_chooses():
    def quote(context):
        return [{"text": "pain", "type": "x", "context": context}]

    mentions, report = align(quote("Pain  there"), PAINS)
    assert ([mention.start for mention in mentions], report.exact, report.problems) == ([11], 1, [])
    mentions, report = align(quote("pain there, no pain"), PAINS)
    assert ([mention.start for mention in mentions], report.ambiguous) == ([11, 26], 1)
    mentions, report = align(quote("pain elsewhere"), PAINS)
    assert (len(mentions), told(report)[0]) == (
        3,
        ("context", ": [0]", "the context 'pain elsewhere' is not in the document"),
    )
    assert told(align(quote("there"), PAINS)[1])[0][2] == "'pain' is not in its context 'there'"


def test_offsets_are_checked_and_not_believed():
    fields = [{"start": 11, "end": 15}, {"start": 12, "end": 16}, {"span": [26, 30]}, {"start": -3, "end": 10**9}]
    mentions, report = align([{"text": "pain", "type": f"x{i}", **one} for i, one in enumerate(fields)], PAINS)
    starts = {kind: [one.start for one in mentions if one.type == kind] for kind in ("x0", "x1", "x2", "x3")}
    assert starts == {"x0": [11], "x1": [0, 11, 26], "x2": [26], "x3": [0, 11, 26]}
    assert (report.exact, report.ambiguous, report.wrong_offsets) == (2, 2, 2)
    assert told(report)[0] == ("wrong offsets", ": [1]", "'pain' is not at 12-16")
    pair = {"parts": ["pain", "there"], "type": "x", "offsets": [[0, 4], [16, 21]]}
    assert align([pair], PAINS)[0] == [Mention("x", [(0, 4), (16, 21)])]


@pytest.mark.parametrize(
    "quote",
    [
        {"parts": ["Mild", "pain"], "type": "x"},
        {"spans": ["Mild", "pain"], "type": "x"},
        {"fragments": [{"text": "Mild"}, {"text": "pain"}], "type": "x"},
        {"text": ["Mild", "pain"], "type": "x"},
        {"parts": ["pain", "Mild"], "type": "x"},
        {"text": "Mild ... pain", "type": "x"},
        {"text": "Mild … pain", "type": "x"},
        {"text": "mild [...] pain", "type": "x"},
    ],
)
def test_mentions_with_gaps(quote):
    text = "Mild or severe pain. No fever."
    assert align([quote], text)[0] == [Mention("x", [(0, 4), (15, 19)])]


def test_of_parts_that_stand_twice_the_nearest_are_taken():
    text = "mild cough; mild or severe pain; later pain"
    mentions, report = align([{"parts": ["mild", "pain"], "type": "x"}], text)
    assert (mentions, report.exact) == ([Mention("x", [(12, 16), (27, 31)])], 1)
    assert align([{"parts": ["pain", "cough"], "type": "x"}, ["mild", "y"]], text)[0][-1].type == "y"


def test_a_copy_may_be_written_otherwise_and_be_cut_short():
    answer = "mild or  SEVERE <x>pain in\nboth knees</x>. no <x>fever</x>, no <x>cough</x>. She takes <y>asp"
    mentions, report = align(answer)
    assert shown(mentions) == [("x", "pain in both knees"), ("x", "fever")]
    assert (report.folded, report.exact, report.invented, report.unusable, report.cut_short) == (1, 1, 1, 1, 1)
    assert told(report)[:2] == [
        ("unusable", "", "<y> is not closed; left out"),
        ("invented", ": mark 3", "'cough' is not in the document; left out"),
    ]
    assert told(report)[2][2].startswith("the answer is cut short: it has 5")


def test_a_copy_with_marks_in_repeated_words_is_aligned_by_what_stands_around():
    text = "pain on Monday. pain on Tuesday. pain on Friday."
    mentions, report = align("pain on Monday. pain on Tuesday. <x>pain</x> on Friday.", text)
    assert ([mention.start for mention in mentions], report.exact, report.problems) == ([33], 1, [])
    mentions, report = align("pain on Monday. Then <x>pain</x> on Friday.", text)
    assert [mention.start for mention in mentions] == [33]


def test_a_copy_that_adds_words_tells_so():
    answer = "Here is the annotated text that you wanted me to mark up for you: " + SHAPES["tags"] + " I hope it helps."
    mentions, report = align(answer)
    assert len(mentions) == 2
    assert [(kind, message.partition(" of ")[2]) for kind, _, message in told(report)] == [
        ("other text", "the answer's words are not the document's; they are not used")
    ]


def test_an_answer_that_breaks_off_is_read_as_far_as_it_goes():
    mentions, report = align('```json\n{"problem": ["severe pain", "fever"], "drug": ["asp')
    assert shown(mentions) == [("problem", "severe pain"), ("problem", "fever")]
    assert (report.cut_short, report.invented) == (1, 0)
    assert told(report)[0][2] == "the answer is cut short: its JSON breaks off at character 47; what it has was read"


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("  \n", "the answer is empty; expected mentions, or [] for none"),
        (None, "there is no answer; expected a string, or JSON"),
        (5, "the answer's JSON holds no mention: '5'; expected texts with types"),
        ([1, 2], "the answer's JSON holds no mention: '[1, 2]'; expected texts with types"),
        (
            "Sorry, I cannot do that.",
            "the answer has no mentions in a shape that is known: 'Sorry, I cannot do that.'; ",
        ),
        ('{"a": "x", "a": "y"}', "the answer's JSON cannot be used: the field 'a' occurs twice in one object"),
        ('{"a": ' * 5000, "the answer's JSON is nested too deeply; expected a list of mentions"),
        (json.loads("[" * 60 + "]" * 60), "the answer is nested more than 40 levels deep; expected a list of mentions"),
        ([["a", "x"]] * 100_001, "the answer has 100,001 mentions, expected at most 100,000; does it repeat itself?"),
    ],
)
def test_answers_that_cannot_be_read(answer, message):
    documents = [Document(TEXT, id="d"), Document("a", id="e")]
    [left], report = from_answers(documents, {"d": answer, "e": "[]"})
    assert (left.id, report.unreadable) == ("e", 1)
    assert report.problems[0].message.startswith(message)
    with pytest.raises(DataError) as error:
        list(align_answers(documents, {"d": answer, "e": "[]"}, AnswerSettings(), AnswerReport(), stop=True))
    assert str(error.value).startswith(f"document 'd': {message}")


def test_what_belongs_to_no_answer_is_left_out_and_told():
    documents = [Document("a", id="d"), Document("b", id="e"), Document("c")]
    [left], report = from_answers(documents, {"d": {"x": ["a"]}, "z": "[]"})
    assert left == Document("a", id="d", mentions=[Mention("x", [(0, 1)])], meta={"annotation": "at-least"})
    assert [str(problem) for problem in report.problems] == [
        "warning: document 'e': has no answer; left out",
        "warning: text 'c': has no id, and so no answer; left out",
        "warning: no document has the id 'z'; the answer is not used",
    ]
    assert str(report) == (
        "1 document, 1 mention; 1 quote: 1 exact; 2 documents without an answer; 1 answer without a document"
    )


def test_nothing_at_all_is_an_error():
    with pytest.raises(
        DataError, match=r"none of 1 answer is of a document: .* 'z' and so on, documents are called 'd'"
    ):
        from_answers([Document("a", id="d")], {"z": "[]"})
    with pytest.raises(DataError, match="there is no document"):
        from_answers([], {"z": "[]"})
    with pytest.raises(
        DataError, match=r"'b' is not in the document; left out; no quote of any answer is in its document"
    ):
        from_answers([Document("a", id="d")], {"d": {"x": ["b", "c"]}})


def test_other_mentions_and_fields():
    document = Document("a b", id="d", tokens=[[0, 1], [2, 3]], mentions=[Mention("old", [(0, 1)])], meta={"k": 1})
    [marked], _ = from_answers([document], {"d": {"new": ["b"]}}, annotation="at-least")
    assert marked == Document(
        "a b",
        id="d",
        tokens=[[0, 1], [2, 3]],
        mentions=[Mention("new", [(2, 3)])],
        meta={"k": 1, "annotation": "at-least"},
    )
    assert document.mentions[0].type == "old"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ambiguous": "some"}, "ambiguous is 'some', expected one of: all, first, none"),
        ({"annotation": "gold"}, "annotation is 'gold', expected one of: complete, at-least, unknown"),
        ({"type": " "}, "type is ' ', expected the name of a type"),
    ],
)
def test_options(options, message):
    with pytest.raises(UsageError) as error:
        from_answers([Document("a", id="d")], {"d": "[]"}, **options)
    assert str(error.value) == message


def test_a_blank_part_is_left_out_with_its_offsets() -> None:
    answer = {"parts": ["severe", " ", "pain"], "offsets": [[8, 14], [14, 15], [15, 19]], "type": "problem"}
    mentions, report = align([answer])
    assert [mention.spans for mention in mentions] == [((8, 14), (15, 19))]
    assert report.problems == []

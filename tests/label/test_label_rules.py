"""What a rules file may say; every mistake is one line with the file, the rule and the key."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom.errors import DataError, SpanloomError, UsageError
from spanloom.label import read_label_rules
from spanloom.label.rules import Context

PHRASES = {"kind": "phrases", "type": "x", "phrases": ["a"]}
PATTERN = {"kind": "pattern", "type": "x"}


def test_a_file_with_every_kind(tmp_path):
    (tmp_path / "names.txt").write_text("\ufeffchest pain\n\n  fever \nfever\n", encoding="utf-8")
    (tmp_path / "v.tsv").write_text("id\tname\tsynonyms\n1\theart\tcor|LV\n")
    path = tmp_path / "rules.toml"
    path.write_text(
        """
        [[rule]]
        name = "names"
        kind = "phrases"
        type = "problem"
        file = "names.txt"
        annotator = "lists"
        context = { words = ["No", "denies"], before = 3 }
        without = { words = ["today"], after = 2 }

        [[rule]]
        kind = "vocabulary"
        type = "anatomy"
        file = "v.tsv"
        annotator = "lists"
        vote = "against"
        weight = 0.9

        [[rule]]
        kind = "pattern"
        type = "drug"
        pattern = ['[a-z]+in', { text = '\\d+', repeat = "?" }, { any = ["mg", { pos = "NN" }] }]

        [[rule]]
        kind = "gapped"
        type = "problem"
        phrases = ["pain ... chest", "pain … in … leg"]
        gap = 3
        match = "exact"
        """
    )
    rules = read_label_rules(path)
    names, heart, drug, pain = rules.rules
    assert names.phrases == ("chest pain", "fever")
    assert names.contexts == (
        Context(frozenset({"no", "denies"}), 3, 0, True), Context(frozenset({"today"}), 0, 2, False),
    )  # fmt: skip
    assert (heart.phrases, heart.vote, heart.weight, heart.match) == (("heart", "cor"), "against", 0.9, "folded")
    assert (heart.name, drug.name, pain.name, pain.gap, pain.match) == (
        "vocabulary-2", "pattern-3", "gapped-4", 3, "exact",
    )  # fmt: skip
    assert rules.annotators() == {"lists": (0, 1), "pattern-3": (2,), "gapped-4": (3,)}


@pytest.mark.parametrize(
    ("rule", "place", "reason"),
    [
        ({}, "rule 1: kind", "found nothing, expected phrases, vocabulary, pattern or gapped"),
        ({**PHRASES, "kind": "words"}, "kind", "found 'words'"),
        ({**PHRASES, "kind": ["phrases"]}, "kind", "expected phrases"),
        ({**PHRASES, "wieght": 1}, "rule 1", "found the key 'wieght'; a rule of the kind phrases takes name"),
        ({**PHRASES, "gap": 1}, "rule 1", "found the key 'gap'"),
        ({**PHRASES, "type": ""}, "type", "expected a text that is not empty"),
        ({**PHRASES, "type": 3}, "type", "found 3"),
        ({**PHRASES, "name": " "}, "name", "expected a text"),
        ({**PHRASES, "vote": "maybe"}, "vote", "found 'maybe', expected for or against"),
        *(({**PHRASES, "weight": w}, "weight", "above 0 and below 1") for w in (0, 1, 1.2, -0.1, "x", True, None)),
        ({**PHRASES, "weight": float("nan")}, "weight", "found nan"),
        ({**PHRASES, "weight": 10**5000}, "weight", "a number that is too long"),
        ({**PHRASES, "match": "fuzzy"}, "match", "expected exact, lower, folded or loose"),
        ({**PHRASES, "overlaps": "none"}, "overlaps", "expected longest or all"),
        ({"kind": "phrases", "type": "x"}, "phrases, file", "found neither"),
        ({**PHRASES, "file": "x.txt"}, "phrases, file", "found both"),
        ({**PHRASES, "phrases": []}, "phrases", "expected a list of texts that is not empty"),
        ({**PHRASES, "phrases": "pain"}, "phrases", "expected a list"),
        ({**PHRASES, "phrases": ["a", 1]}, "phrases", "expected a list"),
        ({**PHRASES, "phrases": ["a", " "]}, "phrases", "found ' ', expected words"),
        ({**PHRASES, "phrases": ["of the"], "match": "folded"}, "phrases", "folds to nothing"),
        ({"kind": "phrases", "type": "x", "file": "/nowhere/x.txt"}, "file", "cannot be read"),
        ({"kind": "phrases", "type": "x", "file": 3}, "file", "expected the name of a file"),
        ({"kind": "phrases", "type": "x", "file": "a\0b"}, "file", "expected the name of a file"),
        ({"kind": "vocabulary", "type": "x", "file": "a\0b"}, "file", "expected the name of a file"),
        ({**PHRASES, "context": ["no"]}, "context", "expected a table"),
        ({**PHRASES, "context": {"before": 3}}, "context, words, file", "found neither"),
        ({**PHRASES, "context": {"words": ["no sign"]}}, "context, words", "no single token"),
        ({**PHRASES, "context": {"words": ["no"], "within": 3}}, "context", "found the key 'within'"),
        ({**PHRASES, "context": {"words": ["no"], "before": -1}}, "context, before", "a whole number"),
        ({**PHRASES, "without": {"words": ["no"], "before": 0}}, "without", "found 0 tokens before and after"),
        ({"kind": "gapped", "type": "x", "phrases": ["pain"]}, "phrases", "expected parts with ... between"),
        ({"kind": "gapped", "type": "x", "phrases": ["pain ... "]}, "phrases", "every part of it"),
        ({"kind": "gapped", "type": "x", "phrases": ["a ... b"], "gap": 1.5}, "gap", "a whole number"),
        ({"kind": "gapped", "type": "x", "phrases": ["a ... b"], "match": "folded"}, "match", "folds no words"),
        ({"kind": "vocabulary", "type": "x"}, "file", "found nothing"),
        ({"kind": "vocabulary", "type": "x", "file": "x", "format": "xls"}, "format", "found 'xls'"),
        ({"kind": "vocabulary", "type": "x", "file": "x", "columns": 7}, "columns", "expected a table or text such as"),
        ({"kind": "vocabulary", "type": "x", "file": "x", "categories": []}, "categories", "expected a list"),
        (PATTERN, "pattern", "expected a list of elements"),
        ({**PATTERN, "pattern": []}, "pattern", "expected a list of elements"),
        ({**PATTERN, "pattern": [[]]}, "pattern", "a pattern without elements"),
        ({**PATTERN, "pattern": ["a", ["b"]]}, "pattern", "beside lists"),
        ({**PATTERN, "pattern": ["a", "(b"]}, "pattern, element 2", "not a regular expression"),
        ({**PATTERN, "pattern": [["a"], ["b", "c$"]]}, "pattern, alternative 2, element 2", "leave it out"),
        ({**PATTERN, "pattern": [{"text": ""}]}, "pattern, element 1, text", "expected a regular expression"),
        ({**PATTERN, "pattern": [{"pos": 3}]}, "pattern, element 1, pos", "expected a regular expression"),
        ({**PATTERN, "pattern": [{"text": "a", "repeat": "{2}"}]}, "element 1, repeat", "expected ?, * or +"),
        ({**PATTERN, "pattern": [{"any": []}]}, "element 1, any", "expected a list of conditions"),
        ({**PATTERN, "pattern": [{"any": [{"text": "a", "repeat": "*"}]}]}, "any 1", "repeat is within any"),
        ({**PATTERN, "pattern": [{"not": "a"}]}, "element 1, not", "expected true or false"),
        ({**PATTERN, "pattern": [3]}, "element 1", "found 3"),
        ({**PATTERN, "pattern": ["a"], "match": "loose"}, "match", "folds no words"),
    ],
)
def test_a_mistake_names_the_rule_and_the_key(rule, place, reason):
    with pytest.raises(UsageError) as raised:
        read_label_rules({"rule": [rule]})
    message = str(raised.value)
    assert message.startswith("label rules: rule 1") and place in message and reason in message
    assert "\n" not in message and len(message) < 400


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "found no rule, expected one table [[rule]]"),
        ("rule = []", "found no rule"),
        ("rule = 3", "found no rule"),
        ("[rule]\nkind = 'phrases'", "found no rule"),
        ("[[rules]]\nkind = 'phrases'", "found 'rules', expected one table [[rule]]"),
        ("[[rule]\n", "not a TOML file"),
        ("rule = " + "[" * 5000, "nested too deeply"),
        ("[[rule]]\nkind='phrases'\ntype='x'\nphrases=['a']\nname='n'\n" * 2, "rule 2 ('n'): another rule has this"),
        ("[[rule]]\nkind='phrases'\ntype='x'\nname='n'\nfile='gone.txt'", "rule 1 ('n'): file: "),
        ("[[rule]]\nkind='phrases'\ntype='x'\nfile='empty.txt'", "is empty, expected one phrase a line"),
        ("[[rule]]\nkind='phrases'\ntype='x'\nfile='bytes.txt'", "which is not UTF-8; convert"),
        (
            "[[rule]]\nkind='vocabulary'\ntype='x'\nfile='v.tsv'\ncategories=['plant']",
            "no name of the categories plant",
        ),
        ("[[rule]]\nkind='vocabulary'\ntype='x'\nfile='v.tsv'\nshortest=9", "found no name of 9 characters or more"),
        ("[[rule]]\nkind='vocabulary'\ntype='x'\nfile='empty.txt'", ""),
        ("[[rule]]\nkind='vocabulary'\ntype='x'\nfile='gone.tsv'", ""),
    ],
)
def test_a_mistake_in_a_file_names_the_file(tmp_path, text, reason):
    (tmp_path / "empty.txt").write_text("\n \n")
    (tmp_path / "bytes.txt").write_bytes(b"\xff\xfe\xff")
    (tmp_path / "v.tsv").write_text("id\tname\tsynonyms\tparents\tcategory\n1\theart\tcor\t\torgan\n")
    path = tmp_path / "rules.toml"
    path.write_text(text)
    with pytest.raises(DataError) as raised:
        read_label_rules(path)
    assert str(tmp_path) in str(raised.value) and reason in str(raised.value) and "\n" not in str(raised.value)


def test_a_file_that_is_no_file(tmp_path):
    for path in (tmp_path, tmp_path / "gone.toml"):
        with pytest.raises(UsageError, match="cannot be read"):
            read_label_rules(path)
    (tmp_path / "bytes.toml").write_bytes(b"\xff")
    with pytest.raises(SpanloomError, match="not UTF-8"):
        read_label_rules(tmp_path / "bytes.toml")


KEYS = [
    "kind",
    "type",
    "name",
    "phrases",
    "file",
    "pattern",
    "context",
    "without",
    "gap",
    "weight",
    "match",
    "x",
    "any",
]
VALUES = st.recursive(
    st.one_of(
        st.sampled_from(["phrases", "pattern", "gapped", "a ... b", "[a", "a+", "", "lower", "\0", "gone/x"]),
        st.integers(-2, 10**6), st.floats(), st.booleans(), st.text(max_size=4),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from([*KEYS, "text", "repeat", "not", "words", "before"]), inner, max_size=4),
    ),
    max_leaves=8,
)  # fmt: skip
GOOD = st.sampled_from(
    [PHRASES, {**PATTERN, "pattern": ["a"]}, {"kind": "gapped", "type": "x", "phrases": ["a ... b"]}]
)


@given(GOOD, st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=3))
def test_whatever_a_rule_says_it_is_a_rule_or_an_error_of_ours(rule, changed):
    try:
        rules = read_label_rules({"rule": [{**rule, **changed}]}).rules
    except SpanloomError as error:
        assert "\n" not in str(error)
    else:
        assert len(rules) == 1

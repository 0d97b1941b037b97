"""The template language: what it accepts, prints, expands to and refuses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom.errors import UsageError
from spanloom.features import PRESETS, parse, parse_all

names = st.sampled_from(["w", "low", "pos", "pos:2", "w:-3", "cluster:4", "_x1"])
offsets = st.integers(-9, 9)
pairs = st.tuples(offsets, offsets).map(sorted)
lines = st.one_of(
    st.just("bias"),
    st.lists(st.builds("{}[{}]".format, names, offsets), min_size=1, max_size=5).map("|".join),
    st.builds(lambda name, pair: f"{name}[{pair[0]}..{pair[1]}]", names, pairs),
    st.builds(lambda name, pair: f"bag({name},{pair[0]},{pair[1]})", names, pairs),
    st.builds("ngrams({},{}..{})".format, names, st.integers(1, 4), st.integers(4, 8)),
    st.builds("prefix({}..{})".format, st.integers(1, 4), st.integers(4, 8)),
    st.builds("suffix({})".format, st.integers(1, 8)),
    st.builds("cluster({}..{})".format, st.integers(1, 9), st.integers(9, 64)),
)


@given(lines)
def test_canonical_text_is_a_fixed_point(line: str) -> None:
    template = parse(line)
    assert parse(str(template)) == template
    spaced = line
    for symbol in "[](),|:":
        spaced = spaced.replace(symbol, f" {symbol} ")
    assert parse(spaced) == template
    for feature in template.features:
        assert parse(str(feature)).features == (feature,)


@pytest.mark.parametrize(
    ("line", "features"),
    [
        ("bias", ["bias"]),
        ("w[-1..1]", ["w[-1]", "w[0]", "w[1]"]),
        ("w[+1]", ["w[1]"]),
        ("w[2..2]", ["w[2]"]),
        ("bias[0]", ["bias[0]"]),
        ("prefix(1..2)", ["prefix1[0]", "prefix2[0]"]),
        ("suffix3[-1]|w[0]", ["suffix3[-1]|w[0]"]),
        ("cluster(3..4)", ["cluster3[0]", "cluster4[0]"]),
        ("cluster[3..4]", ["cluster[3]", "cluster[4]"]),
        ("ngrams(pos:2,1..2)", ["pos:2[0]", "pos:2[-1]|pos:2[0]", "pos:2[0]|pos:2[1]"]),
        ("bag( low , -5 , 5 )", ["bag(low,-5,5)"]),
    ],
)
def test_expansion(line: str, features: list[str]) -> None:
    assert [str(feature) for feature in parse(line).features] == features


def test_ngrams_contain_the_token() -> None:
    features = parse("ngrams(w,2..4)").features
    assert len(features) == len(set(features)) == 2 + 3 + 4
    assert all("w[0]" in str(feature).split("|") for feature in features)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("w", "character 2: found the end, expected '['"),
        ("w[0]|", "character 6: found the end, expected a column"),
        ("w[a]", "character 3: found 'a', expected a number from -64 to 64"),
        ("w[99]", "character 3: found '99', expected a number from -64 to 64"),
        ("w[2..1]", "character 6: found '1', expected a number from 2 to 64"),
        ("w[-1..1]|pos[0]", "character 2: a range must be alone"),
        ("w[0] w[1]", "character 6: found 'w', expected the end"),
        ("w[0]|w[0..1]", "character 9: found '..', expected ']'"),
        ("ngrams(w,0)", "character 10: found '0', expected a number from 1 to 8"),
        ("ngrams(w,2..9)", "character 13: found '9'"),
        ("bag(w,-5)", "character 9: found ')', expected ','"),
        ("bag(w,3,-3)", "character 9: found '-3', expected a number from 3 to 64"),
        ("pos:0[0]", "character 5: found '0', expected a number of characters other than 0"),
        ("prefix(1..2", "character 12: found the end, expected ')'"),
        ("cluster(0)", "character 9: found '0', expected a number from 1 to 64"),
        ("é%[0]", "character 2: found '%', expected '['"),
        ("w[0]\x00", "character 5: found '\\x00', expected the end"),
        ("", "character 1: found the end, expected a column"),
        ("3[0]", "character 1: found '3', expected a column"),
        ("w[" + "9" * 5000 + "]", "character 3"),
    ],
)
def test_errors_name_the_place(line: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(line)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_lines_comments_and_presets() -> None:
    assert [t.text for t in parse_all("  \nw[0]  # word\n#\n bias")] == ["w[0]", "bias"]
    for name, preset in PRESETS.items():
        assert [template.text for template in parse_all(preset)] == list(preset), name
    assert sum(len(template.features) for template in parse_all(PRESETS["small"])) == 23

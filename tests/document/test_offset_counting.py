"""Ways of counting offsets, compared with those of Python's own encoders."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom.document.counting import CountedText, Counting, counting_of
from spanloom.errors import UsageError

TEXTS = st.text(st.sampled_from("aé€𝒳\r\n 中"), max_size=12)


def length(text, unit, line_end):
    """The length of a text as a program with other units has it."""
    if line_end == "crlf":
        text = text.replace("\r\n", "\n")
    if line_end == "lf":
        text = text.replace("\r\n", "\n").replace("\n", "\r\n")
    sizes = {"characters": len(text), "utf16": len(text.encode("utf-16-le")) // 2, "bytes": len(text.encode())}
    return sizes[unit]


@given(TEXTS, TEXTS, TEXTS, st.sampled_from(["characters", "utf16", "bytes"]), st.sampled_from(["", "crlf", "lf"]))
def test_offsets_of_other_programs_become_characters(before, surface, after, unit, line_end):
    before, surface = f"{before}x", f"y{surface}z"  # no CR LF is parted by an end
    start, end = (length(part, unit, line_end) for part in (before, before + surface))
    text = CountedText(before + surface + after)
    expected = (len(before), len(before + surface))
    assert Counting(unit, line_end).to_characters(text, (start, end)) == expected
    assert Counting(unit, line_end, first=1).to_characters(text, (start + 1, end + 1)) == expected
    assert Counting(unit, line_end, inclusive=True).to_characters(text, (start, end - 1)) == expected
    assert Counting(unit, line_end, shift=-2).to_characters(text, (start - 2, end - 2)) == expected


def test_offsets_outside_the_text_stay_outside():
    assert Counting("utf16").to_characters(CountedText("𝒳a"), (3, 9)) == (2, 8)
    assert Counting("utf16").to_characters(CountedText("𝒳a"), (-4, 9)) == (-4, 8)


def test_only_ways_that_make_a_difference_are_tried():
    assert len(CountedText("plain").countings) == 3
    assert {way.unit for way in CountedText("é").countings} == {"characters", "bytes"}
    assert {way.line_end for way in CountedText("a\r\nb").countings} == {"", "crlf"}
    assert {way.line_end for way in CountedText("a\nb").countings} == {"", "lf"}
    oddities = [way.oddities for way in CountedText("𝒳\r\n\n").countings]
    assert len(oddities) == 35 and oddities == sorted(oddities) and oddities[0] == 1


@pytest.mark.parametrize("way", CountedText("𝒳\r\n\n").countings)
def test_each_way_has_a_name_that_asks_for_it(way):
    assert counting_of(way.name) == way


@pytest.mark.parametrize("name", ["utf-16", "", "utf16+", "auto+utf16", "utf16+bytes", "crlf+lf", 3])
def test_an_unknown_name_is_refused(name):
    with pytest.raises(UsageError, match="expected one of auto, characters, utf16, bytes, crlf, lf, one-based"):
        counting_of(name)

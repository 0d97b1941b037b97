"""Abbreviations that a text defines: forms found and refused, and mentions written out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom.document import Document
from spanloom.text.abbreviations import abbreviations, expand, find_abbreviations


def defined(text: str) -> dict[str, str]:
    return abbreviations(Document(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We saw Takotsubo syndrome (TS) twice.", {"TS": "Takotsubo syndrome"}),
        ("heat shock protein (HSP)", {"HSP": "heat shock protein"}),  # the paper's examples
        ("Heat shock transcription factor (HSF)", {"HSF": "Heat shock transcription factor"}),
        ("acute graft-versus-host disease (aGVHD)", {"aGVHD": "acute graft-versus-host disease"}),
        ("mitochondrial DNA (mtDNA) loss", {"mtDNA": "mitochondrial DNA"}),
        ("myocardial infarctions (MIs)", {"MI": "myocardial infarctions"}),
        ("AMI (acute myocardial infarction) was seen", {"AMI": "acute myocardial infarction"}),
        ("myelodysplastic syndrome (MDS; n = 17)", {"MDS": "myelodysplastic syndrome"}),
        ("myelodysplastic syndrome [MDS]", {"MDS": "myelodysplastic syndrome"}),
        ("prolonged QT (“LQT”) interval", {}),  # the letters are not there
        ("non-small-cell lung cancer (NSCLC)", {"NSCLC": "non-small-cell lung cancer"}),
        ("It ended. Tardive dyskinesia (TD)", {"TD": "Tardive dyskinesia"}),
        ("Total loss. Dyskinesia (TD)", {}),  # not over the end of a sentence
        ("five patients (p < 0.05)", {}),
        ("renal failure (n = 12)", {}),
        ("hypertension (17%)", {}),
        ("seen in adults (aged)", {}),  # a word in lower case
        ("the TS (TS) again", {}),
        ("(TS)", {}),
        ("", {}),
    ],
)
def test_definitions(text: str, expected: dict[str, str]) -> None:
    assert defined(text) == expected


def test_offsets_are_those_of_the_text() -> None:
    text = "  Cases of  renal  cell\ncarcinoma (RCCs)."
    (found,) = find_abbreviations(text)
    assert (text[slice(*found.short)], text[slice(*found.long)]) == ("RCC", "renal  cell\ncarcinoma")
    assert defined(text) == {"RCC": "renal cell carcinoma"}


def test_the_commonest_long_form_wins() -> None:
    text = "Rheumatic angina (RA). Rheumatoid arthritis (RA). Rheumatoid arthritis (RA)."
    assert defined(text) == {"RA": "Rheumatoid arthritis"}


def test_expansion() -> None:
    forms = {"RA": "rheumatoid arthritis", "RA-ILD": "rheumatoid lung disease", "MI": "myocardial infarction"}
    assert expand("RA", forms) == "rheumatoid arthritis"
    assert expand("early RAs", forms) == "early rheumatoid arthritis"
    assert expand("RA-ILD", forms) == "rheumatoid lung disease"  # the longest short form
    assert expand("RA and MI", forms) == "rheumatoid arthritis and myocardial infarction"
    assert expand("myocardial infarction (MI)", forms) == "myocardial infarction"
    assert expand("old infarction (MI)", forms) == "old infarction (myocardial infarction)"
    assert [expand(text, forms) for text in ("BRAF", "ra", "", "fever")] == [None] * 4
    assert expand("RA", {}) is None


@given(st.text(alphabet="aAbBs ()[]-;.,\n\U0001f600", max_size=60))
def test_any_text_gives_forms_that_stand_in_it(text: str) -> None:
    for short, long in find_abbreviations(text):
        assert 0 <= short.start < short.end <= len(text)
        assert 0 <= long.start < long.end <= len(text)
        assert short.end <= long.start or long.end <= short.start
    forms = defined(text)
    assert expand(text, forms) is None or forms

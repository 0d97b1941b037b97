"""Cases and sentences in English, Spanish and Chinese, written before the rules for them: what rules make of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from spanloom import Document, Mention
from spanloom.attributes import ATTRIBUTES, language_of, mark

FOLDER = Path(__file__).parent
LEAST = {"en": 0.97, "es": 0.95, "zh": 0.95}
LEAST_F1 = {"negated": 0.97, "uncertain": 0.9, "historical": 0.9, "experiencer": 0.9}
CODES = {
    "n": ("negated", True), "u": ("uncertain", True), "h": ("historical", True), "f": ("experiencer", "family"),
    "o": ("experiencer", "other"),
}  # fmt: skip


def cases(language: str) -> list[tuple[Document, dict[str, bool | str]]]:
    """Return documents of one mention, and its attributes."""
    found = []
    for line in (FOLDER / f"cases_{language}.tsv").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        given, _, expected = line.partition("\t")
        text, spans, start = "", [], 0
        for piece in re.split(r"([\[\]])", given.replace("\\n", "\n")):
            if piece == "[":
                start = len(text)
            elif piece == "]":
                spans.append((start, len(text)))
            else:
                text += piece
        attributes = {name: value or True for name, _, value in (one.partition("=") for one in expected.split())}
        found.append((Document(text, mentions=[Mention("problem", spans)]), attributes))
    return found


def sentences(language: str, kind: str = "sentences") -> list[Document]:
    """Return documents whose mentions have gold attributes."""
    found = []
    for line in (FOLDER / f"{kind}_{language}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        text, mentions = "", []
        for before, surface, codes in re.findall(r"([^\[]*)(?:\[([^]|]*)\|?(\w*)\])?", line.replace("\\n", "\n")):
            text += before + surface
            if surface:
                attributes = dict(CODES[code] for code in codes)
                mentions.append(Mention("problem", [(len(text) - len(surface), len(text))], attributes=attributes))
        found.append(Document(text, mentions=mentions))
    return found


@pytest.mark.parametrize(
    ("kind", "language", "least"),
    [("sentences", language, LEAST_F1) for language in LEAST]
    + [("negation", language, {"negated": 0.97}) for language in LEAST],
)
def test_rules_are_right_on_nearly_all_sentences(kind: str, language: str, least: dict[str, float]) -> None:
    gold = sentences(language, kind)
    assert len(gold) >= {"sentencesen": 1000, "negationen": 400}.get(kind + language, 50)
    blank = [one.copy(mentions=[mention.replace(attributes={}) for mention in one.mentions]) for one in gold]
    pairs = [
        (mention.attributes, found.attributes)
        for one, marked in zip(gold, mark(blank, language=language), strict=True)
        for mention, found in zip(one.mentions, marked.mentions, strict=True)
    ]
    for name, lowest in least.items():
        values = [(wanted.get(name), found.get(name)) for wanted, found in pairs]
        hits = sum(wanted is not None and wanted == found for wanted, found in values)
        f1 = 2 * hits / sum((wanted is not None) + (found is not None) for wanted, found in values)
        assert f1 >= lowest, (name, f1)


@pytest.mark.parametrize(("language", "least"), LEAST.items())
def test_rules_are_right_on_nearly_all_cases(language: str, least: float) -> None:
    given = cases(language)
    assert len(given) >= {"en": 120}.get(language, 50)
    marked = mark([document for document, _ in given], language=language)
    wrong = [
        (document.text, document.mentions[0].text(document.text), dict(document.mentions[0].attributes), expected)
        for document, (_, expected) in zip(marked, given, strict=True)
        if document.mentions[0].attributes != expected
    ]
    assert len(wrong) <= (1 - least) * len(given), wrong


@pytest.mark.parametrize("language", LEAST)
def test_the_language_is_known_by_script_and_stop_words(language: str) -> None:
    given = [language_of(document) for document, _ in cases(language)]
    assert given.count(language) >= 0.9 * len(given)


@pytest.mark.parametrize(
    ("language", "texts"),
    {
        "en": ("Possible TIA.", "h/o TIA.", "R/O TIA", "TIA", "Torsade de pointes ruled out.", "José denies pain.", ""),
        "es": ("Sin fiebre.", "PACIENTE SIN FIEBRE", "Posible neumonía.", "Niega AIT."),
    }.items(),
)
def test_words_of_another_language_in_short_texts_are_weighed(language: str, texts: tuple[str, ...]) -> None:
    assert {text: language_of(Document(text)) for text in texts} == dict.fromkeys(texts, language)


def test_cases_have_each_attribute_in_each_language() -> None:
    for language in LEAST:
        assert {name for _, expected in cases(language) for name in expected} == {*ATTRIBUTES}

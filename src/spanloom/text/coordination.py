"""Coordination: the mentions that a phrase with shared words stands for, as "breast cancer" and "ovarian cancer"."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

Range = tuple[int, int]
_COORDINATOR: Final = re.compile(
    r"\s*,?\s+(?:and/or|and|or|as well as|und|oder|y|e|o|u)\s+|\s+[&/]\s+|(?<=\w)/(?=\w)", re.I
)
_COMMA: Final = re.compile(r"\s*[,;]\s+")
_OPEN: Final = re.compile(r"[-‐‑–]$")
_HYPHEN: Final = re.compile(r"[-‐‑–](?=.)")
_HINGE: Final = re.compile(r"^(.*\b(?:of|in|to|from|with|against|by|for)\s+(?:the\s+|both\s+)?)(.+)$", re.I)
_WORD: Final = re.compile(r"\S+")
_MOST_PARTS, _MOST_SHARED, _LONGEST = 8, 3, 200
_PREFIXES: Final = (
    "pre", "post", "peri", "hypo", "hyper", "intra", "extra", "inter", "mono", "di", "tri", "tetra", "poly", "homo",
    "hetero", "gluco", "mineralo", "micro", "macro", "over", "under", "sub", "supra", "endo", "exo", "ante", "retro",
    "uni", "bi", "multi", "iso", "allo", "auto", "neo", "para", "onco", "hemo", "nephro", "hepato", "cardio", "neuro",
    "broncho",
)  # fmt: skip
_BINOMIALS: Final = frozenset((
    "head and neck", "hand, foot and mouth", "foot and mouth", "food and drug", "research and development",
    "black and white", "mix and match", "trial and error", "wear and tear", "activator of transcription",
    "rough and tumble", "cut and paste", "pins and needles", "ear, nose and throat", "ear, nose, and throat",
    "nut and bolt", "salt and pepper", "cat and mouse", "bed and breakfast", "cap and trade", "search and rescue",
    "hit and run", "track and field", "arts and crafts", "health and safety", "activities of daily",
    "fight or flight", "growth and development", "all or none", "all or nothing", "now and then", "back and forth",
    "time and motion", "tip and run", "cost and freight",
))  # fmt: skip
_GREEK: Final = frozenset((
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "kappa", "lambda", "mu", "sigma", "tau",
    "omega",
))  # fmt: skip
_DESCRIBING: Final = re.compile(
    r"(?:al|ic|ical|an|ar|ous|ary|ive|ed|ing|oid|ent|ant|ior|eal|ile|ine|ular|ory|able|ible|less|like|specific|"
    r"positive|negative|left|right|upper|lower|inner|outer|mild|severe|acute|early|late|male|female|human|mouse|murine|low|high|"
    r"long|short|old|young|first|second|third|fourth|fifth|sixth|small|large|fetal|adult)$",
    re.I,
)


class Way(NamedTuple):
    """A way in which a phrase may be several mentions that share words.

    Args:
        parts: of each mention the ranges of characters in the phrase.
        texts: of each mention its text.
        own: of each mention the text that it does not share.
        kind: ``hyphen``, ``prefix``, ``hinge``, ``tail``, ``front``, ``both`` or ``plain``: what is shared.
        shared: number of shared words.
    """

    parts: tuple[tuple[Range, ...], ...]
    texts: tuple[str, ...]
    own: tuple[str, ...]
    kind: str
    shared: int


class Expansion(NamedTuple):
    """A mention that a phrase stands for.

    Args:
        parts: ranges of characters in the phrase.
        text: of the mention.
        probability: that the phrase stands for it.
    """

    parts: tuple[Range, ...]
    text: str
    probability: float


def coordinated(text: str) -> list[list[str]]:
    """Return the ways in which a phrase may be several mentions that share words; the texts of these mentions.

    Each way is a guess from form alone: a vocabulary, or a model, decides which of them fits.

    >>> coordinated("breast and ovarian cancer")[0], coordinated("T- and B-lymphocytes")[0]
    (['breast cancer', 'ovarian cancer'], ['T-lymphocytes', 'B-lymphocytes'])
    >>> coordinated("tumors of the lung and liver")[0]
    ['tumors of the lung', 'tumors of the liver']
    >>> coordinated("chest pain")
    []
    """
    return [list(way.texts) for way in ways(text)]


def ways(text: str) -> list[Way]:
    """Return the ways in which a phrase may be several mentions that share words.

    1. The phrase is cut at coordinators and, before the first of them, at commas.
    2. An open hyphen takes what follows a hyphen of the last part: *T- and B-lymphocytes*; or what follows its prefix:
       *pre- and postoperative*.
    3. The first part may begin with words that all parts share, up to a preposition: *cancer of the breast and ovary*.
    4. The last part may end with such words: *breast and ovarian cancer*; the first may begin with some: *alpha 1, 2
       and 3*; or both: *human T and B cells*.
    5. The parts may share nothing: *nausea and vomiting*.
    """
    found = _COORDINATOR.search(text) if len(text) <= _LONGEST else None
    if found is None:
        return []
    parts = [*_pieces(text, 0, found.start(), _COMMA), *_pieces(text, found.end(), len(text), _COORDINATOR)]
    if not 1 < len(parts) <= _MOST_PARTS:
        return []
    made: dict[tuple[str, ...], Way] = {}

    def add(kind: str, shared: int, *mentions: Sequence[Range], own: Sequence[Range]) -> None:
        joined = tuple(_joined(text, ranges) for ranges in mentions)
        if all(joined):
            way = Way(
                tuple(_merged(text, ranges) for ranges in mentions),
                joined,
                tuple(text[a:b] for a, b in own),
                kind,
                shared,
            )
            made.setdefault(joined, way)

    *before, last = parts
    if any(_OPEN.search(text[a:b]) for a, b in before):
        for hyphen in _HYPHEN.finditer(text, *last):
            stem = (hyphen.end(), last[1])
            if stem[0] < stem[1] and stem[0] > last[0] + 1:
                closed = [[part, stem] if _OPEN.search(text[slice(*part)]) else [part] for part in before]
                add("hyphen", 0, *closed, [last], own=[*before, (last[0], hyphen.start())])
        for prefix in _PREFIXES:
            stem = (last[0] + len(prefix), last[1])
            if text[slice(*last)].lower().startswith(prefix) and stem[1] - stem[0] > 2 and text[stem[0]].isalpha():
                add("prefix", 0, *([part, stem] for part in before), [last], own=[*before, (last[0], stem[0])])
        before = [(a, b - 1) if _OPEN.search(text[a:b]) else (a, b) for a, b in before]
    words = [word.span() for word in _WORD.finditer(text, *last)]
    heads = [word.span() for word in _WORD.finditer(text, *before[0])]
    hinge = _HINGE.match(text[slice(*before[0])])
    if hinge is not None:
        front = (before[0][0], before[0][0] + len(hinge[1].rstrip()))
        own = (before[0][0] + hinge.start(2), before[0][1])
        add("hinge", 0, [before[0]], *([front, part] for part in [*before[1:], last]), own=[own, *before[1:], last])
    tails = [(words[-shared][0], last[1], shared) for shared in range(1, min(_MOST_SHARED, len(words) - 1) + 1)]
    for first, end, shared in tails:
        own = (last[0], words[-shared - 1][1])
        add("tail", shared, *([part, (first, end)] for part in before), [last], own=[*before, own])
    fronts = range(1, min(_MOST_SHARED, len(heads) - 1) + 1)
    for shared in fronts:
        front, own = (before[0][0], heads[shared - 1][1]), (heads[shared][0], before[0][1])
        add(
            "front", shared, [before[0]], *([front, part] for part in [*before[1:], last]), own=[own, *before[1:], last]
        )
    for shared in fronts:
        front, first_own = (before[0][0], heads[shared - 1][1]), (heads[shared][0], before[0][1])
        for first, end, other in tails:
            add(
                "both", shared + other, [before[0], (first, end)],
                *([front, part, (first, end)] for part in before[1:]), [front, last],
                own=[first_own, *before[1:], (last[0], words[-other - 1][1])],
            )  # fmt: skip
    add("plain", 0, *([part] for part in [*before, last]), own=[*before, last])
    return list(made.values())


def expansion(
    text: str, known: Callable[[str], bool] = lambda _: False, listed: Callable[[str], bool] = lambda _: False
) -> list[Expansion]:
    """Return the mentions that a phrase stands for, in the likeliest way; none where it is likelier one mention.

    The ways of `ways`, and that the phrase is one mention, are weighed against each other by a log-linear model of
    their form: what is shared, whether the parts are alike (words, endings, numbers, Greek letters, abbreviations),
    whether they describe, and whether they are known. A phrase that is a name of a vocabulary is not expanded, nor are
    fixed pairs such as *head and neck*.

    Args:
        text: of a mention.
        known: whether a text was a training mention.
        listed: whether a text is a name of a vocabulary.

    Returns:
        Each with the probability of all ways that contain it.

    >>> [(one.text, one.probability > 0.5) for one in expansion("breast and ovarian cancer")]
    [('breast cancer', True), ('ovarian cancer', True)]
    >>> [one.text for one in expansion("alpha 1, 2 and 3 subunits")]
    ['alpha 1 subunits', 'alpha 2 subunits', 'alpha 3 subunits']
    >>> expansion("head and neck cancer")
    []
    >>> expansion("breast and ovarian cancer", listed=lambda text: text == "breast and ovarian cancer")
    []
    """
    lower = text.lower()
    tried = ways(text)
    if not tried or listed(text) or any(pair in lower for pair in _BINOMIALS):
        return []
    scores = [sum(_WEIGHTS.get(name, 0.0) * value for name, value in features(way, text, known)) for way in tried]
    scores.append(sum(_WEIGHTS.get(name, 0.0) * value for name, value in features(None, text, known)))
    top = max(scores)
    chances = [math.exp(score - top) for score in scores]
    total = sum(chances)
    best = max(range(len(scores)), key=scores.__getitem__)
    if best == len(tried):
        return []
    way = tried[best]
    return [
        Expansion(parts, surface, sum(
            chance for other, chance in zip(tried, chances, strict=False) if parts in other.parts
        ) / total)
        for parts, surface in zip(way.parts, way.texts, strict=True)
    ]  # fmt: skip


def features(way: Way | None, text: str, known: Callable[[str], bool]) -> Iterator[tuple[str, float]]:
    """Yield the names and values of what speaks for a way; ``None`` is that the phrase is one mention."""
    if way is None:
        yield "one", 1.0
        yield "one.capitals", float(sum(word[:1].isupper() and word[1:].islower() for word in text.split()) > 1)
        yield "one.of", float(" of " in text)
        yield "one.ampersand", float("&" in text)
        yield "one.words", min(len(text.split()), 8) / 4
        return
    kind = f"{way.kind}{way.shared}" if way.kind in ("tail", "front") else way.kind
    yield kind, 1.0
    yield "more", float(len(way.parts) > 2)
    first, last = way.own[0].strip(), way.own[-1].strip()
    if not first or not last:
        yield "empty", 1.0
        return
    counts = [len(own.split()) for own in way.own]
    yield "same words", float(counts[0] == counts[-1])
    yield "words apart", min(abs(counts[0] - counts[-1]), 3.0)
    yield "long own", float(max(counts) > 2)
    classes = [_class(own) for own in (first, last)]
    yield "same class", float(classes[0] == classes[1])
    yield f"same class {classes[0]}", float(classes[0] == classes[1])
    yield "same ending", float(first[-2:].lower() == last[-2:].lower() and classes[0] == "word")
    describe = sum(bool(_DESCRIBING.search(own.strip())) for own in way.own) / len(way.own)
    yield "describe plain" if way.kind == "plain" else "describe", describe
    yield f"{way.kind} describe last", float(bool(_DESCRIBING.search(last)))
    yield "plural parts", float(way.kind == "plain" and first.endswith("s") == last.endswith("s"))
    yield "known", sum(map(known, way.texts)) / len(way.texts)
    yield "known plain" if way.kind == "plain" else "known shared", float(known(way.texts[0]))


def _class(own: str) -> str:
    word = own.split()[-1].strip("-‐‑–'′,;()")
    if re.fullmatch(r"[\d.]+[A-Za-z]?", word):
        return "number"
    if word.lower() in _GREEK or re.fullmatch(r"[α-ωΑ-Ω]", word):
        return "greek"
    if re.fullmatch(r"[IVX]+[a-zA-Z]?", word):
        return "roman"
    if len(word) == 1:
        return "letter"
    if re.search(r"\d", word) or re.search(r"[A-Z]", word[1:]):
        return "code"
    return "word"


def _pieces(text: str, start: int, end: int, cut: re.Pattern[str]) -> list[Range]:
    """Return the ranges between cuts that are not empty, without blanks around them."""
    found, at = [], start
    for match in cut.finditer(text[:end], start):
        found.append((at, match.start()))
        at = match.end()
    found.append((at, end))
    return [
        (a + len(text[a:b]) - len(text[a:b].lstrip()), a + len(text[a:b].rstrip()))
        for a, b in found if text[a:b].strip()
    ]  # fmt: skip


def _joined(text: str, ranges: Sequence[Range]) -> str:
    """Return the text of ranges: with a blank between them, except behind an open hyphen and inside a word."""
    made = text[slice(*ranges[0])]
    for a, b in ranges[1:]:
        inside = a > 0 and not text[a - 1].isspace() and bool(_OPEN.search(made))
        made += text[a:b] if inside else f" {text[a:b]}"
    return made


def _merged(text: str, ranges: Sequence[Range]) -> tuple[Range, ...]:
    """Return ranges in text order; those with nothing but blanks between them as one."""
    made: list[Range] = []
    for a, b in sorted(ranges):
        if made and not text[made[-1][1] : a].strip():
            made[-1] = (made[-1][0], max(b, made[-1][1]))
        else:
            made.append((a, b))
    return tuple(made)


# fitted to coordinations in training data of GENIA and BC5CDR, and 51 phrases; those of *known* are set by hand
_WEIGHTS: Final[dict[str, float]] = {
    "both": -1.34,
    "both describe last": -0.86,
    "describe": 1.62,
    "describe plain": -0.49,
    "front describe last": -2.14,
    "front1": -1.48,
    "front2": -1.76,
    "front3": -2.43,
    "hinge": 1.93,
    "hinge describe last": 0.1,
    "hyphen": 3.21,
    "hyphen describe last": -0.13,
    "known": 2.0,
    "known plain": 1.5,
    "known shared": 1.0,
    "long own": -0.57,
    "more": 0.14,
    "one": 4.03,
    "one.ampersand": 0.16,
    "one.capitals": 1.26,
    "one.of": 3.3,
    "one.words": -3.24,
    "plain": -1.54,
    "plain describe last": 1.43,
    "plural parts": -0.43,
    "prefix": 2.03,
    "same class": 1.83,
    "same class code": -0.33,
    "same class greek": 0.48,
    "same class letter": 0.99,
    "same class number": 0.68,
    "same class roman": 1.25,
    "same class word": -1.22,
    "same ending": 1.22,
    "same words": 1.28,
    "tail describe last": -0.11,
    "tail2": -0.85,
    "tail3": -1.8,
    "words apart": -0.74,
}

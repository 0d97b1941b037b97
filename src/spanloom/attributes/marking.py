"""Attributes of mentions by rules: cues and their scope, and sections; without any training."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Final

import numpy as np

from spanloom.attributes.found import Flags
from spanloom.attributes.lexicon import Cues, bundled, compared
from spanloom.attributes.scope import Scopes, headings_of
from spanloom.document import Document, Mention, Section, Span
from spanloom.errors import UsageError, clip, meant
from spanloom.parallel import grouped
from spanloom.text import tokenize
from spanloom.text.sections import headings

ALL: Final = "all"
BLOCK_TOKENS: Final = 20_000
_SAMPLE: Final = 4000  # characters by which the language of a document is found
_SPANISH: Final = frozenset("áéíóúñ¿")
_HAN: Final = 0.2  # share of ideographs among letters from which on a text is Chinese


def language_of(document: Document) -> str:
    """Return the language whose bundled cues a document is read with: en, es or zh.

    Chinese is known by its script; Spanish by more words of its own, of stop words and cues, than of English. Words in
    capitals count only in a text in capitals, where one word is not enough.

    >>> [language_of(Document(text)) for text in ("No fever.", "Paciente sin fiebre.", "患者无发热。")]
    ['en', 'es', 'zh']
    """
    text = document.text[:_SAMPLE]
    if not text.isascii():
        letters = sum(map(str.isalpha, text))
        if sum("\u4e00" <= character <= "\u9fff" for character in text) > _HAN * letters:
            return "zh"
    own, capitals, english, spanish = _words_of_languages(), text.isupper(), 0, 0
    for word, count in Counter(text[start:end] for start, end in tokenize(text).tolist()).items():
        if capitals or not word.isupper():  # an acronym, such as TIA, is of any language
            form = compared(word)
            english += count * (form in own["en"])
            spanish += count * ((form in own["es"]) + (not _SPANISH.isdisjoint(word.casefold())))
    return "es" if spanish > max(english, capitals) else "en"


@cache
def _words_of_languages() -> dict[str, frozenset[str]]:
    """Return the stop words and the words of cues of English and of Spanish that the other does not have."""
    english, spanish = (bundled()[name].stopwords.union(*bundled()[name].phrases) for name in ("en", "es"))
    return {"en": english - spanish, "es": spanish - english}


class Rules:
    """Rules that mark mentions.

    Args:
        language: ``en``, ``es`` or ``zh``; by each document's script and stop words when ``None``.
        cues: further cues, beside the bundled ones of the language.

    Raises:
        UsageError: an unknown language.
    """

    def __init__(self, language: str | None = None, cues: Cues | None = None) -> None:
        if language is not None and language not in bundled():
            known = ", ".join(bundled())
            raise UsageError(f"language is {clip(language)}, expected one of {known}{meant(language, bundled())}")
        self.language = language
        self._cues = {
            name: own if cues is None or cues.language not in ("", name) else own + cues
            for name, own in bundled().items()
        }

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes that there are cues for in any language."""
        return tuple(dict.fromkeys(name for cues in self._cues.values() for name in cues.attributes))

    def chosen(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return some attributes by their names; all for ``all``.

        Raises:
            UsageError: there are no cues for one.
        """
        if isinstance(names, str):
            names = [name.strip() for name in names.split(",")]
        known = self.attributes
        if list(names) == [ALL]:
            return known
        for name in names:
            if name not in known:
                raise UsageError(
                    f"no cues mark the attribute {clip(name)}; there are {', '.join(known)} and all"
                    f", or give cues for it{meant(name, (*known, ALL))}"
                )
        return tuple(dict.fromkeys(names))

    def groups(self, documents: Sequence[Document]) -> Iterator[tuple[Cues, list[int]]]:
        """Yield the cues of each language of some documents, and the numbers of those that are in it."""
        languages = [self.language or language_of(document) for document in documents]
        for name in dict.fromkeys(languages):
            yield self._cues[name], [i for i, own in enumerate(languages) if own == name]

    def verdicts(self, documents: Sequence[Document], names: Sequence[str]) -> list[list[dict[str, bool | str]]]:
        """Return the attributes of each mention of each document, by name.

        Args:
            documents: with mentions.
            names: of attributes; see `chosen`.
        """
        found: list[list[dict[str, bool | str]]] = [[] for _ in documents]
        for cues, rows in self.groups(documents):
            needed = {*names, *(other for name in names for other in cues.unless.get(name, ()))}
            own = [documents[i] for i in rows]
            table = verdict_table(Scopes(own, cues), needed)
            marks: list[dict[str, bool | str]] = [{} for _ in range(len(table))]
            for at, number in zip(*(axis.tolist() for axis in np.nonzero(table)), strict=True):
                pair = cues.table.pairs[number]
                marks[at].setdefault(pair.attribute, pair.value)
            for held in marks:
                for name in [n for n in held if n not in names or not cues.unless.get(n, frozenset()).isdisjoint(held)]:
                    del held[name]
            bounds = np.cumsum([0, *(len(document.mentions) for document in own)]).tolist()
            for i, (first, end) in zip(rows, pairwise(bounds), strict=True):
                found[i] = marks[first:end]
        return found


def verdict_table(scopes: Scopes, names: Collection[str]) -> Flags:
    """Return (M, G) which mentions have which pair of attribute and value, by cues and sections.

    Args:
        scopes: of documents with mentions.
        names: attributes that are looked at; others are nowhere.
    """
    cues = scopes.cues
    pairs = cues.table.pairs
    found = np.zeros((len(scopes.parts.ptr) - 1, len(pairs)), np.bool_)
    numbers = [number for number, pair in enumerate(pairs) if pair.attribute in names]
    there = [scopes.inside(number) for number in numbers]
    there += [
        of(number, near).there for of in (scopes.before, scopes.after) for near in (False, True) for number in numbers
    ]
    found[:, numbers] = np.array(there, np.bool_).reshape(5, len(numbers), len(found)).any(0).T
    columns = {
        section: [number for number, pair in enumerate(pairs) if pair in own and pair.attribute in names]
        for section, own in cues.sections.items()
    }
    if any(columns.values()):
        for at, heading in enumerate(scopes.headings):
            found[at, columns.get("" if heading is None else heading.section, [])] = True
    return found


def mark(
    documents: Iterable[Document], names: Sequence[str] | str = ALL, language: str | None = None,
    cues: Cues | None = None,
) -> Iterator[Document]:  # fmt: skip
    """Yield documents whose mentions have attributes by rules: cues, their scope, and sections.

    Attributes that rules do not mark are left out; those of other names stay as they are.

    Args:
        documents: with mentions, gold or predicted.
        names: attributes to mark: ``negated``, ``uncertain``, ``historical``, ``experiencer``, or others that ``cues``
            has; ``all`` for all of them.
        language: ``en``, ``es`` or ``zh``; by each document's script and stop words when ``None``.
        cues: further cues, as `read_cues` returns them.

    Raises:
        UsageError: an unknown language, or an attribute without cues.

    >>> from spanloom import Mention
    >>> text = "No fever or chills; possible pneumonia."
    >>> mentions = [Mention("problem", [span]) for span in ((3, 8), (12, 18), (29, 38))]
    >>> [marked] = mark([Document(text, mentions=mentions)], ["negated", "uncertain"])
    >>> [dict(mention.attributes) for mention in marked.mentions]
    [{'negated': True}, {'negated': True}, {'uncertain': True}]
    """
    rules = Rules(language, cues)
    return marked(documents, rules, rules.chosen(names))


def marked(documents: Iterable[Document], rules: Rules, names: tuple[str, ...]) -> Iterator[Document]:
    """Yield documents with some attributes by rules, in place of their own."""
    for block in blocks(documents):
        for document, marks in zip(block, rules.verdicts(block, names), strict=True):
            pairs = zip(document.mentions, marks, strict=True)
            yield document.copy(mentions=[with_attributes(mention, names, own) for mention, own in pairs])


def with_attributes(mention: Mention, names: Collection[str], own: Mapping[str, bool | str]) -> Mention:
    """Return a mention with other attributes in place of those of some names."""
    others = {name: value for name, value in mention.attributes.items() if name not in names}
    scores = {name: score for name, score in mention.attribute_scores.items() if name not in names}
    return mention.replace(attributes={**others, **own}, attribute_scores=scores)


def blocks(documents: Iterable[Document]) -> Iterator[list[Document]]:
    """Return documents in lists of about `BLOCK_TOKENS` tokens, of about six characters each."""
    return grouped(documents, lambda document: len(document.text), 6 * BLOCK_TOKENS)


# Sections of documents as output: headings, what is under them, and the section of each mention.

SECTION = "section"
"""The attribute that holds a mention's section."""


def with_sections(
    documents: Iterable[Document], language: str | None = None, cues: Cues | None = None
) -> Iterator[Document]:
    """Yield documents with their sections, and with the section of each mention as its attribute ``section``.

    A section begins with its heading and ends before the next one. Its name is that of the rules, such as
    ``past_history``, or the words of a heading that they do not know, in small letters.

    Args:
        documents: with mentions or without.
        language: ``en``, ``es`` or ``zh``, whose headings are looked for; by each document's script and stop words when
            ``None``.
        cues: whose ``[headings]`` are looked for, too.

    Raises:
        UsageError: an unknown language.

    >>> from spanloom import Mention
    >>> note = Document("Chief complaint: cough.\\nPMH: gout.", mentions=[Mention("problem", [(29, 33)])])
    >>> [found] = with_sections([note])
    >>> [(name, note.text[slice(*span)]) for name, span in found.sections]
    [('complaint', 'Chief complaint: cough.'), ('past_history', 'PMH: gout.')]
    >>> dict(found.mentions[0].attributes)
    {'section': 'past_history'}
    """
    rules = Rules(language, cues)
    return (_sectioned(document, rules) for document in documents)


def _sectioned(document: Document, rules: Rules) -> Document:
    [(own, _)] = rules.groups([document])
    found, text = headings(document.text, headings_of(own)), document.text
    starts = [heading.start for heading in found]
    sections = []
    for heading, end in zip(found, [*starts, len(text)][1:], strict=True):
        whole = text[heading.start : end].rstrip()
        span = Span(heading.start, heading.start + len(whole))
        sections.append(Section(heading.section or heading.words.casefold(), span))
    mentions = []
    for mention in document.mentions:
        at = bisect_right(starts, mention.start)
        mentions.append(with_attributes(mention, (SECTION,), {SECTION: sections[at - 1].name} if at else {}))
    return document.copy(mentions=mentions, sections=sections)

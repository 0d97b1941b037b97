"""Shapes of an answer: which it has, and what it says in it.

JSON is tried first, because nothing else is taken for it; then inline markup; then tables and lists; then ``**``, which
lists have, too; last the text alone, which says that there is no mention.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from spanloom.errors import DataError, clip
from spanloom.formats.answers.copies import Copy
from spanloom.formats.answers.finding import Finder
from spanloom.formats.answers.json_quotes import TAGGED, Quotes, is_nothing, quotes_in
from spanloom.formats.answers.markdown import read_markdown
from spanloom.formats.answers.salvage import Salvaged, blocks, values
from spanloom.formats.answers.tags import read_markup

MOST_QUOTES: Final = 100_000  # of one answer; a model that repeats itself without end writes more
_MOST_COPIED: Final = 20  # times the document's length that a copy of it, or a list, may have
_MARGIN: Final = 100_000  # characters that they may have in any case
_REPEATS: Final = 0.8  # share of a copy's words that are the document's
_COVERS: Final = 0.5  # share of the document's words that are in a copy of it
_THOUGHTS: Final = "</think>"


class Understood(NamedTuple):
    """What an answer says.

    Args:
        said: quotes, or a copy of the text with marks.
        cut: how it is cut short, if it is.
        added: what a copy adds to the text, if it does.
    """

    said: Quotes | Copy
    cut: str | None = None
    added: str | None = None


def understand(answer: object, finder: Finder) -> Understood:
    """Return what an answer says.

    Args:
        answer: a string, or what JSON gives.
        finder: of the document.

    Raises:
        DataError: an answer that is empty, or of no shape that is known.

    >>> finder = Finder("No pain.")
    >>> quotes, *_ = understand('Here:\\n```json\\n[{"text": "pain", "type": "problem"}]\\n```', finder)
    >>> quotes.found[0].parts
    ('pain',)
    >>> copy, *_ = understand("No <problem>pain</problem>.", finder)
    >>> copy.marked.marks
    [Mark(type='problem', start=3, end=7)]
    """
    try:
        return _limited(_understood(answer, finder, depth=0))
    except RecursionError as error:
        raise DataError("the answer is nested too deeply; expected a list of mentions") from error


def _limited(understood: Understood) -> Understood:
    said = understood.said
    number = len(said.found) if isinstance(said, Quotes) else len(said.marked.marks)
    if number > MOST_QUOTES:
        raise DataError(f"the answer has {number:,} mentions, expected at most {MOST_QUOTES:,}; does it repeat itself?")
    return understood


def _understood(answer: object, finder: Finder, depth: int) -> Understood:
    if answer is None:
        raise DataError("there is no answer; expected a string, or JSON")
    if isinstance(answer, str):
        return _of_text(answer, finder, depth)
    inner = _tagged(answer)
    if inner is not None and depth < 2:
        return _understood(inner, finder, depth + 1)
    quotes = quotes_in(answer, finder.stands)
    if quotes is None:
        raise DataError(f"the answer's JSON holds no mention: {_shown(answer)}; expected texts with types")
    return Understood(quotes)


def _tagged(answer: object) -> str | None:
    """Return the text of an object that has nothing but the text with its markup."""
    if not isinstance(answer, dict) or any(isinstance(one, list | dict) for one in answer.values()):
        return None
    texts = [answer[name] for name in TAGGED if isinstance(answer.get(name), str)]
    return texts[0] if len(texts) == 1 and "type" not in answer and "label" not in answer else None


def _of_text(text: str, finder: Finder, depth: int) -> Understood:
    text = text.rpartition(_THOUGHTS)[2].strip()
    if not text:
        raise DataError("the answer is empty; expected mentions, or [] for none")
    contents = blocks(text)
    found = [one for content in contents for one in values(content)]
    if len(found) == 1 and found[0].whole and isinstance(found[0].value, str) and depth < 2:
        return _understood(found[0].value, finder, depth + 1)
    if found and found[0].whole and (inner := _tagged(found[0].value)) is not None and depth < 2:
        return _understood(inner, finder, depth + 1)
    json, broken = _of_values(found, finder)
    if json is not None and (json.found or any(one.whole for one in found)):
        return Understood(json, broken)
    short = len(text) <= _MOST_COPIED * len(finder.text) + _MARGIN  # what is longer repeats itself
    copy = Copy(read_markup(max(contents, key=len), finder.text), finder) if short else None
    if copy is not None and copy.marked.marks and not copy.marked.bold:
        return _of_copy(copy)
    repeats = copy is not None and copy.aligned.of_copy >= _REPEATS and copy.aligned.of_text >= _COVERS
    if copy is not None and repeats:
        return _of_copy(copy)
    listed = read_markdown(text, finder.stands) if short else None
    if listed is not None and listed.found:
        return Understood(listed)
    if copy is not None and (copy.marked.marks or copy.aligned.of_copy >= _REPEATS):
        return _of_copy(copy)
    if json is not None:
        return Understood(json, broken)
    if (is_nothing(text) and any(map(str.isalpha, text))) or (listed is not None and not listed.odd):
        return Understood(Quotes([], []))
    raise DataError(
        f"the answer has no mentions in a shape that is known: {clip(text)}; expected JSON, the text with tags, "
        "a table or a list"
    )


def _of_copy(copy: Copy) -> Understood:
    return Understood(copy, copy.cut(), copy.added())


def _of_values(found: list[Salvaged], finder: Finder) -> tuple[Quotes | None, str | None]:
    """Return the quotes of JSON values, and where the first broken one breaks off."""
    quotes, understood = Quotes([], []), False
    broken = next((f"its JSON breaks off at character {one.broken:,}" for one in found if one.broken is not None), None)
    for one in found:
        if not isinstance(one.value, list | dict) or (part := quotes_in(one.value, finder.stands)) is None:
            continue
        understood = True
        quotes.found.extend(part.found)
        quotes.odd.extend(part.odd)
    return quotes if understood else None, broken


def _shown(value: Any) -> str:
    return clip(str(value)) if not isinstance(value, list | dict) else clip(repr(value)[:200])

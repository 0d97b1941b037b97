"""Tables of the page of errors: scores, kinds of error, confusions of types, and where the errors are.

A table that is wider than the window scrolls in its own box, with a shadow at the side where more of it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape

from spanloom.document import Document, Mention
from spanloom.evaluate import ERROR_KINDS, Breakdown, Finding, Report, Score
from spanloom.evaluate.slices import words_in
from spanloom.view.excerpts import plain
from spanloom.view.placement import head_words, surface

MOST_TYPES = 20  # of the matrix; the rest are one row and one column

_MEANINGS = {
    "missed": "gold only",
    "spurious": "predicted only",
    "boundary": "same type, a character shared, other ends",
    "type": "same characters, another type",
    "gap missed": "a predicted component joins two of gold over the gap between them",
    "gap invented": "a gold component joins two predicted ones over an invented gap",
    "fragment wrong": "a component that shares no character with the other mention",
    "head": "type and characters right, another head",
    "concept": "type and characters right, other concepts",
    "NIL": "type and characters right, a concept on one side only",
}
_OTHERS = "other types"
_HEAD = "<tr><td></td><th>P</th><th>R</th><th>F1</th><th>gold</th><th>predicted</th></tr>\n"

STYLE = """\
.wide { overflow-x: auto; background: linear-gradient(to right, var(--paper) 40%, transparent) local,
    linear-gradient(to left, var(--paper) 40%, transparent) 100% 0 local,
    linear-gradient(to right, var(--line), transparent) scroll,
    linear-gradient(to left, var(--line), transparent) 100% 0 scroll, var(--paper);
  background-size: 3rem 100%, 3rem 100%, 1.2rem 100%, 1.2rem 100%, auto; background-repeat: no-repeat; }
.more { margin: .6rem 0; }
.more > summary { font-weight: 600; }
@media (max-width: 30rem) { .wide th, .wide td { padding-inline-end: .45rem; font-size: .85rem; } }
.tables { display: flex; flex-wrap: wrap; gap: 0 2.5rem; }
.tables > * { min-width: 0; max-width: 100%; }
h3 { font-size: 1rem; margin: 1rem 0 .2rem; }
.matrix td, .matrix thead th { text-align: end; }
.matrix th { max-width: 12rem; overflow-wrap: anywhere; font-weight: normal; }
.matrix .right { background: color-mix(in srgb, var(--c2) 18%, transparent); }
.matrix .wrong { background: color-mix(in srgb, var(--c1) 18%, transparent); }
.matrix td { padding: .15rem .6rem; }
"""


def folded(title: str, content: str) -> str:
    """Return content that is folded at first; nothing for none."""
    return f'<details class="more"><summary>{title}</summary>\n{content}</details>\n' if content else ""


def report_table(report: Report) -> str:
    """Return the scores of a report."""
    rows = {
        f"type {name}" if title == "type" else name: score
        for title, group in report.groups().items()
        for name, score in group.items()
    }
    return (
        f'{score_table("", rows)}<p class="faint">{report.documents:,} document(s), '
        f"{report.units:,} {escape(report.unit)}(s)</p>\n"
    )


def score_table(title: str, rows: Mapping[str, Score]) -> str:
    """Return scores by name, below a title if there is one."""
    body = ""
    for name, one in rows.items():
        cells = (*one.percents(), f"{one.gold:,.0f}", f"{one.predicted:,.0f}")
        body += f"<tr><th>{_own(name)}</th>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>\n"
    heading = f"<h3>{title}</h3>\n" if title else ""
    return f'<div>{heading}<div class="wide" tabindex="0"><table>\n{_HEAD}{body}</table></div></div>\n'


def kinds_table(counts: Counter[str], compared: Sequence[str]) -> str:
    """Return how many errors there are of each kind, with links to them.

    Args:
        counts: kind -> errors.
        compared: the kinds that can be compared.
    """
    rows = []
    for kind in ERROR_KINDS:
        name = f'<a href="#{anchor(kind)}">{kind}</a>' if counts[kind] else kind
        meaning = _MEANINGS[kind] if kind in compared else "not compared: one side has none"
        number = f"{counts[kind]:,}" if kind in compared else "-"
        rows.append(f'<tr><th>{name}</th><td>{number}</td><td class="faint">{meaning}</td></tr>\n')
    return f'<h2>Kinds of error</h2>\n<div class="wide" tabindex="0"><table>\n{"".join(rows)}</table></div>\n'


def anchor(kind: str) -> str:
    """Return the id of a kind's heading."""
    return f"kind-{kind.replace(' ', '-')}"


def breakdown_tables(found: Breakdown) -> str:
    """Return the matrix of confusions, and the scores by length, by novelty and by section."""
    groups = {"By length": found.lengths, "By novelty": found.seen, "By section": found.sections}
    tables = "".join(score_table(title, rows) for title, rows in groups.items() if rows)
    parts = [_matrix(found), "<h2>Where the errors are</h2>\n", f'<div class="tables">\n{tables}</div>\n']
    if not found.seen:
        untold = "Which mentions were seen in training is not shown here: the training data were not given."
        parts.append(f'<p class="faint">{untold}</p>\n')
    return "".join(parts) if found.confusions else ""


def _matrix(found: Breakdown) -> str:
    """Return the confusions: gold types down, predicted types across, most frequent first."""
    often = Counter[str]()
    for pair, count in found.confusions.items():
        for name in pair:
            often[name or ""] += count
    names = sorted((name for name in often if name), key=lambda name: (-often[name], name))
    shown = names[:MOST_TYPES]
    column_of: dict[str | None, str | None] = {None: None, **dict.fromkeys(names, _OTHERS)}
    column_of |= {name: name for name in shown}
    cells = Counter[tuple[str | None, str | None]]()
    for (gold, predicted), count in found.confusions.items():
        cells[column_of[gold], column_of[predicted]] += count
    columns: list[str | None] = [*shown, *[_OTHERS] * (len(names) > MOST_TYPES), None]
    head = "".join(f'<th scope="col">{_title(name, "missed")}</th>' for name in columns)
    rows = ""
    for gold in columns:
        rows += f'<tr><th scope="row">{_title(gold, "invented")}</th>'
        for predicted in columns:
            count, wrong = cells[gold, predicted], found.borders.get(gold or "", 0)
            if not count or gold == predicted == _OTHERS:  # the latter right or wrong among themselves
                rows += f"<td>{f'{count:,}' * (count > 0)}</td>"
            elif gold != predicted:
                rows += f'<td class="wrong">{count:,}</td>'
            else:
                more = f' <span class="faint">+{wrong:,}</span>' * (wrong > 0)
                rows += f'<td class="right">{count - wrong:,}{more}</td>'
        rows += "</tr>\n"
    note = (
        "Gold down, predicted across. A mention is on the diagonal if its type is right; behind the plus, how many "
        "of these have wrong borders. Another type counts as a confusion where the characters are the same."
    )
    return (
        '<h2>Confusions</h2>\n<div class="wide" tabindex="0"><table class="matrix">\n'
        f'<thead><tr><td></td>{head}</tr></thead>\n{rows}</table></div>\n<p class="faint">{note}</p>\n'
    )


def _title(name: str | None, nothing: str) -> str:
    return f"<i>{nothing}</i>" if name is None else f"<bdi>{plain(name)}</bdi>"


# What is wrong with a mention, in a few words: the heading of an error.

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_BORDERS = {
    "boundary": "border",
    "gap missed": "gap not seen",
    "gap invented": "invented gap",
    "fragment wrong": "wrong part",
}
_FOUND = {"type": "found as", "head": "head"}


def named(finding: Finding, document: Document) -> str:
    """Return the words of an error's mention, those of gold where it is of both sides, as HTML."""
    return _own(surface(document.text, finding.mentions[0]))


def wrong(finding: Finding, document: Document) -> str:
    """Return what is wrong, as HTML.

    Args:
        finding: the error.
        document: of which it is, with tokens.

    >>> from spanloom.evaluate import findings
    >>> from spanloom.text import prepare
    >>> note = prepare(Document("no chest pain", mentions=[Mention("problem", [(3, 13)])]))
    >>> [error] = findings([note], [note.copy(mentions=[Mention("problem", [(0, 13)])])])
    >>> wrong(error, note)
    'border: one word too long at the start'
    """
    gold, found = finding.gold, finding.predicted

    def shown(mention: Mention) -> str:
        if finding.kind == "head":
            return "none" if mention.head is None else _own(head_words(document.text, mention.head))
        if finding.kind in ("concept", "NIL"):
            return _own(", ".join(mention.concepts)) if mention.concepts else "no concept"
        return _own(mention.type)

    if found is None or gold is None:
        return f"{'missed, gold' if gold else 'invented, found as'} {shown(finding.mentions[0])}"
    if finding.kind in _BORDERS:
        return f"{_BORDERS[finding.kind]}: {_border(gold, found, document)}"
    return f"{_FOUND.get(finding.kind, 'linked to')} {shown(found)}, gold {shown(gold)}"


def _border(gold: Mention, found: Mention, document: Document) -> str:
    right, marked = (words_in(document, mention.spans) for mention in (gold, found))
    extra, lacking = marked - right, right - marked
    if extra and lacking:
        return f"{_words(extra)} too many, {_words(lacking)} missing"
    if extra:
        return f"{_words(extra)} too long{_where(extra, right)}"
    return f"{_words(lacking)} too short{_where(lacking, marked)}" if lacking else "inside a word"


def _words(numbers: set[int]) -> str:
    count = len(numbers)
    return f"{_NUMBERS[count] if count < len(_NUMBERS) else f'{count:,}'} word{'s' * (count > 1)}"


def _where(numbers: set[int], others: set[int]) -> str:
    """Return at which end of other words some words are, if at one."""
    if others and max(numbers) < min(others):
        return " at the start"
    return " at the end" if others and min(numbers) > max(others) else ""


def _own(text: str) -> str:
    """Return a user's text as HTML, whose direction does not affect the text beside it."""
    return f"<bdi>{plain(text)}</bdi>"

"""Error page: the errors of a prediction as HTML, with gold beside prediction, counts, and plots.

Without its script the page reads in full, in the order of the kinds. The script, which is part of the page, hides
filtered errors and changes the order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape
from json import dumps
from typing import NamedTuple

from spanloom.document import Document
from spanloom.evaluate import (
    ERROR_KINDS,
    Calibration,
    Finding,
    Point,
    Report,
    Score,
    compared_kinds,
    findings,
)
from spanloom.evaluate.measures import Learning
from spanloom.evaluate.units import pair
from spanloom.view import excerpts
from spanloom.view.excerpts import plain, select, side_by_side, type_values
from spanloom.view.layout import blocks
from spanloom.view.page import legend
from spanloom.view.plots import learning_plot, precision_recall_plot, reliability_plot
from spanloom.view.style import page
from spanloom.view.svg import clean
from spanloom.view.tracks import Track, tracks, type_names

MOST = 500  # errors of a kind that are shown

_MEANINGS = {
    "missed": "gold only",
    "spurious": "predicted only",
    "boundary": "same type, a character shared, other ends",
    "type": "same characters, another type",
    "gap missed": "a predicted component joins two of gold over the gap between them",
    "gap invented": "a gold component joins two predicted ones over a gap that is none",
    "fragment wrong": "a component that shares no character with the other mention",
    "head": "type and characters right, another head",
    "concept": "type and characters right, other concepts",
    "NIL": "type and characters right, a concept on one side only",
}
_STYLE = """\
.plots { display: flex; flex-wrap: wrap; gap: 1rem; }
.plots figure { margin: 0; }
.plots svg { max-width: 100%; height: auto; }
"""

_SCRIPT = """
const list = document.getElementById("errors"), form = document.getElementById("choose");
const items = [...list.querySelectorAll("article")], heads = [...list.querySelectorAll("h3")];
const start = [...list.children], count = document.getElementById("shown");
const orders = {
  kind: null,
  text: (a, b) => a.dataset.n - b.dataset.n,
  type: (a, b) => a.dataset.type.localeCompare(b.dataset.type) || a.dataset.n - b.dataset.n,
  high: (a, b) => (b.dataset.score || -1) - (a.dataset.score || -1),
  low: (a, b) => (a.dataset.score || 2) - (b.dataset.score || 2),
};
function show() {
  const { kind, type, order } = form.elements, by = orders[order.value];
  let shown = 0;
  for (const item of items) {
    const types = JSON.parse(item.dataset.types);
    item.hidden = (kind.value && item.dataset.kind !== kind.value) || (type.value && !types.includes(type.value));
    shown += !item.hidden;
  }
  for (const head of heads) head.hidden = Boolean(by || (kind.value && head.dataset.kind !== kind.value));
  list.append(...(by ? [...items].sort(by) : start));
  count.textContent = shown + " shown";
}
form.hidden = false;
form.addEventListener("change", show);
show();
"""


class DrawnSide(NamedTuple):
    """One side of a comparison: the documents and their tracks."""

    documents: Sequence[Document]
    tracks: list[list[Track]]


def error_page(
    gold: Sequence[Document],
    predicted: Sequence[Document],
    report: Report,
    *,
    calibration: Calibration | None = None,
    curve: Sequence[Point] = (),
    note: str = "as predicted",
    penalties: Sequence[Point] = (),
    learning: Learning | None = None,
    title: str = "Errors",
) -> str:
    """Return the errors of a prediction as one HTML page.

    Each error is shown with its sentence twice, gold on the left and the prediction on the right; a side shows the
    mention of the error and those that share a character with it. Of each kind at most 500 are shown, the most
    confident first, with a line on their number.

    Args:
        gold: N documents.
        predicted: predictions for the same texts.
        report: the evaluation of the same.
        calibration: for the reliability diagram; no diagram without it.
        curve: precision and recall over the threshold; no plot without it.
        note: the label of the whole prediction in the plot.
        penalties: precision and recall over the mention penalty, for the same plot.
        learning: the history of training; no plot without it.
        title: the title of the page.

    Returns:
        HTML, the same for the same arguments and the same version of Matplotlib. The page has one script and loads
        nothing.

    Raises:
        DataError: a document is missing or extra, or its text differs.
        UsageError: there is a plot to draw, and Matplotlib is missing.

    >>> from spanloom.document import Mention
    >>> from spanloom.evaluate import evaluate
    >>> gold = Document("chest pain", mentions=[Mention("problem", [(0, 10)])])
    >>> found = gold.copy(mentions=[Mention("problem", [(6, 10)])])
    >>> html = error_page([gold], [found], evaluate([gold], [found], bootstrap=0))
    >>> 'data-kind="boundary"' in html
    True
    """
    predicted = pair(gold, predicted)
    names = type_names([*gold, *predicted])
    sides = tuple(DrawnSide(side, [tracks(document, names) for document in side]) for side in (gold, predicted))
    found = findings(gold, predicted)
    counts = Counter(finding.kind for finding in found)
    parts = [f"<header>\n<h1>{plain(title)}</h1>\n{_scores(report)}"]
    drawn = _plots(calibration, curve, note, penalties, learning)
    parts += [_counts(counts, compared_kinds(gold, predicted)), drawn, "</header>\n"]
    parts += ["<h2>Errors</h2>\n", legend([*gold, *predicted], names), _choices(counts, names), '<div id="errors">\n']
    parts += _errors(found, counts, sides)
    parts.append("</div>\n")
    return page(clean(title), "".join(parts), kinds=len(names), style=_STYLE + excerpts.STYLE, script=_SCRIPT)


def _scores(report: Report) -> str:
    rows = {report.match: report.overall, "partial": report.partial, **report.keys}
    rows |= {f"type {name}": score for name, score in report.types.items()} | report.structures | report.sentences
    body = "".join(f"<tr><th><bdi>{plain(name)}</bdi></th>{_cells(score)}</tr>\n" for name, score in rows.items())
    return (
        "<table>\n<tr><th></th><th>P</th><th>R</th><th>F1</th><th>gold</th><th>predicted</th></tr>\n"
        f'{body}</table>\n<p class="faint">{report.documents:,} document(s), '
        f"{report.units:,} {escape(report.unit)}(s)</p>\n"
    )


def _cells(score: Score) -> str:
    below = (score.predicted, score.gold, score.predicted + score.gold)
    rates = zip((score.precision, score.recall, score.f1), below, strict=True)
    cells = "".join(f"<td>{100 * rate:.2f}</td>" if count else "<td>-</td>" for rate, count in rates)
    return f"{cells}<td>{score.gold:,.0f}</td><td>{score.predicted:,.0f}</td>"


def _counts(counts: Counter[str], compared: Sequence[str]) -> str:
    rows = []
    for kind in ERROR_KINDS:
        name = f'<a href="#{_anchor(kind)}">{kind}</a>' if counts[kind] else kind
        meaning = _MEANINGS[kind] if kind in compared else "not compared: one side has none"
        number = f"{counts[kind]:,}" if kind in compared else "-"
        rows.append(f'<tr><th>{name}</th><td>{number}</td><td class="faint">{meaning}</td></tr>\n')
    return f"<h2>Kinds of error</h2>\n<table>\n{''.join(rows)}</table>\n"


def _anchor(kind: str) -> str:
    return f"kind-{kind.replace(' ', '-')}"


def _plots(
    calibration: Calibration | None,
    curve: Sequence[Point],
    note: str,
    penalties: Sequence[Point],
    learning: Learning | None,
) -> str:
    drawn = []
    if curve:
        over = "threshold and penalty" if penalties else "the threshold"
        drawn.append((f"Precision and recall over {over}", precision_recall_plot(curve, note, penalties)))
    if calibration is not None:
        drawn.append(
            (f"Reliability (calibration error {100 * calibration.error:.1f} %)", reliability_plot(calibration))
        )
    if learning is not None:
        drawn.append(("Learning curve", learning_plot(learning)))
    figures = "".join(f"<figure><figcaption>{name}</figcaption>\n{drawing}</figure>\n" for name, drawing in drawn)
    return f'<h2>Curves</h2>\n<div class="plots">\n{figures}</div>\n' if drawn else ""


def _choices(counts: Counter[str], names: Sequence[str]) -> str:
    orders = {"kind": "kind", "text": "text", "type": "type", "high": "most confident", "low": "least confident"}
    kinds = {"": "all", **{kind: f"{kind} ({counts[kind]:,})" for kind in ERROR_KINDS if counts[kind]}}
    chosen = select("kind", "kind", kinds) + select("type", "type", type_values(names))
    return (
        f'<form id="choose" class="script" hidden>{chosen}'
        f'{select("order", "order by", orders)}<output id="shown" class="faint"></output></form>\n'
    )


def _errors(found: Sequence[Finding], counts: Counter[str], sides: tuple[DrawnSide, ...]) -> Iterator[str]:
    if not found:
        yield "<p>None.</p>\n"
    cuts = [blocks(document) for document in sides[0].documents]
    for kind in ERROR_KINDS:
        if not counts[kind]:
            continue
        yield f'<h3 id="{_anchor(kind)}" data-kind="{kind}">{kind} <span class="faint">{counts[kind]:,}</span></h3>\n'
        own = [(number, finding) for number, finding in enumerate(found) if finding.kind == kind]
        own.sort(key=lambda item: -(_confidence(item[1]) or 0.0))
        if len(own) > MOST:
            yield f'<p class="faint">The {MOST:,} most confident are shown.</p>\n'
        for number, finding in own[:MOST]:
            yield _error(number, finding, sides, cuts[finding.document])


def _confidence(finding: Finding) -> float | None:
    return None if finding.predicted is None else finding.predicted.score


def _error(number: int, finding: Finding, sides: tuple[DrawnSide, ...], cuts: Sequence[tuple[int, int]]) -> str:
    document = sides[0].documents[finding.document]
    mentions = [mention for mention in (finding.gold, finding.predicted) if mention is not None]
    score = _confidence(finding)
    types = sorted({clean(mention.type) for mention in mentions})
    name = plain(document.id) if document.id else f"document {finding.document + 1:,}"
    drawn = {title: side.tracks[finding.document] for title, side in zip(("gold", "predicted"), sides, strict=True)}
    data = {"kind": finding.kind, "n": str(number), "type": types[0], "types": dumps(types)}
    if score is not None:
        data["score"] = f"{score:.6f}"
    attributes = " ".join(f'data-{key}="{escape(value)}"' for key, value in data.items())
    return (
        f'<article class="e" {attributes}><h4>{finding.kind} <span class="faint"><bdi>{name}</bdi>'
        f"{'' if score is None else f', {score:.1%}'}</span></h4>\n"
        f"{side_by_side(document.text, mentions, cuts, drawn)}</article>\n"
    )

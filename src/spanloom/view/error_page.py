"""Error page: the errors of a prediction as HTML, with gold over prediction, tables of where they are, and plots.

The page has no script: its style hides what is filtered out and changes the order, in browsers that support `:has`.
Elsewhere it reads in full, in the order of the kinds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from spanloom.document import Document
from spanloom.evaluate import (
    ERROR_KINDS,
    Calibration,
    Finding,
    Point,
    Report,
    breakdown,
    compared_kinds,
    findings,
)
from spanloom.evaluate.measures import Learning
from spanloom.evaluate.units import pair, with_sentences
from spanloom.view import error_tables, excerpts
from spanloom.view.error_tables import anchor, breakdown_tables, folded, kinds_table, named, report_table, wrong
from spanloom.view.excerpts import both_sides, chooser, order_places, plain
from spanloom.view.layout import blocks
from spanloom.view.page import legend
from spanloom.view.placement import Track, tracks, type_names
from spanloom.view.plots import learning_plot, precision_recall_plot, reliability_plot
from spanloom.view.style import page
from spanloom.view.svg import clean

MOST = 500  # errors of a kind that are shown
_ORDERS = {"": "kind", "text": "text", "type": "type", "high": "most confident", "low": "least confident"}
_ABOVE = '<p class="faint">Gold is above the text, the prediction below it.</p>\n'
_STYLE = """\
.plots { display: flex; flex-wrap: wrap; gap: 1rem; }
.plots figure { margin: 0; max-width: 100%; }
.plots svg { max-width: 100%; height: auto; }
"""


Sides = Mapping[str, Sequence[Sequence[Track]]]  # title of a side -> tracks of each document


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
    known: Iterable[Document] | None = None,
    title: str = "Errors",
) -> str:
    """Return the errors of a prediction as one HTML page.

    Scores and kinds of error come first; further tables and the curves are folded. Each error has a heading that names
    the mention and what is wrong, and its sentence, with gold above the text and the prediction below it; a side shows
    the mention of the error and, dimmed, those that share a character with it. Of each kind at most 500 are shown, the
    most confident first, with a line on their number.

    Args:
        gold: N documents.
        predicted: predictions for the same texts.
        report: the evaluation of the same.
        calibration: for the reliability diagram; no diagram without it.
        curve: precision and recall over the threshold; no plot without it.
        note: the label of the whole prediction in the plot.
        penalties: precision and recall over the mention penalty, for the same plot.
        learning: the history of training; no plot without it.
        known: the training data, to separate mentions that were seen there from new ones.
        title: the title of the page.

    Returns:
        HTML, the same for the same arguments and the same version of Matplotlib. The page has no script and loads
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
    drawn = {"gold": gold, "predicted": predicted}
    sides = {title: [tracks(document, names) for document in side] for title, side in drawn.items()}
    found = findings(gold, predicted)
    counts = Counter(finding.kind for finding in found)
    parts = [f"<header>\n<h1>{plain(title)}</h1>\n{report_table(report)}"]
    parts += [kinds_table(counts, compared_kinds(gold, predicted))]
    parts += [folded("Confusions and where the errors are", breakdown_tables(breakdown(gold, predicted, known=known)))]
    curves = {}
    if curve:
        over = "threshold and penalty" if penalties else "the threshold"
        curves[f"Precision and recall over {over}"] = precision_recall_plot(curve, note, penalties)
    if calibration is not None:
        curves[f"Reliability (calibration error {100 * calibration.error:.1f} %)"] = reliability_plot(calibration)
    if learning is not None:
        curves["Learning curve"] = learning_plot(learning)
    figures = "".join(f"<figure><figcaption>{name}</figcaption>\n{plot}</figure>\n" for name, plot in curves.items())
    parts += [folded("Curves", figures and f'<div class="plots">\n{figures}</div>\n'), "</header>\n<main>\n"]
    kinds = {anchor(kind): f"{kind} ({counts[kind]:,})" for kind in ERROR_KINDS if counts[kind]}
    form, rules = chooser(kinds, names, _ORDERS)
    parts += ["<h2>Errors</h2>\n", legend([*gold, *predicted], names), _ABOVE, form]
    parts.append('<div id="errors" class="excerpts">\n')
    parts += _errors(found, counts, gold, sides, names)
    parts.append("</div>\n</main>\n")
    style = excerpts.STYLE + error_tables.STYLE + _STYLE + rules
    return page(clean(title), "".join(parts), types=names, style=style)


def _errors(
    found: Sequence[Finding], counts: Counter[str], gold: Sequence[Document], sides: Sides, names: Sequence[str]
) -> Iterator[str]:
    if not found:
        yield "<p>None.</p>\n"
    words = with_sentences(gold)
    cuts = [blocks(document) for document in gold]
    number_of = {name: f"y{number}" for number, name in enumerate(names)}
    every = range(len(found))
    sure = [None if finding.predicted is None else finding.predicted.score for finding in found]
    first = [min(mention.type for mention in finding.mentions) for finding in found]
    orders = {
        "text": every,
        "type": sorted(every, key=lambda i: (first[i], i)),
        "high": sorted(every, key=lambda i: (sure[i] is None, -(sure[i] or 0.0))),  # those without one come last
        "low": sorted(every, key=lambda i: (sure[i] is None, sure[i] or 0.0)),
    }
    places = order_places(orders)
    for kind in filter(counts.get, ERROR_KINDS):
        name = anchor(kind)
        yield f'<h3 id="{name}" class="{name}">{kind} <span class="faint">{counts[kind]:,}</span></h3>\n'
        own = [number for number, finding in enumerate(found) if finding.kind == kind]
        own.sort(key=lambda number: -(sure[number] or 0.0))
        if len(own) > MOST:
            yield f'<p class="faint {name}">The {MOST:,} most confident are shown.</p>\n'
        for number in own[:MOST]:
            finding, score = found[number], sure[number]
            at, mentions = finding.document, finding.mentions
            title = plain(gold[at].id) if gold[at].id else f"document {at + 1:,}"
            classes = ["e", name, *sorted({number_of[mention.type] for mention in mentions})]
            certain = "" if score is None else f' data-score="{score:.6f}"'
            drawn = {side: tracks[at] for side, tracks in sides.items()}
            yield (
                f'<article class="{" ".join(classes)}" data-kind="{kind}"{certain} style="{places[number]}">'
                f"<h4><em>{named(finding, gold[at])}</em>: {wrong(finding, words[at])} "
                f'<span class="faint"><bdi>{title}</bdi>{"" if score is None else f", {score:.1%}"}</span></h4>\n'
                f"{both_sides(gold[at].text, mentions, cuts[at], drawn)}</article>\n"
            )

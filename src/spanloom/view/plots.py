"""Plots of an evaluation as SVG elements for a page: drawn by Matplotlib, in the colours of the page.

Matplotlib comes with the extra ``report``. It is loaded when a plot is drawn, and none of its settings is changed.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings, simplefilter

from spanloom.document.markup import Figure
from spanloom.evaluate import Calibration, Point, Report
from spanloom.evaluate.measures import Learning
from spanloom.extras import extra
from spanloom.view import svg
from spanloom.view.cells import shorten
from spanloom.view.svg import Element, clean

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas


_LABEL, _LEFT, _BAR, _WIDTH = 24, 210.0, 320.0, 700.0  # cells of a name; where bars begin, how long they are; pixels
_INK, _FAINT, _LINE, _SECOND = "#010101", "#020202", "#030303", "#040404"  # stand for the colours of the page
_COLORS = {_INK: "var(--ink)", _FAINT: "var(--line)", _LINE: "var(--c0)", _SECOND: "var(--c1)"}
_SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",  # text stays text
    "axes.edgecolor": _FAINT, "axes.labelcolor": _INK, "text.color": _INK, "xtick.color": _INK, "ytick.color": _INK,
    "axes.grid": True, "grid.color": _FAINT, "grid.linewidth": 0.6, "axes.axisbelow": True, "font.size": 10,
    "font.family": "sans-serif", "legend.frameon": False, "axes.spines.top": False, "axes.spines.right": False,
}  # fmt: skip
_SIZE = (4.6, 3.9)  # inches
_MOST_POINTS = 500


def require() -> None:
    """Check that Matplotlib is installed.

    Raises:
        UsageError: Matplotlib is missing.
    """
    with extra("report", "a page of errors"):
        import matplotlib.figure  # noqa: F401


def precision_recall_plot(points: Sequence[Point], note: str, penalties: Sequence[Point] = ()) -> str:
    """Draw the precision-recall curve over the threshold, with lines of equal F1, and two marked points.

    Args:
        points: from the highest threshold to the lowest, at least one; the last is the whole prediction.
        note: the label of the last.
        penalties: precision and recall at other mention penalties, in their order, with the penalty as threshold.
    """

    def draw(axes: Axes) -> None:
        for f1 in (0.2, 0.4, 0.6, 0.8):
            recall = [f1 / (2 - f1) + i / 100 * (1 - f1 / (2 - f1)) for i in range(101)]
            precision = [f1 * r / (2 * r - f1) for r in recall]
            axes.plot(recall, precision, color=_FAINT, linewidth=0.8, linestyle=":")
            axes.annotate(f"F1 {f1}", (1, precision[-1]), fontsize=7, ha="right", va="bottom")
        shown = [*points[: -1 : max(1, len(points) // _MOST_POINTS)], points[-1]]
        axes.plot([p.recall for p in shown], [p.precision for p in shown], color=_LINE, linewidth=1.8)
        if penalties:
            ends = f"mention penalty {penalties[0].threshold:.2f} to {penalties[-1].threshold:.2f}"
            rates = [p.recall for p in penalties], [p.precision for p in penalties]
            axes.plot(*rates, ".--", color=_SECOND, linewidth=1.2, markersize=5, label=ends)
        best, last = max(points, key=lambda point: point.f1), points[-1]
        text = f"best F1 {100 * best.f1:.1f}, threshold {best.threshold:.2f}"
        axes.plot([best.recall], [best.precision], "D", color=_SECOND, markersize=7, label=text)
        text = f"F1 {100 * last.f1:.1f}, {note}"
        axes.plot([last.recall], [last.precision], "o", color=_LINE, markersize=8, label=text)
        axes.set(xlabel="recall", ylabel="precision", xlim=(0, 1.01), ylim=(0, 1.01))
        axes.legend(loc="lower left", fontsize=8)

    return _plot("precision and recall over the threshold", draw)


def reliability_plot(found: Calibration) -> str:
    """Draw the reliability diagram: of mentions with similar scores, the fraction that is right, and their number."""

    def draw(axes: Axes) -> None:
        bins = [entry for entry in found.bins if entry.mentions]
        most = max((entry.mentions for entry in bins), default=1)
        axes.plot([0, 1], [0, 1], color=_INK, linewidth=0.8, linestyle="--", label="as it should be")
        axes.bar(
            [(entry.low + entry.high) / 2 for entry in bins],
            [0.2 * entry.mentions / most for entry in bins],
            width=[0.9 * (entry.high - entry.low) for entry in bins],
            color=_FAINT,
            label=f"mentions (at most {most:,})",
        )
        score, right = [entry.score for entry in bins], [entry.accuracy for entry in bins]
        axes.plot(score, right, "o-", color=_LINE, linewidth=1.8, markersize=5, label="part that is right")
        axes.set(xlabel="mean score", ylabel="part that is right", xlim=(0, 1.01), ylim=(0, 1.01))
        axes.legend(loc="upper left", fontsize=8)

    return _plot("reliability diagram", draw)


def learning_plot(found: Learning) -> str:
    """Draw the learning curve: development F1 after each step, and the objective on an axis of its own."""

    def draw(axes: Axes) -> None:
        styles = zip(found.f1.items(), cycle(("o-", "s--", "^-.", "D:")), strict=False)
        for i, ((name, values), style) in enumerate(styles):
            color = _LINE if i % 2 == 0 else _SECOND
            # so that it is neither a formula nor left out of the legend
            label = " " * name.startswith("_") + clean(name).replace("$", r"\$")
            axes.plot(range(1, len(values) + 1), values, style, color=color, linewidth=1.6, markersize=4, label=label)
        if found.kept is not None:
            axes.axvline(found.kept, color=_INK, linewidth=0.8, linestyle="--", label="kept")
        axes.set(xlabel="pass or iteration", ylabel="development F1", ylim=(0, 1.01))
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        if found.objective:
            other = axes.twinx()
            steps = range(1, len(found.objective) + 1)
            [line] = other.plot(steps, found.objective, ":", color=_SECOND, linewidth=1.8)
            other.set(ylabel="objective (smaller is better)")
            other.grid(visible=False)
            other.spines.right.set_visible(True)
            axes.plot([], [], line.get_linestyle(), color=_SECOND, linewidth=1.8, label="objective")
        axes.legend(loc="best", fontsize=8)

    from matplotlib.ticker import MaxNLocator

    return _plot("learning curve", draw)


def _plot(name: str, draw: Callable[[Axes], None]) -> str:
    from matplotlib import rc_context
    from matplotlib.figure import Figure as Canvas

    with rc_context({**_SETTINGS, "svg.hashsalt": name}), catch_warnings():
        simplefilter("ignore", UserWarning)  # of glyphs that a font lacks: text stays text, and the browser has others
        figure: Canvas = Canvas(figsize=_SIZE, layout="constrained")
        draw(figure.subplots())
        buffer = io.StringIO()
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(buffer, format="svg", transparent=True, metadata=nothing)
    # an element of a page: without the file's head, with unique ids and the colours of the page
    _, start, rest = buffer.getvalue().partition("<svg")
    drawing = re.sub(r"<style.*?</style>", "", start + rest, flags=re.S)
    drawing = re.sub(r'(\bid="|href="#|url\(#)', rf"\1{name.split()[0]}-", drawing)
    for color, value in _COLORS.items():
        drawing = drawing.replace(color, value)
    return drawing.replace("<svg ", f'<svg role="img" aria-label="{name}" ', 1)


# Figure of a report: a bar for F1 of each row, with its interval, and precision and recall as circles.

_ROW = 24.0
_NOTE = "bar: F1; line: its 95 % interval; filled circle: recall; open circle: precision"
_STYLE = """
.spanloom text { text-anchor: start; }
.spanloom .name { text-anchor: end; }
.spanloom .title { font-weight: bold; }
.spanloom .f1 { stroke-width: 12; opacity: .45; }
.spanloom .interval { stroke: currentColor; stroke-width: 2; }
.spanloom .precision { fill: none; stroke: currentColor; stroke-width: 1.5; }
.spanloom .scale { stroke: currentColor; stroke-width: 1; opacity: .25; }
"""


def plot(report: Report) -> Figure:
    """Draw a report.

    Args:
        report: rows without a gold and a predicted mention are left out.

    >>> from spanloom.document import Document, Mention
    >>> from spanloom.evaluate import evaluate
    >>> note = Document("chest pain", mentions=[Mention("problem", [(0, 10)])])
    >>> figure = plot(evaluate([note], [note], bootstrap=0))
    >>> figure.svg.startswith("<svg "), "F1 100.0" in figure.svg
    (True, True)
    """
    title = f"F1 {100 * report.overall.f1:.1f} on {report.documents:,} document(s)"
    root = svg.canvas(_WIDTH, 0, title, "", _STYLE)
    at = _ROW
    for group, rows in report.groups().items():
        shown = {name: score for name, score in rows.items() if score.gold or score.predicted}
        if not shown:
            continue
        if group:
            svg.write(root, "text", group, x=_LEFT - 10, y=at, class_="name title")
            at += _ROW
        for tenth in range(0, 11, 2):
            _line(root, "scale", tenth / 10, tenth / 10, at - _ROW * 0.7, at + _ROW * (len(shown) - 1))
        for name, score in shown.items():
            middle, text = at - 4, f"F1 {100 * score.f1:.1f}"
            svg.write(root, "text", shorten(svg.clean(name), _LABEL), x=_LEFT - 10, y=at, class_="name")
            _line(root, "f1", 0.0, score.f1, middle)
            if score.intervals is not None:
                low, high = score.intervals.f1
                _line(root, "interval", low, high, middle)
                text += f" ({100 * low:.1f} to {100 * high:.1f})"
            for kind, value in (("precision", score.precision), ("recall", score.recall)):
                circle = svg.write(root, "circle", cx=_x(value), cy=middle, r="4", class_=kind)
                svg.write(circle, "title", f"{name}: {kind} {100 * value:.1f}")
            svg.write(root, "text", text, x=_LEFT + _BAR + 12, y=at)
            at += _ROW
        at += _ROW / 2
    svg.write(root, "text", _NOTE, x=_LEFT, y=at)
    return Figure(svg.render(root, at + _ROW))


def _line(root: Element, kind: str, low: float, high: float, y: float, to: float | None = None) -> None:
    svg.path(root, "M", _x(low), y, *(("H", _x(high)) if to is None else ("V", to)), class_=kind)


def _x(fraction: float) -> float:
    return _LEFT + _BAR * fraction

"""Progress on standard error: a bar on a terminal; elsewhere lines of training, as text or as JSON."""

from __future__ import annotations

import sys
from dataclasses import asdict
from time import monotonic
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bar

from spanloom.cli.messages import duration
from spanloom.errors import as_json, log_line
from spanloom.learn import Progress

_SECONDS_BETWEEN_LINES = 2.0


def describe(progress: Progress) -> str:
    """A step of the training in one line.

    >>> from spanloom.recognize import Progress
    >>> describe(Progress("training", 2, 10, 1234.5, 0.715, 3.2, 12.8))
    'training 2/10 · objective 1,234.5 · dev F1 71.5 · 3 s · 13 s left'
    >>> describe(Progress("training", 2, 36, dev_f1=0.449, dev_concepts=0.711, seconds=9.8))
    'training 2/36 · dev F1 of mentions 44.9, of concepts 71.1 · 10 s'
    """
    return " · ".join([_stage(progress), *_figures(progress)])


def _stage(progress: Progress) -> str:
    step = f" {progress.step}" if progress.step else ""
    return progress.stage + (f"{step}/{progress.steps}" if step and progress.steps else step)


def _figures(progress: Progress) -> list[str]:
    figures = []
    if progress.objective is not None:
        figures.append(f"objective {progress.objective:,.1f}")
    if progress.dev_f1 is not None and progress.dev_concepts is not None:
        figures.append(f"dev F1 of mentions {100 * progress.dev_f1:.1f}, of concepts {100 * progress.dev_concepts:.1f}")
    elif progress.dev_f1 is not None:
        figures.append(f"dev F1 {100 * progress.dev_f1:.1f}")
    figures.append(duration(progress.seconds))
    if progress.seconds_left is not None:
        figures.append(f"{duration(progress.seconds_left)} left")
    return figures


class Reporter:
    """Shows training progress: give it to `fit(progress=...)`, inside `with`.

    Args:
        quiet: show nothing.
    """

    def __init__(self, quiet: bool = False) -> None:
        self._quiet = quiet
        self._bar: Bar | None = None
        if not quiet and sys.stderr.isatty() and not as_json():
            columns = (TextColumn("{task.description}"), BarColumn(30), TextColumn("{task.fields[figures]}"))
            self._bar = Bar(*columns, console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task("starting", total=None, figures="")
        self._last_line = 0.0
        self._stages: set[str] = set()

    def __enter__(self) -> Self:
        if self._bar:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._quiet = True  # threads that are not done yet may still have something to show
        if self._bar:
            self._bar.stop()
            self._bar = None

    def __call__(self, progress: Progress) -> None:
        """Show one step."""
        if self._quiet:
            return
        if self._bar:
            stage, steps, figures = _stage(progress), progress.steps, " · ".join(_figures(progress))
            self._bar.update(self._task, description=stage, completed=progress.step, total=steps, figures=figures)
            return
        now = monotonic()
        is_news = progress.stage not in self._stages or progress.step == progress.steps
        if is_news or now - self._last_line >= _SECONDS_BETWEEN_LINES:
            self._last_line = now
            self._stages.add(progress.stage)
            line = log_line("progress", **asdict(progress)) if as_json() else describe(progress)
            print(line, file=sys.stderr, flush=True)

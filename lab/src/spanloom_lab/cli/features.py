"""`spanloom lab features`: a search over groups of feature templates; what each brings and costs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from functools import partial
from time import monotonic
from typing import Any

from pydantic import Field

from spanloom import __version__
from spanloom.cli.config import CommonOptions, checked, options_of
from spanloom.cli.execute import INTERRUPTED
from spanloom.cli.messages import Messages
from spanloom.cli.options import ALL_CORES
from spanloom.cli.progress import describe
from spanloom.cli.reading import Reading
from spanloom.errors import UsageError, plural
from spanloom.parallel import Threads, worker_count
from spanloom.recognize.parameters import RecognizerParameters
from spanloom_lab.cli.compare_records import digest_of, file_digest
from spanloom_lab.cli.features_table import SearchOutcome, tables, trial_line, values
from spanloom_lab.comparison import divide
from spanloom_lab.feature_groups import GROUPS, groups_of, read_groups
from spanloom_lab.feature_record import TrialRecord, TrialRunner
from spanloom_lab.feature_search import LEVEL, PRICE, FeatureSearch, SearchRules, SearchStep, check_direction
from spanloom_lab.feature_trials import Trial, TrialCorpus, draw, p_value

NOTHING = "none"
_FILES = ("clusters", "sections", "vocabulary", "vectors", "pos")  # options that may name files or folders


class SearchOptions(CommonOptions):
    """Options of `lab features`, besides parameters of recognizers."""

    output: str | None = None  # type: ignore[assignment]  # without it nothing is kept
    groups: str | None = None
    start: str = NOTHING
    direction: str = "both"
    price: float = PRICE
    level: float = LEVEL
    steps: int | None = Field(default=None, ge=1)
    seconds: float | None = Field(default=None, gt=0)
    tokens: int | None = Field(default=None, ge=1)
    features: Any = None
    l2: float | list[float] = 1.0
    rescore: bool = False


def run(config: str | None, as_json: bool, **flags: Any) -> int | None:
    """Search, and print what was tried and what was chosen."""
    began = monotonic()
    options = checked(options_of(RecognizerParameters, SearchOptions), flags, config)
    if options.features is not None:
        raise UsageError("--features cannot be combined with a feature search; use --start PRESET")
    rules = SearchRules(options.price, options.level, options.steps)
    log = Messages(options.quiet)
    groups = GROUPS if options.groups is None else read_groups(options.groups)
    start, groups = ((), dict(groups)) if options.start == NOTHING else groups_of(options.start, groups)
    check_direction(options.direction, start)
    reading = Reading.of(options, log)
    corpus = _corpus(options, groups, reading, log)
    record = TrialRecord(options.output, _settings(options, corpus), corpus.cut.count, force=options.force)
    if len(record):
        log(f"{plural(len(record), 'trial')} of an earlier search in {options.output}")
    until = None if options.seconds is None else began + options.seconds

    def show(trial: Trial) -> None:
        log(f"trial {len(record)}: {trial_line(trial)}")

    with Threads(worker_count(options.jobs or ALL_CORES)) as executor:
        runner = TrialRunner(corpus, record, executor, until, show)
        search = FeatureSearch(corpus.groups, runner, partial(p_value, gold=corpus.gold, seed=options.seed or 0), rules)
        try:
            steps = list(_logged(search.search(corpus.served(start), options.direction), log))  # type: ignore[arg-type]
        except KeyboardInterrupt:
            kept = f"the same command resumes from {options.output}" if options.output else "none is kept"
            print(f"spanloom: interrupted after {plural(len(record), 'trial')}; {kept}", file=sys.stderr)
            return INTERRUPTED
    if not steps:
        raise UsageError(f"--seconds is {options.seconds:g}, in which no trial could begin; give more")
    outcome = SearchOutcome(steps, rules, search.complete, corpus)
    print(json.dumps(values(outcome), indent=1) + "\n" if as_json else tables(outcome), end="")
    return reading.finish()


def _corpus(options: SearchOptions, groups: dict[str, tuple[str, ...]], reading: Reading, log: Messages) -> TrialCorpus:
    """Read the data, and prepare what all trials share."""
    log("reading the data")
    train, dev = reading(options.train), None if options.dev is None else reading(options.dev)
    parts = divide(train, dev, None, options.seed or 0)
    given = {name: value for name, value in options.parameters().items() if name not in ("features", "n_jobs")}
    learned = draw(parts.train, options.tokens, options.seed or 0)
    corpus = TrialCorpus.of(learned, parts.dev, groups, given, lambda progress: log(describe(progress)))
    for name, why in corpus.lacking.items():
        log(f"not tried: {name}: {why}")
    return corpus


def _settings(options: SearchOptions, corpus: TrialCorpus) -> dict[str, Any]:
    """Everything that trials depend on: parameters, data, files that options name, and the version."""
    params = {name: value for name, value in corpus.params.items() if name not in ("features", "n_jobs")}
    settings = {
        **params,
        "training data": digest_of(corpus.train),
        "development data": digest_of(corpus.dev),
        "version": __version__,
    }
    for name in _FILES:
        value = getattr(options, name)
        if isinstance(value, str) and name != "pos":  # whose tags are in the data
            settings[name] = file_digest(name, value)
    return settings


def _logged(steps: Iterable[SearchStep], log: Messages) -> Iterable[SearchStep]:
    for step in steps:
        if step.action != "start":
            what = "nothing" if step.group is None else step.group
            log(f"{step.action} {what}: F1 {100 * step.trial.f1:.2f}")
        yield step

"""Records of feature searches: trials in a file, from which interrupted searches resume, and which others share.

A trial depends on the data, on the parameters and on its templates, and not on the order of a search. One file
therefore serves searches in any direction, at any price, and with other groups.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Lock
from time import monotonic
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from spanloom.errors import UsageError
from spanloom.files.output import check_free, output_files
from spanloom.parallel import SERIAL, Executor
from spanloom_lab.feature_groups import templates_of
from spanloom_lab.feature_search import OutOfTime
from spanloom_lab.feature_trials import Trial, TrialCorpus

_Key = tuple[str, ...]


class _KeptTrial(BaseModel):
    """A trial in a file; counts of mentions as lists."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
    groups: list[str]
    templates: list[str]
    f1: float = Field(ge=0, le=1)
    features: float = Field(ge=0)
    tokens_per_second: float = Field(ge=0)
    seconds: float = Field(ge=0)
    rows: int = Field(ge=0)
    correct: list[int]
    predicted: list[int]

    def trial(self) -> Trial:
        return Trial(**{**dict(self), "groups": tuple(self.groups), "templates": tuple(self.templates)})


class _KeptRecord(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    settings: dict[str, Any]
    trials: list[_KeptTrial]


class TrialRecord:
    """Trials, kept in a file where there is one.

    Args:
        path: the file; what it holds is used again. ``None`` keeps trials in memory.
        settings: everything that trials depend on but their templates, as JSON values.
        units: of the development data.
        force: start over, whatever the file holds.

    Raises:
        UsageError: the file is of something else, damaged, or cannot be written.
    """

    def __init__(
        self, path: str | Path | None, settings: Mapping[str, Any], units: int, *, force: bool = False
    ) -> None:
        self._path = path
        self._settings: dict[str, Any] = json.loads(json.dumps(settings, sort_keys=True))
        self._trials: dict[_Key, Trial] = {}
        self._lock = Lock()
        if path is None:
            return
        check_free(path, force=True)
        if Path(path).exists() and not force:
            self._trials = {_key(trial.templates): trial for trial in self._read(Path(path), units)}

    def _read(self, path: Path, units: int) -> list[Trial]:
        try:
            kept = _KeptRecord.model_validate_json(path.read_bytes())
        except OSError as error:
            raise UsageError(f"{path}: cannot be read: {error.strerror}") from None
        except ValidationError:
            raise UsageError(f"{path} is no record of a feature search; name another file, or give --force") from None
        old, new = kept.settings, self._settings
        if changed := sorted(name for name in {*old, *new} if old.get(name) != new.get(name)):
            raise UsageError(
                f"{path} is of other options or data ({', '.join(changed)}); name another file, or give --force"
            )
        if any({len(one.correct), len(one.predicted)} != {units} for one in kept.trials):
            raise UsageError(f"{path} is damaged: counts are not of {units} units; name another file, or give --force")
        return [one.trial() for one in kept.trials]

    def __len__(self) -> int:
        """Return the number of trials."""
        return len(self._trials)

    def get(self, templates: Sequence[str]) -> Trial | None:
        """Return the trial of some templates, in whatever order, if there is one."""
        return self._trials.get(_key(templates))

    def add(self, trial: Trial) -> None:
        """Keep a trial, at once also in the file; several threads may."""
        with self._lock:
            self._trials[_key(trial.templates)] = trial
            if self._path is not None:
                lines = ",\n".join(json.dumps(one._asdict(), separators=(",", ":")) for one in self._trials.values())
                with output_files([self._path], force=True) as [sink]:
                    sink.write(f'{{"settings": {json.dumps(self._settings)},\n"trials": [\n{lines}\n]}}\n')


def _key(templates: Sequence[str]) -> _Key:
    return tuple(sorted(templates))


@dataclass
class TrialRunner:
    """Runs the trials that a record lacks; the `run` of a `FeatureSearch`.

    Args:
        corpus: trained and measured on.
        record: what is there already.
        executor: threads, or one after the other; figures but times do not depend on it.
        until: no trial begins after this time, by `monotonic`.
        callback: called for each new trial.
    """

    corpus: TrialCorpus
    record: TrialRecord
    executor: Executor = SERIAL
    until: float | None = None
    callback: Callable[[Trial], object] = lambda _: None
    _stop: Event = field(default_factory=Event)

    def __call__(self, choices: Sequence[Sequence[str]]) -> list[Trial]:
        """Return the trial of each choice of groups.

        Raises:
            OutOfTime: not all of them can be begun in time; those that were are kept.
        """
        keys = {tuple(choice): _key(templates_of(choice, self.corpus.groups)) for choice in choices}
        missing = {key: choice for choice, key in keys.items() if self.record.get(key) is None}
        try:
            self.executor.map(self._one, missing.values())
        except OutOfTime:
            raise
        except BaseException:  # such as Ctrl-C: threads end at their next pass
            self._stop.set()
            raise
        found = [self.record.get(keys[tuple(choice)]) for choice in choices]
        return [self._renamed(trial, choice) for trial, choice in zip(found, choices, strict=True) if trial is not None]

    def _one(self, choice: Sequence[str]) -> None:
        if self.until is not None and monotonic() >= self.until:
            raise OutOfTime
        trial = self.corpus.run(choice, self._stop)
        self.record.add(trial)
        self.callback(trial)

    def _renamed(self, trial: Trial, choice: Sequence[str]) -> Trial:
        """The trial as one of these groups; a record may have it under other names of the same templates."""
        names = set(choice)
        return trial._replace(groups=tuple(name for name in self.corpus.groups if name in names))

"""`spanloom lab compare`: several structures on the same data, each tuned; one table of how they do."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from spanloom.cli.config import checked, options_of
from spanloom.cli.execute import FAILED, INTERRUPTED
from spanloom.cli.messages import Messages
from spanloom.errors import SpanloomError, UsageError, plural
from spanloom.evaluate import KEYS, paired_test
from spanloom.files.output import output_files, output_folder, writing
from spanloom.formats import read
from spanloom.formats.base import DEFAULTS
from spanloom.recognize.parameters import RecognizerParameters
from spanloom_lab.cli.compare_one import TrainingJob, parts
from spanloom_lab.cli.compare_records import (
    FILES,
    PREDICTIONS,
    RECORD,
    TABLES,
    CompareOptions,
    Row,
    VariantRecord,
    best_on_dev,
    check_folder,
    digests,
    kept,
    settings_of,
)
from spanloom_lab.cli.compare_table import Failure, RowOutcome, Tested, label, markdown, text, values
from spanloom_lab.comparison import BOTH, Variant, build, variants


def run(config: str | None, as_json: bool, as_markdown: bool, **flags: Any) -> int | None:
    """Train what is missing, measure, write the tables and print one."""
    options = checked(options_of(RecognizerParameters, CompareOptions), flags, config)
    if as_json and as_markdown:
        raise UsageError("--json and --markdown are two forms of one table; give one of them")
    if options.on_error not in (None, "stop"):
        raise UsageError("compare stops at a record that cannot be read; leave out on_error, or convert the data first")
    comparison = _Comparison.plan(options)
    try:
        return comparison.run(as_json, as_markdown)
    except KeyboardInterrupt:
        done = f"{comparison.done} of {plural(len(comparison.jobs), 'model')}"
        again = f"{done} are in {options.output}; the same command resumes from there"
        print(f"spanloom: interrupted; {again}", file=sys.stderr)
        return INTERRUPTED


@dataclass
class _Comparison:
    """Models to train, and how far that is."""

    options: CompareOptions
    folder: Path
    params: dict[str, Any]  # of recognizers, but structure and counting
    jobs: list[tuple[Variant, dict[str, Any]]]  # with everything that its rows depend on
    log: Messages
    done: int = 0
    failures: list[Failure] = field(default_factory=list)

    @classmethod
    def plan(cls, options: CompareOptions) -> _Comparison:
        """Check everything that can be checked before the first training."""
        log = Messages(options.quiet)
        chosen = variants(
            options.structure, options.counting or BOTH, options.components or RecognizerParameters.components
        )
        given = options.parameters()
        params = {name: value for name, value in given.items() if name not in ("structure", "counting")}
        models = [build(variant, params) for variant in chosen]
        folder = check_folder(options.output)
        log("reading the data")
        data = digests(options)
        jobs = [
            (variant, settings_of(options, data, {**variant._asdict(), **model.get_params()}))
            for variant, model in zip(chosen, models, strict=True)
        ]
        return cls(options, folder, params, jobs, log)

    def run(self, as_json: bool, as_markdown: bool) -> int | None:
        """Train, test, write all tables, print one."""
        self.folder.mkdir(exist_ok=True)
        rows = [row for job in self.jobs for row in self._rows(*job)]
        outcome = RowOutcome(self.options, rows, self.failures, self._tests(rows))
        tables = (text(outcome), markdown(outcome), json.dumps(values(outcome), indent=1) + "\n")
        with output_files([self.folder / name for name in TABLES], force=True) as sinks:
            for sink, table in zip(sinks, tables, strict=True):
                sink.write(table)
        print(tables[2 if as_json else 1 if as_markdown else 0], end="")
        return FAILED if self.failures else None

    def _rows(self, variant: Variant, settings: dict[str, Any]) -> Sequence[Row]:
        place, name = self.folder / variant.name, variant.name
        old = None if self.options.force else kept(place, settings)
        if isinstance(old, VariantRecord):
            self.log(f"{name}: trained before, in {place}")
            self.done += 1
            return old.rows
        if old is not None:
            self.log(f"{name}: what is in {place} is not used: {old}; training again")
        number = self.done + len(self.failures) + 1
        self.log(f"{name}: model {number} of {len(self.jobs)}")
        try:
            record = self._train(variant, settings, place)
        except SpanloomError as error:
            self.failures.append(Failure(name, variant.structure, variant.counting, str(error)))
            self.log(f"{name}: failed: {error}")
            return []
        self.done += 1
        best = record.rows[best_on_dev(record.rows)]
        self.log(
            f"{name}: dev F1 {100 * best.dev_f1:.1f}, test F1 {100 * best.test.overall.f1:.1f}, {best.seconds:.0f} s"
        )
        return record.rows

    def _train(self, variant: Variant, settings: dict[str, Any], place: Path) -> VariantRecord:
        """Train in a process of its own; the folder is there in full or not at all."""
        options = self.options
        with output_folder(place, force=True, may_replace=lambda file: file.name in FILES) as folder:
            job = TrainingJob(
                list(variant), self.params, options.train, options.dev, options.test, options.input_format,
                options.columns, options.heads, options.seed or 0, str(folder), options.quiet,
                DEFAULTS.get(),
            )  # fmt: skip
            record = VariantRecord.model_validate_json(json.dumps({"settings": settings, "rows": _in_process(job)}))
            with writing(place):
                (folder / RECORD).write_text(record.model_dump_json(by_alias=True, indent=1) + "\n", encoding="utf-8")
        return record

    def _tests(self, rows: Iterable[Row]) -> list[Tested]:
        """The best model against each other one, as they are used: tuned if they were tuned."""
        models: dict[str, list[Row]] = {}
        for row in rows:
            models.setdefault(row.name, []).append(row)
        if len(models) < 2:
            return []
        used = {name: own[best_on_dev(own)] for name, own in models.items()}
        best = max(used.values(), key=lambda row: row.test.overall.f1)
        self.log(f"testing {best.name}, the best, against the others")
        options = self.options
        gold = parts(
            options.train, options.dev, options.test, options.input_format, options.columns, options.seed or 0
        ).test
        test = partial(paired_test, gold, seed=options.seed or 0, key=KEYS["heads" if options.heads else "exact"])
        own = partial(read, encoding="utf-8", offsets="characters")  # written here, whatever the data are in
        first = list(own(self.folder / best.name / PREDICTIONS))
        return [
            Tested(label(best), label(other), test(first, list(own(self.folder / name / PREDICTIONS))))
            for name, other in used.items()
            if name != best.name
        ]


def _in_process(job: TrainingJob) -> list[dict[str, Any]]:
    """Return the rows of a model, from a process that ends when this one does.

    Raises:
        SpanloomError: the reason why there are no rows.
    """
    line = [sys.executable, "-P", "-m", "spanloom_lab.cli.compare_one", json.dumps(job._asdict())]
    # in a session of its own: Ctrl-C is for this process, which then ends the other
    with subprocess.Popen(
        line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8", start_new_session=True
    ) as process:
        try:
            assert process.stdout is not None
            answer = process.stdout.read()
            code = process.wait()
        finally:
            process.kill()
    if code:
        why = f"signal {-code}; the system may be out of memory" if code < 0 else f"exit code {code}"
        raise SpanloomError(f"its process ended with {why}")
    found: dict[str, Any] = json.loads(answer)
    if "error" in found:
        raise SpanloomError(found["error"])
    rows: list[dict[str, Any]] = found["rows"]
    return rows

"""Short forms of the campaigns; `benchmarks/hostile.py` runs the long ones."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from campaign.faults import cases_of
from campaign.frame import Record, generator
from campaign.outputs import QUICK

from spanloom.models import installed

CAMPAIGN = Path(__file__).with_name("campaign")
IN_SHORT = {"convert, jsonl": {"old"}, "convert, brat": {"none", "old"}, "convert, brat folder": {"old"}}


def test_a_case_draws_the_same_whichever_others_run() -> None:
    drawn = {case: generator("kills", 7, case).random() for case in (3, 1, 2)}
    assert drawn[2] == generator("kills", 7, 2).random()
    assert len(set(drawn.values())) == 3
    assert generator("kills", 8, 2).random() != drawn[2]


def test_a_record_shows_counts_and_how_to_see_a_failure_again() -> None:
    record = Record("kills", 0)
    record.add("convert", "old")
    record.add("train", "new", 2)
    record.fail("train", "torn", 17, "model.json is missing")
    assert record.outcomes == {"old": 1, "new": 2, "torn": 1}
    assert str(record).splitlines()[-2:] == ["    all    2    1     1", "case 17: train: torn: model.json is missing"]


def run(*arguments: object) -> str:
    """A campaign in a process of its own, which forks: nothing of the other tests is in it."""
    line = [sys.executable, str(CAMPAIGN), *map(str, arguments)]
    done = subprocess.run(line, stdout=subprocess.PIPE, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture
def linux() -> None:
    if sys.platform != "linux":
        pytest.skip("processes are looked at in /proc")


forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="runs are forked")


@forks
def test_no_step_of_an_output_may_fail_or_be_the_last() -> None:
    cases = [number for number, case in enumerate(cases_of(QUICK)) if case.before in IN_SHORT.get(case.output.name, ())]
    assert "undone" in run("faults", "--only", *cases)


@forks
def test_runs_killed_at_random_calls_leave_the_old_or_the_new() -> None:
    run("kills", "--count", 12)


def test_damaged_files_are_read_or_refused_in_one_line() -> None:
    assert "foreign exception" not in run("readers", "--count", 25)


def test_nothing_is_lost_without_a_word_between_any_two_formats() -> None:
    assert "same" in run("round-trips", "--count", 2)


def test_folders_of_strangers_change_nothing_elsewhere() -> None:
    assert "refused" in run("strangers", "--count", 20)


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace lists the system calls of a process")
def test_no_system_call_of_a_reader_changes_a_file() -> None:
    assert "exit code 0" in run("strangers-traced", "--count", 2)


def test_a_server_answers_requests_of_every_kind(linux: None) -> None:
    assert "200" in run("requests", "--count", 60)


@pytest.mark.slow
def test_half_annotated_lakes_are_gone_on_with(linux: None) -> None:
    assert "when half done" in run("lakes", "--count", 1)


@forks
@pytest.mark.slow
def test_changed_encoders_and_ready_models_are_refused_or_do_no_harm() -> None:
    pytest.importorskip("torch")
    run("encoders", "--count", 2)
    if installed():
        run("ready-models", "--count", 1)


@forks
def test_changed_models_are_refused_or_do_no_harm() -> None:
    assert "used" in run("models", "--count", 4)

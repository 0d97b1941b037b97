"""Short forms of the campaigns; `benchmarks/hostile.py` runs the long ones."""

from __future__ import annotations

from campaign.frame import Record, generator


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

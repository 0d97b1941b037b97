"""Output folders of lakes that somebody else made: nothing outside is written, and no record is believed blindly."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from spanloom.errors import DataError
from spanloom.lake import Annotator, job
from spanloom.lake.job import Job, Leases
from spanloom.lake.ledger import Fragment, Ledger, fragments_of

SCHEMA = pa.schema([("id", pa.int64()), ("text", pa.string())])
pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="links and pipes are Unix's")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "lake" / "sub").mkdir(parents=True)
    (tmp_path / "project").mkdir()
    (tmp_path / "thesis.tex").write_text("years of work")
    pq.write_table(pa.table({"id": [1, 2], "text": ["No chest pain.", "x"]}), tmp_path / "lake" / "a.parquet")
    pq.write_table(pa.table({"id": [1], "text": ["No pain."]}), tmp_path / "lake" / "sub" / "b.parquet")
    return tmp_path


def opened(model: Path, home: Path) -> Ledger:
    annotator = Annotator(model)
    return Ledger.open(home / "out", annotator, annotator.schema(SCHEMA))


def annotate(model: Path, home: Path) -> Job:
    fragments = fragments_of(home / "lake")
    job = Job(Annotator(model), fragments, opened(model, home), 1, False, lambda _: None, lambda _: None)
    job.run()
    return job


def fragment(home: Path, name: str) -> Fragment:
    return next(one for one in fragments_of(home / "lake") if one.name == name)


def outside(home: Path) -> dict[str, object]:
    """All but the output folder."""
    return {
        str(path.relative_to(home)): (path.lstat().st_mtime_ns, path.read_bytes() if path.is_file() else None)
        for path in sorted(home.rglob("*"))
        if path.relative_to(home).parts[0] != "out"
    }


def lease(home: Path) -> Path:
    return Leases(home / "out" / "_spanloom" / "claims")._path("a.parquet")


def done(home: Path, name: str) -> Path:
    return home / "out" / "_spanloom" / "done" / Path(Leases(Path())._path(name).stem).with_suffix(".json").name


def _link(place: Callable[[Path], Path], target: str) -> Callable[[Path], None]:
    def make(home: Path) -> None:
        place(home).parent.mkdir(parents=True, exist_ok=True)
        place(home).symlink_to(home / target)

    return make


HOSTILE: dict[str, Callable[[Path], None]] = {
    "a lease that is a link to a file": _link(lease, "thesis.tex"),
    "a lease that is a link to nothing": _link(lease, "project/made.txt"),
    "an output that is a link to a file": _link(lambda home: home / "out" / "a.parquet", "thesis.tex"),
    "an output that is a link to nothing": _link(lambda home: home / "out" / "a.parquet", "project/made.py"),
    "a folder that is a link": _link(lambda home: home / "out" / "sub", "project"),
    "a record that is a link": _link(lambda home: done(home, "a.parquet"), "thesis.tex"),
    "a manifest that is a link": _link(lambda home: home / "out" / "_spanloom" / "manifest.json", "thesis.tex"),
    "a ledger that is a link": _link(lambda home: home / "out" / "_spanloom", "project"),
    "claims that are a link": _link(lambda home: home / "out" / "_spanloom" / "claims", "project"),
    "records that are a link": _link(lambda home: home / "out" / "_spanloom" / "done", "project"),
    "a lease that is a pipe": lambda home: os.mkfifo(lease(home)),
    "a manifest that is a pipe": lambda home: os.mkfifo(home / "out" / "_spanloom" / "manifest.json"),
    "a record that is a pipe": lambda home: os.mkfifo(done(home, "a.parquet")),
    "an output that is a pipe": lambda home: os.mkfifo(home / "out" / "a.parquet"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_links_in_an_output_folder_are_refused(model: Path, home: Path, case: str) -> None:
    if "ledger" not in case:
        opened(model, home)
        for name in ("claims", "done"):
            if case.startswith(name) or (name == "done" and case.startswith("records")):
                (home / "out" / "_spanloom" / name).rmdir()
    HOSTILE[case](home)
    before = outside(home)
    with pytest.raises(DataError) as refused:
        job = annotate(model, home)
        job.ledger.write_manifest(job.fragments, job.failed)
        raise DataError(job.failed["a.parquet"])  # where the others were done
    assert "\n" not in str(refused.value)
    assert any(words in str(refused.value) for words in ("a link", "not a lease", "a pipe"))
    assert outside(home) == before


BAD_RECORDS: dict[str, Any] = {
    "rows": {"rows": -1}, "no number": {"mentions": "many"}, "true": {"rows": True},
    "infinite": {"seconds": float("inf")}, "text": {"seconds": "x"}, "size": {"bytes": 0},
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_RECORDS)
def test_a_record_that_is_wrong_is_not_believed(model: Path, home: Path, case: str) -> None:
    ledger, one = opened(model, home), fragment(home, "a.parquet")
    (home / "out" / "a.parquet").write_bytes(b"")
    ledger.note(one, {"rows": 2}, 0.5)
    good = json.loads(done(home, "a.parquet").read_text())
    assert ledger.record(one) is not None
    done(home, "a.parquet").write_text(json.dumps(good | BAD_RECORDS[case]))
    assert ledger.record(one) is None
    done(home, "a.parquet").write_text(json.dumps(good | {"more": "x" * 100}))
    assert "more" not in (ledger.record(one) or {"more": 1})


@pytest.mark.parametrize(
    "content", [b"[" * 100_000, b"\xff", b"1" * 10_000, b"{" + b" " * (1 << 23) + b"}", b"null"], ids=len
)
def test_a_ledger_that_is_damaged_is_one_line(model: Path, home: Path, content: bytes) -> None:
    ledger = opened(model, home)
    done(home, "a.parquet").write_bytes(content)
    assert ledger.record(fragment(home, "a.parquet")) is None
    (home / "out" / "_spanloom" / "job.json").write_bytes(content)
    with pytest.raises(DataError, match=r"job\.json: (damaged|cannot be read)"):
        opened(model, home)


@pytest.mark.parametrize("name", ["../thesis.tex", "/etc/passwd", "sub/../../thesis.tex", "", "_spanloom/job.json", 3])
def test_names_in_records_are_no_paths(model: Path, home: Path, name: object) -> None:
    ledger = opened(model, home)
    (home / "thesis.tex.parquet").write_text("")
    (home / "out" / "_spanloom" / "done" / "0.json").write_text(json.dumps({"fragment": name}))
    assert ledger.write_manifest(fragments_of(home / "lake"), {})["gone"] == []


def test_a_lease_that_was_replaced_meanwhile_is_not_taken_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between opening a dead job's lease and locking it, another job takes it, ends, and takes the fragment again."""
    dead, slow, quick = (Leases(tmp_path) for _ in range(3))
    assert dead.take("a")
    os.close(dead._held.pop("a"))
    real = job.locked

    def locked(handle: int) -> bool | None:
        monkeypatch.setattr(job, "locked", real)
        assert quick.take("a")
        quick.release("a")
        assert quick.take("a")
        return real(handle)

    monkeypatch.setattr(job, "locked", locked)
    assert not slow.take("a")
    assert quick.has("a")
    quick.close()
    assert slow.take("a")


@pytest.mark.skipif(sys.platform == "win32", reason="a file that is open cannot be locked by another")
def test_a_lease_that_is_found_before_its_maker_has_locked_it_is_held_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    maker, other = Leases(tmp_path), Leases(tmp_path)
    taken, open_file = list[bool](), os.open

    def then_other(path: Path, flags: int, mode: int = 0o777) -> int:
        handle = open_file(path, flags, mode)
        if flags & os.O_EXCL and not taken:
            taken.append(other.take("a"))
        return handle

    monkeypatch.setattr("os.open", then_other)
    assert [maker.take("a"), *taken] == [False, True]


def test_a_lease_that_its_job_did_not_live_to_write_is_abandoned(tmp_path: Path) -> None:
    """A job that is killed between making a lease and writing its machine's name into it."""
    living, other = Leases(tmp_path), Leases(tmp_path, machine="elsewhere")
    living._path("a").touch()
    assert living.take("a")
    assert other._path("a").exists() and not other.take("a")

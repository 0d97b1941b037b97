"""`spanloom predict MODEL LAKE/ --output OUT/`: each fragment whole or absent, none lost, whatever happens."""

from __future__ import annotations

import gzip
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

import spanloom
from spanloom.document import Document, Mention
from spanloom.errors import DataError, ModelError
from spanloom.lake import Annotator
from spanloom.lake import job as module
from spanloom.lake.job import Job, Leases, Worker
from spanloom.lake.ledger import Ledger, fragments_of

TEXTS = ["No chest pain today.", "Severe aortic stenosis was seen.", "Denies abdominal pain or nausea."]
Run = Callable[..., Any]


def texts(number: int, count: int = 40) -> list[str]:
    chosen = random.Random(number)
    return [" ".join(chosen.choices(TEXTS, k=3)) for _ in range(count)]


def fill(lake: Path, count: int = 6, rows: int = 40) -> Path:
    (lake / "sub").mkdir(parents=True)
    for number in range(count):
        table = pa.table({"id": range(rows), "ward": ["A"] * rows, "text": texts(number, rows)})
        pq.write_table(table, lake / ("sub" if number % 2 else "") / f"part-{number}.parquet")
    return lake


def contents(out: Path) -> dict[str, bytes]:
    return {
        path.relative_to(out).as_posix(): path.read_bytes()
        for path in out.rglob("*.parquet")
        if path.parts[-1][0] != "."
    }


def leftovers(out: Path) -> list[Path]:
    return [*out.rglob(".*"), *(out / "_spanloom" / "claims").iterdir()]


def manifest(out: Path) -> Any:
    return json.loads((out / "_spanloom" / "manifest.json").read_text())


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    return fill(tmp_path / "lake")


@pytest.fixture(scope="module")
def wanted(model: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What an undisturbed job writes."""
    folder = tmp_path_factory.mktemp("undisturbed")
    annotate(model, fill(folder / "lake"), folder / "out")
    return contents(folder / "out")


def annotate(model: Path, lake: Path, out: Path, stop: bool = False, jobs: int = 1) -> tuple[Job, list[str]]:
    """A job as the verb runs it."""
    annotator, fragments, told = Annotator(model), fragments_of(lake), list[str]()
    first = pa.schema([("id", pa.int64()), ("ward", pa.string()), ("text", pa.string())])
    ledger = Ledger.open(out, annotator, annotator.schema(first))
    job = Job(annotator, fragments, ledger, jobs, stop, told.append, lambda _: None)
    try:
        job.run()
    finally:
        ledger.write_manifest(fragments, job.failed)
    return job, told


def test_a_folder_of_fragments(model: Path, lake: Path, tmp_path: Path, process: Run) -> None:
    table = pq.read_table(lake / "part-0.parquet").set_column(0, "id", pa.array([str(i) for i in range(40)]))
    shutil.rmtree(lake)
    lake.mkdir()
    pq.write_table(table, lake / "a.parquet")
    with pa.ipc.new_file(lake / "b.arrow", table.schema) as file:
        file.write_table(table)
    lines = [json.dumps(row) for row in table.to_pylist()]
    lines += [
        "{",
        "[]",
        '{"id": 7, "text": ["x"]}',
        '{"text": "No chest pain.", "ward": {"a": 1}}',
        '{"text": "\\ud800"}',
        "",
        '{"text": "No chest pain.", "text": "No nausea."}',
        " ",
    ]
    (lake / "c.jsonl.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    (lake / "_hidden.parquet").write_bytes(b"no table")
    (lake / "notes.txt").write_text("no fragment")
    out = f"{tmp_path / 'out'}/"
    done = process("predict", model, lake, "--output", out, "--jobs", 2, "--columns", "text=text,id=id,keep=ward")
    assert done.returncode == 0, done.stderr
    assert "in 126 texts of 3 fragments, 5 texts with a problem" in done.stderr
    assert done.stdout == ""
    tables = {name: pq.read_table(Path(out) / name) for name in ("a.parquet", "b.arrow.parquet", "c.jsonl.gz.parquet")}
    assert len({table.schema for table in tables.values()}) == 1
    found = spanloom.load(model).predict(table["text"])
    expected = [[(m.type, [tuple(s) for s in m.spans], m.score) for m in document.mentions] for document in found]
    for made in tables.values():
        own = [
            [(m["type"], [(s["start"], s["end"]) for s in m["spans"]], m["score"]) for m in row]
            for row in made["mentions"].slice(0, 40).to_pylist()
        ]
        assert own == expected
        assert made["id"].slice(0, 40).equals(table["id"])
    rest = tables["c.jsonl.gz.parquet"].slice(40)
    assert rest["problem"].to_pylist() == [
        "line 41: not JSON: expecting property name enclosed in double quotes at column 2; expected one JSON object a "
        "line",
        "line 42 is no object", "the text is a list", None,
        "line 45: half of a surrogate pair (\\ud800 to \\udfff) without the other half; expected Unicode characters",
        "line 47: JSON that cannot be used: the field 'text' occurs twice in one object",
    ]  # fmt: skip
    assert rest["id"].to_pylist() == [None, None, "7", None, None, None]
    assert rest["ward"].to_pylist()[3] == '{"a": 1}'
    said = manifest(Path(out))
    assert (said["rows"], said["problems"], said["failed"], said["missing"]) == (126, 5, {}, [])
    assert said["model"] == Annotator(model).digest
    assert {name: record["rows"] for name, record in said["fragments"].items()} == {
        "a.parquet": 40, "b.arrow": 40, "c.jsonl.gz": 46,
    }  # fmt: skip
    assert not leftovers(Path(out))


def test_finished_fragments_are_skipped_and_changed_ones_done_again(model: Path, lake: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert annotate(model, lake, out)[0].counts["rows"] == 240
    before = contents(out)
    assert annotate(model, lake, out)[0].counts["rows"] == 0
    (out / "part-0.parquet").unlink()
    next((out / "_spanloom" / "done").iterdir()).write_text('{"cut off')
    fill(tmp_path / "other", 2, 30)
    shutil.copy(tmp_path / "other" / "sub" / "part-1.parquet", lake / "sub" / "part-1.parquet")
    job, _ = annotate(model, lake, out)
    assert 30 + 40 <= job.counts["rows"] <= 30 + 2 * 40
    after = contents(out)
    assert [name for name in before if before[name] != after[name]] == ["sub/part-1.parquet"]
    assert manifest(out)["rows"] == 230


@pytest.mark.parametrize("times", [4])
def test_killed_at_random_times_the_output_is_the_same(
    times: int, model: Path, lake: Path, tmp_path: Path, wanted: dict[str, bytes]
) -> None:
    out, chosen = tmp_path / "out", random.Random(7)
    line = [
        sys.executable,
        "-m",
        "spanloom.cli",
        "predict",
        str(model),
        str(lake),
        "-o",
        f"{out}/",
        "--jobs",
        "2",
        "-q",
    ]
    for _ in range(times):
        job = subprocess.Popen(line)
        deadline = time.monotonic() + chosen.uniform(0.0, 6.0)
        while time.monotonic() < deadline and job.poll() is None:
            time.sleep(0.05)
        job.kill()
        job.wait()
        for name, data in contents(out).items():
            assert data == wanted[name]
    done = subprocess.run(line, capture_output=True, encoding="utf-8", timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert contents(out) == wanted
    assert manifest(out)["rows"] == 240
    assert not leftovers(out)


def test_what_dead_jobs_left_of_finished_fragments_is_removed(
    model: Path, lake: Path, tmp_path: Path, wanted: dict[str, bytes]
) -> None:
    out = tmp_path / "out"
    annotate(model, lake, out)
    dead, living = Leases(out / "_spanloom" / "claims"), Leases(out / "_spanloom" / "claims")
    assert dead.take("part-0.parquet") and living.take("part-2.parquet")
    os.close(dead._held.pop("part-0.parquet"))  # killed after the record was written, before the lease was removed
    record = next((out / "_spanloom" / "done").iterdir()).name
    for place in (f"_spanloom/done/.{record}", "_spanloom/.job.json", "sub/.part-1.parquet"):
        (out / f"{place}.0123abcd.part" / "new").mkdir(parents=True)
    job, _ = annotate(model, lake, out)
    assert job.counts["rows"] == 0
    [left] = leftovers(out)
    assert left == living._path("part-2.parquet")
    living.close()
    assert contents(out) == wanted


def test_a_job_that_is_killed_as_it_begins_leaves_nothing(model: Path, lake: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    child = os.fork()
    if not child:
        try:
            os.link = lambda *_: os.kill(os.getpid(), signal.SIGKILL)  # type: ignore[assignment]
            annotate(model, lake, out)
        finally:
            os._exit(1)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1])
    assert leftovers(out)
    annotate(model, lake, out)
    assert not leftovers(out)


def test_output_of_fragments_that_the_lake_lost_is_told(model: Path, lake: Path, tmp_path: Path, process: Run) -> None:
    out = tmp_path / "out"
    line = ["predict", model, lake, "--output", f"{out}/", "--jobs", 1]
    assert "no longer in the lake" not in process(*line).stderr
    (lake / "part-2.parquet").unlink()
    rows = manifest(out)["rows"]
    done = process(*line)
    assert done.returncode == 0, done.stderr
    assert "no longer in the lake: 1 fragment whose output stays, such as part-2.parquet" in done.stderr
    assert manifest(out)["gone"] == ["part-2.parquet"] and manifest(out)["rows"] < rows
    (out / "part-2.parquet").unlink()
    assert "no longer in the lake" not in process(*line).stderr


def test_what_is_no_lake_for_a_folder_is_told(model: Path, lake: Path, tmp_path: Path, process: Run) -> None:
    out = f"{tmp_path / 'out'}/"
    two = process("predict", model, lake, lake, "--output", out)
    assert two.returncode == 2 and "is a folder, and there are 2 inputs" in two.stderr
    other = process("predict", model, lake, "--output", out, "--format", "jsonl")
    assert other.returncode == 2 and "where fragments are written as Parquet; leave out --format" in other.stderr
    assert not Path(out).exists()


def test_fragments_that_cannot_be_read_are_told_and_the_others_are_done(
    model: Path, lake: Path, tmp_path: Path, wanted: dict[str, bytes], process: Run
) -> None:
    whole = (lake / "part-2.parquet").read_bytes()
    (lake / "part-2a.parquet").write_bytes(whole[:2000] + b"\xff" * 40 + whole[2040:])
    (lake / "part-2b.parquet").write_bytes(whole[: len(whole) // 2])
    (lake / "part-2c.parquet").write_bytes(b"")
    pq.write_table(pa.table({"id": [1], "body": ["x"]}), lake / "part-2d.parquet")
    pq.write_table(pa.table({"id": ["x"], "text": ["x"]}), lake / "part-2e.parquet")
    (lake / "part-2f.jsonl.gz").write_bytes(gzip.compress(b'{"id": 1, "text": "x"}\n' * 5000)[:-20])
    pq.write_table(pa.table({"id": [1], "text": [5]}), lake / "part-2g.parquet")
    pq.write_table(pa.table({"id": [1, 2], "text": [b"\xff", None]}), lake / "part-2h.parquet")
    out = tmp_path / "out"
    done = process("predict", model, lake, "--output", f"{out}/", "--jobs", 1)
    assert done.returncode == 1
    bad = [f"part-2{letter}.parquet" for letter in "bcde"] + ["part-2f.jsonl.gz"]
    for name in bad:
        assert f"spanloom: left out: fragment {name}: " in done.stderr
    assert "a table without 'text'; found 'id', 'body'" in done.stderr
    assert "the column 'id' is string, expected int64 as in the first fragment" in done.stderr
    found, said = contents(out), manifest(out)
    assert set(bad) <= set(said["failed"])
    assert {name: data for name, data in found.items() if name in wanted} == wanted
    assert not set(found) & set(said["failed"])
    assert pq.read_table(out / "part-2g.parquet")["problem"].to_pylist() == ["the column is int64, expected text"]
    assert pq.read_table(out / "part-2h.parquet")["problem"].null_count == 0
    assert not leftovers(out)
    stopped = process("predict", model, lake, "--output", f"{out}/", "--jobs", 1, "--on-error", "stop")
    assert stopped.returncode == 1
    assert "spanloom: error: fragment part-2" in stopped.stderr


def test_a_full_disk_leaves_fragments_out_and_the_next_job_does_them(
    model: Path, lake: Path, tmp_path: Path, wanted: dict[str, bytes]
) -> None:
    out = tmp_path / "out"
    line = [sys.executable, "-m", "spanloom.cli", "predict", str(model), str(lake), "-o", f"{out}/", "--jobs", "1"]

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))

    big = pa.table({"id": range(4000), "ward": ["A"] * 4000, "text": texts(9, 4000)})
    pq.write_table(big, lake / "big.parquet")
    done = subprocess.run(line, preexec_fn=limit, capture_output=True, encoding="utf-8", timeout=300, check=False)
    assert done.returncode == 1
    assert "fragment big.parquet: " in done.stderr and "cannot be written: File too large" in done.stderr
    assert "big.parquet" not in contents(out)
    assert not list(out.rglob(".*"))
    done = subprocess.run(line, capture_output=True, encoding="utf-8", timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    found = contents(out)
    assert pq.read_table(out / "big.parquet").num_rows == 4000
    assert {name: data for name, data in found.items() if name in wanted} == wanted


BOMB = gzip.compress(b'{"id": 1, "text": "x"}\n' + b'{"id": 2, "text": "%s"}\n' % (b"a" * (80 << 20)), 1)


@pytest.mark.parametrize("name", ["a.jsonl.gz", "part-9.JSONL.GZ"], ids=["in the parent", "in a worker"])
def test_a_gzip_file_that_unpacks_to_far_more_than_its_size(
    model: Path, lake: Path, tmp_path: Path, name: str, process: Run
) -> None:
    for other in ("part-2.parquet", "part-4.parquet"):
        (lake / other).unlink()
    shutil.rmtree(lake / "sub")
    (lake / name).write_bytes(BOMB)
    done = process("predict", model, lake, "--output", f"{tmp_path / 'out'}/", "--jobs", 1)
    assert done.returncode == 1
    assert f"{lake / name}: the gzip file holds more than 200 times its size; if that is right, unpack" in done.stderr
    assert not (tmp_path / "out" / f"{name}.parquet").exists()


def dying(pipe: Any) -> None:
    """A worker that dies of the fragment part-2, and once of part-1."""
    once = Path(os.environ["ONCE"])
    whole = module.annotate_fragment

    def annotate_fragment(annotator: Annotator, fragment: Any, *more: Any) -> Any:
        if fragment.name == "part-2.parquet" or (fragment.name == "sub/part-1.parquet" and not once.exists()):
            if fragment.name == "sub/part-1.parquet":
                once.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        yield from whole(annotator, fragment, *more)

    module.annotate_fragment = annotate_fragment
    WORK(pipe)


WORK = module._work


def test_killed_workers_are_told_and_a_fragment_that_kills_is_given_up(
    model: Path, lake: Path, tmp_path: Path, wanted: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ONCE", str(tmp_path / "once"))
    monkeypatch.setattr(module, "_work", dying)
    job, told = annotate(model, lake, tmp_path / "out")
    assert sorted(told) == [
        "a worker was killed (SIGKILL) while it annotated part-2.parquet, which is tried again",
        "a worker was killed (SIGKILL) while it annotated sub/part-1.parquet, which is tried again",
        "left out: fragment part-2.parquet: 2 workers were killed (SIGKILL) while they annotated it; it may need more "
        "memory",
    ]
    assert list(job.failed) == ["part-2.parquet"]
    assert contents(tmp_path / "out") == {name: data for name, data in wanted.items() if name != "part-2.parquet"}
    assert not leftovers(tmp_path / "out")


@pytest.mark.skipif(sys.platform == "win32", reason="processes of one terminal are not signalled one by one")
def test_an_interrupt_is_for_the_parent_also_while_workers_start(capfd: pytest.CaptureFixture[str]) -> None:
    others = {child.pid for child in active_children()}
    worker = Worker()
    [process] = [child for child in active_children() if child.pid not in others]
    assert process.pid is not None
    os.kill(process.pid, signal.SIGINT)
    worker.pipe.close()  # as it is when the parent dies
    process.join()
    assert (process.exitcode, capfd.readouterr().err) == (0, "")


def test_two_jobs_share_a_lake(model: Path, lake: Path, tmp_path: Path, wanted: dict[str, bytes]) -> None:
    out = tmp_path / "out"
    line = [sys.executable, "-m", "spanloom.cli", "predict", str(model), str(lake), "-o", f"{out}/", "--jobs", "1"]
    pair = [subprocess.Popen(line, stderr=subprocess.PIPE, encoding="utf-8") for _ in range(2)]
    told = [job.communicate(timeout=300)[1] for job in pair]
    assert [job.returncode for job in pair] == [0, 0], told
    assert contents(out) == wanted
    assert manifest(out)["rows"] == 240
    assert not leftovers(out)
    own = [
        int(line.split("with a problem; ")[1].split()[0]) for line in "".join(told).splitlines() if "problem; " in line
    ]
    assert sum(own) == 240  # none twice


def test_another_model_or_other_settings_are_refused(model: Path, lake: Path, tmp_path: Path, process: Run) -> None:
    out, other = tmp_path / "out", tmp_path / "model"
    annotate(model, lake, out)
    before = contents(out)
    shutil.copytree(model, other)
    said = json.loads((other / "model.json").read_text())
    (other / "model.json").write_text(json.dumps(said, indent=2))
    done = process("predict", other, lake, "--output", out)
    assert done.returncode == 2
    assert (
        f'{out} was begun with model "{Annotator(model).digest}", and this is "{Annotator(other).digest}"'
        in done.stderr
    )
    done = process("predict", model, lake, "--output", out, "--threshold", 0.5)
    assert done.returncode == 2
    assert "was begun with settings" in done.stderr
    done = process("predict", model, lake, "--output", out, "--expand")
    assert done.returncode == 2
    assert 'was begun with settings {"' in done.stderr and '"expand": true}; give what' in done.stderr
    assert contents(out) == before


def test_expansions_are_those_of_the_command_for_files(tmp_path: Path, process: Run) -> None:
    texts = ["no chest pain and back pain", "no fever"]
    notes = [Document(text, mentions=[Mention("problem", [(3, len(text))])]) for text in texts] * 20
    spanloom.Recognizer(features=["bias", "w[0]", "w[-1]"]).fit(notes).save(tmp_path / "model")
    (tmp_path / "lake").mkdir()
    pq.write_table(pa.table({"id": ["a", "b"], "text": texts}), tmp_path / "lake" / "a.parquet")
    line = ["predict", tmp_path / "model"]
    done = process(*line, tmp_path / "lake", "--output", tmp_path / "out", "--expand", "--jobs", 1)
    assert done.returncode == 0, done.stderr
    (tmp_path / "in.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    process(*line, tmp_path / "in.jsonl", "--output", tmp_path / "out.jsonl", "--expand")
    made = pq.read_table(tmp_path / "out" / "a.parquet")["mentions"].to_pylist()
    lines = [document.mentions for document in spanloom.read(tmp_path / "out.jsonl")]
    assert [[(m["score"], m["attributes"]) for m in row] for row in made] == [
        [(m.score, '{"expanded": true}' if m.attributes else None) for m in row] for row in lines
    ]
    spans = [[[(span["start"], span["end"]) for span in m["spans"]] for m in row] for row in made]
    assert spans == [[[(3, 27)], [(3, 13)], [(18, 27)]], [[(3, 8)]]]
    done = process(*line, tmp_path / "lake", "--output", tmp_path / "out")  # half an answer with, half without
    assert done.returncode == 2
    assert '"expand": true}, and this is {' in done.stderr


def test_wrong_usage(model: Path, lake: Path, tmp_path: Path, command: Run) -> None:
    full = tmp_path / "full"
    full.mkdir()
    (full / "mine.txt").write_text("mine")
    for source, out, options, message in (
        (lake, full, [], "is there already, and is no lake"),
        (lake, lake / "out", [], "lie in each other"),
        (lake, tmp_path, [], "lie in each other"),
        (lake, tmp_path / "new", ["--answers", "--force"], "with no use for --answers and --force"),
        (lake, tmp_path / "new", ["--encoding", "cp1252", "--offsets", "utf16"], "for --encoding and --offsets"),
        (lake, tmp_path / "new", ["--columns", "word,pos"], "expected such as text=note,id=key"),
        (lake, tmp_path / "new", ["--columns", "text=a,text=b"], "text occurs twice"),
        (lake, tmp_path / "new", ["--columns", "text=body"], "a table without 'body'"),
        (lake, tmp_path / "new", ["--columns", "text=id"], "column 'id' is int64, expected text"),
        (lake, tmp_path / "new", ["--on-error", "cry"], "--on-error is 'cry'"),
        (full, tmp_path / "new", [], "holds no fragment"),
    ):
        done = command("predict", model, source, "--output", f"{out}/", *options)
        assert (done.returncode, done.stdout) == (2, ""), done.stderr
        assert message in done.stderr
    assert (full / "mine.txt").read_text() == "mine"


def test_a_folder_with_a_file_as_output_is_read_as_ever(model: Path, lake: Path, tmp_path: Path, command: Run) -> None:
    done = command("predict", model, lake, "--output", tmp_path / "one.jsonl")
    assert done.returncode == 0, done.stderr
    assert len(list(spanloom.read(tmp_path / "one.jsonl"))) == 240


def test_a_folder_of_tables_becomes_one_without_a_slash(model: Path, lake: Path, tmp_path: Path, process: Run) -> None:
    done = process("predict", model, lake, "--output", tmp_path / "out", "--jobs", 1)
    assert done.returncode == 0, done.stderr
    count = len(fragments_of(lake))
    said = f"writing {tmp_path / 'out'}: a Parquet file for each of {count} fragments, in 1 process\n"
    assert done.stderr.startswith(said), done.stderr
    assert all((tmp_path / "out" / one.output).is_file() for one in fragments_of(lake))


def test_a_folder_of_json_lines_becomes_one_file(model: Path, tmp_path: Path, command: Run) -> None:
    source = tmp_path / "lines"
    source.mkdir()
    (source / "a.jsonl.gz").write_bytes(gzip.compress(b'{"text": "No chest pain."}\n' * 3))
    (source / "note.txt").write_text("No fever.")
    done = command("predict", model, source, "--output", tmp_path / "out")
    assert done.stderr.endswith(f" in 4 documents, written to {tmp_path / 'out'} as jsonl\n"), done.stderr
    assert len((tmp_path / "out").read_text().splitlines()) == 4


@pytest.mark.parametrize("output", ["out/", "out.jsonl"])
def test_json_lines_need_no_arrow(model: Path, tmp_path: Path, output: str) -> None:
    (tmp_path / "lines" / "deep").mkdir(parents=True)
    for name in ("a.jsonl.gz", "deep/b.jsonl.gz"):
        (tmp_path / "lines" / name).write_bytes(gzip.compress(b'{"id": "n", "text": "Lisinopril was stopped."}\n'))
    line = ["predict", str(model), "lines", "--output", output]
    code = f"import sys\nsys.modules['pyarrow'] = None\nfrom spanloom.cli import main\nmain({line!r})"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    assert f"in 2 documents, written to {output}" in done.stderr
    names = ["out/a.jsonl.gz", "out/deep/b.jsonl.gz"] if output == "out/" else ["out.jsonl"]
    found = [document for name in names for document in spanloom.read(tmp_path / name)]
    assert [document.text for document in found] == ["Lisinopril was stopped."] * 2
    assert all(document.tokens is not None for document in found)


def test_a_damaged_ledger_is_told(model: Path, lake: Path, tmp_path: Path) -> None:
    annotate(model, lake, tmp_path / "out")
    file = tmp_path / "out" / "_spanloom" / "job.json"
    whole = json.loads(file.read_text())
    for schema in ({}, {"schema": "AAAA"}, {"schema": 1}):
        file.write_text(json.dumps({name: whole[name] for name in ("format", "model", "settings")} | schema))
        with pytest.raises(DataError, match="damaged, expected what Spanloom wrote"):
            annotate(model, lake, tmp_path / "out")
    file.write_text("{")
    with pytest.raises(DataError, match="damaged, expected what Spanloom wrote"):
        annotate(model, lake, tmp_path / "out")


def test_what_a_ledger_lacks_is_made_again(model: Path, lake: Path, tmp_path: Path, wanted: dict[str, bytes]) -> None:
    annotate(model, lake, tmp_path / "out")
    folder = tmp_path / "out" / "_spanloom"
    (folder / "claims").rmdir()
    record = next((folder / "done").iterdir())
    found = json.loads(record.read_text())
    del found["rows"]
    record.write_text(json.dumps(found))
    annotate(model, lake, tmp_path / "out")
    assert contents(tmp_path / "out") == wanted
    assert "rows" in json.loads(record.read_text())


def test_a_file_system_without_hard_links(
    model: Path, lake: Path, tmp_path: Path, wanted: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    annotate(model, lake, tmp_path / "out")
    assert contents(tmp_path / "out") == wanted


def test_claims_of_this_machine_end_with_their_owner(tmp_path: Path) -> None:
    mine, other = Leases(tmp_path), Leases(tmp_path)
    assert mine.take("a")
    assert not other.take("a")
    assert other.take("b")
    mine.release("a")
    assert other.take("a")
    os.close(other._held.pop("a"))  # as if it had been killed
    assert mine.take("a")
    mine.close()
    other.close()
    assert not list(tmp_path.iterdir())


def test_claims_of_other_machines_end_when_they_show_no_life_whatever_the_clocks_say(tmp_path: Path) -> None:
    theirs, mine = Leases(tmp_path, "another machine"), Leases(tmp_path, patience=0.2)
    assert theirs.take("a")
    [path] = tmp_path.iterdir()
    os.close(theirs._held["a"])  # no lock reaches us
    theirs._held["a"] = os.open(path, os.O_RDWR)
    for stamp in (10**18, 0, 2 * 10**18):  # their clock jumps, and they live
        os.utime(path, ns=(stamp, stamp))
        assert not mine.take("a")
        time.sleep(0.25)
    assert mine.take("a")
    assert not theirs._held or path.exists()
    mine.release("a")
    theirs.beat()
    theirs.release("a")


def test_the_names_of_folders_and_files_do_not_change_what_a_fragment_is(
    model: Path, tmp_path: Path, process: Run
) -> None:
    lake, out = tmp_path / "lake", tmp_path / "out"
    (lake / "day.jsonl").mkdir(parents=True)
    table = pa.table({"id": [1, 2], "text": TEXTS[:2]})
    for name in ("day.jsonl/part.parquet", "notes.jsonl.parquet", "BIG.PARQUET"):
        pq.write_table(table, lake / name)
    (lake / "UP.JSONL").write_text(json.dumps({"id": "1", "text": TEXTS[0]}) + "\n")
    done = process("predict", model, lake, "--output", f"{out}/", "--jobs", 1)
    assert done.returncode == 0, done.stderr
    assert sorted(contents(out)) == [
        "BIG.PARQUET.parquet", "UP.JSONL.parquet", "day.jsonl/part.parquet", "notes.jsonl.parquet",
    ]  # fmt: skip
    assert manifest(out)["rows"] == 7
    assert manifest(out)["problems"] == 0


def test_two_fragments_of_one_output_are_refused(model: Path, tmp_path: Path, command: Run) -> None:
    lake = tmp_path / "lake"
    lake.mkdir()
    (lake / "a.jsonl").write_text('{"text": "No pain."}\n')
    pq.write_table(pa.table({"id": [1], "text": ["x"]}), lake / "a.jsonl.parquet")
    done = command("predict", model, lake, "--output", f"{tmp_path}/out/")
    assert (done.returncode, done.stdout) == (2, "")
    assert "'a.jsonl' and 'a.jsonl.parquet' would both become 'a.jsonl.parquet'; rename one" in done.stderr
    assert not (tmp_path / "out").exists()


def test_lines_without_the_column_of_texts_are_an_error(model: Path, tmp_path: Path, process: Run) -> None:
    lake, out = tmp_path / "lake", tmp_path / "out"
    lake.mkdir()
    (lake / "a.jsonl").write_text('{"id": 1, "body": "No pain."}\n' * 3)
    (lake / "b.jsonl").write_text('{"id": 1, "text": "No pain."}\n{"id": 2}\nnone\n')
    done = process("predict", model, lake, "--output", f"{out}/", "--jobs", 1)
    assert done.returncode == 1
    assert "left out: fragment a.jsonl: no record has 'text'; found 'id', 'body'; name another" in done.stderr
    assert list(contents(out)) == ["b.jsonl.parquet"]
    assert pq.read_table(out / "b.jsonl.parquet")["problem"].to_pylist() == [
        None, "the text is missing",
        "line 3: not JSON: expecting value at column 1; expected one JSON object a line",
    ]  # fmt: skip


def test_lines_without_a_kept_column_are_refused_at_once(model: Path, tmp_path: Path, command: Run) -> None:
    lake, out = tmp_path / "lake", tmp_path / "out"
    lake.mkdir()
    (lake / "a.jsonl").write_text('{"text": "No pain.", "ward": 1}\n' * 3)
    done = command("predict", model, lake, "--output", f"{out}/", "--columns", "keep=wrad")
    assert (done.returncode, done.stdout) == (2, "")
    assert "fragment a.jsonl: no record has 'wrad'; found 'text', 'ward'; name another" in done.stderr
    assert not out.exists()


def test_a_replaced_model_ends_the_job_at_once(model: Path, lake: Path, tmp_path: Path) -> None:
    annotator, told = Annotator(model), list[str]()
    first = pa.schema([("id", pa.int64()), ("ward", pa.string()), ("text", pa.string())])
    ledger = Ledger.open(tmp_path / "out", annotator, annotator.schema(first))
    annotator.digest = "another"  # as if the model had been replaced before the workers open it
    with pytest.raises(ModelError, match="the model was replaced while the job runs"):
        Job(annotator, fragments_of(lake), ledger, 1, False, told.append, lambda _: None).run()
    assert told == []


def test_links_that_are_not_followed_are_told(model: Path, lake: Path, tmp_path: Path, command: Run) -> None:
    fill(tmp_path / "elsewhere")
    (lake / "more").symlink_to(tmp_path / "elsewhere")
    (lake / "gone.parquet").symlink_to(tmp_path / "gone")
    done = command("predict", model, lake, "--output", f"{tmp_path}/out/", "--jobs", 1)
    assert "not read: more, a link to a folder" in done.stderr
    assert "not read: gone.parquet, a link" in done.stderr

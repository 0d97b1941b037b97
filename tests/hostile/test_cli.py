"""Bad input, full disks, interruptions, through the command: one clear line, an exit code, nothing half-written."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import spanloom

resource = pytest.importorskip("resource")  # the limits and devices of Unix

COMMAND = [sys.executable, "-m", "spanloom.cli"]


def assert_refused(result, *words: str, code: int = 1) -> None:
    assert result.returncode == code, result.stderr
    assert result.stdout == ""
    lines = [line for line in result.stderr.splitlines() if line.startswith("spanloom: error: ")]
    assert len(lines) == 1, result.stderr
    assert "Traceback" not in result.stderr
    for word in words:
        assert word in lines[0]


def assert_only(folder: Path, *names: str) -> None:
    assert sorted(path.name for path in folder.iterdir()) == sorted(names)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("empty.jsonl", b"", ["empty.jsonl"]),
        ("no-mentions.jsonl", b'{"text": "No pain."}\n', ["none of the 1 training documents has a mention"]),
        ("latin.jsonl", b'{"text": "Sj\xf6gren"}\n', ["latin.jsonl:1", "not UTF-8"]),
        ("nul.jsonl", b'{"text": "a"}\n{"text": "\0"}\n', ["nul.jsonl:2", "NUL"]),
        ("broken.jsonl", b'{"text": "a"}\n{"text": \n', ["broken.jsonl:2"]),
        (
            "outside.jsonl",
            b'{"text": "pain", "mentions": [{"type": "p", "spans": [[0, 9]]}]}\n',
            [":1", "0-9", "4 char"],
        ),
        ("order.jsonl", b'{"text": "pain", "mentions": [{"type": "p", "spans": [[0, 3], [2, 4]]}]}\n', [":1", "order"]),
        ("hollow.jsonl", b'{"text": "pain", "mentions": [{"type": "p", "spans": [[3, 2]]}]}\n', [":1", "empty"]),
    ],
)
def test_training_on_bad_data(command, tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    result = command("train", "recognizer", "--train", tmp_path / name, "--output", tmp_path / "model")
    assert_refused(result, *words)
    assert_only(tmp_path, name)


def test_training_on_a_missing_file(command, tmp_path):
    result = command("train", "recognizer", "--train", tmp_path / "no.jsonl", "--output", tmp_path / "model")
    assert_refused(result, "no.jsonl")
    assert_only(tmp_path)


def test_an_unknown_column_in_a_template(command, corpus, tmp_path):
    (tmp_path / "c.toml").write_text('features = ["nonsense[0]"]')
    arguments = ["--train", corpus / "train.jsonl", "--output", tmp_path / "model", "--config", tmp_path / "c.toml"]
    result = command("train", "recognizer", *arguments)
    assert_refused(result, "nonsense", code=result.returncode)
    assert result.returncode in (1, 2)
    assert_only(tmp_path, "c.toml")


def test_development_data_with_a_type_unseen_in_training(command, corpus, tmp_path):
    (tmp_path / "dev.jsonl").write_text('{"text": "No pain.", "mentions": [{"type": "mood", "spans": [[3, 7]]}]}\n')
    arguments = ["--train", corpus / "train.jsonl", "--dev", tmp_path / "dev.jsonl", "--output", tmp_path / "model"]
    result = command("train", "recognizer", *arguments)
    assert result.returncode == 0
    assert "left out of the development data: mentions of types that no training document has: 1 of" in result.stderr


def test_mentions_that_cut_a_token_are_counted_and_listed(command, corpus, tmp_path):
    cut = '{"id": "x", "text": "Painful.", "mentions": [{"type": "problem", "spans": [[0, 4]]}]}\n'
    (tmp_path / "train.jsonl").write_text((corpus / "train.jsonl").read_text() + cut)
    arguments = ["--train", tmp_path / "train.jsonl", "--dev", corpus / "dev.jsonl", "--output", tmp_path / "model"]
    result = command("train", "recognizer", *arguments)
    assert result.returncode == 0
    assert (
        "cannot be represented: 1 mention: it begins or ends inside a token\n  x 0-4: problem 'Pain'" in result.stderr
    )


def test_an_output_that_exists_is_kept(command, model, corpus, tmp_path):
    (tmp_path / "out.jsonl").write_text("precious")
    result = command("predict", model, corpus / "dev.jsonl", "--output", tmp_path / "out.jsonl")
    assert_refused(result, "--force", code=2)
    assert (tmp_path / "out.jsonl").read_text() == "precious"
    result = command("train", "recognizer", "--train", corpus / "train.jsonl", "--output", tmp_path)
    assert_refused(result, "--force", code=2)


def test_invalid_utf8_while_predicting_leaves_no_output(command, model, tmp_path):
    (tmp_path / "in.jsonl").write_bytes(b'{"text": "No pain."}\n' * 300 + b'{"text": "\xff"}\n')
    output = ["--output", tmp_path / "out.jsonl", "--on-error", "stop"]
    result = command("predict", model, tmp_path / "in.jsonl", *output)
    assert_refused(result, "in.jsonl:301", "UTF-8")
    assert_only(tmp_path, "in.jsonl")


@pytest.mark.parametrize("text", ["", " \n", "\r\n\r\n", "\ufeff", "a" * 5000, "\u0301", "pain " * 50_000])
def test_strange_text_is_predicted(command, model, text):
    result = command("predict", model, "-", "--input-format", "text", input=text)
    assert result.returncode == 0, result.stderr
    for line in result.stdout.splitlines():
        assert json.loads(line)["text"] in (text, text.lstrip("\ufeff"))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a Linux device")
@pytest.mark.parametrize("how", ["--output", "stdout"])
def test_a_full_device(process, model, corpus, how):
    arguments = ["predict", model, corpus / "train.jsonl", "--quiet"]
    if how == "--output":
        result = process(*arguments, "--output", "/dev/full")
        assert_refused(result, "o space left")
    else:
        with Path("/dev/full").open("w") as full:
            result = process(*arguments, stdout=full)
        assert result.returncode == 1
        assert result.stderr.startswith("spanloom: error: standard output: ")
        assert "o space left" in result.stderr
        assert result.stderr.count("\n") == 1


def close(handle: int) -> Callable[[], None]:
    return lambda: os.close(handle)


@pytest.mark.parametrize(
    "line",
    [
        ["convert", "DATA", "-", "--format", "jsonl"],
        ["validate", "DATA"],
        ["predict", "MODEL", "DATA"],
        ["--version"],
        ["train", "recognizer", "--help"],
    ],
    ids=" ".join,
)
def test_a_closed_standard_output(process, model, corpus, line):
    """What cannot be written is an error, as it is for cat."""
    places = {"DATA": corpus / "train.jsonl", "MODEL": model}
    result = process(*(places.get(part, part) for part in line), stdout=None, preexec_fn=close(1))
    assert result.returncode == 1
    [error] = [line for line in result.stderr.splitlines() if not line[:1].isdigit()]
    assert error.startswith("spanloom: error: standard output: ")
    assert "ad file descriptor" in error


def test_a_closed_standard_output_that_nobody_needs(process, corpus, tmp_path):
    arguments = ["convert", corpus / "train.jsonl", tmp_path / "out.jsonl"]
    assert process(*arguments, stdout=None, preexec_fn=close(1)) == (0, "", "")
    assert_only(tmp_path, "out.jsonl")


@pytest.mark.parametrize("verb", [["convert", "-", "-", "--format", "jsonl"], ["validate", "-"]], ids=" ".join)
@pytest.mark.parametrize("format", ["jsonl", "text", "bioc"])
def test_a_closed_standard_input(process, verb, format):
    result = process(*verb, "--input-format", format, stdin=None, preexec_fn=close(0))
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == "spanloom: error: -: cannot be read: Bad file descriptor\n"


def test_a_disk_that_fills_while_the_model_is_written(process, model, corpus, tmp_path):
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    arguments = ["--train", corpus / "train.jsonl", "--output", tmp_path / "model", "--epochs", "1"]
    result = process("train", "recognizer", *arguments, preexec_fn=limit)
    assert_refused(result, "model")
    assert_only(tmp_path)


def heed_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell's background jobs ignore it, and so would what they start


def stop(line: list[object], number: signal.Signals) -> tuple[int, str]:
    """Sends a signal after the first line on standard error; gives the exit code and the rest."""
    arguments = [*COMMAND, *map(str, line)]
    process = subprocess.Popen(
        arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, encoding="utf-8", preexec_fn=heed_interrupts
    )
    assert process.stderr is not None
    process.stderr.readline()
    process.send_signal(number)
    _, rest = process.communicate(timeout=60)
    assert "Traceback" not in rest
    return process.returncode, rest


@pytest.fixture
def long_train(corpus, tmp_path_factory):
    """Training data that take seconds, so that a signal never comes after the end."""
    documents = list(spanloom.read(corpus / "train.jsonl"))
    path = tmp_path_factory.mktemp("long") / "train.jsonl"
    spanloom.write([replace(one, id=f"{one.id}-{copy}") for copy in range(1000) for one in documents], path)
    return path


def test_interrupted_training_leaves_nothing(long_train, tmp_path):
    arguments = ["train", "recognizer", "--train", long_train, "--output", tmp_path / "model"]
    code, rest = stop([*arguments, "--epochs", "1000000"], signal.SIGINT)
    assert code == 130
    assert rest.splitlines()[-1] == (
        "spanloom: interrupted; no output was written; with --work FOLDER the training resumes where it was interrupted"
    )
    assert_only(tmp_path)


def test_interrupted_training_with_a_folder_names_it_last(corpus, long_train, tmp_path):
    arguments = ["train", "recognizer", "--train", long_train, "--dev", corpus / "dev.jsonl"]
    work = tmp_path / "work"
    arguments += ["--output", tmp_path / "model", "--work", work, "--epochs", "1000000"]
    code, rest = stop(arguments, signal.SIGINT)
    assert code == 130
    last = f"spanloom: interrupted; no output was written; the same command resumes from {work}"
    assert rest.splitlines()[-1] == last
    assert not (tmp_path / "model").exists()


def test_a_terminated_demo_leaves_nothing(model, tmp_path):
    code, _ = stop(["demo", "--output", tmp_path / "demo"], signal.SIGTERM)
    assert code == 128 + signal.SIGTERM
    assert_only(tmp_path)


# a signal where Python takes no exception, within an object's end; one that comes while a kernel runs; and one within
# code of a string, as `dataclass` makes it
LOST = """
import os, signal, subprocess, sys, time
import numpy
from spanloom.cli import app, execute
from spanloom.native import Kernel

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it

class Late:
    def __del__(self, kill=os.kill, process=os.getpid(), number=signal.Signals[NAME], sleep=time.sleep):
        kill(process, number)  # when the program ends, the module's names are gone
        sleep(0.1)

def within_kernel():
    values = numpy.ones(100_000_000)
    with subprocess.Popen(["sh", "-c", f"sleep 0.3; kill -{NAME[3:]} {os.getpid()}"]):
        for _ in range(20):
            Kernel("take_exponentials")(values, values)

def within_code():
    exec("import os, signal; os.kill(os.getpid(), signal.Signals[NAME]); list(map(str, range(9)))", {"NAME": NAME})

def verb(**options):
    PLACE()
    for _ in range(600):
        time.sleep(0.1)

execute.VERBS["models"] = "__main__:verb"
app.main(["models"])
"""


@pytest.mark.parametrize("place", ["Late", "within_kernel", "within_code"])
@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_a_signal_that_comes_where_no_exception_can_is_not_lost(name, code, place, tmp_path):
    (tmp_path / "lost.py").write_text(f"NAME = {name!r}\n" + LOST.replace("PLACE", place))
    command = [sys.executable, "-m", "lost"]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert found.returncode == code, found.stderr
    assert "ignored" not in found.stderr and "Traceback" not in found.stderr


def test_an_interrupt_after_the_work_is_done_changes_no_exit_code():
    late = "sys.late = Late()\ndef verb(**options):\n    return 0\n"
    command = [sys.executable, "-c", "NAME = 'SIGINT'\n" + LOST.replace("\nexecute.VERBS", f"\n{late}\nexecute.VERBS")]
    found = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (found.returncode, found.stderr) == (0, "")


def test_a_reader_that_has_had_enough(model, corpus, tmp_path):
    record = (corpus / "train.jsonl").read_text().splitlines()[0]
    (tmp_path / "long.jsonl").write_text((record + "\n") * 5000)
    line = [*COMMAND, "predict", str(model), str(tmp_path / "long.jsonl"), "--quiet"]
    process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
    assert process.stdout is not None and process.stderr is not None
    assert json.loads(process.stdout.readline())["text"]
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait(timeout=60) == 0


@pytest.fixture
def broken_model(model, tmp_path):
    return Path(shutil.copytree(model, tmp_path / "model"))


def predict(command, path: Path):
    return command("predict", path, "-", "--input-format", "text", input="No chest pain.")


def test_a_model_of_another_version(command, broken_model):
    description = json.loads((broken_model / "model.json").read_text())
    description["format"] = 999
    (broken_model / "model.json").write_text(json.dumps(description))
    assert_refused(predict(command, broken_model), "999")


@pytest.mark.parametrize("content", ["", "{", "[]", "null", '{"kind": "x"}', "\xff"])
def test_a_damaged_description(command, broken_model, content):
    (broken_model / "model.json").write_bytes(content.encode("latin-1"))
    assert_refused(predict(command, broken_model), "model.json")


@pytest.mark.parametrize("keep", [0, 5, 0.5, 0.99])
def test_truncated_weights(command, broken_model, keep):
    weights = broken_model / "weights.safetensors"
    data = weights.read_bytes()
    weights.write_bytes(data[: int(keep * len(data)) if isinstance(keep, float) else keep])
    assert_refused(predict(command, broken_model), "weights.safetensors")


def test_weights_that_are_not_numbers(command, broken_model):
    weights = broken_model / "weights.safetensors"
    data = bytearray(weights.read_bytes())
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    for name, tensor in header.items():
        if name != "__metadata__" and tensor["dtype"] in ("F32", "F64"):
            start = 8 + int.from_bytes(data[:8], "little") + tensor["data_offsets"][0]
            width = int(tensor["dtype"][1:]) // 8
            data[start : start + width] = b"\xff" * width  # a NaN
    weights.write_bytes(data)
    assert_refused(predict(command, broken_model), "weights.safetensors")


@pytest.mark.parametrize("missing", ["model.json", "weights.safetensors"])
def test_a_model_without_one_of_its_files(command, broken_model, missing):
    (broken_model / missing).unlink()
    assert_refused(predict(command, broken_model), missing)


def test_a_model_that_is_none(command, tmp_path):
    assert_refused(predict(command, tmp_path / "none"), "none")
    (tmp_path / "file").write_text("x")
    assert_refused(predict(command, tmp_path / "file"), "file")

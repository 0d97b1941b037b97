"""`spanloom teach`: from a model and text to a model, on the bundled notes; and what it refuses."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from spanloom import read
from spanloom.data import clinical
from spanloom.models import load
from spanloom.recognize import Recognizer, teach

SETTINGS = {"features": "small", "epochs": 3, "l2": 1.0, "attributes": "off"}
OPTIONS = ["--features", "small", "--epochs", 3, "--l2", 1, "--attributes", "off", "--quiet"]


@pytest.fixture(scope="module")
def taught(command, tmp_path_factory) -> Path:
    """A folder with a teacher, raw text, and a student."""
    folder = tmp_path_factory.mktemp("teaching")
    train, dev = (list(read(clinical() / part)) for part in ("train", "dev"))
    Recognizer("shared", rescore=False, **SETTINGS).fit(train, dev=dev).save(folder / "teacher")
    (folder / "raw.txt").write_text("\n".join(document.text for document in read(clinical() / "test")))
    line = [
        "teach",
        folder / "teacher",
        folder / "raw.txt",
        "--train",
        clinical() / "train",
        "--dev",
        clinical() / "dev",
    ]
    result = command(*line, *OPTIONS[:-1], "--output", folder / "student", "--weight", 0.5, "--jobs", 2)
    assert (result.returncode, result.stdout) == (0, ""), result.stderr
    assert "taught by 1 model on 1 raw document: " in result.stderr
    assert result.stderr.endswith(f"saved as {folder / 'student'}\n")
    return folder


def test_a_student_from_the_command_line_is_that_of_python(taught, tmp_path):
    given = {part: read(clinical() / part) for part in ("train", "dev")}
    text = (taught / "raw.txt").read_text()
    student = teach(load(taught / "teacher"), text, weight=0.5, n_jobs=1, **given, **SETTINGS)
    student.save(tmp_path / "student")
    for file in (taught / "student").iterdir():
        assert file.read_bytes() == (tmp_path / "student" / file.name).read_bytes()


def test_other_verbs_know_students(command, taught):
    shown = command("inspect", taught / "student", "--json")
    assert shown.returncode == 0 and '"teaching": {' in shown.stdout and '"weight": 0.5' in shown.stdout
    found = command("predict", taught / "student", clinical() / "test", "--quiet")
    assert found.returncode == 0 and '"mentions":[{' in found.stdout
    again = command("teach", taught / "student", taught / "raw.txt", *OPTIONS, "--output", taught / "grandchild")
    assert again.returncode == 0, again.stderr


def test_folds_have_teachers_of_their_own(command, taught, tmp_path):
    line = ["teach", taught / "teacher", taught / "raw.txt", *OPTIONS[:-1], "--train", clinical() / "train"]
    line += ["--dev", clinical() / "dev", "--weight", 1, "--output", tmp_path / "student"]
    result = command(*line, "--crossed", f"{taught / 'student'}={clinical() / 'train'}")
    assert result.returncode == 0, result.stderr
    documents = len(list(read(clinical() / "train")))
    assert f"taught by 1 model on 1 raw document, and by 1 more on {documents} others: " in result.stderr
    shown = command("inspect", tmp_path / "student", "--json")
    assert f'"crossed": {documents}' in shown.stdout
    assert "give --dev" not in result.stderr
    wrong = command(*line[:-1], tmp_path / "other", "--crossed", "model")
    assert wrong.returncode == 2 and "found 'model', expected MODEL=TEXT" in wrong.stderr
    gone = command(*line[:-1], tmp_path / "other", "--crossed", f"{taught / 'student'}=nowhere")
    assert gone.returncode == 1 and "nowhere: there is no such file" in gone.stderr


def test_a_tenth_that_a_crossed_teacher_has_marked_is_told(command, taught, tmp_path):
    line = ["teach", taught / "teacher", taught / "raw.txt", *OPTIONS[:-1], "--train", clinical() / "dev"]
    line += ["--crossed", f"{taught / 'student'}={clinical() / 'dev'}", "--weight", 1, "--output", tmp_path / "student"]
    result = command(*line)
    assert result.returncode == 0, result.stderr
    assert "where --crossed marks up the same text, its F1 is too high: give --dev" in result.stderr


def test_several_teachers_annotated_raw_text_and_a_file_of_options(command, taught, tmp_path):
    config = tmp_path / "teach.toml"
    config.write_text('features = ["low[0]", "low[-1]"]\nweight = [0.2, 1.0]\nepochs = 2\nl2 = 1.0\nrescore = false\n')
    line = ["teach", taught / "teacher", clinical() / "test", clinical() / "dev", "--teacher", taught / "student"]
    line += ["--config", config, "--train", clinical() / "train", "--dev", clinical() / "dev"]
    result = command(*line, "--output", tmp_path / "out")
    assert result.returncode == 0, result.stderr
    assert "taught by 2 models on 11 raw documents: " in result.stderr and "who agree on " in result.stderr
    assert "development F1 by weight 0.2: " in result.stderr


@pytest.mark.parametrize(
    "arguments, code, message",
    [
        (["teacher", "raw.txt"], 2, "--output is missing"),
        (["teacher", "raw.txt", "-o", "teacher"], 2, "is there already"),
        (["teacher", "empty.txt", "-o", "x"], 1, "raw has no words"),
        (["teacher", "none.txt", "-o", "x"], 1, "no such file"),
        (["teacher", "bad.txt", "-o", "x"], 1, "bad.txt:2: byte 1 of the line is 0xFF"),
        (["none", "raw.txt", "-o", "x"], 1, "none"),
        (["vocabulary", "raw.txt", "-o", "x"], 2, "a model of kind 'vocabulary' cannot teach"),
        (["teacher", "raw.txt", "--teacher", "cascade", "-o", "x"], 2, "of several teachers the mean is learned"),
        (
            ["teacher", "raw.txt", "--teacher", "other", "-o", "x"],
            2,
            "a teacher's structure: separators, expected shared",
        ),
        (["teacher", "raw.txt", "--weight", "-1", "-o", "x"], 2, "weight is [-1.0], expected a number above 0"),
        (["teacher", "raw.txt", "--weight", "nan", "-o", "x"], 2, "--weight is nan, expected a finite number"),
        (["teacher", "raw.txt", "--weight", "inf", "-o", "x"], 2, "--weight is inf, expected a finite number"),
        (["teacher", "raw.txt", "--weight", "2", "-o", "x"], 2, "but without train all text is raw"),
        (["teacher", "raw.txt", "--train", "raw.txt", "-o", "x"], 1, "train holds no mentions"),
        (["teacher", "raw.txt", "--config", "bad.toml", "-o", "x"], 2, "structure is given, but a student has that of"),
        (
            ["teacher", "raw.txt", "--config", "more.toml", "-o", "x"],
            2,
            "more.toml: unknown key 'teacher'; the keys are",
        ),
        (
            ["teacher", "raw.txt", "--dev", "raw.txt", "-o", "x"],
            1,
            "dev holds no mentions, so its F1 is meaningless",
        ),
        (["teacher", "raw.txt", "--epochs", "1", "--epochs", "2", "-o", "x"], 2, "is given 2 times"),
    ],
)
def test_what_cannot_be_taught_is_one_line(command, taught, tmp_path, monkeypatch, arguments, code, message):
    monkeypatch.chdir(tmp_path)
    for name in ("teacher", "raw.txt"):
        copy = shutil.copytree if (taught / name).is_dir() else shutil.copy
        copy(taught / name, name)
    Path("empty.txt").write_text(" \n")
    Path("bad.txt").write_bytes(b"no pain\n\xff\n")
    Path("bad.toml").write_text('structure = "bio"\n')
    Path("more.toml").write_text('teacher = ["other"]\n')
    if "cascade" in arguments:
        line = ["lab", "cascade", "--train", clinical() / "dev", "--passes", "one", *OPTIONS[:6], "--quiet"]
        assert command(*line, "--output", "cascade").returncode == 0
    if "vocabulary" in arguments:
        assert command("vocabulary", clinical() / "vocabulary.tsv", "--output", "vocabulary", "--quiet").returncode == 0
    if "other" in arguments:
        line = [
            "train",
            "recognizer",
            "--structure",
            "separators",
            "--train",
            clinical() / "dev",
            "--no-rescore",
            *OPTIONS,
        ]
        assert command(*line, "--output", "other").returncode == 0
    before = (Path("teacher") / "model.json").read_bytes()
    result = command("teach", *arguments, "--quiet")
    assert result.returncode == code, result.stderr
    assert message in result.stderr
    assert not Path("x").exists() and (Path("teacher") / "model.json").read_bytes() == before

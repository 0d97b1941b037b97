"""`spanloom lab features`: what it prints, what it keeps, and what it refuses."""

from __future__ import annotations

import json
import shutil
import tomllib
from pathlib import Path

import pytest

from spanloom.data import clinical
from spanloom.recognize import Recognizer, load

GROUPS = """
word = ["low[0]"]
near = ["low[-1]", "low[1]"]
affixes = ["prefix(1..3)", "suffix(1..3)"]
pos = ["pos[0]"]
"""


def arguments(folder: Path, *more: str | Path) -> list[str | Path]:
    (folder / "groups.toml").write_text(GROUPS, encoding="utf-8")
    data = [part for name in ("train", "dev") for part in (f"--{name}", clinical() / name)]
    return ["lab", "features", *data, "--groups", folder / "groups.toml", "--epochs", "2", "--tokens", "1500", *more]


@pytest.fixture(scope="module")
def searched(command, tmp_path_factory):
    """A folder with a record, and what was printed."""
    folder = tmp_path_factory.mktemp("features")
    result = command(*arguments(folder, "--output", folder / "search.json"))
    assert result.returncode == 0, result.stderr
    return folder, result


def plain(text: str) -> dict:
    """The JSON of a search without its times."""
    values = json.loads(text)
    for one in [*values["steps"], *values["front"], *(tried for step in values["steps"] for tried in step["tried"])]:
        assert one.pop("seconds") >= 0
        assert one.pop("tokens_per_second") >= 0
    return values


def test_the_tables_show_steps_path_front_and_features(searched):
    out, err = searched[1].stdout, searched[1].stderr
    assert "step 1, add: " in out
    assert "\npath " in out
    assert "\nbetter than all that are cheaper " in out
    assert "not tried: pos: not all documents have the column pos" in err
    assert "not tried, or in part, because columns are missing: pos." in out
    assert "trial 1: F1 " in err


def test_the_features_can_be_trained_with(searched, command):
    folder, result = searched
    toml = result.stdout[result.stdout.index("features = [") :]
    templates = tomllib.loads(toml)["features"]
    assert templates[0] == "bias"
    assert len(templates) > 1
    (folder / "train.toml").write_text(toml, encoding="utf-8")
    trained = command(
        "train", "recognizer", "--config", folder / "train.toml", "--train", clinical() / "dev", "--epochs", "1",
        "--l2", "1", "--no-rescore", "--attributes", "off", "--output", folder / "model", "--quiet",
    )  # fmt: skip
    assert trained.returncode == 0, trained.stderr
    assert load(folder / "model").features == templates


def test_a_record_is_gone_on_from_and_serves_other_prices(searched, command):
    folder, _ = searched
    record = folder / "search.json"
    before = record.read_bytes()
    again = command(*arguments(folder, "--output", record, "--json", "--jobs", "2"))
    assert "trials of an earlier search in" in again.stderr
    assert "\ntrial " not in again.stderr
    assert record.read_bytes() == before
    alone = command(*arguments(folder, "--json", "--jobs", "1", "--quiet"))
    assert alone.stderr == ""
    assert plain(alone.stdout) == plain(again.stdout)
    assert plain(alone.stdout)["complete"]
    dear = command(*arguments(folder, "--output", record, "--json", "--price", "100"))
    assert plain(dear.stdout)["groups"] == []
    assert "\ntrial " not in dear.stderr, "the same trials at another price"


def test_presets_are_starts_and_steps_and_seconds_end_a_search(command, tmp_path):
    line = arguments(tmp_path, "--start", "small", "--direction", "backward", "--steps", "1", "--json")
    values = plain(command(*line).stdout)
    assert values["steps"][0]["groups"] == ["word", "near", "small-rest"]
    assert not any("pos" in template for template in values["features"]), "without what the data lack"
    assert len(values["steps"]) == 2
    over = command(*arguments(tmp_path, "--seconds", "1e-9"))
    assert over.returncode == 2
    assert "in which no trial could begin; give more" in over.stderr


def test_a_search_without_development_data_holds_out_a_tenth(command, tmp_path):
    line = [part for part in arguments(tmp_path, "--steps", "1", "--json") if part not in ("--dev", clinical() / "dev")]
    assert plain(command(*line).stdout)["steps"][0]["action"] == "start"


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (["--start", "nothing"], "no feature preset 'nothing'; there are ace"),
        (["--direction", "sideways"], "direction is 'sideways', expected one of forward, backward, both"),
        (["--direction", "backward"], "name a preset to start from"),
        (["--price", "-1"], "price is -1.0, expected points of F1, 0 or more"),
        (["--level", "0"], "level is 0.0, expected a probability"),
        (["--seconds", "0"], "--seconds: found 0.0; input should be greater than 0"),
        (["--groups", "missing.toml"], "is given 2 times"),
        (["--structure", "nothing"], "nothing"),
        (["--l2", "-3"], "l2"),
        (["--clusters", "missing.paths"], "missing.paths"),
    ],
)
def test_wrong_usage_is_told_in_a_line_before_any_training(command, tmp_path, more, told):
    result = command(*arguments(tmp_path, *more))
    assert (result.returncode, result.stdout) == (2, "")
    assert told in result.stderr
    assert "trial 1" not in result.stderr


def test_features_in_a_configuration_file_are_told(command, tmp_path):
    (tmp_path / "train.toml").write_text('features = "small"\n', encoding="utf-8")
    result = command(*arguments(tmp_path, "--config", tmp_path / "train.toml"))
    assert result.returncode == 2
    assert "use --start PRESET" in result.stderr


def test_a_record_of_something_else_is_refused_unless_forced(searched, command, tmp_path):
    record = shutil.copy(searched[0] / "search.json", tmp_path / "search.json")
    other = [*arguments(tmp_path, "--output", record, "--steps", "1"), "--min-count", "2"]
    refused = command(*other)
    assert refused.returncode == 2
    assert "is of other options or data (min_count); name another file, or give --force" in refused.stderr
    assert command(*other, "--force").returncode == 0
    assert json.loads(record.read_text(encoding="utf-8"))["settings"]["min_count"] == 2
    Path(record).write_text("{}", encoding="utf-8")
    assert "is no record of a feature search" in command(*other).stderr


def test_ctrl_c_keeps_what_is_done(command, tmp_path, monkeypatch):
    fit, done = Recognizer.fit, []

    def interrupted(self, *given, **named):
        done.append(self.features)
        if len(done) == 3:
            raise KeyboardInterrupt
        return fit(self, *given, **named)

    monkeypatch.setattr(Recognizer, "fit", interrupted)
    result = command(*arguments(tmp_path, "--output", tmp_path / "search.json", "--jobs", "1"))
    assert (result.returncode, result.stdout) == (130, "")
    assert "interrupted after 3 trials; the same command resumes from" in result.stderr
    assert len(json.loads((tmp_path / "search.json").read_text(encoding="utf-8"))["trials"]) == 3

"""The command line over the file, and one clear line for a bad file."""

from __future__ import annotations

import re
from functools import partial
from typing import get_args

import pytest

from spanloom.cli.config import CommonOptions, checked, options_of
from spanloom.errors import UsageError
from spanloom.features import PRESETS
from spanloom.formats import FORMATS
from spanloom.hypergraph import ENGINES
from spanloom.model.choices import Optimizer
from spanloom.recognize import Recognizer
from spanloom.structures import READINGS, STRUCTURES

TrainOptions = options_of(Recognizer, CommonOptions)
effective = partial(checked, TrainOptions)


@pytest.fixture
def config(tmp_path):
    def write(text: str | bytes) -> str:
        path = tmp_path / "train.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    return write


def test_the_command_line_wins_over_the_file(config):
    file = config('train = "a"\noutput = "m"\nepochs = 3\nstructure = "bio"\ntune-penalty = false\n')
    options = effective({"train": "b", "epochs": None, "structure": "separators", "l2": []}, file)
    assert options.train == ["b"]
    assert options.parameters() == {"structure": "separators", "epochs": 3, "tune_penalty": False, "n_jobs": -1}


@pytest.mark.parametrize(("given", "expected"), [([0.5], 0.5), ([0.1, 1.0], [0.1, 1.0])])
def test_one_l2_is_a_number_and_several_are_a_grid(given, expected):
    assert effective({"train": "t", "output": "m", "l2": given}, None).l2 == expected


def test_every_parameter_of_the_recognizer_has_a_key_and_an_option(command):
    keys = {"n_jobs": "jobs", "random_state": "seed"}
    parameters = {keys.get(name, name) for name in Recognizer().get_params()}
    assert parameters <= set(TrainOptions.model_fields)
    shown = command("train", "recognizer", "--help").stdout
    assert [name for name in TrainOptions.model_fields if f"--{name.replace('_', '-')}" not in shown] == []


def test_help_names_every_choice(command):
    shown = re.sub(r"-\s+", "-", command("train", "recognizer", "--help").stdout)  # names are broken after hyphens
    for choices in (STRUCTURES, PRESETS, ENGINES, get_args(Optimizer), READINGS, FORMATS):
        assert [choice for choice in choices if choice not in shown] == []


def test_clusters_are_a_file_or_a_number():
    given = {"train": "t", "output": "m"}
    assert effective({**given, "clusters": "100"}, None).clusters == 100
    assert effective({**given, "clusters": "paths.txt"}, None).clusters == "paths.txt"


def test_rules_for_sections_are_a_file_or_a_table(config):
    given = {"train": "t", "output": "m", "vocabulary": "v.tsv"}
    expected = {"sections": "r.toml", "vocabulary": "v.tsv", "n_jobs": -1}
    assert effective({**given, "sections": "r.toml"}, None).parameters() == expected
    options = effective(given, config("[sections.sections]\nplan = 'plan|way'\n"))
    assert options.parameters()["sections"] == {"sections": {"plan": "plan|way"}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('strucure = "bio"', "unknown key 'strucure'; the keys are train, output, dev"),
        ('train = "t"\noutput = "m"\nepochs = "3"', "epochs: found '3'; input should be a valid integer"),
        ('train = "t"\noutput = "m"\nepochs = 0', "epochs: found 0; input should be greater than or equal to 1"),
        ('train = "t"\noutput = "m"\nl2 = "small"', "l2: found 'small'"),
        ('train = "t"', "--output is missing"),
        ("train =", "not a TOML file"),
        (b"\xff", "found bytes that are not UTF-8"),
        ("train = " + "[" * 5000, "nested too deeply"),
    ],
)
def test_a_bad_file_gets_one_line(config, text, message):
    with pytest.raises(UsageError) as caught:
        effective({}, config(text))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file(tmp_path):
    with pytest.raises(UsageError, match="cannot be read"):
        effective({}, str(tmp_path / "no.toml"))

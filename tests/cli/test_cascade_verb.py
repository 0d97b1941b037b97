"""`lab cascade`, and the other verbs with its model."""

from __future__ import annotations

import json
import re

import pytest

from spanloom.cli.config import CommonOptions, checked, options_of
from spanloom.errors import UsageError
from spanloom_lab import Cascade
from spanloom_lab.cascade import ORDERS
from spanloom_lab.cli.cascade import order_of

CascadeOptions = options_of(Cascade, CommonOptions)


@pytest.fixture(scope="module")
def trained(command, corpus, tmp_path_factory):
    path = tmp_path_factory.mktemp("cascade") / "model"
    options = ["--train", corpus / "train.jsonl", "--dev", corpus / "dev.jsonl", "--output", path, "--epochs", "3"]
    orders = [part for name in ("problem", "drug", "body") for part in ("--order", name)]
    result = command("lab", "cascade", *options, *orders, "--features", "small", "--seed", "4")
    assert (result.returncode, result.stdout) == (0, ""), result.stderr
    return path, result.stderr


def test_training_tells_of_each_chain(trained):
    lines = trained[1]
    for words in ("problem: training", "drug after problem: training", "body after problem, drug: training"):
        assert words in lines
    assert "3 chains" in lines
    assert re.search(r"  problem: 12 mentions, lambda [013.]+, mention penalty ", lines)
    assert "1 mention: it has a gap" in lines
    assert "development F1" in lines


def test_the_verbs_take_its_model(command, trained, corpus, tmp_path):
    model, gold = trained[0], corpus / "train.jsonl"
    result = command("predict", model, gold, "--output", tmp_path / "out.jsonl")
    assert (result.returncode, result.stdout) == (0, ""), result.stderr
    assert "in 10 documents" in result.stderr
    of_model = command("evaluate", gold, "--model", model, "--json")
    of_output = command("evaluate", gold, tmp_path / "out.jsonl", "--json")
    assert json.loads(of_model.stdout) == json.loads(of_output.stdout)
    assert json.loads(of_model.stdout)["overall"]["predicted"] > 0
    refused = command("predict", model, gold, "--reading", "all")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "is a cascade, which has no use for --reading" in refused.stderr


def test_inspect(command, trained):
    shown = command("inspect", trained[0], "--top", "2")
    assert (shown.returncode, shown.stderr) == (0, "")
    for words in ("kind           cascade", "body, drug, problem", "  chain 1      problem: ", "role B-drug"):
        assert words in shown.stdout
    values = json.loads(command("inspect", trained[0], "--role", "U-body", "--json").stdout)
    assert list(values["strongest"]) == ["U-body"]
    assert values["parameters"]["order"] == ["problem", "drug", "body"]
    assert list(values["training"]["chains"]) == ["problem", "drug", "body"]
    assert any(template.startswith("cascade_1_drug") for template in values["templates"])


def test_orders_on_the_command_line_and_in_a_file(tmp_path):
    given = {"train": "t", "output": "m"}
    for order, expected in (([], None), (["search"], "search"), (["x"], ["x"]), (["search", "x"], ["search", "x"])):
        assert checked(CascadeOptions, {**given, "order": order_of(order)}, None).order == expected
    (tmp_path / "train.toml").write_text('train = "t"\noutput = "m"\norder = ["b", "a"]\n')
    options = checked(CascadeOptions, {}, str(tmp_path / "train.toml"))
    assert options.parameters() == {"order": ["b", "a"], "n_jobs": -1}
    with pytest.raises(UsageError, match="unknown key 'structure'; the keys are train, output, dev"):
        (tmp_path / "train.toml").write_text('structure = "bio"\n')
        checked(CascadeOptions, given, str(tmp_path / "train.toml"))


def test_every_parameter_has_a_key_and_an_option(command):
    keys = {"n_jobs": "jobs", "random_state": "seed"}
    assert {keys.get(name, name) for name in Cascade().get_params()} <= set(CascadeOptions.model_fields)
    shown = command("lab", "cascade", "--help").stdout
    assert [name for name in CascadeOptions.model_fields if f"--{name.replace('_', '-')}" not in shown] == []
    assert all(order in shown for order in ORDERS)


def test_an_order_that_is_not_one_of_the_types(command, corpus, tmp_path):
    result = command(
        "lab", "cascade", "--train", corpus / "train.jsonl", "--output", tmp_path / "model", "--order", "body", "-q"
    )
    assert result.returncode == 2
    assert "order is body, expected each of the training data's types once: body, drug, problem" in result.stderr
    assert not (tmp_path / "model").exists()

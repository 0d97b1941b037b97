"""Groups of templates: the table, presets as choices of groups, and files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spanloom.errors import UsageError
from spanloom.features import PRESETS, parse_all
from spanloom_lab.feature_groups import GROUPS, groups_of, read_groups, templates_of


def features(templates) -> set[str]:
    return {str(feature) for template in parse_all(templates) for feature in template.features}


def test_no_two_groups_share_a_feature():
    counts: dict[str, list[str]] = {}
    for name, templates in GROUPS.items():
        for feature in features(templates):
            counts.setdefault(feature, []).append(name)
    # the window holds words without their place, so it shares none
    assert {feature: names for feature, names in counts.items() if len(names) > 1} == {}


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_is_a_choice_of_groups(preset):
    names, groups = groups_of(preset)
    assert features(templates_of(names, groups)) == features(PRESETS[preset])
    assert set(GROUPS) <= set(groups)
    alone = [features(templates_of(set(names) - {name}, groups)) for name in names]
    assert all(fewer < features(PRESETS[preset]) for fewer in alone), "a group that brings nothing is no choice"


@pytest.mark.parametrize("preset", ["biomedical", "best", "fast"])
def test_presets_that_were_made_of_groups_need_no_rest(preset):
    names, groups = groups_of(preset)
    assert groups == GROUPS
    assert set(names) < set(GROUPS)


def test_best_and_fast_are_what_the_record_found():
    record = json.loads((Path(__file__).parents[2] / "benchmarks/results/feature_search.json").read_text("utf-8"))
    found = record["data"]["What the searches found"]
    for preset, clusters in (("best", {"clusters", "cluster-pairs"}), ("fast", {"clusters"})):
        groups = {name for own in found[preset].values() for name in own["groups"]}
        assert {*groups_of(preset)[0]} == groups | clusters


def test_unknown_presets_are_told():
    with pytest.raises(UsageError, match="no feature preset 'nothing'; there are ace, genia"):
        groups_of("nothing")


def test_templates_stand_once_in_the_order_of_the_table():
    groups = {"b": ("w[0]", "low[0]"), "a": ("low[0]", "norm[0]")}
    assert templates_of(["a", "b"], groups) == ("bias", "w[0]", "low[0]", "norm[0]")


def test_groups_of_a_file_take_the_place_of_the_table_or_are_added(tmp_path):
    path = tmp_path / "groups.toml"
    path.write_text('mine = ["w[ 0 ]"]\nshape = ["shape[0]"]\n', encoding="utf-8")
    assert read_groups(path) == {"mine": ("w[0]",), "shape": ("shape[0]",)}
    path.write_text('default = true\nmine = ["w[0]"]\nshape = ["shape[0]"]\n', encoding="utf-8")
    assert read_groups(path) == {**GROUPS, "mine": ("w[0]",), "shape": ("shape[0]",)}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("mine = ", "not a TOML file"),
        ("", r"no group; expected lines such as shape = \[\"shape\[0\]\"\]"),
        ("default = 3", "default is '3', expected true or false"),
        ('mine = "w[0]"', "mine.*expected a list of templates"),
        ("mine = []", "mine.*expected a list of templates"),
        ("mine = [3]", "mine.*expected a list of templates"),
        ('[mine]\nof = ["w[0]"]', "mine.*expected a list of templates"),
        ('mine = ["w[0"]', "mine.*w\\[0"),
    ],
)
def test_what_is_wrong_in_a_file_is_told_in_a_line(tmp_path, text, told):
    path = tmp_path / "groups.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=told) as error:
        read_groups(path)
    assert "groups.toml" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_that_is_missing_or_no_text_is_told(tmp_path):
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        read_groups(tmp_path / "missing.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="not a TOML file"):
        read_groups(tmp_path / "bytes.toml")

"""`spanloom predict --attributes, --language, --cues, --sections`."""

from __future__ import annotations

import json

import pytest

from spanloom import Document, Mention, Recognizer

TEXT = "PMH: chest pain.\n\nNo chest pain."


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    def note(text: str, **attributes: bool) -> Document:
        at = text.index("chest pain")
        return Document(text, mentions=[Mention("problem", [(at, at + 10)], attributes=attributes)])

    documents = [note("No chest pain.", negated=True), note("Has chest pain.")] * 30
    path = tmp_path_factory.mktemp("model") / "model"
    Recognizer("bio", features=["bias", "w[0]"], epochs=5).fit(documents).save(path)
    return path


def marked(result) -> list[dict]:
    assert result.returncode == 0, result.stderr
    return [mention.get("attributes") for mention in json.loads(result.stdout)["mentions"]]


def test_what_was_learned_is_written_and_rules_mark_the_rest(command, model):
    def run(*options: object) -> list[dict]:
        return marked(command("predict", model, "-", *options, input=TEXT))

    assert run() == [{"negated": False}, {"negated": True}]
    assert run("--attributes", "none") == [None, None]
    assert run("--attributes", "historical") == [{"historical": True}, None]
    assert run("--attributes", "negated,historical") == [{"negated": False, "historical": True}, {"negated": True}]
    assert run("--attributes", "all", "--language", "en") == run("--attributes", "all")


def test_given_mentions_are_kept(command, model, tmp_path):
    path = tmp_path / "gold.jsonl"
    path.write_text('{"text": "Her mother had no gout.", "mentions": [{"type": "problem", "spans": [[18, 22]]}]}\n')
    result = command("predict", model, path, "--mentions", "given", "--attributes", "all", "--output", "-")
    assert marked(result) == [{"negated": True, "experiencer": "family"}]


def test_sections_are_written(command, model):
    result = command("predict", model, "-", "--attributes", "none", "--sections", input=TEXT)
    assert marked(result) == [{"section": "past_history"}, {"section": "past_history"}]
    assert json.loads(result.stdout)["sections"] == [{"name": "past_history", "span": [0, 32]}]


def test_cues_of_ones_own(command, model, tmp_path):
    cues = tmp_path / "cues.toml"
    cues.write_text('[planned]\nbefore = ["pmh :"]\n[headings]\nlist = "pmh"\n')
    result = command("predict", model, "-", "--attributes", "planned", "--cues", cues, input=TEXT)
    assert marked(result) == [{"planned": True}, None]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--attributes", "negate"], "did you mean negated"),
        (["--attributes", "all", "--language", "fr"], "language is 'fr', expected one of en, es, zh"),
        (["--language", "en"], "--language is about --attributes and --sections"),
        (["--attributes", "all", "--cues", "nothing.toml"], "cannot be read"),
    ],
)
def test_wrong_options_are_refused(command, model, options, message):
    result = command("predict", model, "-", *options, input=TEXT)
    assert (result.returncode, result.stdout) == (2, "")
    assert message in result.stderr

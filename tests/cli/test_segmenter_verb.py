"""`train segmenter`, and the other verbs with its model."""

from __future__ import annotations

import json
import re

import pytest

from spanloom.data import chinese_clinical

TRAIN, DEV, TEST = (chinese_clinical() / f"{part}.jsonl" for part in ("train", "dev", "test"))


@pytest.fixture(scope="module")
def trained(command, tmp_path_factory):
    path = tmp_path_factory.mktemp("segmenter") / "model"
    options = ["--method", "dual", "--single-word", "medication", "--features", "set2", "--epochs", "3"]
    result = command("train", "segmenter", *options, "--train", TRAIN, "--dev", DEV, "--output", path)
    assert (result.returncode, result.stdout) == (0, ""), result.stderr
    return path, result.stderr


def test_training_tells_of_both_chains(trained):
    lines = trained[1]
    assert "trained on 39 documents: 298 sentences, 10,330 characters, 5,656 words, 1,022 mentions" in lines
    assert re.search(r"  words: lambda 0\.\d+, mention penalty 0\.00, development F1 \d\d\.\d", lines)
    assert re.search(r"development F1 \d\d\.\d of words, \d\d\.\d of mentions, in ", lines)


def test_predict_writes_words_and_mentions(command, trained):
    done = command("predict", trained[0], "-", input="患者夜间无关节疼痛")
    record = json.loads(done.stdout)
    assert [record["text"][start:end] for start, end in record["tokens"]] == ["患者", "夜间", "无", "关节", "疼痛"]
    assert [(mention["type"], mention["spans"]) for mention in record["mentions"]] == [("problem", [[5, 9]])]
    assert record["meta"]["dual"]["optimal"] == [True]
    spaced = command("predict", trained[0], "-", "--format", "spaced", input="患者夜间无关节疼痛")
    assert spaced.stdout == "患者 夜间 无 关节 疼痛\n"
    refused = command("predict", trained[0], "-", "--reading", "all", input="痛")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "is a segmenter, which has no use for --reading" in refused.stderr


def test_a_dictionary_keeps_words(command, trained, tmp_path):
    (tmp_path / "words.txt").write_text("夜间无\n", encoding="utf-8")
    (tmp_path / "drugs.txt").write_text("青霉素\n", encoding="utf-8")
    options = ["--dictionary", tmp_path / "words.txt", "--dictionary", f"medication={tmp_path / 'drugs.txt'}"]
    done = command("predict", trained[0], "-", "--quiet", *options, input="患者夜间无疼痛，予青霉素")
    record = json.loads(done.stdout)
    words = [record["text"][start:end] for start, end in record["tokens"]]
    assert {"夜间无", "青霉素"} <= {*words}
    assert {"type": "medication", "spans": [[9, 12]], "score": 1.0}.items() <= record["mentions"][-1].items()
    refused = command("predict", trained[0], "-", "--dictionary", f"drug={tmp_path / 'drugs.txt'}", input="痛")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "dictionary: found the label 'drug', expected one of word, " in refused.stderr


def test_evaluate_words(command, trained, tmp_path):
    options = ["--words", "--known", TRAIN]
    shown = command("evaluate", TEST, "--model", trained[0], *options)
    assert shown.returncode == 0, shown.stderr
    assert re.search(r"^segmentation\n +P +R +F1 +gold +pred\.", shown.stdout, re.M)
    assert re.search(r"^unseen words +\d\d\.\d\d +342$", shown.stdout, re.M)
    command("predict", trained[0], TEST, "--output", tmp_path / "out.chars")
    values = json.loads(command("evaluate", TEST, "--model", trained[0], *options, "--json").stdout)["segmentation"]
    assert values["words"]["gold"] == 1381
    assert values["unseen"]["gold"] == 342
    assert values["cuts"] == {"gold": 0, "predicted": 0}
    assert "segmentation" not in json.loads(command("evaluate", TEST, TEST, "--json").stdout)
    perfect = json.loads(command("evaluate", TEST, TEST, "--words", "--json").stdout)["segmentation"]
    assert (perfect["words"]["f1"], perfect["unseen"]) == (1.0, None)
    refused = command("evaluate", TEST, TEST, "--known", TRAIN)
    assert (refused.returncode, "give it with --words or --html" in refused.stderr) == (2, True)
    (tmp_path / "bare.txt").write_text("患者无关节疼痛\n", encoding="utf-8")
    for arguments in ((TEST, TEST, "--known", tmp_path / "bare.txt"), (tmp_path / "bare.txt", TEST)):
        refused = command("evaluate", *arguments, "--words")
        assert (refused.returncode, "bare.txt: document 'bare' has no words" in refused.stderr) == (1, True)
    refused = command("evaluate", TEST, TEST, "--words", "--column", "pos")
    assert (refused.returncode, "leave out --compare, --heads, --words" in refused.stderr) == (2, True)


def test_inspect(command, trained):
    shown = command("inspect", trained[0], "--top", "1", "--all")
    assert (shown.returncode, shown.stderr) == (0, "")
    for words in ("kind           segmenter", "dual_iterations 50", "role B-medication", "chain 2      mentions"):
        assert words in shown.stdout
    values = json.loads(command("inspect", trained[0], "--json").stdout)
    assert values["parameters"]["single_word"] == ["medication"]
    assert values["roles"][:5] == ["B", "I", "E", "S", "O"]


def test_options_of_the_file_and_of_the_command_line(command, tmp_path):
    (tmp_path / "drugs.txt").write_text("阿司匹林\n", encoding="utf-8")
    (tmp_path / "c.toml").write_text(
        f'train = "{TRAIN}"\ndev = "{DEV}"\nfeatures = "set3"\nepochs = 1\n'
        'constraints = ["* begins -> not word continues"]\n'
        f'[dictionaries]\ndrug = "{tmp_path / "drugs.txt"}"\n',
        encoding="utf-8",
    )
    done = command("train", "segmenter", "--config", tmp_path / "c.toml", "--output", tmp_path / "m", "-q")
    assert done.returncode == 0, done.stderr
    for wrong, words in (
        (["--dictionary", "drugs.txt"], "expected LABEL=FILE"),
        (["--single-word", "drug"], "there is no mention type 'drug'"),
        (["--constraint", "x"], "constraint 'x'"),
        (["--method", "x"], "method is 'x'"),
        (["--features", "biomedical"], "expected one of set1, set2, set3"),
    ):
        done = command("train", "segmenter", "--train", TRAIN, "--output", tmp_path / "n", *wrong)
        assert done.returncode == 2
        assert words in done.stderr


def test_lost_mentions_are_all_listed(command, tmp_path):
    record = json.loads(DEV.read_text(encoding="utf-8").splitlines()[0])
    record["mentions"] = [{"type": "problem", "spans": [[at, at + 1]]} for at in range(8)]
    lines = TRAIN.read_text(encoding="utf-8").splitlines()[:5]
    (tmp_path / "t.jsonl").write_text("\n".join([*lines, json.dumps(record)]), encoding="utf-8")
    options = ["--features", "set1", "--epochs", "1", "--dev", DEV, "--output", tmp_path / "m"]
    done = command("train", "segmenter", "--train", tmp_path / "t.jsonl", *options)
    assert done.returncode == 0, done.stderr
    cut = [line for line in done.stderr.splitlines() if line.startswith("  cardiology-03 ")]
    assert len(cut) == 4  # 患 者 | ， | 男 | ， | 54 | 岁
    assert "cannot be represented: 4 mentions: it begins or ends inside a word" in done.stderr

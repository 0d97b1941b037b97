"""The bundled Chinese corpus is what its guidelines say: read here line by line, without any reader of the package."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest

import spanloom
from spanloom.data import chinese_clinical
from spanloom.document.validate import validate

SPLITS = ("train", "dev", "test")
COUNTS = {  # documents, sentences, words, and mentions by type, as the guidelines' table has them
    "train": (39, 298, 5656, {"problem": 450, "test": 266, "medication": 148, "treatment": 158}),
    "dev": (5, 33, 626, {"problem": 49, "test": 27, "medication": 19, "treatment": 20}),
    "test": (10, 68, 1381, {"problem": 108, "test": 58, "medication": 32, "treatment": 38}),
}
# Sentences and phrases that Xu et al. (2014) discuss: kept out, so that they are unseen by what is trained here.
EXAMPLES = ("患者夜间无关节疼痛", "患者在医院输液治疗数天", "停用新赛斯平", "还原性谷胱甘肽", "肝内胆管多发结石")
Record = dict[str, Any]


def records(split: str) -> list[Record]:
    lines = (chinese_clinical() / f"{split}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def corpus() -> dict[str, list[Record]]:
    return {split: records(split) for split in SPLITS}


@pytest.fixture(scope="module")
def documents(corpus: dict[str, list[Record]]) -> list[Record]:
    return [record for split in SPLITS for record in corpus[split]]


def sentences(record: Record) -> Iterator[list[tuple[int, int]]]:
    """The words of each sentence, as offsets."""
    for first, end in record["sentences"]:
        yield [(a, b) for a, b in record["tokens"][first:end]]


def surfaces(record: Record) -> Iterator[tuple[str, str]]:
    for mention in record["mentions"]:
        ((start, end),) = mention["spans"]
        yield mention["type"], record["text"][start:end]


def test_counts(corpus: dict[str, list[Record]]) -> None:
    for split, (documents, sentences, words, mentions) in COUNTS.items():
        found = corpus[split]
        assert len(found) == documents, split
        assert sum(len(record["sentences"]) for record in found) == sentences, split
        assert sum(len(record["tokens"]) for record in found) == words, split
        assert Counter(kind for record in found for kind, _ in surfaces(record)) == mentions, split
    assert sum(count[1] for count in COUNTS.values()) >= 250


def test_words_add_up_to_the_text(documents: list[Record]) -> None:
    for record in documents:
        text, words = record["text"], record["tokens"]
        assert "".join(text[a:b] for a, b in words) == re.sub(r"[ \n]", "", text), record["id"]
        assert all(a < b for a, b in words), record["id"]
        assert all(end <= start for (_, end), (start, _) in pairwise(words)), record["id"]
        assert not any(re.search(r"\s", text[a:b]) for a, b in words), record["id"]


def test_sentences_cover_the_words_and_keep_within_a_line(documents: list[Record]) -> None:
    for record in documents:
        bounds = record["sentences"]
        assert bounds[0][0] == 0 and bounds[-1][1] == len(record["tokens"]), record["id"]
        assert all(first < end for first, end in bounds), record["id"]
        assert all(end == first for (_, end), (first, _) in pairwise(bounds)), record["id"]
        for words in sentences(record):
            assert "\n" not in record["text"][words[0][0] : words[-1][1]], record["id"]


def test_a_mention_is_made_of_whole_words_of_one_sentence(documents: list[Record]) -> None:
    for record in documents:
        places = []
        for words in sentences(record):
            starts, ends = {a: i for i, (a, _) in enumerate(words)}, {b: i for i, (_, b) in enumerate(words)}
            places.append((starts, ends))
        for mention in record["mentions"]:
            ((start, end),) = mention["spans"]
            owners = [(s[start], e[end]) for s, e in places if start in s and end in e]
            assert len(owners) == 1, (record["id"], mention)
            first, last = owners[0]
            assert first <= last
            assert mention["type"] != "medication" or first == last, (record["id"], mention)


def test_mentions_stand_in_order_do_not_overlap_and_have_names(documents: list[Record]) -> None:
    for record in documents:
        spans = [mention["spans"][0] for mention in record["mentions"]]
        assert all(one[1] <= other[0] for one, other in pairwise(spans)), record["id"]
        names = [mention["id"] for mention in record["mentions"]]
        assert len(set(names)) == len(names), record["id"]


def test_splits_are_disjoint_and_share_no_sentence(corpus: dict[str, list[Record]]) -> None:
    names = [record["id"] for split in SPLITS for record in corpus[split]]
    assert len(set(names)) == len(names)
    seen: Counter[str] = Counter()
    for split in SPLITS:
        for record in corpus[split]:
            seen.update(record["text"][words[0][0] : words[-1][1]] for words in sentences(record))
    assert [sentence for sentence, count in seen.items() if count > 1] == []


def test_the_same_string_is_never_segmented_in_two_ways(documents: list[Record]) -> None:
    words = {record["text"][a:b] for record in documents for a, b in record["tokens"]}
    longest = max(map(len, words))
    split: dict[str, str] = {}
    for record in documents:
        for tokens in sentences(record):
            parts = [record["text"][a:b] for a, b in tokens]
            for first in range(len(parts)):
                for end in range(first + 2, len(parts) + 1):
                    joined = "".join(parts[first:end])
                    if len(joined) > longest:
                        break
                    if joined in words:
                        split[joined] = f"{record['id']}: {'/'.join(parts[first:end])}"
    assert split == {}


def test_the_same_string_is_typed_in_one_way_and_never_left_out(documents: list[Record]) -> None:
    types: dict[str, set[str]] = defaultdict(set)
    for record in documents:
        for kind, surface in surfaces(record):
            types[surface].add(kind)
    assert {surface: kinds for surface, kinds in types.items() if len(kinds) > 1} == {}
    missed = []
    for record in documents:
        inside = {i for mention in record["mentions"] for i in range(*mention["spans"][0])}
        for words in sentences(record):
            free = [not inside.intersection(range(a, b)) for a, b in words]
            for first in range(len(words)):
                for end in range(first + 1, len(words) + 1):
                    if not free[end - 1]:
                        break
                    if (surface := record["text"][words[first][0] : words[end - 1][1]]) in types:
                        missed.append((record["id"], surface))
    assert missed == []


def test_variety(documents: list[Record]) -> None:
    text = "".join(record["text"] for record in documents)
    for example in (
        "0.9%氯化钠",
        "MRI",
        "CRP",
        "心电图",
        "经皮冠状动脉介入治疗",
        "青霉素过敏",
        "无发热",
        "３",
        "ｍｇ",
        "℃",
    ):
        assert example in text, example
    departments = {record["meta"]["department"] for record in documents}
    assert len(departments) == 27


def test_examples_of_the_paper_are_not_in_the_corpus(documents: list[Record]) -> None:
    text = "\n".join(record["text"] for record in documents)
    assert [example for example in EXAMPLES if example in text] == []


@pytest.mark.parametrize("split", SPLITS)
def test_the_reader_finds_nothing_to_complain_about(split: str) -> None:
    path = chinese_clinical() / f"{split}.jsonl"
    assert [problem for document in spanloom.read(path) for problem in validate(document)] == []
    assert path.read_bytes().endswith(b"\n")

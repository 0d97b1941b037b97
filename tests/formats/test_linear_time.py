"""Reading takes time that grows with the size of a file, whatever stands in it.

Each case has quadratic work where a reader looks at the whole text, or at all mentions, for each mention. Processor
times of a file and of one four times as long are compared: 4 is linear, 16 is quadratic.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from time import process_time

import pytest

from spanloom.formats import validate

GROWTH, MOST = 4, 9.0
VALUES = "\t_" * 8  # of the other columns
TRIES = 3  # the best of which counts


def jsonl(text: str, mention: dict[str, object], count: int) -> str:
    return json.dumps({"text": text, "mentions": [mention] * count})


def bioc(passage: str) -> str:
    return f"<collection><document><id>1</id><passage><offset>0</offset>{passage}</passage></document></collection>"


def annotation(end: int, text: str, *infons: str) -> str:
    pairs = "".join(f'<infon key="{key}">{value}</infon>' for key, value in (pair.split("=") for pair in infons))
    return f'<annotation id="1">{pairs}<location offset="0" length="{end}"/><text>{text}</text></annotation>'


def part_and_whole(count: int) -> str:
    whole = annotation(9, "aaaaaaaaa", "type=D")
    part = annotation(5, "aaaaa", "type=D", "CompositeRole=IndividualMention")
    return bioc(f"<text>{'a' * 20}</text>{(whole + part) * count}")


def chain(count: int) -> str:
    regions = [
        {"id": f"r{i}", "type": "labels", "value": {"start": i, "end": i + 1, "labels": ["x"], "text": "a"}}
        for i in range(count)
    ]
    joins = [
        {"type": "relation", "from_id": f"r{i}", "to_id": f"r{i + 1}", "labels": ["fragment"]}
        for i in reversed(range(count - 1))
    ]
    return json.dumps([{"data": {"text": "a" * count}, "annotations": [{"result": regions + joins}]}])


def sentences(count: int) -> str:
    one = "<sentence><offset>{}</offset><text></text></sentence>"
    return bioc("".join(one.format(i) for i in range(count)))


def bracketed(number: int, bracket: str) -> str:
    return f"{number}\ta{VALUES[:-2]}\tEntity={bracket}\n"


# what is repeated -> the ending of the file's name, how often, and the file
CASES: dict[str, tuple[str, int, Callable[[int], str]]] = {
    "fields, one twice": ("jsonl", 3000, lambda n: "{" + "".join(f'"k{i}":1,' for i in range(n)) + f'"k{n - 1}":2}}'),
    "wrong texts": ("jsonl", 500, lambda n: jsonl("ä" * 100 * n, {"type": "x", "spans": [[0, 5]], "text": "z"}, n)),
    "wrong texts of long mentions": (
        "jsonl", 500, lambda n: jsonl("ä" * 1000 * n, {"type": "x", "spans": [[0, 1000 * n]], "text": "z"}, n),
    ),
    "mentions outside": ("jsonl", 500, lambda n: jsonl("ä" * 400 * n, {"type": "x", "spans": [[0, 2000 * n]]}, n)),
    "long mentions": ("jsonl", 500, lambda n: jsonl("a" * 4000 * n, {"type": "x", "spans": [[0, 4000 * n]]}, n)),
    "ranges": ("conllu", 1000, lambda n: "".join(f"{i}-{i}\ta{VALUES}\n" for i in range(1, n + 1)) + "\n"),
    "columns": ("conll", 1000, lambda n: f"# global.columns = word {'_ ' * n}\n" + "a\n\n" * n),
    "names of columns": (
        "conll", 1000, lambda n: f"# global.columns = word {' '.join(f'c{i}' for i in range(n))}\na\n",
    ),
    "marks of documents": (
        "conll", 20, lambda n: "a\tO\n\n##" + "1" * 1000 * n + " a\n\n# id x a" + "=a" * 900 * n + " b\n",
    ),
    "tags of a token": ("conll", 20, lambda n: f"a {'B-x ' * 40 * n}\n" + f"a {'I-x ' * 40 * n}\n" + "a O\na O\n"),
    "brackets": (
        "conllu", 200, lambda n: "".join(bracketed(i, "(e1-x" if i <= n else "e1)") for i in range(1, 2 * n + 1)),
    ),
    "brackets that stay open": ("conllu", 200, lambda n: "".join(bracketed(i, f"(e{i}-x") for i in range(1, n + 1))),
    "digits of a relation": ("pubtator", 1000, lambda n: f"1|t|a\n1|a|\n1\tCID\t{'1' * n}\n"),
    "one infon": ("xml", 6000, lambda n: bioc("<infon key='a'>b</infon>" * n + "<text>a</text>")),
    "sentences": ("xml", 1000, sentences),
    "parts": ("xml", 300, part_and_whole),
    "fragments": ("json", 1000, chain),
    "a byte order mark": ("ann", 500, lambda n: "".join(f"T{i}\tx 1 2\ta\n" for i in range(n))),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_time_grows_with_the_file(case: str, tmp_path: Path) -> None:
    ending, count, make = CASES[case]

    def seconds(count: int) -> float:
        path = tmp_path / f"{count}.{ending}"
        path.write_text(make(count), encoding="utf-8")
        if ending == "ann":
            path.with_suffix(".txt").write_text("\ufeff" + "a" * 4000 * count, encoding="utf-8")
        began = process_time()
        for _ in validate(path):
            pass
        return process_time() - began

    seconds(10)
    ratios = []
    while len(ratios) < TRIES and not any(ratio < MOST for ratio in ratios):
        ratios.append(seconds(GROWTH * count) / seconds(count))
    assert min(ratios) < MOST

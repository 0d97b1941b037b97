"""Every message that docs/errors.md quotes is really given: each is provoked here, and compared with the page."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from spanloom import Document, Linker, Mention, Recognizer, SpanloomError, load, read, write
from spanloom.evaluate import evaluate
from spanloom.formats import from_answers

PAGE = Path(__file__).parents[1] / "docs" / "errors.md"
QUOTED = re.findall(r"^\| `(.+?)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
MESSAGES = [message for message in QUOTED if " " in message]  # the other table is of names

MARKED = [Document("a b", mentions=[Mention("x", [(0, 1)])])] * 12


def file(name: str, content: str | bytes) -> Path:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def reading(name: str, content: str | bytes) -> Callable[[], object]:
    return lambda: list(read(file(name, content)))


def record(**fields: object) -> Callable[[], object]:
    return reading("a.jsonl", json.dumps({"text": "abc def", **fields}))


def mention(**fields: object) -> Callable[[], object]:
    return record(mentions=[{"type": "x", "spans": [[0, 3]], **fields}])


def brat(annotations: str) -> Callable[[], object]:
    def run() -> None:
        file("b/n.txt", "chest pain\n")
        file("b/n.ann", annotations)
        list(read("b"))

    return run


def word(number: str, tag: str = "O") -> str:
    return "\t".join((number, "du", *"_" * 8, tag)) + "\n"


def told(name: str, content: str) -> Callable[[], object]:
    """What a reader tells, as an error, so that it is compared as one."""

    def run() -> None:
        file("d/n.txt", "chest pain\n")
        file(f"d/{name}", content)
        lines: list[str] = []
        list(read("d" if name.endswith((".ann", ".pdf")) else f"d/{name}", notice=lines.append))
        raise SpanloomError(*lines)

    return run


def answering(lines: str) -> Callable[[], object]:
    """What is told first of answers, or the error."""

    def run() -> None:
        _, report = from_answers([Document("no pain", id="d")], file("answers.jsonl", lines))
        raise report.problems[0].to_error()

    return run


def piping(content: bytes) -> Callable[[], object]:
    def run() -> None:
        before, sys.stdin = sys.stdin, TextIOWrapper(BytesIO(content))
        try:
            list(read("-"))
        finally:
            sys.stdin = before

    return run


def other_endings() -> None:
    file("e/a.tsv", "a O")
    file("e/b.csv", "a,O")
    list(read("e", format="conll"))


def training(documents: list[Document] = MARKED, **parameters: object) -> Callable[[], object]:
    return lambda: Recognizer(**parameters).fit(documents)


def linking(vocabulary: str) -> Callable[[], object]:
    return lambda: Linker().fit(MARKED, vocabulary=file("v.tsv", vocabulary))


def comparing(gold: list[str], predicted: list[str], text: str = "a") -> Callable[[], object]:
    return lambda: evaluate([Document("a", id=name) for name in gold], [Document(text, id=name) for name in predicted])


def damaged(damage: Callable[[Path], object]) -> Callable[[], object]:
    def run() -> None:
        Recognizer(features=["w[0]"], epochs=1).fit(MARKED).save("model")
        damage(Path("model"))
        load("model")

    return run


def flip(folder: Path) -> None:
    weights = bytearray((folder / "weights.safetensors").read_bytes())
    weights[-1] ^= 1
    (folder / "weights.safetensors").write_bytes(weights)


def age(folder: Path) -> None:
    description = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    file("model/model.json", json.dumps({**description, "format": 99}))


def empty_folder() -> None:
    Path("empty").mkdir()
    list(read("empty"))


# in the order of the page
PROVOKED: list[Callable[[], object]] = [
    lambda: list(read("nothing.jsonl")),
    piping(b"no pain"),
    piping(b""),
    reading("a.xyz", "x"),
    reading("a.pdf", "x"),
    empty_folder,
    reading("a.jsonl", b'{"text":"\xff"}'),
    reading("a.jsonl", r'{"text":"a\u0000b"}'),
    reading("a.jsonl", r'{"text":"a\ud800b"}'),
    reading("a.conll", "a O\nb\n"),
    reading("a.conll", "# global.columns = word tag\na B-x\nb Q-x\n"),
    reading("a.conllu", "3-4\tdu" + "\t_" * 8 + "\n"),
    reading("a.xml", "<html></html>"),
    lambda: list(read("-", format="brat")),
    other_endings,
    reading("c/n.ann", "T1\tproblem 0 5\tchest\n"),
    mention(text="def"),
    record(
        text="😀 abc",
        mentions=[{"type": "x", "spans": [spans], "text": "abc"} for spans in ([3, 6], [2, 5])],
    ),
    mention(spans=[[1, 9]]),
    mention(spans=[[0, 3], [2, 5]]),
    lambda: Document("abc", mentions=[("problem", 0, 3)]),
    brat("T1 problem chest\n"),
    told("n.ann", "T1\tproblem 0 5\tchest\nN1\tReference T7 X:1\tx\n"),
    told("n.ann", "T1\tproblem 6 10;0 5\tpain chest\n"),
    told("n.ann", "T1\tproblem 1 5\tchest\nT2\tproblem 7 10\tpain\n"),
    told("n.ann", "T1\tproblem 0 6\tchest\n"),
    told("a.jsonl", '{"text": "a b", "mentions": [{"type": "x", "spans": [[0, 2]]}]}'),
    told("a.jsonl", '{"text": "a b", "mentions": [{"type": "x", "spans": [[0, 0]]}]}'),
    told("a.jsonl", '{"text": "a", "answer": "reject"}'),
    told("a.conll", "token,ner\na,B-x\n"),
    told("a.conll", "a B-x B-x\nb B-y B-y\n"),
    told("a.conll", "a B-NP O\nb I-NP B-x\n"),
    told("a.conllu", word("1-2") + word("1") + word("2", "B-x")),
    told("a.conllu", word("1") + word("1.1", "B-x")),
    told("a.conllu", word("1").replace("_\tO", "Entity=e1)")),
    told("a.conllu", "# global.Entity = eid-etype-infstat\n" + word("1").replace("_\tO", "Entity=(e1-x-new)")),
    told("note.pdf", ""),
    answering('{"id": "z", "answer": "[]"}'),
    answering('{"answer": "[]"}'),
    answering('{"id": "d", "answer": "[]"}\n{"id": "d", "answer": "None"}'),
    answering('{"id": "d", "answer": "Sorry."}'),
    answering('{"id": "d", "answer": "no **pain**"}'),
    answering('{"id": "d", "answer": {"x": ["cough"]}}'),
    training([Document("a b")]),
    training(structure="nope"),
    training(features="nope"),
    training(features=["pos[0]"]),
    training(features=["w[0"]),
    training(structure="heads"),
    training(structure="shared", components=9),
    lambda: list(Recognizer().predict(MARKED)),
    linking(""),
    linking("He says hello. And more.\n"),
    lambda: write(MARKED, file("a.jsonl", "")),
    lambda: write([Document("a", "n1", mentions=[Mention("x", [(0, 2)])])], "new.jsonl"),
    lambda: write(MARKED, "no/folder/a.jsonl"),
    lambda: write(MARKED, "a.ann"),
    comparing(["1"], ["1"], text="b"),
    comparing(["1"], []),
    lambda: load("./nothing"),
    lambda: load("nothing"),
    lambda: load(file("m/model.json", "{}").parent),
    lambda: load(file("m/model.json", "{").parent),
    damaged(lambda folder: (folder / "weights.safetensors").unlink()),
    damaged(flip),
    damaged(age),
]


def test_each_message_is_provoked_once() -> None:
    assert len(MESSAGES) == len(PROVOKED)


@pytest.mark.parametrize(("message", "provoke"), list(zip(MESSAGES, PROVOKED, strict=False)), ids=lambda value: None)
def test_message(message: str, provoke: Callable[[], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SpanloomError) as found:
        provoke()
    pattern = ".*".join(re.escape(part) for part in message.split("..."))
    assert re.fullmatch(pattern, str(found.value)), f"found {found.value}\nexpected {message}"

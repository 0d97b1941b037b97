"""`spanloom predict --expand`."""

from __future__ import annotations

from pathlib import Path

from spanloom import Document, Mention, Recognizer, read
from spanloom.formats import write


def test_expansions_are_written_beside_the_mention(tmp_path: Path, command) -> None:
    text = "no chest pain and back pain"
    documents = [Document(text, id=str(i), mentions=[Mention("problem", [(3, 27)])]) for i in range(40)]
    model = Recognizer(features=["bias", "w[0]", "w[-1]"]).fit(documents)
    model.save(tmp_path / "model")
    write([Document(text, id="a")], tmp_path / "in.jsonl")
    command("predict", tmp_path / "model", tmp_path / "in.jsonl", "--expand", "--output", tmp_path / "out.jsonl")
    [found] = read(tmp_path / "out.jsonl")
    texts = [mention.text(text) for mention in found.mentions if mention.attributes.get("expanded")]
    assert texts == ["chest pain", "back pain"]
    [whole] = [mention for mention in found.mentions if not mention.attributes]
    assert all(0 < mention.score <= whole.score for mention in found.mentions)
    assert [m.text(text) for m in model.predict(text, expand=True).mentions] == [whole.text(text), *texts]

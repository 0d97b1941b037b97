"""The kernels as plain Python say what their machine code says, for every kind of model and every structure.

Machine code does not look whether an index lies in its array; Python does. And only plain Python is seen by a
measurement of coverage: ``NUMBA_DISABLE_JIT=1 coverage run -m pytest tests/test_uncompiled.py``.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

from spanloom import Cascade, Document, Linker, Mention, Recognizer, Segmenter
from spanloom.hypergraph import ENGINES
from spanloom.lm.language_model import LanguageModel
from spanloom.structures import STRUCTURES
from spanloom.tag.pos_tagger import PosTagger

TEMPLATES = ("bias", "low[0]", "w[-1]|w[0]", "suffix(2)", "bag(shape,-2,2)")
TRAINING: dict[str, Any] = {"features": TEMPLATES, "epochs": 1}
TEXT = "Mild mitral and aortic stenosis was seen."
MENTIONS = [
    Mention("problem", [(0, 4), (5, 11), (23, 31)], head=(23, 31), concepts=["C:1"]),
    Mention("problem", [(16, 31)], head=(23, 31), concepts=["C:2"]),
    Mention("body", [(16, 22)], head=(16, 22), concepts=["C:3"]),
]
NOTES = [
    Document(TEXT, id="gaps", mentions=MENTIONS),
    Document("No stenosis. Aortic stenosis!", id="nested", mentions=[Mention("problem", [(13, 28)], head=(20, 28))]),
]
NEW = [Document("Severe mitral and aortic stenosis today.", id="new")]
NAMES = "id\tname\tsynonyms\nC:1\tmitral stenosis\tmitral valve stenosis\nC:2\taortic stenosis\t\nC:3\taorta\taortic\n"
WORDS = [
    Document(text, tokens=tokens, mentions=[Mention("drug", [span])])
    for text, tokens, span in [
        ("服用阿司匹林。", [(0, 2), (2, 6), (6, 7)], (2, 6)),
        ("停用青霉素。", [(0, 2), (2, 5), (5, 6)], (2, 5)),
    ]
]


def seen(documents: list[Document]) -> list[Any]:
    mentions = [mention for document in documents for mention in document.mentions]
    return [[each.type, [list(span) for span in each.spans], each.score, list(each.concepts)] for each in mentions]


def answers(folder: Path) -> dict[str, Any]:
    """What each kind of model says of a few words."""
    found: dict[str, Any] = {}
    for structure in STRUCTURES:
        for counting in ENGINES:
            model = Recognizer(structure, counting=counting, headless="whole", **TRAINING).fit(NOTES, dev=NOTES)
            said = seen(model.predict(NEW, answers=True)), model.marginals(NOTES[1]), model.log_likelihood(NOTES[:1])
            found[f"{structure}, {counting}"] = [said[0], said[1], said[2].tolist()]
    optimum = Recognizer(features=TEMPLATES, optimizer="lbfgs", iterations=3).fit(NOTES, dev=NOTES)
    found["lbfgs"] = [seen(optimum.predict(NEW)), [each.record() for each in optimum.explain(TEXT)]]
    found["cascade"] = seen(Cascade(**TRAINING).fit(NOTES, dev=NOTES).predict(NEW))
    tagged = [d.copy(columns={"pos": [w[-1] for w in d.words]}) for d in Recognizer(**TRAINING).fit(NOTES).ready(NOTES)]
    found["tagger"] = PosTagger(epochs=1).fit(tagged, dev=tagged).predict(TEXT).columns["pos"]
    for method in ("exact", "dual", "joint_labels"):
        segmenter = Segmenter(method=method, features="set1", epochs=1).fit(WORDS, dev=WORDS)
        said = segmenter.predict("服用青霉素。")
        found[method] = [said.words, seen([said])]
    (folder / "names.tsv").write_text(NAMES, encoding="utf-8")
    language = LanguageModel.train(NOTES)
    linker = Linker(features=TEMPLATES, iterations=1, language_model=language)
    linker.fit(NOTES, dev=NOTES, vocabulary=folder / "names.tsv")
    found["linker"] = [seen(linker.predict(NEW)), [each.record() for each in linker.explain(TEXT)]]
    found["language model"] = language.log_probabilities(NOTES).tolist()
    return found


def close(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-3, abs_tol=1e-4)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(close(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(close, one, other))
    return bool(one == other)


def test_plain_python_says_the_same(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compiled = json.loads(json.dumps(answers(tmp_path)))
    done = subprocess.run(
        [sys.executable, "-W", "ignore", __file__, str(tmp_path)], capture_output=True, encoding="utf-8",
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    plain = json.loads(done.stdout)
    assert plain.keys() == compiled.keys()
    assert [name for name in plain if not close(plain[name], compiled[name])] == []


if __name__ == "__main__":
    print(json.dumps(answers(Path(sys.argv[1]))))

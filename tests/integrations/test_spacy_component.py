"""The spaCy component: what a model finds stands in the document, whatever way the document goes."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin

import spanloom
from spanloom.document import Document, Mention
from spanloom.errors import ModelError, UsageError
from spanloom.formats import read
from spanloom.integrations.spacy import SpanloomComponent, to_document
from spanloom.recognize import load

ROOT = Path(__file__).parents[2]
TEXTS = [
    "Left and right lower lobe infiltrates.",
    "",
    "No 💩 chest pain today.\n\nThe left atrium is dilated.",
    " \n ",
    "Started on aspirin for chest pain.",
] * 3


@pytest.fixture(scope="module")
def nlp(model: Path) -> Language:
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("spanloom", config={"model": str(model)})
    return nlp


def seen(doc: Doc, key: str = "spanloom") -> list[tuple[str, str, str, float]]:
    group = doc.spans[key]
    return [(s.text, s.label_, s.id_, score) for s, score in zip(group, group.attrs["scores"], strict=True)]


def test_the_parts_of_a_mention_have_one_id(corpus: Path, tmp_path: Path) -> None:
    shared = spanloom.Recognizer(structure="shared", features="small", optimizer="lbfgs", l2=0.01, tune_penalty=False)
    shared.fit(list(read(corpus / "train.jsonl")), dev=list(read(corpus / "dev.jsonl"))).save(tmp_path / "shared")
    nlp = spacy.blank("en")
    nlp.add_pipe("spanloom", config={"model": str(tmp_path / "shared")})
    doc = nlp(TEXTS[0])
    [gap] = [mention for mention in doc._.spanloom if len(mention.spans) > 1]
    assert gap.text(doc.text) == "Left lower lobe infiltrates"
    parts = [span for span in doc.spans["spanloom"] if span.id_ == str(doc._.spanloom.index(gap))]
    assert [(span.text, span.label_) for span in parts] == [("Left", "problem"), ("lower lobe infiltrates", "problem")]


def test_what_the_model_finds_on_spacys_tokens(nlp: Language, model: Path) -> None:
    for doc in nlp.pipe(TEXTS[:5]):
        [expected] = load(model).predict([to_document(doc)])
        assert doc._.spanloom == expected.mentions
        assert all(0 < score <= 1 for *_, score in seen(doc))
    doc = nlp(TEXTS[2])
    assert [(text, label) for text, label, *_ in seen(doc)] == [
        ("chest pain", "problem"),
        ("chest", "body"),
        ("left atrium is dilated", "problem"),
        ("left atrium", "body"),
    ]
    assert nlp("").spans["spanloom"].attrs["mentions"] == []


def test_tokens_sentences_and_tags_are_spacys(nlp: Language) -> None:
    doc = nlp.make_doc("  No pain.\n\n No fever. \n")
    for token, tag in zip(doc, ["_SP", "DT", "NN", ".", "_SP", "DT", "NN", ".", "_SP"], strict=True):
        token.tag_ = tag
        token.is_sent_start = token.i in (0, 4)
    document = to_document(doc)
    assert document.words == ["No", "pain", ".", "No", "fever", "."]
    assert document.sentences is not None
    assert document.sentences.tolist() == [[0, 3], [3, 6]]
    assert document.columns == {"pos": ["DT", "NN", ".", "DT", "NN", "."]}
    assert to_document(doc, tags=False).columns == {}
    assert to_document(nlp.make_doc("No pain.")).sentences is None
    assert to_document(nlp.make_doc(" \n")).words == []


def test_streams_and_processes_give_the_same(nlp: Language) -> None:
    alone = [seen(nlp(text)) for text in TEXTS]
    mentions = [nlp(text)._.spanloom for text in TEXTS]
    for n_process, batch_size in ((1, 2), (2, 2)):
        docs = list(nlp.pipe(TEXTS, n_process=n_process, batch_size=batch_size))
        assert [seen(doc) for doc in docs] == alone
        assert [doc._.spanloom for doc in docs] == mentions
    assert any(alone)


SPAWNED = """
import multiprocessing, sys
import spacy
if __name__ == "__main__":
    multiprocessing.set_start_method("spawn")
    nlp = spacy.blank("en")
    print(nlp.has_factory("spanloom"), "spanloom.hypergraph" in sys.modules)  # a pipeline without it loads no model
    nlp.add_pipe("spanloom", config={"model": sys.argv[1]})
    print([len(doc._.spanloom) for doc in nlp.pipe(["No chest pain today."] * 4, n_process=2, batch_size=1)])
"""


def entry_points(folder: Path) -> dict[str, str]:
    """The environment in which the package is installed with the entry points of pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    information = folder / "spanloom-0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: spanloom\nVersion: 0\n")
    [(name, value)] = project["entry-points"]["spacy_factories"].items()
    (information / "entry_points.txt").write_text(f"[spacy_factories]\n{name} = {value}\n")
    path = os.pathsep.join([str(folder), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": path}


@pytest.mark.skipif("spawn" not in multiprocessing.get_all_start_methods(), reason="no processes to spawn")
def test_spacy_finds_the_component_and_spawned_processes_do_too(model: Path, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SPAWNED)
    line = [sys.executable, str(tmp_path / "script.py"), str(model)]
    done = subprocess.run(line, capture_output=True, encoding="utf-8", check=False, env=entry_points(tmp_path))
    assert done.stdout == "True False\n[2, 2, 2, 2]\n", done.stderr


def test_a_saved_pipeline_holds_its_model(nlp: Language, model: Path, tmp_path: Path) -> None:
    shutil.copytree(model, tmp_path / "model")
    here = spacy.blank("en")
    here.add_pipe("spanloom", config={"model": str(tmp_path / "model"), "threshold": 0.5, "spans_key": "mine"})
    here.to_disk(tmp_path / "pipeline")
    here.to_disk(tmp_path / "pipeline")  # again, in place
    shutil.rmtree(tmp_path / "model")
    (tmp_path / "pipeline").rename(tmp_path / "elsewhere")
    there = spacy.load(tmp_path / "elsewhere")
    data = there.to_bytes()
    as_bytes = spacy.blank("en")
    as_bytes.add_pipe("spanloom", config={"model": "nowhere", "threshold": 0.5, "spans_key": "mine"})
    as_bytes.from_bytes(data)
    for pipeline in (there, as_bytes):
        assert seen(pipeline(TEXTS[2]), "mine") == seen(here(TEXTS[2]), "mine")
    restored = pickle.loads(pickle.dumps(there.get_pipe("spanloom")))  # as a spawned process gets it
    assert seen(restored(there.make_doc(TEXTS[2])), "mine") == seen(here(TEXTS[2]), "mine")


def test_documents_are_stored_with_their_mentions(nlp: Language) -> None:
    doc = nlp(TEXTS[2])
    [again] = DocBin(docs=[doc]).get_docs(nlp.vocab)
    assert (seen(again), again._.spanloom) == (seen(doc), doc._.spanloom)


def test_two_components_and_a_threshold(nlp: Language, model: Path) -> None:
    least = max(nlp(TEXTS[2]).spans["spanloom"].attrs["scores"])
    both = spacy.blank("en")
    both.add_pipe("sentencizer")
    both.add_pipe("spanloom", name="all", config={"model": str(model)})
    both.add_pipe("spanloom", name="sure", config={"model": str(model), "threshold": least, "spans_key": "sure"})
    doc = both(TEXTS[2])
    assert (len(doc.spans["sure"]), len(doc.spans["spanloom"])) == (1, 4)
    assert doc.spans["sure"].attrs["scores"] == [least]
    assert len(doc._.spanloom) == 5


def test_concepts_of_a_linker(linker: Path) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("spanloom", config={"model": str(linker)})
    doc = nlp(next(read(spanloom.data.clinical() / "train")).text)
    linked = {mention.concepts[0] for mention in doc._.spanloom if mention.concepts}
    assert linked
    assert {span.kb_id_ for span in doc.spans["spanloom"]} - {""} == linked
    assert seen(doc) == next(seen(other) for other in nlp.pipe([doc.text]))


class Cutting:
    """A model whose mentions cut tokens, as those of another tokenization do."""

    pos_ = None

    def stream(self, documents: list[Document]) -> list[Document]:
        return [one.copy(mentions=[Mention("x", [(0, 2)]), Mention("y", [(0, 4), (8, 9)])]) for one in documents]


class Crossing:
    """A model whose mentions nest, cross, skip words and cut tokens."""

    pos_ = None
    found = (
        Mention("problem", [(0, 18)], score=0.6),
        Mention("part", [(0, 8)], score=0.9, concepts=("C1", "C2")),
        Mention("problem", [(0, 4), (14, 18)], score=0.95),
        Mention("part", [(9, 13)], score=0.7),
        Mention("sign", [(9, 13)], score=0.7),
        Mention("problem", [(14, 17)], score=0.8),
    )

    def stream(self, documents: list[Document]) -> list[Document]:
        return [one.copy(mentions=self.found) for one in documents]


def test_ents_are_the_surest_mentions_that_do_not_overlap(model: Path) -> None:
    component = SpanloomComponent(str(model), ents=True)
    component._model = Crossing()  # type: ignore[assignment]
    nlp = spacy.blank("en")
    doc = nlp("left arm hand pain today")
    doc.ents = [doc.char_span(0, 18, label="OTHER"), doc.char_span(19, 24, label="DATE")]
    with pytest.warns(UserWarning, match="1 of 6 mentions begin or end inside a token"):
        component(doc)
    assert [(entity.text, entity.label_, entity.kb_id_) for entity in doc.ents] == [
        ("left arm", "part", "C1"),
        ("hand", "part", ""),
        ("today", "DATE", ""),
    ]
    assert doc._.spanloom == list(Crossing.found)
    left_out = [Crossing.found[i] for i in (0, 2, 4, 5)]
    assert doc._.spanloom_left_out == left_out
    [again] = DocBin(docs=[doc]).get_docs(nlp.vocab)
    assert again._.spanloom_left_out == left_out
    assert [doc._.spanloom[int(entity.id_)].type for entity in doc.ents[:2]] == ["part", "part"]


def test_ents_are_filled_only_if_asked_for(nlp: Language, model: Path) -> None:
    filled = spacy.blank("en")
    filled.add_pipe("sentencizer")
    filled.add_pipe("spanloom", config={"model": str(model), "ents": True})
    doc = filled(TEXTS[2])
    assert [entity.text for entity in doc.ents] == ["chest pain", "left atrium is dilated"] or len(doc.ents) == 2
    assert len(doc.ents) + len(doc._.spanloom_left_out) == len(doc._.spanloom)
    assert nlp(TEXTS[2]).ents == () and nlp(TEXTS[2])._.spanloom_left_out == []
    restored = pickle.loads(pickle.dumps(filled.get_pipe("spanloom")))
    assert len(restored(filled.make_doc(TEXTS[2])).ents) == 2


def test_mentions_that_cut_a_token_are_told(model: Path) -> None:
    component = SpanloomComponent(str(model))
    component._model = Cutting()  # type: ignore[assignment]
    with pytest.warns(UserWarning, match=r"1 of 2 mentions begin or end inside a token of spaCy"):
        doc = component(spacy.blank("en")("mild or x"))
    assert [(span.text, span.label_) for span in doc.spans["spanloom"]] == [("mild", "y"), ("x", "y")]
    assert [mention.type for mention in doc._.spanloom] == ["x", "y"]


def test_what_is_no_model_is_refused(model: Path, tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    with pytest.raises(UsageError, match="threshold is 2"):
        nlp.add_pipe("spanloom", config={"model": str(model), "threshold": 2.0})
    with pytest.raises(ModelError, match="no model here"):
        nlp.add_pipe("spanloom", config={"model": str(tmp_path)})
    shutil.copytree(model, tmp_path / "damaged")
    (tmp_path / "damaged" / "weights.safetensors").write_bytes(b"x")
    with pytest.raises(ModelError, match="damaged"):
        nlp.add_pipe("spanloom", config={"model": str(tmp_path / "damaged")})
    spanloom.vocabulary.read_vocabulary(spanloom.data.clinical() / "vocabulary.tsv").save(tmp_path / "index")
    with pytest.raises(UsageError, match="a model of kind 'vocabulary', expected one that marks up text"):
        nlp.add_pipe("spanloom", config={"model": str(tmp_path / "index")})
    nlp.add_pipe("spanloom", config={"model": str(tmp_path / "nowhere")})  # may come with `from_disk`
    with pytest.raises(ModelError, match="nowhere: no model here"):
        nlp("No pain.")


BLOCKED = """
import sys
sys.modules["spacy"] = None
from spanloom import SpanloomError
try:
    import spanloom.integrations.spacy
except SpanloomError as error:
    print(type(error).__name__, error)
"""


def test_without_spacy_the_message_says_what_to_install() -> None:
    done = subprocess.run([sys.executable, "-c", BLOCKED], capture_output=True, encoding="utf-8", check=True)
    assert done.stdout == (
        'UsageError the spaCy component needs spacy; install it with: pip install "spanloom[spacy]"\n'
    )

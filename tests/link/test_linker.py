"""The linker as its user sees it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save

from spanloom.document import Batch, Document, Mention
from spanloom.errors import DataError, LostWarning, ModelError, UsageError
from spanloom.learn.tuning import Envelope
from spanloom.link import Linker, Pipeline, load, phases
from spanloom.link.system import DecodedMentions
from spanloom.parallel import SERIAL
from spanloom.recognize import Progress, Recognizer, compact
from spanloom.text import prepare
from spanloom.vocabulary import Concept
from spanloom.vocabulary.store import Vocabulary
from spanloom_lab.lm.language_model import LanguageModel

NAMES = {
    "MESH:D007674": ("Kidney Diseases", "nephropathy", "renal disease"),
    "MESH:D056486": ("Drug-Induced Liver Injury", "hepatotoxicity", "toxic hepatitis"),
    "MESH:D007022": ("Hypotension", "low blood pressure"),
    "MESH:D009325": ("Nausea",),
    "MESH:D014839": ("Vomiting", "emesis"),
}
DRUGS = ("rifampicin", "naloxone", "clonidine", "heparin", "lithium", "aspirin")
FRAMES = (
    "{} caused {} in two patients.",
    "After {} there was {} again.",
    "{} and severe {} were seen.",
    "No {}, no {}.",
)


def make_documents(count: int, seed: int) -> list[Document]:
    random = np.random.default_rng(seed)
    names = [(name, concept) for concept, own in NAMES.items() for name in own]
    documents = []
    for number in range(count):
        text, mentions = "", []
        for _ in range(3):
            first, second = DRUGS[random.integers(len(DRUGS))], names[random.integers(len(names))]
            frame = FRAMES[random.integers(len(FRAMES))]
            sentence = frame.format(first, second[0].lower())
            start = len(text) + sentence.rindex(second[0].lower())
            mentions.append(Mention("Disease", [(start, start + len(second[0]))], concepts=[second[1]]))
            text += sentence + " "
        documents.append(Document(text.strip(), id=str(number), mentions=mentions))
    return documents


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return Vocabulary.build([Concept(concept, names[0], names[1:]) for concept, names in NAMES.items()])


@pytest.fixture(scope="module")
def train() -> list[Document]:
    return make_documents(12, 0)


@pytest.fixture(scope="module")
def dev() -> list[Document]:
    return make_documents(5, 1)


@pytest.fixture(scope="module")
def linker(train: list[Document], dev: list[Document], vocabulary: Vocabulary) -> Linker:
    return Linker("small", iterations=4, folds=3).fit(train, dev=dev, vocabulary=vocabulary)


def bare(documents: list[Document]) -> list[Document]:
    return [Document(document.text, id=document.id) for document in documents]


def found(documents: list[Document]) -> list[set[tuple[object, ...]]]:
    return [{(*mention.key, mention.concepts) for mention in document.mentions} for document in documents]


def test_it_finds_and_links(linker: Linker) -> None:
    new = make_documents(6, 2)
    gold, own = found(new), found(list(linker.predict(bare(new))))
    right = sum(len(a & b) for a, b in zip(gold, own, strict=True))
    assert right / sum(map(len, gold)) > 0.9


def test_report(linker: Linker) -> None:
    report = linker.report_
    assert (report.documents, report.mentions, report.lost) == (12, 36, {})
    assert report.linked <= report.proposed <= report.mentions
    assert report.dev_f1 > 0.9 and report.dev_concepts > 0.9
    assert linker.types_ == ("Disease",) and linker.lost_ == ()


def test_progress_tells_both_measures(train: list[Document], dev: list[Document], vocabulary: Vocabulary) -> None:
    steps: list[Progress] = []
    linker = Linker("small", iterations=2, folds=2).fit(train, dev=dev, vocabulary=vocabulary, progress=steps.append)
    passes = [step for step in steps if step.stage == "training"]
    assert [(step.dev_f1, step.dev_concepts) for step in passes] == [
        (recognition, concepts) for _, recognition, concepts in linker.report_.history
    ]
    tuning = [step for step in steps if step.stage == "tuning the bias"]
    assert [step.step for step in tuning] == list(range(len(tuning))) and len(tuning) == tuning[0].steps + 1 > 2
    means = [(step.dev_f1 + step.dev_concepts) / 2 for step in tuning[1:]]  # of the best so far
    assert means == sorted(means)
    assert (tuning[-1].dev_f1, tuning[-1].dev_concepts) == (linker.report_.dev_f1, linker.report_.dev_concepts)


def test_without_development_data_all_training_data_count_in_the_end(
    train: list[Document], vocabulary: Vocabulary
) -> None:
    steps: list[Progress] = []
    linker = Linker("small", iterations=2, folds=2).fit(train, vocabulary=vocabulary, progress=steps.append)
    assert int(linker.model_.reader.proposer.memory.prior.sum()) == linker.report_.mentions == 36
    assert [step.step for step in steps if step.stage == "training on all"] == list(range(1, linker.report_.passes + 1))


def test_what_is_found_between_biases(train: list[Document], dev: list[Document], vocabulary: Vocabulary) -> None:
    weak = Linker(
        ["low[0]"], iterations=1, folds=2, margin=0, dictionary=False, segments=False, evidence=False,
        state_features=True, word_rate=1,
    )  # fmt: skip
    system = weak.fit(train, dev=dev, vocabulary=vocabulary).model_
    instance, matrix = system.read(system.columns(Batch.of([prepare(document) for document in dev])), None, SERIAL)
    owner = np.repeat(instance.data.document, np.diff(instance.data.offsets))
    searched: list[int] = []

    def decode(bias: float, wanted: np.ndarray) -> np.ndarray:
        searched.append(int(wanted.sum()))
        return np.stack(replace(system, bias=bias).decode(instance, matrix, None, SERIAL, wanted), 1)

    biases = [-100.0, -10.0, -3.0, 0.0, 1.0, 2.0, 4.0, 8.0, 100.0]
    found = {bias: DecodedMentions(*own.T) for bias, own in Envelope(decode, owner).over(biases)}
    assert sorted(found) == biases
    assert len({int((own.labels % 2).sum()) for own in found.values()}) > 3
    assert searched[:2] == [len(dev), len(dev)] and sum(searched) < len(biases) * len(dev)
    for bias, own in found.items():
        whole = replace(system, bias=bias).decode(instance, matrix)
        assert (own.labels == whole.labels).all() and (own.choices == whole.choices).all()


def test_what_is_lost_is_told_as_what_linkers_cannot_hold(
    train: list[Document], dev: list[Document], vocabulary: Vocabulary
) -> None:
    text = "Severe low blood pressure or nausea today."
    odd = [
        Mention("Disease", [(7, 25)]),
        Mention("Disease", [(11, 25)]),
        Mention("Disease", [(7, 10), (29, 35)]),
        Mention("Disease", [(30, 33)]),
    ]
    linker = Linker("small", iterations=1, folds=2).fit(
        [*train, Document(text, mentions=odd)], dev=dev, vocabulary=vocabulary
    )
    assert linker.report_.lost == {
        "it begins or ends inside a token": 1,
        "it has a gap, and a linker holds no gaps": 1,
        "it overlaps a longer one, and a linker holds no overlaps": 1,
    }


def test_given_mentions_are_linked_and_no_other_is_looked_for(linker: Linker) -> None:
    text = "Rifampicin caused emesis, nausea and hypotension."
    given = [Mention("Disease", [(18, 24)], id="T1"), Mention("Chemical", [(0, 10)], concepts=["X:1"])]
    meta = {"annotation": "at-least", "annotator": "Ada"}
    [document] = linker.predict([Document(text, mentions=given, meta=meta)], mentions="given")
    assert document.meta == meta  # it is still about the mentions
    assert linker.predict(Document(text, mentions=given, meta=meta)).meta == {}
    assert [(mention.id, mention.concepts) for mention in document.mentions] == [
        ("T1", ("MESH:D014839",)),
        (None, ("X:1",)),
    ]


def test_mentions_that_no_derivation_holds_stay_as_they_are(linker: Linker) -> None:
    text = "Severe low blood pressure or nausea today."
    odd = [
        Mention("Disease", [(7, 25)]),
        Mention("Disease", [(11, 25)], concepts=["X:1"]),  # overlaps
        Mention("Disease", [(7, 10), (29, 35)], concepts=["X:2"]),  # has a gap
        Mention("Disease", [(30, 33)], concepts=["X:3"]),  # cuts a token
    ]
    [document] = linker.predict([Document(text, mentions=odd)], mentions="given")
    assert [mention.concepts for mention in document.mentions] == [("MESH:D007022",), ("X:1",), ("X:2",), ("X:3",)]


def test_a_long_given_mention_is_held(linker: Linker) -> None:
    text = "a very long and quite unusual name of what may be called nausea by others here"
    [document] = linker.predict([Document(text, mentions=[Mention("Disease", [(0, len(text))])])], mentions="given")
    assert document.mentions[0].spans == ((0, len(text)),)


def test_saved_and_loaded(linker: Linker, dev: list[Document], tmp_path: Path) -> None:
    linker.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert found(list(again.predict(bare(dev)))) == found(list(linker.predict(bare(dev))))
    assert again.get_params() == {**linker.get_params(), "n_jobs": 1}
    assert again.report_.dev_f1 == linker.report_.dev_f1
    again.save(tmp_path / "again")
    for name in ("model.json", "weights.safetensors"):
        assert (tmp_path / "model" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("link.memory.concept", lambda values: values + 1000),
        ("link.memory.concept", lambda values: values - 5),
        ("link.memory.counts", lambda values: values[:-1]),
        ("link.memory.exact", lambda values: values[:-1]),
        ("link.memory.occurrences.close", lambda values: values[:-1]),
        ("link.finder.lexicon.close", lambda values: values[:-1]),
    ],
)
def test_a_damaged_lexicon_is_refused(linker: Linker, tmp_path: Path, name: str, change: Callable[[Any], Any]) -> None:
    linker.save(tmp_path / "model")
    arrays = load_file(tmp_path / "model" / "weights.safetensors")
    arrays[name] = change(arrays[name])
    data = save(arrays)
    (tmp_path / "model" / "weights.safetensors").write_bytes(data)
    description = json.loads((tmp_path / "model" / "model.json").read_text())
    description |= {"sha256": hashlib.sha256(data).hexdigest()}
    (tmp_path / "model" / "model.json").write_text(json.dumps(description))
    with pytest.raises(ModelError, match="damaged"):
        load(tmp_path / "model")


def test_the_same_bytes_for_any_number_of_threads(
    train: list[Document], dev: list[Document], vocabulary: Vocabulary, linker: Linker, tmp_path: Path
) -> None:
    linker.save(tmp_path / "one")
    other = Linker("small", iterations=4, folds=3, n_jobs=2).fit(train, dev=dev, vocabulary=vocabulary)
    other.save(tmp_path / "two")
    one, two = ((tmp_path / name / "weights.safetensors").read_bytes() for name in ("one", "two"))
    assert one == two
    assert found(list(other.predict(bare(dev)))) == found(list(linker.predict(bare(dev))))


@pytest.mark.parametrize("task", ["recognize", "normalize"])
def test_parts_of_the_pipeline(
    task: str, train: list[Document], dev: list[Document], vocabulary: Vocabulary, linker: Linker
) -> None:
    part = Linker("small", task=task, iterations=10, folds=2).fit(train, dev=dev, vocabulary=vocabulary)
    if task == "recognize":
        one = Pipeline(part, linker).predict("Lithium caused emesis in two patients.")
        assert [mention.concepts for mention in one.mentions] == [("MESH:D014839",)]
    else:
        recognizer = Recognizer("bilou", "small", epochs=3).fit(train, dev=dev)
        [one] = Pipeline(recognizer, part).predict([Document("Lithium caused emesis in two patients.")])
        assert [mention.concepts for mention in one.mentions] == [("MESH:D014839",)]


def test_the_paper_alone(train: list[Document], dev: list[Document], vocabulary: Vocabulary) -> None:
    plain = Linker(
        ["bias", "w[0]", "w[-1]|w[0]"], segments=False, history=False, evidence=False, dictionary=False, margin=0,
        word_rate=1, state_features=True, nonlocal_features=True, method="edit", iterations=3, folds=2,
        tune_bias=False, gold_candidates=True, own_memory=True, language_words=False,
    ).fit(train, dev=dev, vocabulary=vocabulary)  # fmt: skip
    assert plain.report_.dev_f1 > 0.5 and plain.report_.bias == 0


def odd(documents: list[Document]) -> list[Document]:
    """The documents with every nausea linked to what no candidate search finds for it."""
    return [
        document.copy(mentions=[
            mention.replace(concepts=["MESH:D007674"]) if mention.text(document.text) == "nausea" else mention
            for mention in document.mentions
        ])
        for document in documents
    ]  # fmt: skip


def test_concepts_beside_the_candidates_are_learned_when_they_are_added(
    dev: list[Document], vocabulary: Vocabulary
) -> None:
    documents = odd(make_documents(12, 0))
    lacking, added = (
        Linker("small", iterations=1, folds=3, method="trigram", candidates=1, gold_candidates=gold)
        .fit(documents, dev=dev, vocabulary=vocabulary).report_
        for gold in (False, True)
    )  # fmt: skip
    assert lacking.linked < lacking.concepts == added.linked == added.concepts


def test_a_memory_of_its_own_finds_what_a_mention_was_linked_to(dev: list[Document], vocabulary: Vocabulary) -> None:
    documents = make_documents(12, 0)
    rare = Document("Lithium caused zorbitis.", id="x", mentions=[Mention("Disease", [(15, 23)], concepts=["D009325"])])
    others, own = (
        Linker("small", iterations=1, folds=3, candidates=1, own_memory=own, evidence=False)
        .fit([*documents, rare], dev=dev, vocabulary=vocabulary).report_
        for own in (False, True)
    )  # fmt: skip
    assert own.linked == own.concepts == others.linked + 1


def test_the_ranges_of_a_language_model_may_be_left_to_template_15(
    train: list[Document], dev: list[Document], vocabulary: Vocabulary
) -> None:
    model = LanguageModel.train([prepare(document) for document in train])
    for words in (True, False):
        linker = Linker("small", iterations=1, folds=2, language_model=model, language_words=words)
        linker.fit(train, dev=dev, vocabulary=vocabulary)
        needs = linker.model_.reader.tagger.scorer.needs
        assert ({"bigram", "trigram"} <= set(needs)) == words
        assert linker.model_.search.groups & phases.LANGUAGE


def test_without_a_tuned_bias_there_is_none(train: list[Document], dev: list[Document], vocabulary: Vocabulary) -> None:
    steps: list[Progress] = []
    linker = Linker("small", iterations=1, folds=2, tune_bias=False)
    linker.fit(train, dev=dev, vocabulary=vocabulary, progress=steps.append)
    assert linker.model_.bias == 0 and not [step for step in steps if step.stage == "tuning the bias"]


def test_common_words_of_the_vocabulary_come_with_the_model(
    train: list[Document], dev: list[Document], tmp_path: Path
) -> None:
    names = [*NAMES.items(), ("MESH:D006331", ("Heart Diseases",))]
    vocabulary = Vocabulary.build([Concept(concept, own[0], own[1:]) for concept, own in names])
    linker = Linker(["low[0]", "common[-1]"], iterations=1, folds=2).fit(train, dev=dev, vocabulary=vocabulary)
    linker.save(tmp_path / "m")
    again = load(tmp_path / "m")
    own = again.model_.columns(Batch.of([prepare(Document("Diseases of lithium"))]))
    assert own.columns["common"] == ["yes", "no", "no"]
    assert found(list(again.predict(bare(dev)))) == found(list(linker.predict(bare(dev))))


def test_several_types_and_composite_mentions(vocabulary: Vocabulary) -> None:
    documents = []
    for number in range(10):
        text = "Aspirin caused nausea and vomiting. Heparin caused hypotension."
        mentions = [
            Mention("Chemical", [(0, 7)]),
            Mention("Disease", [(15, 34)], concepts=["D009325", "D014839"]),
            Mention("Chemical", [(36, 43)]),
            Mention("Disease", [(51, 62)], concepts=["D007022"]),
        ]
        documents.append(Document(text, id=str(number), mentions=mentions))
    linker = Linker("small", iterations=4, folds=2).fit(documents, dev=documents[:2], vocabulary=vocabulary)
    [one] = linker.predict([Document(documents[0].text)])
    assert [(mention.type, mention.concepts) for mention in one.mentions] == [
        ("Chemical", ()), ("Disease", ("MESH:D009325", "MESH:D014839")),
        ("Chemical", ()), ("Disease", ("MESH:D007022",)),
    ]  # fmt: skip
    alone = Linker("small", types=["Disease"], iterations=2, folds=2).fit(
        documents, dev=documents[:2], vocabulary=vocabulary
    )
    assert alone.types_ == ("Disease",)


@pytest.mark.parametrize("text", ["", " ", "x", "\n\n", "a" * 3000, "nausea " * 400, "\U0001f600 nausea \u0301"])
def test_odd_texts(linker: Linker, text: str) -> None:
    [document] = linker.predict([Document(text)])
    assert document.text == text
    assert all(0 <= mention.start < mention.end <= len(text) for mention in document.mentions)


def test_no_documents(linker: Linker) -> None:
    assert list(linker.predict([])) == []


def test_batches_do_not_matter(linker: Linker, dev: list[Document]) -> None:
    whole = found(list(linker.predict(bare(dev))))
    assert [found(list(linker.predict([document])))[0] for document in bare(dev)] == whole


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"task": "all"}, "task is 'all'"),
        ({"method": "guess"}, "method is 'guess'"),
        ({"features": "none"}, "features is 'none'"),
        ({"features": []}, "features is empty"),
        ({"beam": 0}, "beam is 0"),
        ({"folds": 1}, "folds is 1"),
        ({"margin": -1}, "margin is -1"),
        ({"word_rate": 0}, "word_rate is 0"),
        ({"segments": False}, "no feature distinguishes candidates"),
        ({"least": 0}, "least is 0"),
        ({"n_jobs": "two"}, "n_jobs is 'two'"),
    ],
)
def test_parameters_that_cannot_be_meant(params: dict[str, object], message: str, vocabulary: Vocabulary) -> None:
    with pytest.raises(UsageError, match=message):
        Linker(**params).fit([], vocabulary=vocabulary)  # type: ignore[arg-type]


def test_refused(vocabulary: Vocabulary, linker: Linker, train: list[Document]) -> None:
    with pytest.raises(UsageError, match="not trained"):
        list(Linker().predict([Document("x")]))
    with pytest.raises(UsageError, match="mentions is 'all'"):
        linker.predict([], mentions="all")
    with pytest.raises(DataError, match="at least 2"):
        Linker("small").fit(train[:1], dev=train[:1], vocabulary=vocabulary)
    with pytest.raises(UsageError, match="development data are given as dev="):
        Linker("small").fit(train[:1], train[:1], vocabulary=vocabulary)
    with pytest.raises(DataError, match="no document"):
        Linker("small").fit([], vocabulary=vocabulary)


def damage_numbers(folder: Path, change: dict[str, object]) -> None:
    file = folder / "model.json"
    description = json.loads(file.read_text())
    [link] = (stage for stage in description["stages"] if stage["stage"] == "link")
    link |= change
    file.write_text(json.dumps(description))


@pytest.mark.parametrize(
    "change",
    [{"beam": 0}, {"beam": 10**9}, {"longest": -1}, {"groups": 4096}, {"method": "x"}, {"least": 7.0}, {"bias": "much"},
     {"candidates": 0}],
)  # fmt: skip
def test_hostile_descriptions_are_refused(linker: Linker, tmp_path: Path, change: dict[str, object]) -> None:
    linker.save(tmp_path / "model")
    damage_numbers(tmp_path / "model", change)
    with pytest.raises(ModelError, match="damaged"):
        load(tmp_path / "model")


def test_another_kind_is_refused(train: list[Document], tmp_path: Path) -> None:
    Recognizer("bilou", "small", epochs=1).fit(train).save(tmp_path / "model")
    with pytest.raises(ModelError, match="expected a linker"):
        load(tmp_path / "model")


def test_without_nil_what_has_candidates_is_linked(
    train: list[Document], dev: list[Document], vocabulary: Vocabulary
) -> None:
    unlinked = [
        document.copy(mentions=[mention.replace(concepts=()) for mention in document.mentions]) for document in train
    ]
    for nil in (True, False):
        found = Linker("small", iterations=5, folds=3, nil=nil).fit(unlinked, dev=dev, vocabulary=vocabulary)
        mentions = [mention for document in found.predict(bare(dev)) for mention in document.mentions]
        assert mentions
        assert [bool(mention.concepts) for mention in mentions] == [not nil] * len(mentions)


def test_composites_are_learned_or_not(vocabulary: Vocabulary) -> None:
    both = ("MESH:D009325", "MESH:D014839")
    documents = [
        Document(f"Drug {number} caused nausea and vomiting.", mentions=[Mention("Disease", [(14, 33)], concepts=both)])
        for number in range(8)
    ]
    for composites, wanted in ((True, both), (False, both[:1])):
        linker = Linker("small", iterations=10, folds=2, composites=composites)
        linker.fit(documents, dev=documents[:2], vocabulary=vocabulary)
        [found] = linker.predict(bare(documents[:1]))
        assert [mention.concepts for mention in found.mentions] == [wanted]


def test_splits_of_tokens_are_learned_and_kept(tmp_path):
    """A disease that a hyphen joins to the next word is a mention of its own, in new text, too."""
    vocabulary = tmp_path / "v.tsv"
    vocabulary.write_text("id\tname\nD1\tasthma\nD2\tnausea\n", "utf-8")
    documents = []
    for number in range(60):
        name = ("asthma", "nausea")[number % 2]
        text = f"a {name}-like state {number % 5}"
        tokens = [(0, 1), (2, 13), (14, 19), (20, 21)]
        mention = Mention("disease", [(2, 8)], concepts=[f"D{number % 2 + 1}"])
        documents.append(Document(text, str(number), tokens=tokens, sentences=[(0, 4)], mentions=[mention]))
    settings = {"features": ["bias", "low[0]"], "iterations": 2, "folds": 2}
    with pytest.warns(LostWarning):
        whole = Linker(**settings).fit(documents, dev=documents[:30], vocabulary=vocabulary)
    split = Linker(**settings, split_tokens=True).fit(documents, dev=documents[:30], vocabulary=vocabulary)
    text = [one.copy(mentions=[]) for one in documents[:4]]
    assert not any(one.mentions for one in whole.predict(text))
    found = split.predict(text)
    assert [[(m.key, m.concepts) for m in one.mentions] for one in found] == [
        [(m.key, m.concepts) for m in one.mentions] for one in documents[:4]
    ]
    assert found[0].words[:2] == ["a", "asthma"] and split.report_.splitting is not None and not split.report_.lost
    split.save(tmp_path / "saved")
    assert [one.mentions for one in load(tmp_path / "saved").predict(text)] == [one.mentions for one in found]
    assert [one.mention.spans for one in split.explain(text[0])] == [found[0].mentions[0].spans]


def test_a_compact_linker(tmp_path):
    names = ("asthma", "nausea")
    vocabulary = tmp_path / "v.tsv"
    vocabulary.write_text("id\tname\nD0\tasthma\nD1\tnausea\n", "utf-8")
    documents = [
        Document(f"a {names[n % 2]} state {n % 5}", str(n), mentions=[Mention("x", [(2, 8)], concepts=[f"D{n % 2}"])])
        for n in range(40)
    ]
    settings = {"features": ["bias", "low[-1..1]"], "iterations": 2, "folds": 2}
    linker = Linker(**settings).fit(documents, dev=documents[:20], vocabulary=vocabulary)
    small = compact(linker, dev=documents)
    texts = [one.text for one in documents[:6]]

    def found(model, *what):
        return [[[getattr(m, name) for name in what] for m in one.mentions] for one in model.predict(texts)]

    assert found(small, "key", "concepts") == found(linker, "key", "concepts") and any(found(small, "key"))
    assert small.report_.compact.bytes_after < small.report_.compact.bytes_before
    small.save(tmp_path / "small")
    again = load(tmp_path / "small")
    assert found(again, "key", "concepts", "score") == found(small, "key", "concepts", "score")
    again.save(tmp_path / "again")
    for path in (tmp_path / "small").iterdir():
        assert path.read_bytes() == (tmp_path / "again" / path.name).read_bytes()
    assert any(line.startswith("compact: ") for line in small.summary()) and again.report_ == small.report_
    with pytest.raises(UsageError, match="compact already"):
        compact(again)
    nothing = compact(linker, threshold=1e6)  # no weight is left
    assert len(nothing.predict(texts)) == len(texts)

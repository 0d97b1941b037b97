"""The recognizer on the bundled corpus: what it learns, what it predicts, what it keeps, what it refuses."""

from __future__ import annotations

from copy import copy

import numpy as np
import pytest

from spanloom.document import Document, Mention
from spanloom.errors import DataError, DataWarning, UsageError
from spanloom.evaluate import evaluate
from spanloom.features.clusters import read_paths, write_paths
from spanloom.hypergraph import ENGINES
from spanloom.recognize import Lost, Progress, Recognizer, load
from spanloom.structures import STRUCTURES
from spanloom.structures.base import GAP
from spanloom.text import prepare

TEMPLATES = ["bias", "low[-1..1]", "suffix(2..3)"]
FILES = ("model.json", "weights.safetensors")


def found(recognizer, documents, **options):
    return [document.mentions for document in recognizer.predict(documents, **options)]


def saved(recognizer, path):
    recognizer.save(path)
    assert sorted(file.name for file in path.iterdir()) == sorted(FILES)
    return [(path / name).read_bytes() for name in FILES]


@pytest.mark.parametrize("counting", ENGINES)
@pytest.mark.parametrize("structure", STRUCTURES)
def test_every_structure_learns_saves_and_loads(structure, counting, notes, tmp_path):
    recognizer = Recognizer(structure, TEMPLATES, counting=counting, rate=0.3, epochs=2, headless="whole").fit(
        notes.train[:12], dev=notes.dev
    )
    recognizer.save(tmp_path / "model")
    again = load(tmp_path / "model")
    expected = found(recognizer, notes.test)
    assert found(again, notes.test) == expected
    assert sum(map(len, expected)) > 20
    assert all(0 < mention.score <= 1 for mentions in expected for mention in mentions)
    assert again.types_ == recognizer.types_ == ("anatomy", "drug", "problem", "test", "treatment")
    assert again.report_ == recognizer.report_
    assert again.strongest_ == recognizer.strongest_
    assert {**again.get_params(), "features": TEMPLATES} == recognizer.get_params()
    assert saved(again, tmp_path / "again") == [(tmp_path / "model" / name).read_bytes() for name in FILES]


def test_it_learns_the_bundled_corpus(notes):
    recognizer = Recognizer(rate=0.2, epochs=3).fit(notes.train, dev=notes.dev)
    report = recognizer.report_
    assert (report.documents, report.mentions) == (len(notes.train), sum(len(d.mentions) for d in notes.train))
    assert report.dev_f1 > 0.5
    f1 = evaluate(notes.dev, list(recognizer.predict(notes.dev))).overall.f1
    assert f1 == pytest.approx(report.dev_f1)


@pytest.mark.parametrize(
    "settings",
    [
        {"epochs": 2},
        {"structure": "bio", "optimizer": "lbfgs", "iterations": 4},
        {"epochs": 1, "l2": [0.1, 3.0], "clusters": 12, "features": "small"},
    ],
    ids=["adagrad", "lbfgs", "grid"],
)
def test_same_seed_same_bytes(settings, notes, tmp_path):
    grid = isinstance(settings.get("l2"), list)

    def bytes_of(name, **more):
        recognizer = Recognizer(**{"features": TEMPLATES, "random_state": 7, **settings, **more})
        # few documents without others to choose by are cross-validated
        return saved(
            recognizer.fit(notes.train[: 4 if grid else 6], dev=None if grid else notes.dev[:3]), tmp_path / name
        )

    first = bytes_of("first")
    assert bytes_of("second") == first
    assert bytes_of("threads", n_jobs=2) == first
    assert bytes_of("seed", random_state=8)[1] != first[1]


def test_any_number_of_threads_predicts_the_same(trained, notes):
    expected = found(trained, notes.test)
    other = copy(trained).set_params(n_jobs=2)
    assert other.second_ is not None
    assert found(other, notes.test) == expected


def test_threshold(trained, notes):
    everything = found(trained, notes.test)
    some = found(trained, notes.test, threshold=0.7)
    assert some == [[mention for mention in mentions if mention.score >= 0.7] for mentions in everything]
    assert 0 < sum(map(len, some)) < sum(map(len, everything))
    for threshold in (-0.1, 1.1, float("nan")):
        with pytest.raises(UsageError, match="threshold"):
            list(trained.predict(notes.test, threshold=threshold))


def test_reading_all_finds_every_path():
    """Crossing mentions look like nested ones; ``all`` reads both sets of them, ``enough`` the one."""
    text, spans = "a b c", [(0, 3), (2, 5)]
    documents = [Document(text, mentions=[Mention("x", [span]) for span in spans])] * 30
    settings = {"optimizer": "lbfgs", "l2": 0.01, "tune_penalty": False, "overlap": "free"}
    recognizer = Recognizer(features=["bias", "w[0]"], **settings).fit(documents, dev=documents)
    assert recognizer.report_.ambiguous == 60

    def surfaces(reading):
        [mentions] = found(recognizer.set_params(reading=reading), [Document(text)])
        return sorted((mention.start, mention.end) for mention in mentions)

    assert surfaces("enough") == [(0, 5), (2, 3)]
    assert surfaces("all") == [(0, 3), (0, 5), (2, 3), (2, 5)]


def test_prediction_keeps_the_document_and_ignores_its_mentions(trained, notes):
    document = prepare(notes.test[0])
    document = document.copy(columns={"pos": ["X"] * len(document.tokens)}, meta={"source": "here"}, id="name")
    before = list(document.mentions)
    [same] = trained.predict([document])
    [bare] = trained.predict([document.copy(mentions=[])])
    assert same.mentions == bare.mentions != before
    assert document.mentions == before
    assert (same.text, same.id, same.columns, same.meta) == (
        "" + document.text,
        "name",
        document.columns,
        document.meta,
    )
    np.testing.assert_array_equal(same.tokens, document.tokens)
    np.testing.assert_array_equal(same.sentences, document.sentences)


def test_tokens_and_sentences_of_the_input_are_used(trained):
    text = "Chest pain"
    [whole] = trained.predict([Document(text, tokens=[[0, 10]])])
    assert {(m.start, m.end) for m in whole.mentions} <= {(0, 10)}
    assert whole.tokens.tolist() == [[0, 10]]
    [made] = trained.predict([Document(text)])
    assert made.tokens.tolist() == [[0, 5], [6, 10]]
    assert made.sentences.tolist() == [[0, 2]]


@pytest.mark.parametrize("text", ["", " ", "\n\n \t", "\u3000", "\x00", "\U0001f600"])
def test_texts_with_next_to_nothing(trained, text):
    documents = [Document(text, id="a"), Document("No chest pain."), Document(text, id="b")]
    predicted = list(trained.predict(documents))
    assert [document.text for document in predicted] == [text, "No chest pain.", text]
    assert predicted[0].mentions == predicted[2].mentions
    assert predicted[1].mentions == found(trained, [documents[1]])[0]


def test_no_documents(trained):
    assert list(trained.predict([])) == []
    assert list(trained.predict(iter(()))) == []


def test_batches_do_not_matter_and_prediction_is_lazy(trained, notes):
    """More tokens than one batch holds; each document is predicted as it is alone."""
    many = notes.test * 40
    alone = [found(trained, [document])[0] for document in notes.test]
    assert found(trained, many) == alone * 40
    taken = []

    def endless():
        while True:
            taken.append(1)
            yield notes.test[0]

    next(trained.stream(endless()))
    assert len(taken) < 1000


def long_document(length):
    """One sentence, in words of four letters."""
    words = (["Nono", "chst", "pain", "here"] * (length // 4 + 1))[:length]
    tokens = np.array([(5 * i, 5 * i + 4) for i in range(length)])
    mentions = [Mention("x", [(5 * i + 5, 5 * i + 14)]) for i in range(0, length - 3, 4)]
    return Document(" ".join(words), tokens=tokens, sentences=[[0, length]], mentions=mentions)


@pytest.mark.parametrize("counting", ENGINES)
def test_a_sentence_of_fifty_thousand_tokens(counting):
    long = long_document(50_000)
    recognizer = Recognizer(features=["bias", "w[0]"], counting=counting, epochs=2).fit([long], dev=[long_document(40)])
    [predicted] = recognizer.predict([long])
    assert [m.key for m in predicted.mentions] == [m.key for m in long.mentions]
    assert all(0 < m.score <= 1 for m in predicted.mentions)
    likelihood = recognizer.log_likelihood([long])
    assert likelihood.shape == (1, 1)
    assert np.isfinite(likelihood).all()
    assert likelihood[0, 0] <= 0


def test_mentions_that_cannot_be_held_are_counted_and_listed(notes):
    text = "No chest pain. No fever."
    kept = Mention("x", [(3, 13)])
    cut, crossing, gap = Mention("x", [(3, 7)]), Mention("x", [(9, 17)]), Mention("x", [(0, 2), (9, 13)])
    documents = [Document(text, id="d", mentions=[kept, cut, crossing, gap])]
    documents += [Document(text, mentions=[kept])] * 40
    recognizer = Recognizer("separators", TEMPLATES, epochs=1).fit(documents, dev=documents[:1])
    reasons = {
        cut: "it begins or ends inside a token",
        crossing: "it is not within one sentence",
        gap: GAP,
    }
    assert recognizer.report_.lost == dict.fromkeys(sorted(reasons.values()), 1)
    assert recognizer.report_.mentions == 44
    assert {lost.mention: lost.reason for lost in recognizer.lost_} == reasons
    assert recognizer.lost_[0] == Lost("d", cut, "ches", reasons[cut])
    assert recognizer.marginals(documents[:1])[0][1:] == [0.0, 0.0, 0.0]


def test_a_mention_that_stands_twice_is_one_to_a_chain():
    twice = [Mention("x", [(3, 13)], id="T1"), Mention("x", [(3, 13)], id="T2")]
    documents = [Document("No chest pain", mentions=twice)] * 30
    for structure in ("bio", "separators"):
        report = Recognizer(structure, TEMPLATES, epochs=1).fit(documents, dev=documents).report_
        assert report.ambiguous == 0
        assert report.mentions == 60


def test_likelihood_is_never_above_one_and_falls_for_wrong_mentions(trained, notes):
    gold = trained.log_likelihood(notes.train)
    sentences = sum(len(prepare(document).sentences) for document in notes.train)
    assert gold.shape == (sentences, len(trained.types_))
    assert (gold <= 1e-5).all()
    bare = trained.log_likelihood(document.copy(mentions=[]) for document in notes.train)
    assert gold.sum() > bare.sum()


def test_marginals_of_predicted_mentions_are_their_scores(trained, notes):
    predicted = list(trained.predict(notes.test))
    for document, scores in zip(predicted, trained.marginals(predicted), strict=True):
        assert scores == pytest.approx([mention.score for mention in document.mentions], abs=1e-6)
    unknown = Document("No pain", mentions=[Mention("unheard of", [(3, 7)])])
    assert trained.marginals([unknown, unknown]) == [[0.0], [0.0]]
    assert trained.marginals([]) == []


def test_training_needs_tokens_mentions_and_known_types(notes):
    recognizer = Recognizer(features=TEMPLATES, epochs=1)
    mention = Mention("x", [(0, 4)])
    with pytest.raises(DataError, match="no document"):
        recognizer.fit([])
    with pytest.raises(DataError, match="none of the 2 training documents has a mention"):
        recognizer.fit([Document("pain"), Document("")])
    with pytest.raises(DataError, match="no tokens"):
        recognizer.fit([Document("    ", mentions=[mention])])
    dev = [Document("pain", id="d7", mentions=[Mention("mood", [(0, 4)])])]
    with pytest.warns(DataWarning, match=r"1 of type 'mood'; training has x"):
        Recognizer(features=["w[0]"], epochs=1).fit([Document("pain", mentions=[mention])] * 3, dev=dev)
    with pytest.raises(UsageError, match="not trained"):
        list(recognizer.predict([Document("pain")]))
    with pytest.raises(UsageError, match="not trained"):
        recognizer.save("nowhere")


@pytest.mark.parametrize("optimizer", ["adagrad", "lbfgs"])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_very_little_training_data_still_teaches(optimizer, count):
    """Development data of a sentence or none must not stop the training before it has begun."""
    documents = [Document("No chest pain today", mentions=[Mention("x", [(3, 13)])])] * count
    recognizer = Recognizer(features=TEMPLATES, optimizer=optimizer, l2=0.1).fit(documents)
    assert [[m.key for m in mentions] for mentions in found(recognizer, documents[:1])] == [[("x", ((3, 13),))]]


@pytest.mark.parametrize("optimizer", ["adagrad", "lbfgs"])
@pytest.mark.parametrize("structure", ["bio", "separators"])
def test_features_that_are_all_too_rare(optimizer, structure, tmp_path):
    documents = [Document("No chest pain today", mentions=[Mention("x", [(3, 13)])])] * 5
    settings = {"optimizer": optimizer, "min_count": 1000, "epochs": 2, "iterations": 2}
    recognizer = Recognizer(structure, ["w[0]"], **settings).fit(documents)
    assert recognizer.report_.rows == 0
    recognizer.save(tmp_path / "model")
    assert found(load(tmp_path / "model"), documents) == found(recognizer, documents)


def test_the_grid_takes_the_lambda_with_the_best_development_f1(notes):
    settings = {"features": TEMPLATES, "rate": 0.3, "epochs": 2, "tune_penalty": False, "rescore": False}
    grid = [300.0, 0.3, 3.0]
    alone = [Recognizer(l2=l2, **settings).fit(notes.train, dev=notes.dev).report_ for l2 in grid]
    best = max(alone, key=lambda report: report.dev_f1)
    chosen = Recognizer(l2=grid, **settings).fit(notes.train, dev=notes.dev).report_
    assert chosen == best
    assert len({report.dev_f1 for report in alone}) > 1


def test_the_mention_penalty_is_tuned_on_development_data(notes):
    settings = {"features": TEMPLATES, "rate": 0.3, "epochs": 2, "rescore": False}
    tuned = Recognizer(**settings).fit(notes.train, dev=notes.dev)
    plain = Recognizer(tune_penalty=False, **settings).fit(notes.train, dev=notes.dev)
    assert plain.model_.penalty == plain.report_.penalty == 0
    assert tuned.model_.penalty == tuned.report_.penalty != 0
    assert tuned.report_.dev_f1 > plain.report_.dev_f1
    counts = [
        sum(map(len, found(plain, notes.dev))),
        *(sum(len(d.mentions) for d in _with(plain, penalty).predict(notes.dev)) for penalty in (1.0, 3.0)),
    ]
    assert counts == sorted(counts)


def _with(recognizer, penalty):
    other = Recognizer()
    other.model_ = recognizer.model_.with_penalty(penalty)
    return other


def test_clusters_by_number_and_by_file(notes, tmp_path):
    documents = [prepare(document) for document in notes.train[:12]]
    induced = Recognizer(features="small", clusters=16, epochs=1)
    recognizer = Recognizer(features=["bias", "cluster[0]"], clusters=16, epochs=1).fit(documents, dev=documents[:3])
    clusters = recognizer.model_.scorer.features.clusters
    assert len(set(clusters.values())) == 16
    words = [word for document in documents for word in document.words]
    write_paths(tmp_path / "paths", clusters, {word: words.count(word) for word in clusters})
    assert read_paths(tmp_path / "paths") == clusters
    by_file = Recognizer(features=["bias", "cluster[0]"], clusters=str(tmp_path / "paths"), epochs=1)
    by_file.fit(documents, dev=documents[:3])
    assert found(by_file, notes.test) == found(recognizer, notes.test)
    by_file.save(tmp_path / "model")
    (tmp_path / "paths").unlink()  # the model holds its clusters
    assert found(load(tmp_path / "model"), notes.test) == found(recognizer, notes.test)
    with pytest.raises(UsageError, match="clusters"):
        induced.set_params(clusters=1).fit(documents)
    with pytest.raises(UsageError, match="needs word clusters"):
        Recognizer(features=["cluster[0]"]).fit(documents)


def test_clusters_of_words_with_tabs_and_line_ends(tmp_path):
    """Tokens come from anywhere, and so do the characters in them."""
    text = "a\tb c\nd e"
    document = Document(text, tokens=[[0, 3], [4, 7], [8, 9]], mentions=[Mention("x", [(4, 7)])])
    recognizer = Recognizer(features=["bias", "cluster[0]"], clusters=3, epochs=2).fit([document] * 5, dev=[document])
    assert set(recognizer.model_.scorer.features.clusters) == {"a\tb", "c\nd", "e"}
    recognizer.save(tmp_path / "model")
    assert load(tmp_path / "model").model_.scorer.features.clusters == recognizer.model_.scorer.features.clusters


def test_columns_of_the_data_as_features(notes, tmp_path):
    documents = [document.copy(columns={"pos": ["N"] * len(document.tokens)}) for document in map(prepare, notes.train)]
    recognizer = Recognizer(features=["bias", "pos[0]|low[0]"], epochs=1, pos=None).fit(
        documents[:10], dev=documents[10:12]
    )
    list(recognizer.predict(documents[:2]))
    with pytest.raises(UsageError, match=r"'pos\[0\]\|low\[0\]' names the column 'pos'"):
        list(recognizer.predict(notes.test))
    with pytest.raises(UsageError, match=r"'nonsense\[0\]' names the column 'nonsense'"):
        Recognizer(features=["nonsense[0]"]).fit(documents[:3])
    dropped = Recognizer("bio", "biomedical", epochs=1).fit(notes.train[:5], dev=notes.dev[:1]).report_.dropped
    assert "pos[-2..2]" in dropped


def test_a_description_holds_no_word_of_the_training_text(tmp_path):
    documents = [Document(f"no pain for Quackenbush{n % 3}", mentions=[Mention("x", [(3, 7)])]) for n in range(40)]
    odd = Document("mild pain for Rosencrantz", mentions=[Mention("x", [(5, 9)])])
    features = ["bias", "w[-1..2]", "w[0]|w[2]"]
    bare, named, all_named = (
        Recognizer(features=features, names=names).fit([*documents, odd], dev=documents) for names in (False, True, 1)
    )
    shown = []
    for number, model in enumerate((bare, named, all_named)):
        model.save(tmp_path / f"{number}")
        shown.append((tmp_path / f"{number}" / "model.json").read_text())
        assert model.predict("no pain").mentions
    assert not any(word in shown[0] for word in ("pain", "Quackenbush", "Rosencrantz"))
    assert "pain" in shown[1]
    assert "Quackenbush" in shown[1]
    assert "Rosencrantz" not in shown[1]
    assert "Rosencrantz" in shown[2]
    assert [weight for _, weight in bare.strongest_["S x"]] == [weight for _, weight in all_named.strongest_["S x"]]


@pytest.mark.parametrize("names", [-1, "yes", 1.5])
def test_names_that_cannot_be_meant(names):
    with pytest.raises(UsageError, match="names is"):
        Recognizer(names=names).check()


def test_progress_is_told_in_order(notes):
    steps: list[Progress] = []
    Recognizer(features=TEMPLATES, epochs=3, l2=1).fit(notes.train[:8], dev=notes.dev[:2], progress=steps.append)
    assert [step.stage for step in steps] == [
        "reading", "features", *["training, lambda 1"] * 3, "tuning the mention penalty, lambda 1",
        "second stage",
    ]  # fmt: skip
    training = steps[2:5]
    assert [(step.step, step.steps) for step in training] == [(1, 3), (2, 3), (3, 3)]
    assert training[0].objective > training[2].objective > 0
    assert all(0 <= step.dev_f1 <= 1 for step in training)
    assert [step.seconds for step in steps] == sorted(step.seconds for step in steps)
    assert training[2].seconds_left == 0


def test_training_again_forgets_what_was_before(notes):
    recognizer = Recognizer(features=TEMPLATES, epochs=1).fit(notes.train, dev=notes.dev)
    documents = [Document("No chest pain", mentions=[Mention("x", [(3, 13)])])] * 30
    recognizer.fit(documents)
    assert recognizer.types_ == ("x",)
    assert recognizer.lost_ == ()

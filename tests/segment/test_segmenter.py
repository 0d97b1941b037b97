"""The estimator: its methods, its answers, its manners, and what it does with bad input."""

from __future__ import annotations

from copy import copy

import numpy as np
import pytest

from spanloom.document import Document, Mention
from spanloom.errors import DataError, UsageError
from spanloom.evaluate import score
from spanloom.evaluate.words import evaluate_words
from spanloom.learn.tuning import smooth_best
from spanloom.segment import METHODS, Segmenter, load_segmenter

SHARED = ("independent", "incremental", "dual", "exact")


def of(segmenter, method):
    return copy(segmenter).set_params(method=method)


def figures(segmenter, documents):
    found = list(segmenter.predict(documents, scores=False))
    return evaluate_words(documents, found, bootstrap=0), score(documents, found).f1


@pytest.mark.parametrize("method", METHODS)
def test_every_method_learns_words_and_mentions(method, stacked, joint, chinese):
    segmenter = joint if method == "joint_labels" else of(stacked, method)
    words, mentions = figures(segmenter, chinese[2])
    assert words.words.f1 > (0.8 if method == "joint_labels" else 0.87)
    assert mentions > (0.6 if method == "joint_labels" else 0.7)
    if method in ("joint_labels", "dual", "exact"):
        found = list(segmenter.predict(chinese[2]))
        assert words.cuts == {"gold": 0, "predicted": 0}
        for document in found:
            starts = set(document.tokens[:, 0].tolist())
            for mention in document.mentions:
                inner = starts & set(range(mention.start + 1, mention.end))
                assert mention.type != "medication" or not inner


def test_dual_certifies_and_equals_exact_decoding(stacked, chinese):
    dual = list(of(stacked, "dual").predict([*chinese[1], *chinese[2]]))
    exact = list(of(stacked, "exact").predict([*chinese[1], *chinese[2]]))
    certified, steps = [], []
    for one, other in zip(dual, exact, strict=True):
        told = one.meta["dual"]
        assert len(told["optimal"]) == len(told["gap"]) == len(told["iterations"]) == len(one.sentences)
        assert all((gap == 0) == optimal for gap, optimal in zip(told["gap"], told["optimal"], strict=True))
        if all(told["optimal"]):
            assert one.words == other.words
            assert one.mentions == other.mentions
        certified += told["optimal"]
        steps += told["iterations"]
    assert np.mean(certified) > 0.97
    assert min(steps) == 1 < max(steps) <= 50


def test_one_iteration_leaves_gaps(stacked, chinese):
    hasty = of(stacked, "dual").set_params(dual_iterations=1)
    told = [document.meta["dual"] for document in hasty.predict(chinese[2])]
    assert any(gap > 0 for certificate in told for gap in certificate["gap"])


def test_the_weight_of_mentions_decides_whose_word_counts(stacked, chinese):
    words = {}
    for weight in (0.01, 1.0, 100.0):
        segmenter = of(stacked, "exact").set_params(weight=weight)
        words[weight] = figures(segmenter, chinese[2])[0].words.f1
    alone = figures(of(stacked, "independent"), chinese[2])[0].words.f1
    assert words[0.01] == pytest.approx(alone)
    assert words[100.0] != words[0.01]


def test_probabilities(stacked, joint, chinese):
    for segmenter in (of(stacked, "exact"), joint):
        found = list(segmenter.predict(chinese[2][:3]))
        again = segmenter.marginals(found)
        for document, chances in zip(found, again, strict=True):
            assert [mention.score for mention in document.mentions] == pytest.approx(chances.mentions, abs=1e-6)
            assert len(chances.words) == len(document.tokens)
            assert 0.5 < np.mean(chances.words) <= 1
        exact = segmenter.marginals(found, calibrated=False)
        for chances, given in zip(again, exact, strict=True):
            assert chances.words == given.words
            assert segmenter.model_.scalings.mentions(np.array(given.mentions)) == pytest.approx(chances.mentions)
        some = list(segmenter.predict(chinese[2][:3], threshold=0.5))
        assert all(mention.score >= 0.5 for document in some for mention in document.mentions)
    odd = Document("无胸痛", tokens=[[0, 1], [1, 3]], sentences=[[0, 2]])
    odd.mentions = [Mention("problem", [(1, 3)]), Mention("problem", [(0, 2)]), Mention("nothing", [(1, 3)])]
    [chances] = of(stacked, "exact").marginals([odd])
    assert chances.mentions[0] > 0.5
    assert chances.mentions[1] < chances.mentions[0]
    assert chances.mentions[2] == 0
    with pytest.raises(UsageError, match="but there are no scores"):
        stacked.predict([], threshold=0.5, scores=False)


def test_figure_1_and_the_examples_of_the_discussion(stacked):
    texts = ["患者夜间无关节疼痛", "患者在医院输液治疗数天。", "予还原性谷胱甘肽保肝。"]
    figure, infusion, drug = of(stacked, "exact").predict(map(Document, texts))
    assert figure.words == ["患者", "夜间", "无", "关节", "疼痛"]
    assert [(mention.type, mention.text(figure.text)) for mention in figure.mentions] == [("problem", "关节疼痛")]
    assert infusion.words == ["患者", "在", "医院", "输液", "治疗", "数天", "。"]
    assert [(mention.type, mention.text(infusion.text)) for mention in infusion.mentions] == [("treatment", "输液治疗")]
    # the chain of words alone cuts the name in two; that a medication is one word corrects it
    alone = of(stacked, "independent").predict(drug)
    assert alone.words == ["予", "还原性", "谷胱甘肽", "保肝", "。"]
    assert drug.words == ["予", "还原性谷胱甘肽", "保肝", "。"]
    assert drug.mentions[0].text(drug.text) == "还原性谷胱甘肽"


@pytest.mark.parametrize("method", METHODS)
def test_any_text_is_segmented(method, stacked, joint):
    segmenter = joint if method == "joint_labels" else of(stacked, method)
    texts = [
        "病人BP１２０／８０mmHg，無發熱頭痛，行CT检查。",
        "👨\u200d👩\u200d👧 👍🏽 ok\u3000好\u0301。",
        "",
        " \n\t",
        "\u0301",
        "no Chinese at all",
        "无发热" * 4000,
    ]
    found = list(segmenter.predict([Document(text) for text in texts]))
    assert [document.text for document in found] == texts
    for document in found:
        assert "".join(document.words) == "".join(document.text.split())
        assert document.sentences.shape[1] == 2
        assert int(np.diff(document.sentences).sum()) == len(document.tokens)
    assert found[1].words[0].startswith("👨\u200d👩\u200d👧")
    assert "👍🏽" in "".join(found[1].words)


def test_given_sentences_are_kept_and_given_words_are_not_looked_at(stacked):
    text = "无发热。无胸痛。"
    columns, mentions = {"pos": ["a", "b"]}, [Mention("a", [(0, 8)])]
    given = Document(text, "x", [[0, 4], [4, 8]], [[0, 1], [1, 2]], columns, mentions, {"k": 1})
    [found] = of(stacked, "exact").predict([given])
    assert found.words[0] == "无"
    assert len(found.sentences) == 2
    assert (found.id, found.meta, found.columns) == ("x", {"k": 1}, {})
    [one] = of(stacked, "exact").predict([given.copy(sentences=[[0, 2]])])
    assert len(one.sentences) == 1


@pytest.mark.parametrize("method", ["incremental", "joint_labels", "exact"])
def test_saved_and_loaded(method, stacked, joint, chinese, tmp_path):
    segmenter = joint if method == "joint_labels" else of(stacked, method)
    segmenter.save(tmp_path / "m")
    loaded = load_segmenter(tmp_path / "m")
    params = {name: list(value) if value == () else value for name, value in segmenter.get_params().items()}
    assert loaded.get_params() == params
    assert (loaded.types_, loaded.report_) == (segmenter.types_, segmenter.report_)
    for one, other in zip(segmenter.predict(chinese[1]), loaded.predict(chinese[1]), strict=True):
        assert one.words == other.words
        assert one.mentions == other.mentions
    with pytest.raises(UsageError, match="is there already"):
        segmenter.save(tmp_path / "m")


def test_same_seed_same_bytes_for_any_number_of_threads(chinese, tmp_path):
    files = []
    for jobs in (1, 3):
        segmenter = Segmenter("incremental", "set1", epochs=2, n_jobs=jobs).fit(chinese[0][:12])
        segmenter.save(tmp_path / f"{jobs}")
        files.append([path.read_bytes() for path in sorted((tmp_path / f"{jobs}").iterdir())])
    assert files[0] == files[1]


def test_incremental_sees_what_others_say_of_held_out_text(stacked):
    _, words, mentions = stacked.model_.parts
    assert "mention_tag[0]|w[0]" in [str(template) for template in words.scorer.features.templates]
    assert "word_tag[0]|w[0]" in [str(template) for template in mentions.scorer.features.templates]
    assert not stacked.model_.serves("joint_labels")
    with pytest.raises(UsageError, match="not trained for the method 'joint_labels'"):
        list(of(stacked, "joint_labels").predict([Document("痛")]))


@pytest.mark.parametrize("method", ["incremental", "exact"])
def test_documents_that_are_cut_into_sentences_are_counted_as_they_were_given(method, chinese):
    train, dev = chinese[0][:5], chinese[1][:3]
    assert sum(document.sentence_count for document in train) > 5
    for given in (dev, None):
        model = Segmenter(method, ["bias", "w[0]"], epochs=1, l2=1.0).fit(train, dev=given)
        assert model.report_.documents == 5


def test_weights_whose_sum_is_a_score_share_a_step():
    document = Document("无疼痛", tokens=[[0, 1], [1, 3]], sentences=[[0, 2]], mentions=[Mention("problem", [(1, 3)])])
    steps = {}
    for method in ("independent", "joint_labels"):
        model = Segmenter(method, ["bias"], epochs=1, rate=0.3).fit([document], dev=[document]).model_
        constants = [chain.scorer.weights.constants for chain in model.parts[0].models.values()]
        steps[method] = max(np.abs(array).max() for array in constants)
    assert steps == pytest.approx({"independent": 0.3, "joint_labels": 0.1}, rel=1e-4)


def test_the_joint_penalty_is_a_broad_peak():
    places = [-2.0, -1.0, 0.0, 1.0, 2.0, 3.0]
    assert smooth_best(places, [0, 9, 0, 5, 6, 5]) == 2.0  # and not the higher, lonely one
    assert smooth_best(places, [0] * 6) == 0.0
    assert smooth_best(places, [9, 0, 0, 0, 1, 0]) == -1.0  # the ends count as neighbours only


def test_dictionaries_are_kept_in_the_model(chinese, tmp_path):
    lists = {"drug": ["新赛斯平"], "test": ["心电图", "血压"]}
    segmenter = Segmenter(features="set3", dictionaries=lists, epochs=2).fit(chinese[0][:8], dev=chinese[1][:2])
    segmenter.save(tmp_path / "m")
    loaded = load_segmenter(tmp_path / "m")
    assert loaded.dictionaries == {"drug": "1 phrases", "test": "2 phrases"}
    text = [Document("停用新赛斯平，测血压。")]
    assert [d.words for d in loaded.predict(text)] == [d.words for d in segmenter.predict(text)]
    phrases = loaded.model_.phrases
    assert phrases is not None
    assert phrases.find(list("新赛斯平"))[0].labels == ("drug",)


def test_lost_mentions_are_listed(chinese):
    document = chinese[0][0]
    cut = Mention("problem", [(document.tokens[3, 0], document.tokens[3, 1] - 1)])
    gap = Mention("problem", [(0, 2), (3, 5)])
    far = Mention("problem", [(0, int(document.tokens[-1, 1]))])
    odd = document.copy(mentions=[cut, gap, far])
    segmenter = Segmenter(features="set1", epochs=1, single_word=["test"]).fit([odd, *chinese[0][1:8]], dev=chinese[1])
    reasons = {item.mention: item.reason for item in segmenter.lost_}
    assert reasons[cut] == "it begins or ends inside a word"
    assert "gap" in reasons[gap]
    assert reasons[far] == "it is not within one sentence"
    broken = [item for item in segmenter.lost_ if "'test continues -> not word begins'" in item.reason]
    assert broken
    assert {item.mention.type for item in broken} == {"test"}
    assert sum(segmenter.report_.lost.values()) == len(segmenter.lost_)
    free = Segmenter("independent", "set1", epochs=1, single_word=["test"]).fit([odd, *chinese[0][1:8]], dev=chinese[1])
    assert len(free.lost_) == 3  # no constraint binds the chains that stand alone


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        ([], "hold no document"),
        ([Document("痛", id="a")], "document 'a' has no words; give them as its tokens"),
        ([Document("痛", tokens=[[0, 1]])], "none of the 1 training documents has a mention"),
        (
            [Document("胸痛", id="a", tokens=[[0, 1]], mentions=[Mention("x", [(0, 1)])])] * 30,
            "document 'a': the words do not add up to the text",
        ),
    ],
)
def test_data_that_cannot_be_learned_from(documents, message):
    with pytest.raises(DataError, match=message):
        Segmenter().fit(documents)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"method": "best"}, "method is 'best', expected one of independent, incremental"),
        ({"features": "set9"}, "features is 'set9', expected one of set1, set2, set3"),
        ({"features": []}, "features is empty"),
        ({"single_word": "medication"}, "single_word is 'medication', expected a list of texts"),
        ({"constraints": ["x"]}, "constraint 'x': expected 'TYPE WHAT"),
        ({"weight": 0}, "weight is 0, expected a number above 0"),
        ({"dual_iterations": 0}, "dual_iterations is 0, expected a whole number from 1"),
        ({"l2": []}, "l2 is"),
        ({"rate": "x"}, "rate is 'x'"),
        ({"n_jobs": 1.5}, "n_jobs is 1.5"),
    ],
)
def test_parameters_that_cannot_be_meant(params, message):
    with pytest.raises(UsageError, match=message):
        Segmenter(**params).fit([])


def test_an_unknown_type_in_a_constraint(chinese):
    for params in ({"single_word": ["drug"]}, {"constraints": ["drug begins -> word ends"]}):
        with pytest.raises(UsageError, match="there is no mention type 'drug'; there are medication, problem, test"):
            Segmenter(**params).fit(chinese[0])


def test_untrained():
    with pytest.raises(UsageError, match="this segmenter is not trained"):
        Segmenter().predict([])


@pytest.mark.parametrize("method", METHODS)
def test_nothing_to_predict(method, stacked, joint):
    segmenter = joint if method == "joint_labels" else of(stacked, method)
    assert list(segmenter.predict([])) == []
    [empty] = segmenter.predict([Document("")])
    assert (empty.words, empty.mentions, len(empty.sentences)) == ([], [], 0)
    assert segmenter.marginals([]) == []


def test_threads_do_not_change_predictions(stacked, chinese):
    one, two = (list(of(stacked, "exact").set_params(n_jobs=jobs).predict(chinese[2])) for jobs in (1, 2))
    for left, right in zip(one, two, strict=True):
        assert left.words == right.words
        assert left.mentions == right.mentions


def test_many_types_are_for_dual(chinese):
    documents = [
        d.copy(mentions=[m.replace(type=f"{m.type}{i % 7}") for i, m in enumerate(d.mentions)]) for d in chinese[0]
    ]
    segmenter = Segmenter("dual", "set1", epochs=1).fit(documents[:20], dev=documents[20:22])
    assert len(segmenter.types_) > 24
    [found] = segmenter.predict(documents[22:23])
    assert all(0 <= mention.score <= 1 for mention in found.mentions)
    with pytest.raises(UsageError, match="this lattice holds at most 24; train fewer, or the method dual"):
        list(segmenter.set_params(method="exact").predict(documents[:20]))

"""`structure="auto"`: the structure that the annotation needs, and the report of what it cannot represent."""

import pytest

from spanloom import Document, Mention, Recognizer, load
from spanloom.clean.suspects import judge
from spanloom.errors import UsageError
from spanloom_lab.cascade import Cascade

FAST = {"features": ["bias", "w[0]", "w[-1]"], "epochs": 2, "l2": 1.0, "rescore": False}
GAP = Document("left and right knee", mentions=[Mention("body", [(0, 4), (15, 19)]), Mention("body", [(9, 19)])])
NESTED = Document("left knee pain", mentions=[Mention("body", [(0, 9)]), Mention("body", [(5, 9)])])
CROSSING = Document("low back pain now", mentions=[Mention("body", [(0, 8)]), Mention("body", [(4, 13)])])


def numbered(*parts):
    """Each document so many times."""
    several = [one for document, count in parts for one in [document] * count]
    return [one.copy(id=f"{number}") for number, one in enumerate(several)]


def trained(documents, dev=None, **params):
    return Recognizer(**{**FAST, **params}).fit(documents, dev=documents if dev is None else dev)


@pytest.mark.parametrize(
    ("documents", "dev", "name", "line"),
    [
        (
            numbered((NESTED, 40)), None, "separators",
            "structure: separators (no mention has gaps); represents all 80 mentions",
        ),
        (
            numbered((GAP, 10), (NESTED, 30)), None, "shared",
            "structure: shared (12 % of mentions have gaps); represents all 80 mentions",
        ),
        (
            numbered((GAP, 1), (NESTED, 199)), None, "separators",
            "structure: separators (less than 1 % of mentions have gaps); "
            "cannot represent 1 of 400 mentions: it has a gap",
        ),
        (  # between the two, development data decide
            numbered((GAP, 4), (NESTED, 196)), None, "shared",
            "structure: shared (1 % of mentions have gaps); represents all 400 mentions",
        ),
        (
            numbered((GAP, 4), (NESTED, 196)), numbered((NESTED, 20)), "separators",
            "structure: separators (1 % of mentions have gaps); cannot represent 4 of 400 mentions: it has a gap",
        ),
        (  # no candidate reads crossing mentions of one type back, so the fastest stays
            numbered((NESTED, 20), (CROSSING, 20)), None, "separators",
            "structure: separators (no mention has gaps); cannot represent 40 of 80 mentions: "
            "two of one type that cross",
        ),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::spanloom.errors.LostWarning")
def test_the_structure_is_what_the_annotation_needs(documents, dev, name, line):
    model = trained(documents, dev)
    assert model.structure_ == str(model.model_.structure) == name
    assert [one for one in model.summary() if one.startswith("structure:")] == [line]


def test_a_structure_that_is_named_is_not_chosen():
    with pytest.warns(match="it has a gap"):
        model = trained(numbered((GAP, 40)), structure="separators")
    assert model.structure_ == "separators"
    assert not any(line.startswith("structure:") for line in model.summary())


def test_parts_beyond_the_limit_count_as_lost():
    three = Document("a b c d e", mentions=[Mention("x", [(0, 1), (4, 5), (8, 9)])])
    assert trained(numbered((three, 20))).structure_ == "shared"
    with pytest.warns(match="it has a gap"):
        assert trained(numbered((three, 20), (NESTED, 1)), components=2).structure_ == "separators"
    assert trained(numbered((GAP, 20)), components=2).structure_ == "shared(components=2)"


def test_a_model_file_keeps_the_choice(tmp_path):
    model = trained(numbered((GAP, 40)))
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert (again.structure, again.structure_) == ("auto", "shared")
    assert again.predict([GAP]) == model.predict([GAP])
    assert again.describe()["structure"] == "shared"
    assert again.report_ == model.report_
    trained_again = again.fit(numbered((NESTED, 40)), dev=numbered((NESTED, 5)))
    assert trained_again.structure_ == "separators"


def test_scikit_learn_sees_the_parameter_and_not_the_choice():
    clone = pytest.importorskip("sklearn.base").clone
    model = trained(numbered((GAP, 40)))
    assert model.get_params()["structure"] == "auto"
    other = clone(model)
    assert other.get_params() == model.get_params()
    with pytest.raises(UsageError, match="not trained"):
        _ = other.structure_
    assert other.set_params(structure="split").fit(numbered((GAP, 40)), dev=numbered((GAP, 5))).structure_ == "split"


def test_a_folder_gives_the_same_model_as_memory(tmp_path):
    documents = numbered((GAP, 10), (NESTED, 20))
    memory = trained(documents)
    disk = Recognizer(**FAST).fit(iter(documents), dev=documents, work=tmp_path / "work")
    for name, model in (("memory", memory), ("disk", disk)):
        model.save(tmp_path / name)
    files = [sorted((tmp_path / name).iterdir()) for name in ("memory", "disk")]
    assert [one.read_bytes() for one in files[0]] == [one.read_bytes() for one in files[1]]


def test_all_folds_of_cleaning_judge_gaps_alike():
    """The models of the fold with the only gap see none."""
    documents = [one.copy(text=f"{one.text} {one.id}") for one in numbered((GAP, 1), (NESTED, 19))]
    judged = judge(documents, Recognizer(**FAST), folds=2)
    assert all(value is not None for one in judged for value in one.probabilities)


def test_a_cascade_has_no_such_choice():
    with pytest.raises(TypeError, match="structure"):
        Cascade(structure="auto")

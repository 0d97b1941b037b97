"""Profiles of training text, and what is told of text that differs from it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np
import pytest

from spanloom import Document, Recognizer, Segmenter, load, read
from spanloom.data import chinese_clinical
from spanloom.errors import DataWarning, ModelError
from spanloom.model.profile import Profile, ShiftWatch
from spanloom.serve.served import Served
from spanloom_lab import Cascade

SETTINGS: dict[str, Any] = {"features": ["bias", "low[-1..1]"], "epochs": 2, "l2": 0.1, "rescore": False}


def told(profile: Profile | None, *texts: str, watch: ShiftWatch | None = None) -> list[str]:
    """What is told of texts that are predicted one after the other."""
    found: list[str] = []
    seen = list((watch or ShiftWatch(profile)).over(map(Document, texts), found.append))
    assert [one.text for one in seen] == list(texts)
    return found


@pytest.fixture(scope="module")
def profile(notes: Any) -> Profile:
    return Profile.of(notes.train)


def of(documents: list[Document], change: Callable[[str], str] = str) -> list[str]:
    return [change(one.text) for one in documents]


def test_new_text_of_the_same_kind_is_no_news(profile: Profile, notes: Any) -> None:
    assert told(profile, *of(notes.test)) == []


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (str.upper, "of its words are in capitals"),
        (str.lower, "none of its words has a capital letter"),
        (
            lambda text: text.translate({code: code + 0x3AE for code in range(97, 123)}).lower(),
            "of its words are Cyrillic",
        ),
        (lambda text: " ".join(word[::-1] for word in text.split(" ")), "of its words are unknown"),
        (lambda text: text.replace(" ", "\n"), "line ends for every 100 words are inside sentences"),
    ],
)
def test_what_differs_is_told_once_with_figures(
    profile: Profile, notes: Any, change: Callable[[str], str], says: str
) -> None:
    watch = ShiftWatch(profile)
    [message] = told(profile, *of(notes.test, change), watch=watch)
    assert says in message
    assert any(character.isdigit() for character in message)
    assert told(profile, *of(notes.test, change), watch=watch) == []


def test_many_short_texts_are_as_good_as_a_long_one(profile: Profile, notes: Any) -> None:
    lines = [line for text in of(notes.test, str.upper) for line in text.splitlines() if line.strip()]
    watch = ShiftWatch(profile)
    assert sum(len(told(profile, line, watch=watch)) for line in lines) == 1


def test_a_change_late_in_a_stream_shows(profile: Profile, notes: Any) -> None:
    usual = of(notes.test) * 30
    assert len(told(profile, *usual, *of(notes.test, str.upper) * 30)) == 1


def test_of_a_few_words_nothing_is_told(profile: Profile) -> None:
    assert told(profile, "XYZ QRS") == []
    assert told(profile, "", "\n") == []
    assert told(None, "XYZ " * 100) == []


def test_words_of_one_document_are_not_kept() -> None:
    common = [f"word{chr(97 + i)}" for i in range(26)]
    kept = Profile.of([Document(f"{' '.join(common)} name{chr(97 + i)}") for i in range(20)])
    assert kept.knows(common).all()
    assert kept.knows([f"name{chr(97 + i)}" for i in range(20)]).mean() < 0.2
    assert kept.unknown == pytest.approx(1 / 27)


def test_no_text_and_one_text_have_a_profile() -> None:
    assert Profile.of([]).scripts == ()
    assert Profile.of([Document("no chest pain")]).unknown == 1


def test_a_profile_is_stored(profile: Profile) -> None:
    again = Profile.from_part(profile.to_part())
    assert again is not None
    assert again.filter.tobytes() == profile.filter.tobytes()
    assert (again.unknown, again.scripts, again.broken) == (profile.unknown, profile.scripts, profile.broken)
    part = profile.to_part()
    assert part is not None
    for damaged in (
        type(part)(part.values, {"filter": np.zeros(0, np.uint8)}),
        type(part)({**part.values, "unknown": 2}, part.arrays),
    ):
        with pytest.raises((ModelError, ValueError)):
            Profile.from_part(damaged)


@pytest.mark.parametrize("kind", [Recognizer, Cascade])
def test_models_keep_one_and_tell(kind: Any, notes: Any, tmp_path: Any) -> None:
    kind(**{name: value for name, value in SETTINGS.items() if kind is Recognizer or name != "rescore"}).fit(
        notes.train, dev=notes.dev
    ).save(tmp_path / "model")
    model = load(tmp_path / "model")
    heard: list[str] = []
    model.explain(notes.test[0].text.upper(), [])
    model.predict(of(notes.test, str.upper), notice=heard.append)
    model.predict(of(notes.test, str.upper), notice=heard.append)
    assert len(heard) == 1
    assert "in capitals" in heard[0]


def test_a_segmenter_tells_of_another_script() -> None:
    train, dev = (list(read(chinese_clinical() / f"{part}.jsonl")) for part in ("train", "dev"))
    model = Segmenter(epochs=1).fit(train, dev=dev)
    with pytest.warns(UserWarning, match="of its words are Cyrillic"):
        model.predict("Пациент не предъявляет жалоб на боль в груди, одышку или слабость при ходьбе сегодня.")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict("Пациент не предъявляет жалоб на боль в груди, одышку или слабость при ходьбе сегодня.")


def test_a_server_tells_of_requests_and_not_of_its_own_sample(trained: Recognizer, notes: Any) -> None:
    served = Served("notes", copy(trained))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        served.warm_up()
    with pytest.warns(DataWarning, match="in capitals"):
        list(served.stream([Document(text) for text in of(notes.test, str.upper)]))

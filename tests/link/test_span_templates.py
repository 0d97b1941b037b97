"""Templates of spans, candidates and of the search: text, keys, and what explanations call them."""

from __future__ import annotations

import numpy as np
import pytest

from spanloom.features.conjunctions import atoms
from spanloom.hashing import mix
from spanloom.link import phases, templates
from spanloom.link.templates import STATES, compiled, keys, of_phase

ALL = 255
CLOSING = (phases.CLOSE, phases.CLOSE_SEVERAL, phases.CLOSE_LAST)
OF_SPANS = [
    getattr(templates, name)
    for name in ("SPAN", "SPAN_EVIDENCE", "CANDIDATE", "CANDIDATE_EVIDENCE", "NIL", "NIL_EVIDENCE")
]
OF_STATES = [own for groups in STATES.values() for own in groups.values()]


def test_no_two_templates_share_a_number_or_say_the_same() -> None:
    numbers = [number for own in (*OF_SPANS, *OF_STATES) for number in own]
    assert len(numbers) == len(set(numbers))
    for own in (*OF_SPANS, *OF_STATES):
        assert len(set(own.values())) == len(own)


def test_what_the_search_knows_is_read_and_nothing_else() -> None:
    for phase, names in enumerate(phases.ATOMS):
        read = {name for text in of_phase(ALL, phase) for name in text.split("|")}
        assert read <= {*names}
        if names != phases.CLOSING:
            assert {*names} - read <= {"bias"}
    closing = [text for phase in CLOSING for text in of_phase(ALL, phase)]
    assert {name for text in closing for name in text.split("|")} == {*phases.CLOSING} - {"bias"}


def test_a_group_that_is_off_has_no_template() -> None:
    count = len(phases.ATOMS)
    for groups in (0, phases.NIL):
        assert compiled(groups).tolist() == [count + 1] * (count + 1)
    sizes = np.diff(compiled(phases.HISTORY | phases.JOINT)[: count + 1].astype(np.int64))
    filled = {phases.NEXT, phases.CLOSE_LAST, phases.CLOSE_FAR}
    assert {*np.flatnonzero(sizes).tolist()} == filled


def test_a_key_is_made_of_number_and_values() -> None:
    """Model files depend on it."""
    [own] = keys({7: "a|b:2"}, {"a": np.array([5]), "b": np.array([9])})
    state = 0x243F6A8885A308D3
    for value in (7, 5, 2):
        state = mix(state, value)
    assert own.tolist() == [state]
    program = compiled(phases.HISTORY)
    at = int(program[phases.CLOSE_LAST])
    names = [phases.CLOSING[place] for place in program[at + 2 : at + 5].tolist()]
    assert program[at : at + 2].tolist() == [mix(phases.NOTHING, 2001), 3]
    assert names == ["linked-before", "cand.way", "linked"]


@pytest.mark.parametrize("text", ["same|gap:8|cand.way", "bias", "n[-1].len:9|n[-1]"])
def test_a_template_is_its_atoms(text: str) -> None:
    assert "|".join(a.name if a.most is None else f"{a.name}:{a.most}" for a in atoms(text)) == text

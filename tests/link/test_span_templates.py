"""Templates of spans, candidates and of the search: text, keys, and what explanations call them."""

from __future__ import annotations

import numpy as np
import pytest

from spanloom.features.conjunctions import atoms
from spanloom.hashing import mix
from spanloom.link import kernels_features as kernels
from spanloom.link import templates
from spanloom.link.templates import STATES, compiled, keys, of_phase

ALL = 255
CLOSING = (kernels.CLOSE, kernels.CLOSE_SEVERAL, kernels.CLOSE_LAST)
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
    for phase, names in enumerate(kernels.ATOMS):
        read = {name for text in of_phase(ALL, phase) for name in text.split("|")}
        assert read <= {*names}
        if names != kernels.CLOSING:
            assert {*names} - read <= {"bias"}
    closing = [text for phase in CLOSING for text in of_phase(ALL, phase)]
    assert {name for text in closing for name in text.split("|")} == {*kernels.CLOSING} - {"bias"}


def test_a_group_that_is_off_has_no_template() -> None:
    phases = len(kernels.ATOMS)
    for groups in (0, kernels.NIL):
        assert compiled(groups).tolist() == [phases + 1] * (phases + 1)
    sizes = np.diff(compiled(kernels.HISTORY | kernels.JOINT)[: phases + 1].astype(np.int64))
    filled = {kernels.NEXT, kernels.CLOSE_LAST, kernels.CLOSE_FAR}
    assert {*np.flatnonzero(sizes).tolist()} == filled


def test_a_key_is_made_of_number_and_values() -> None:
    """Model files depend on it."""
    [own] = keys({7: "a|b:2"}, {"a": np.array([5]), "b": np.array([9])})
    state = 0x243F6A8885A308D3
    for value in (7, 5, 2):
        state = mix(state, value)
    assert own.tolist() == [state]
    program = compiled(kernels.HISTORY)
    at = int(program[kernels.CLOSE_LAST])
    names = [kernels.CLOSING[place] for place in program[at + 2 : at + 5].tolist()]
    assert program[at : at + 2].tolist() == [mix(int(kernels.NOTHING), 2001), 3]
    assert names == ["linked-before", "cand.way", "linked"]


@pytest.mark.parametrize("text", ["same|gap:8|cand.way", "bias", "n[-1].len:9|n[-1]"])
def test_a_template_is_its_atoms(text: str) -> None:
    assert "|".join(a.name if a.most is None else f"{a.name}:{a.most}" for a in atoms(text)) == text

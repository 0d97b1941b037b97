"""The two example sentences of Xu et al. (2014), "Discussion", with weights set by hand, as the paper tells it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from segment_helpers import joined, untrained

from spanloom.hypergraph import Potentials
from spanloom.model.structured import LinearModel
from spanloom.segment.chains import Scored
from spanloom.segment.constraints import constraints_of
from spanloom.segment.dual import solve_chains
from spanloom.structures.product import MENTION_CHAIN, WORD_CHAIN, Labels

TYPES = ("medication", "treatment")


def by_hand(model: LinearModel, length: int, scores: Mapping[tuple[int, str], float]) -> Scored:
    """Potentials that are 0 but for some tags at some characters."""
    template = model.engine.template
    roles = np.zeros((length, len(template.roles), 1), np.float32)
    for (at, tag), value in scores.items():
        roles[at, template.roles.index(tag), 0] = value
    return Scored(model, Potentials(roles, np.zeros((len(template.constants), 1), np.float32)))


def cut(text: str, labels: Labels) -> tuple[list[str], list[str]]:
    offsets = np.array([0, len(text)])
    found = [chain.mentions_of(tags, offsets) for chain, tags in zip((WORD_CHAIN, MENTION_CHAIN), labels, strict=True)]
    words, mentions = (
        [text[first:end] for first, end in zip(side.first.tolist(), side.end.tolist(), strict=True)] for side in found
    )
    return words, mentions


def spelled(words: list[str], score: float) -> dict[tuple[int, str], float]:
    tags = "".join("S" if len(word) == 1 else "B" + "I" * (len(word) - 2) + "E" for word in words)
    return dict.fromkeys(enumerate(tags), score)


INFUSION = ["患者", "在", "医院", "输液", "治疗", "数天"]
CASES = {
    # the words are right; the mention takes 数 (how many) with it
    "the number of infusion therapies": (
        spelled(INFUSION, 2.0),
        {
            **{(at, "O"): 2.0 for at in (0, 1, 2, 3, 4, 10)},
            (5, "B-treatment"): 2.0, (6, "I-treatment"): 2.0, (7, "I-treatment"): 2.0, (8, "I-treatment"): 1.1,
            (8, "L-treatment"): 1.0, (9, "L-treatment"): 1.1, (9, "O"): 1.0,
        },
        (INFUSION, ["输液治疗数"]),
        (INFUSION, ["输液治疗"]),
    ),
    # the mention is right; the words are not, but a medication is one word
    "reduced glutathione": (
        spelled(["还", "原性", "谷胱甘肽"], 0.5),
        {(0, "B-medication"): 2.0, **{(at, "I-medication"): 2.0 for at in range(1, 6)}, (6, "L-medication"): 2.0},
        (["还", "原性", "谷胱甘肽"], ["还原性谷胱甘肽"]),
        (["还原性谷胱甘肽"], ["还原性谷胱甘肽"]),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_two_tasks_correct_each_other(name: str) -> None:
    word_scores, mention_scores, alone, together = CASES[name]
    text = "".join(alone[0])
    offsets = np.array([0, len(text)])
    constraints = constraints_of(TYPES, ["medication"])
    chains = untrained(TYPES)
    words, mentions = (
        by_hand(chains.models[name], len(text), scores)
        for name, scores in (("words", word_scores), ("mentions", mention_scores))
    )
    assert cut(text, Labels(words.best(offsets).words, mentions.best(offsets).mentions)) == alone
    assert cut(text, joined(chains, (words, mentions), constraints).best(offsets)) == together
    solution = solve_chains(words, mentions, offsets, constraints)
    assert solution.optimal.all()
    assert cut(text, Labels(solution.first, solution.second)) == together

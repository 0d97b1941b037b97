"""The best structures under several mention penalties at once, against those under each alone."""

from __future__ import annotations

import numpy as np
import pytest
from structure_helpers import EVERY, offsets_of, random_potentials, types_of

from spanloom.hypergraph import ENGINES, Potentials
from spanloom.model.structured import StructuredModel
from spanloom.parallel import SERIAL, Threads

PENALTIES = (0.0, 2.0, 4.0)


@pytest.mark.parametrize("counting", ENGINES)
@pytest.mark.parametrize("name", EVERY)
def test_several_penalties_at_once_give_the_mentions_of_each(name, counting):
    structure = EVERY[name]
    types = types_of(structure)
    model = StructuredModel.build(structure, counting, types, None)
    offsets = offsets_of([6, 1, 0, 9, 2, 4, 4, 7, 1])
    skipped = 0
    for seed in range(6):
        given = random_potentials(model.engine.template, int(offsets[-1]), structure.lanes(types), seed)
        roles = given.roles.round() if seed % 2 else given.roles  # whole numbers make equal scores
        roles[:, model.start_rows] -= 1 + 2 * (seed // 2)  # so that some sentences have mentions under few penalties
        potentials = Potentials(roles, given.constants)
        each = [model.with_penalty(penalty).decode(potentials, offsets) for penalty in PENALTIES]
        for run in (SERIAL, Threads(2)):
            every, number = model.under(PENALTIES, potentials, offsets, run=run)
            found = [every.take(number == n) for n in range(len(PENALTIES))]
            assert [sorted(table.headed()) for table in found] == [sorted(table.headed()) for table in each]
        skipped += len(np.unique(each[2].sentence)) - len(np.unique(each[0].sentence))
    assert skipped or structure.covers or not model.start_rows

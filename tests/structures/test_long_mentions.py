"""Thousands of long mentions that cover one another: nothing may grow with the square of the text."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from structure_helpers import TYPES, offsets_of, random_potentials, such

from spanloom import Document, Mention, Recognizer
from spanloom.hypergraph import ENGINES
from spanloom.parallel import Threads
from spanloom.structures import STRUCTURES, MentionTable

NAMES = such(lambda structure: not structure.templates())  # those of a semi-Markov chain are segments


def nested(tokens, count):
    """The outermost mentions of so many tokens, each within the one before; their heads are their first halves."""
    rows = [(0, 0, ((i, tokens - i),)) for i in range(count)]
    return MentionTable.build(rows, heads=[(i, (i + tokens) // 2) for i in range(count)])


@pytest.mark.parametrize("name", STRUCTURES)
def test_a_path_is_a_few_runs_however_long(name):
    short, long = (STRUCTURES[name].paths(nested(tokens, 10), TYPES) for tokens in (100, 10_000))
    assert len(short.row) == len(long.row) <= 100
    assert long.size.sum() >= 10 * 9_000


@pytest.mark.parametrize("name", STRUCTURES)
def test_memory_of_encoding_does_not_grow_with_the_length_of_mentions(name):
    peaks = []
    for count in (10, 500):
        mentions = nested(10_000, count)
        tracemalloc.start()
        STRUCTURES[name].encode(mentions, offsets_of([10_000]), TYPES)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] - peaks[0] < 490 * 10_000  # less than a byte for each token of each


@pytest.mark.parametrize("counting", ENGINES)
@pytest.mark.parametrize("name", NAMES)
def test_many_paths_at_once_have_the_probabilities_of_each_alone(name, counting):
    """Products of steps, which are made where many runs lie side by side, against one step after the other."""
    structure, tokens = STRUCTURES[name], 400
    template = structure.template(TYPES)
    offsets = offsets_of([3, tokens, 5])
    likely = random_potentials(template, int(offsets[-1]), structure.lanes(TYPES), 3, spread=0.3)
    for role in ("C", "CB", "CI", "CW", "C1", "C1/1", "I-x", "IH-x"):  # whatever goes on, does so for long
        if role in template.roles:
            likely.roles[:, template.roles.index(role)] += 5
    rows = [(1, 0, ((i, tokens - i // 2),)) for i in range(0, 190, 2)] + [(0, 0, ((0, 2),)), (2, 0, ((1, 5),))]
    heads = [(pieces[0][0], pieces[0][0] + (pieces[0][1] - pieces[0][0] + 1) // 2) for _, _, pieces in rows]
    mentions = MentionTable.build(rows, heads=heads)
    engine = ENGINES[counting](template)
    together = engine.path_probability(likely, offsets, structure.paths(mentions, TYPES), run=Threads(2))
    together = together.reshape(len(rows), -1).sum(1)
    alone = [
        engine.path_probability(likely, offsets, structure.paths(mentions.take(np.array([i])), TYPES)).sum()
        for i in range(len(rows))
    ]
    np.testing.assert_allclose(together, alone, rtol=1e-9, atol=1e-280)
    assert (together > 0).all()


def nests(structure):
    """Whether a mention may hold another of its type."""
    return not structure.encode(nested(9, 2), offsets_of([9]), TYPES).lost


@pytest.mark.parametrize("name", such(lambda structure: not structure.joint and nests(structure)))
def test_all_gives_no_more_than_a_thousand_mentions(name):
    """The others grow with the square of the sentence; they are counted, and told."""
    structure, tokens = STRUCTURES[name], 100
    mentions = [((i, j),) for i in range(tokens) for j in range(i + 1, tokens + 1) if j - i in (1, 2) or j == tokens]
    gold = MentionTable.build([(0, 0, pieces) for pieces in mentions], heads=[pieces[0] for pieces in mentions])
    edges = structure.encode(gold, offsets_of([tokens]), ["x"]).edges
    found = structure.decode(edges, offsets_of([tokens]), ["x"], "all")
    assert len(found) == 1000
    [crowd] = structure.crowded(edges, offsets_of([tokens]), ["x"])
    assert crowd.mentions >= tokens * (tokens + 1) // 2
    if not structure.heads:
        starts = [pieces[0][0] for _, _, pieces in found.rows()]
        assert starts == sorted(starts)
        assert max(starts) == 10  # the first thousand, by first token
        assert not structure.crowded(edges, offsets_of([tokens]), ["x"])[1:]


@pytest.mark.parametrize("name", ["separators", "shared"])
def test_memory_of_prediction_grows_with_the_text(name):
    def text(size):
        return "(" * size + ")" * size

    documents = [
        Document(text(size), mentions=[Mention("x", [(i, 2 * size - i)]) for i in range(size)])
        for size in range(1, 7) for _ in range(20)
    ]  # fmt: skip
    model = Recognizer(name, ["bias", "w[0]"], epochs=5).fit(documents)
    peaks, longest = [], []
    for size in (2000, 8000):
        tracemalloc.start()
        [found] = model.predict([Document(text(size))])
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        longest.append(sum(mention.end - mention.start for mention in found.mentions))
    assert longest[1] > size * size / 2  # they do cover one another
    assert peaks[1] < 8 * peaks[0]  # four times the text; its square would be sixteen

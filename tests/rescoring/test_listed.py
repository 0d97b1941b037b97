"""Names in text beside a search that folds every run and every pair of runs."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from spanloom import Document, Mention, Recognizer
from spanloom.document import Batch
from spanloom.errors import ModelError
from spanloom.modelfile import ModelPart
from spanloom.rescoring.listed import ListedIn, ListedNames
from spanloom.structures import MentionTable
from spanloom.text import prepare
from spanloom.vocabulary import Concept, Vocabulary
from spanloom.vocabulary.folding import fold_text, fold_word
from spanloom.vocabulary.lexicon import lexicon_of, runs

DISEASES = Vocabulary.build([Concept("D1", "breast cancer", ("cancers of the breast",)), Concept("D2", "renal tumours"),
                             Concept("D3", "fever"), Concept("D4", "old mice disease")])  # fmt: skip
CELLS = Vocabulary.build([Concept("C1", "T cell"), Concept("C2", "B cells", ("B lymphocyte",)), Concept("C3", "fever")])
KINDS = ("Cell", "Disease", "Other")
TYPES = {"Disease": 0, "Cell": 1}
WORDS = tuple(
    "T and B cells breast or ovarian cancer of the tumour renal fever , old mice with disease lymphocytes".split()  # noqa: SIM905
)


def names(gaps: tuple[bool, bool, bool] = (True, True, False), links: tuple[str, ...] = ()) -> ListedNames:
    made = ListedNames.of([lexicon_of(DISEASES), lexicon_of(CELLS)], TYPES, KINDS, np.array(gaps))
    return replace(made, links=runs(links).low)


def listed(text: str, own: ListedNames | None = None) -> tuple[ListedIn, Batch]:
    batch = Batch.of([prepare(Document(text))])
    return (own or names()).within(batch), batch


def folded(words: list[str], loose: bool = False) -> tuple[str, ...]:
    return tuple(sorted(fold_text(" ".join(words), loose=loose)))


def expected(
    batch: Batch, known: dict[str, Counter[tuple[str, ...]]], gaps: set[str], links: tuple[str, ...] = ()
) -> list[tuple[int, int, tuple]]:
    """All mentions by definition."""
    found = []
    for sentence, (low, high) in enumerate(zip(batch.sentences[:-1], batch.sentences[1:], strict=True)):
        words = batch.words[low:high]
        solid = [bool(fold_word(word)[0]) for word in words]
        for kind, name in enumerate(KINDS):
            for a in range(len(words)):
                for b in range(a + 1, min(len(words), a + 8) + 1):
                    if solid[a] and solid[b - 1] and folded(words[a:b]) in known.get(name, ()):
                        found.append((sentence, kind, ((a, b),)))
                for b in range(a + 1, a + 5) if name in gaps else ():
                    for c in range(b + 1, b + 6):
                        for d in range(c + 1, min(len(words), c + 3) + 1):
                            ends = (a, b - 1, c, d - 1)
                            sound = max(ends) < len(words) and all(
                                solid[at] or (at == b - 1 and words[at].lower() in links) for at in ends
                            )
                            sound = sound and solid[a]
                            if sound and folded(words[a:b] + words[c:d]) in known.get(name, ()):
                                found.append((sentence, kind, ((a, b), (c, d))))
                shapes = product(range(1, 4), range(1, 6), range(1, 5), range(1, 4)) if name in gaps else ()
                for one, gap, behind, two in shapes:
                    b, link, c, d = a + one, a + one + gap, a + one + gap + 1 + behind, a + one + gap + 1 + behind + two
                    if d <= len(words) and words[link].lower() in links and not solid[link]:
                        sound = all(solid[at] for at in (a, b - 1, c, d - 1))
                        if sound and folded(words[a:b] + words[c:d]) in known.get(name, ()):
                            found.append((sentence, kind, ((a, b), (link, link + 1), (c, d))))
    return sorted(found)


def of_names() -> dict[str, Counter[tuple[str, ...]]]:
    return {kind: Counter(tuple(sorted(fold_text(name))) for name in vocabulary.names)
            for kind, vocabulary in (("Disease", DISEASES), ("Cell", CELLS))}  # fmt: skip


def test_all_runs_and_pairs_that_are_names_are_found() -> None:
    chance = random.Random(0)
    for _ in range(60):
        text = " ".join(chance.choices(WORDS, k=chance.randrange(1, 14))) + ". " + " ".join(chance.choices(WORDS, k=6))
        own, batch = listed(text)
        rows = own.table().rows()
        assert len(set(rows)) == len(rows)
        assert sorted(rows) == expected(batch, of_names(), {"Cell", "Disease"})


def test_links_end_parts_and_are_parts() -> None:
    chance, count = random.Random(1), Counter[int]()
    for _ in range(60):
        text = " ".join(chance.choices([*WORDS, "of", "breast", "cancer", "Of"], k=chance.randrange(5, 14)))
        own, batch = listed(text, names(links=("of", "with")))
        rows = own.table().rows()
        assert len(set(rows)) == len(rows)
        assert sorted(rows) == expected(batch, of_names(), {"Cell", "Disease"}, ("of", "with"))
        count.update(len(ranges) for _, _, ranges in rows)
    assert min(count[1], count[2], count[3]) > 5
    found, batch = listed("cancer of the left breast and growth", names(links=("of",)))
    assert (0, 1, ((0, 2), (4, 5))) in found.table().rows()
    assert (0, 1, ((0, 2), (4, 5))) not in listed("cancer of the left breast and growth")[0].table().rows()


def test_links_are_the_empty_words_that_end_parts_of_training_mentions() -> None:
    text = "cancer of the left breast ( T and B cells , fever in old mice ) with disease"
    own, batch = listed(text)
    assert batch.words[1] == "of" and batch.words[12] == "in"
    gapped, others = (
        (0, 1, ((0, 2), (4, 5))),
        [(0, 1, ((11, 13), (14, 15))), (0, 0, ((6, 8), (9, 10))), (0, 1, ((0, 3),))],
    )
    learned = own.learning(MentionTable.build([gapped] * 5 + others * 4))
    assert learned.names.links.tolist() == runs(["of"]).low.tolist()
    assert sorted(learned.table().rows()) == expected(batch, of_names(), {"Cell", "Disease"}, ("of",))
    many = own.learning(MentionTable.build([gapped] * 6 + others * 5))
    assert sorted(many.names.links.tolist()) == sorted(runs(["of", "in", "and"]).low.tolist())
    assert not len(own.learning(MentionTable.build([])).names.links)


def test_training_mentions_propose_too() -> None:
    gold, batch = listed("ovarian cancer or fever")
    table = MentionTable.build([(0, 1, ((0, 2),)), (0, 2, ((3, 4),))])
    own = names().with_mentions(gold.keys(table), table.kind)
    found, batch = listed("ovarian and breast cancer, fever", own)
    known = of_names()
    known["Disease"][("cancer", "ovarian")] += 1
    known["Other"] = Counter({("fever",): 1})
    assert sorted(found.table().rows()) == expected(batch, known, {"Cell", "Disease"})
    assert (0, 1, ((0, 1), (3, 4))) in found.table().rows() and (0, 2, ((5, 6),)) in found.table().rows()


def test_types_without_gaps_have_none() -> None:
    own, _ = listed("T and B cells", names((False, False, False)))
    assert own.table().contiguous.all() and len(own.table())
    assert not len(names().within(Batch.of([])).table())


def test_degrees_tell_how_a_mention_is_a_name() -> None:
    own, _ = listed("renal tumors , kidney neoplasm , breast and cancer of fever")
    asked = [((0, 2),), ((3, 5),), ((6, 7), (8, 9)), ((3, 4),), ((10, 11),)]
    table = MentionTable.build([(0, kind, ranges) for ranges in asked for kind in range(3)])
    assert own.degrees(table).reshape(-1, 3).tolist() == [[1, 3, 0], [1, 2, 0], [1, 3, 0], [1, 1, 0], [3, 3, 0]]


def test_names_without_links_are_read_as_older_versions_wrote_them() -> None:
    part = names(links=("of",)).to_part()
    arrays = {name: array for name, array in part.arrays.items() if name != "links"}
    old, new = (ListedNames.from_part(ModelPart(arrays=one), 3) for one in (arrays, dict(part.arrays)))
    text = "cancer of the left breast"
    assert listed(text, old)[0].table().rows() == listed(text)[0].table().rows()
    assert len(listed(text, new)[0].table()) > len(listed(text, old)[0].table())


def test_stored_names_are_checked() -> None:
    part = names().to_part()
    again = ListedNames.from_part(ModelPart.of(part.json(), part.flat()), 3)
    text = "T and B cells with breast or ovarian cancer"
    assert listed(text, again)[0].table().rows() == listed(text)[0].table().rows()
    for name, array in (("kinds", part.arrays["kinds"] + 9), ("ptr", part.arrays["ptr"][::-1].copy()),
                        ("keys", part.arrays["keys"][::-1].copy()), ("gaps", np.zeros(2, np.uint8))):  # fmt: skip
        with pytest.raises(ModelError):
            ListedNames.from_part(ModelPart(arrays={**part.arrays, name: array}), 3)


def test_the_second_stage_finds_gaps_that_no_structure_proposes() -> None:
    chance, documents = random.Random(1), []
    for _ in range(150):
        what = chance.choice(["T and B cells", "B or T cells", "T cells here", "old cells"])
        text = f"no {what} in {chance.choice('xyz')}"
        spans = {"T and B cells": [[(3, 4), (11, 16)], [(9, 16)]], "B or T cells": [[(3, 4), (10, 15)], [(8, 15)]]}
        own = spans.get(text[3:-5], [[(3, 10)]] if text[3:].startswith("T cells") else [])
        ids = {"T": "C1", "B": "C2"}
        mentions = [Mention("Cell", s, concepts=[ids[text[s[0][0]]]]) for s in own]
        documents.append(Document(text, mentions=mentions))
    shared = Recognizer("shared", "small", epochs=2, l2=1.0, link=CELLS).fit(documents[:120], dev=documents[120:])
    found = shared.predict("no T and B cells in x")
    assert [(m.text(found.text), m.concepts) for m in found.mentions] == [("T cells", ("C1",)), ("B cells", ("C2",))]

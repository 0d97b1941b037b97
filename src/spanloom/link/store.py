"""A linker as parts of a model file, and back. They hold the vocabulary, so that prediction needs no other file."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from spanloom.errors import ModelError
from spanloom.learn.platt import UNSCALED, Scalings
from spanloom.link.arrays import Forms
from spanloom.link.chain import STRUCTURE
from spanloom.link.columns import LANGUAGE_MODEL
from spanloom.link.instances import Reader
from spanloom.link.learning import KeyedWeights, Search, filled_table
from spanloom.link.names import Concepts, NameMemory
from spanloom.link.proposals import Proposer
from spanloom.link.system import System
from spanloom.model.kinds import class_of
from spanloom.model.store import model_of, model_part, shared_of, shared_part
from spanloom.modelfile import COMPACT, Bounded, Described, ModelPart, Within
from spanloom.scoring.packing import packed_weights, stored_weights
from spanloom.structures import STRUCTURES
from spanloom.tag.filling import filler_of
from spanloom.vocabulary.candidates import METHODS, CandidateFinder
from spanloom.vocabulary.folding import EXACT
from spanloom.vocabulary.lexicon import Lexicon
from spanloom.vocabulary.memory import Memory
from spanloom.vocabulary.store import Vocabulary

_COUNTED = ("exact", "close")  # the degrees of which a memory has occurrences


class _Described(Described):
    """Values of the search in a model file."""

    groups: Annotated[int, Within(0, 255)]
    longest: Annotated[int, Within(1, 1000)]
    beam: Annotated[int, Within(1, 100_000)]
    candidates: Annotated[int, Within(1, 100_000)]
    method: str
    least: float
    evidence: bool
    bias: Bounded
    scalings: Scalings = UNSCALED


def parts_of(system: System) -> dict[str, ModelPart | None]:
    """Return the stages of a system: its tagger, its tagging chain, and the search."""
    tagger = system.reader.tagger
    return {
        "tagger": None if system.pos is None else system.pos.to_part(),
        "columns": shared_part(tagger.scorer.features),
        "structure": model_part(tagger),
        "link": _link_part(system),
    }


def _link_part(system: System) -> ModelPart:
    """Return the search and what it looks things up in."""
    search, reader, finder = system.search, system.reader, system.reader.proposer.finder
    values = _Described(
        groups=search.groups, longest=search.longest, beam=search.width, candidates=finder.k, method=finder.method,
        least=reader.least, evidence=reader.evidence, bias=system.bias, scalings=system.scalings,
    )  # fmt: skip
    forms, table, combinations = search.forms, system.weights.table, system.concepts.combinations
    filled = table.keys != 0
    order = np.argsort(table.keys[filled])
    weights, scales = table.weights[filled][order], system.weights.scales
    learned = {"roles": system.weights.roles, "weights": weights}
    if scales is not None:  # roles are a part
        learned = {"weights": np.rint(weights / (scales[-1] or 1.0)).astype(np.int8), "scale": scales[-1:]}
    arrays = {
        **learned,
        "keys": table.keys[filled][order],
        **{f"forms.{name}": column for name, column in forms._asdict().items()},
        "combinations.parts": np.array([part for parts in combinations for part in parts], np.int32),
        "combinations.sizes": np.array([len(parts) for parts in combinations], np.int32),
    }
    memory = reader.proposer.memory
    remembered = {
        "concept": memory.lexicon.concept,
        "counts": memory.lexicon.counts,
        **{f"occurrences.{name}": row for name, row in zip(_COUNTED, memory.occurrences, strict=True)},
        **memory.lexicon.arrays("", EXACT),
    }
    parts = {
        "vocabulary": system.concepts.vocabulary.to_part(),
        "memory": ModelPart(arrays=remembered),
        "finder": ModelPart(arrays=finder.arrays()),
        "seen": ModelPart(arrays=memory.texts.arrays()),
        "language": None if system.language is None else system.language.to_part(),
        COMPACT: None if scales is None else packed_weights(system.weights.roles[:, :, None], scales[:-1, None]),
    }
    return values.part(arrays, parts)


def system_of(stages: ModelPart) -> System:
    """The system that `parts_of` gave; raises what `spanloom.modelfile.damaged` turns into a `ModelError`."""
    tagger = model_of(stages.part("structure"), shared_of(stages.parts.get("columns")), STRUCTURES[STRUCTURE])
    pos, part = stages.parts.get("tagger"), stages.part("link")
    plan = part.read(_Described)
    if plan.method not in METHODS or not 0 < plan.least < 1:
        raise ModelError(f"method {plan.method!r}, least {plan.least}")
    vocabulary = Vocabulary.from_part(part.part("vocabulary"))
    sizes = part.array("combinations.sizes", np.int32, None)
    parts = part.array("combinations.parts", np.int32, int(sizes.sum()))
    if (sizes < 2).any() or (parts < 0).any() or (parts >= len(vocabulary)).any():
        raise ModelError("combinations of concepts name what is not there")
    concepts = Concepts(vocabulary, [tuple(one.tolist()) for one in np.split(parts, np.cumsum(sizes)[:-1]) if len(one)])
    own, size = part.part("memory"), len(concepts)
    texts = Memory.from_arrays(part.part("seen").arrays, len(vocabulary))
    concept = own.array("concept", np.int32, None)
    counts = own.array("counts", np.int32, len(concept))
    occurrences = np.stack([own.array(f"occurrences.{name}", np.int32, len(concept)) for name in _COUNTED])
    if len(concept) and not -1 <= concept.min() <= concept.max() < size:
        raise ModelError(f"'{own.name}concept' names concepts beyond the {size} that there are")
    memory = NameMemory(Lexicon.from_arrays(own.arrays, "", concept, counts, EXACT), occurrences, texts, size)
    finder = CandidateFinder.from_arrays(
        vocabulary, part.part("finder").arrays, memory.texts, k=plan.candidates, method=plan.method
    )
    dtypes = {"first": np.uint64, "last": np.uint64, "size": np.int64}
    forms = Forms(**{name: part.array(f"forms.{name}", dtype, size) for name, dtype in dtypes.items()})
    types = tagger.types
    search = Search(forms, plan.groups, len(types), plan.longest, plan.beam)
    proposer = Proposer(memory, finder, plan.candidates, plan.longest, len(types))
    keys = part.array("keys", np.uint64, None)
    if COMPACT in part.parts:
        roles, scales = stored_weights(part, len(tagger.scorer.index), search.roles, 1)
        assert scales is not None  # as there are where it is compact
        scale = part.array("scale", np.float32, 1)
        values = part.array("weights", np.int8, len(keys)) * scale
        weights = KeyedWeights(
            np.ascontiguousarray(roles[:, :, 0]), filled_table(keys, values), np.append(scales, scale)
        )
    else:
        roles = part.array("roles", np.float32, len(tagger.scorer.index), search.roles)
        weights = KeyedWeights(roles, filled_table(keys, part.array("weights", np.float32, len(keys))))
    if (keys == 0).any() or (keys[1:] <= keys[:-1]).any():
        raise ModelError("'keys' are not distinct")
    language = part.parts.get("language")
    return System(
        types, Reader(tagger, proposer, forms, plan.least, plan.evidence), concepts,
        None if language is None else class_of(LANGUAGE_MODEL).from_part(language), search,
        weights, plan.bias, None if pos is None else filler_of(pos), plan.scalings,
    )  # fmt: skip

"""A linker as a model file, and back. It holds the vocabulary, so that prediction needs no other file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict

from spanloom.errors import ModelError
from spanloom.link.chain import STRUCTURE
from spanloom.link.instances import Reader
from spanloom.link.kernels_features import Forms
from spanloom.link.learning import Search, Weights, filled_table
from spanloom.link.names import Concepts, Memory
from spanloom.link.proposals import Proposer
from spanloom.link.report import LinkReport
from spanloom.link.system import System
from spanloom.lm.language_model import LanguageModel
from spanloom.modelfile import Array, Bounded, damaged, read_kind, save_model
from spanloom.recognize.store import (
    RuleTexts,
    TaggerDescription,
    describe,
    pos_arrays,
    read_pos,
    read_shared,
    read_tagger,
    rule_texts,
    shared_arrays,
)
from spanloom.structures import STRUCTURES
from spanloom.vocabulary.candidates import METHODS, CandidateFinder
from spanloom.vocabulary.folding import DEGREES, EXACT
from spanloom.vocabulary.key_table import KeyTable
from spanloom.vocabulary.lexicon import Lexicon
from spanloom.vocabulary.memory import Memory as Texts
from spanloom.vocabulary.store import Vocabulary

KIND = "linker"
_CHAIN, _VOCABULARY, _FINDER, _SEEN, _MEMORY, _LANGUAGE = (
    "chain.", "vocabulary.", "finder.", "seen.", "memory.", "language.",
)  # fmt: skip
_COUNTED = ("exact", "close")  # the degrees of which a memory has occurrences
_OLD = "0.keys"


class StoredLinker(NamedTuple):
    """What a linker's model file holds.

    Args:
        params: of the constructor.
        system: trained.
        report: of the training.
    """

    params: dict[str, Any]
    system: System
    report: LinkReport


class _Search(BaseModel):
    """Numbers that the search depends on."""

    model_config = ConfigDict(allow_inf_nan=False)

    groups: int
    longest: int
    beam: int
    candidates: int
    method: str
    least: float
    evidence: bool
    bias: Bounded


class _Description(BaseModel):
    """What ``model.json`` says of a linker."""

    model_config = ConfigDict(allow_inf_nan=False)

    params: dict[str, Any]
    search: _Search
    rules: RuleTexts | None = None
    pos: dict[str, Any] | None = None
    language: bool
    chain: TaggerDescription
    report: LinkReport


def write_linker(stored: StoredLinker, path: str | Path, *, force: bool) -> None:
    """Write a linker; see `spanloom.modelfile.save_model`."""
    system = stored.system
    reader, search = system.reader, system.search
    finder = reader.proposer.finder
    description = _Description(
        params=stored.params,
        search=_Search(
            groups=search.groups, longest=search.longest, beam=search.width, candidates=finder.k, method=finder.method,
            least=reader.least, evidence=reader.evidence, bias=system.bias,
        ),
        rules=rule_texts(reader.tagger.scorer.features),
        pos=None if system.pos is None else system.pos.description(),
        language=system.language is not None,
        chain=describe(reader.tagger, {}),
        report=stored.report,
    )  # fmt: skip
    save_model(path, KIND, description.model_dump(mode="json"), _arrays(system), force=force)


def _arrays(system: System) -> dict[str, Array]:
    reader, forms, table = system.reader, system.search.forms, system.weights.table
    proposer, concepts = reader.proposer, system.concepts
    memory = proposer.memory
    filled = table.keys != 0
    order = np.argsort(table.keys[filled])
    arrays: dict[str, Array] = {
        "roles": system.weights.roles,
        "keys": table.keys[filled][order],
        "weights": table.weights[filled][order],
        "forms.first": forms.first,
        "forms.last": forms.last,
        "forms.size": forms.size,
        "combinations.parts": np.array([part for parts in concepts.combinations for part in parts], np.int32),
        "combinations.sizes": np.array([len(parts) for parts in concepts.combinations], np.int32),
        f"{_MEMORY}concept": memory.lexicon.concept,
        f"{_MEMORY}counts": memory.lexicon.counts,
        **{f"{_MEMORY}occurrences.{name}": row for name, row in zip(_COUNTED, memory.occurrences, strict=True)},
        **memory.lexicon.arrays(_MEMORY, EXACT),
    }
    arrays |= {_VOCABULARY + name: array for name, array in concepts.vocabulary.arrays().items()}
    arrays |= {_FINDER + name: array for name, array in proposer.finder.arrays().items()}
    arrays |= {_SEEN + name: array for name, array in memory.texts.arrays().items()}
    if system.language is not None:
        arrays |= system.language.arrays(_LANGUAGE)
    tagger = reader.tagger
    return arrays | tagger.scorer.arrays(_CHAIN) | shared_arrays(tagger.scorer.features) | pos_arrays(system.pos)


def read_linker(path: str | Path) -> StoredLinker:
    """Read a linker.

    Raises:
        ModelError: the folder holds no linker, or a damaged one, or one of another format.
    """
    raw, arrays = read_kind(path, KIND)
    with damaged(path):
        description = _Description.model_validate(raw)
        return StoredLinker(description.params, _system(description, arrays), description.report)


def _system(description: _Description, arrays: Mapping[str, Array]) -> System:
    plan = description.search
    _check_search(plan)
    shared = read_shared(description.rules, arrays)
    tagger = read_tagger(description.chain, STRUCTURES[STRUCTURE], shared, arrays, _CHAIN)
    types = tagger.types
    vocabulary = Vocabulary.from_arrays(_part(arrays, _VOCABULARY))
    concepts = Concepts(vocabulary, _combinations(arrays, len(vocabulary)))
    memory = _memory(arrays, vocabulary, len(concepts))
    finder = CandidateFinder.from_arrays(
        vocabulary, _part(arrays, _FINDER), memory.texts, k=plan.candidates, method=plan.method
    )
    forms = Forms(
        _vector(arrays, "forms.first", np.uint64, len(concepts)),
        _vector(arrays, "forms.last", np.uint64, len(concepts)),
        _vector(arrays, "forms.size", np.int64, len(concepts)),
    )
    search = Search(forms, plan.groups, len(types), plan.longest, plan.beam)
    proposer = Proposer(memory, finder, plan.candidates, plan.longest, len(types))
    roles = arrays["roles"]
    if roles.dtype != np.float32 or roles.shape != (len(tagger.scorer.index), search.roles):
        raise ModelError(
            f"'roles' is {roles.dtype} of shape {roles.shape}, expected {(len(tagger.scorer.index), search.roles)}"
        )
    keys = _vector(arrays, "keys", np.uint64, None)
    if (keys == 0).any() or (keys[1:] <= keys[:-1]).any():
        raise ModelError("'keys' are not distinct")
    return System(
        types, Reader(tagger, proposer, forms, plan.least, plan.evidence), concepts,
        LanguageModel.from_arrays(arrays, _LANGUAGE) if description.language else None, search,
        Weights(roles, filled_table(keys, _vector(arrays, "weights", np.float32, len(keys)))), plan.bias,
        read_pos(description.pos, arrays),
    )  # fmt: skip


def _check_search(plan: _Search) -> None:
    for name, value, most in (
        ("groups", plan.groups, 255), ("longest", plan.longest, 1000), ("beam", plan.beam, 100_000),
        ("candidates", plan.candidates, 100_000),
    ):  # fmt: skip
        if not (0 if name == "groups" else 1) <= value <= most:
            raise ModelError(f"{name} is {value}, expected at most {most}")
    if plan.method not in METHODS or not 0 < plan.least < 1:
        raise ModelError(f"method {plan.method!r}, least {plan.least}")


def _part(arrays: Mapping[str, Array], prefix: str) -> dict[str, Array]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def _vector(arrays: Mapping[str, Array], name: str, dtype: type[np.generic], size: int | None) -> Array:
    array = arrays[name]
    if array.dtype != dtype or array.ndim != 1 or (size is not None and len(array) != size):
        raise ModelError(f"{name!r} is {array.dtype} of shape {array.shape}, expected {size} of {np.dtype(dtype)}")
    return array


def _memory(arrays: Mapping[str, Array], vocabulary: Vocabulary, concepts: int) -> Memory:
    texts = Texts.from_arrays(_part(arrays, _SEEN), len(vocabulary))
    own = _part(arrays, _MEMORY)
    if _OLD in own:
        own = _one_lexicon(own)
    concept = _vector(own, "concept", np.int32, None)
    counts = _vector(own, "counts", np.int32, len(concept))
    occurrences = np.stack([_vector(own, f"occurrences.{name}", np.int32, len(concept)) for name in _COUNTED])
    if len(concept) and not -1 <= concept.min() <= concept.max() < concepts:
        raise ModelError(f"'{_MEMORY}concept' names concepts beyond the {concepts} that there are")
    return Memory(Lexicon.from_arrays(own, "", concept, counts, EXACT), occurrences, texts, concepts)


def _one_lexicon(arrays: Mapping[str, Array]) -> dict[str, Array]:
    """The arrays of a memory of format 1, a table for each degree, as rows that have one degree each."""
    tables = [
        KeyTable(*(arrays[f"{n}.{name}"] for name in ("keys", "ptr", "values", "counts"))) for n in range(DEGREES)
    ]
    sizes = [np.diff(table.ptr) for table in tables]
    seen = [_vector(arrays, f"{n}.occurrences", np.int32, len(table.keys)) for n, table in enumerate(tables)]
    joined: dict[str, Array] = {
        "concept": np.concatenate([table.values for table in tables]),
        "counts": np.concatenate([table.counts for table in tables]),
    }
    for n, name in enumerate(("exact", "close", "loose")):
        for column, values in ((name, tables[n].keys), (f"occurrences.{name}", seen[n])):
            empty = [np.zeros(int(size.sum()), values.dtype) for size in sizes]
            empty[n] = np.repeat(values, sizes[n])
            joined[column] = np.concatenate(empty)
    return joined


def _combinations(arrays: Mapping[str, Array], concepts: int) -> list[tuple[int, ...]]:
    sizes = _vector(arrays, "combinations.sizes", np.int32, None)
    parts = _vector(arrays, "combinations.parts", np.int32, int(sizes.sum()))
    if (sizes < 2).any() or (parts < 0).any() or (parts >= concepts).any():
        raise ModelError("combinations of concepts name what is not there")
    ends = np.cumsum(sizes).tolist()
    return [tuple(parts[end - size : end].tolist()) for end, size in zip(ends, sizes.tolist(), strict=True)]

"""Partial annotation as masks: the structures that what is annotated allows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spanloom.document.annotation import COMPLETE, UNKNOWN, Status
from spanloom.errors import DataError
from spanloom.hypergraph import Edges, Engine, Ints
from spanloom.structures import MentionTable, Structure

Bools = NDArray[np.bool_]


def given_mentions(table: MentionTable, status: Status, offsets: Ints) -> Bools:
    """Return (M,) whether the annotation of at least one token of each mention is known, so that the mention counts.

    Args:
        table: M mentions.
        status: (T, K) of each token and type, as `spanloom.document.annotation.completeness` gives it.
        offsets: (N + 1,) first token of each sentence.
    """
    known = np.zeros(len(table), bool)
    counts = np.concatenate([np.zeros((1, status.shape[1]), np.int64), (status != UNKNOWN).cumsum(0)])
    owner = np.repeat(np.arange(len(table)), np.diff(table.ptr))
    base, kind = offsets[table.sentence[owner]], table.kind[owner]
    some = counts[base + table.end, kind] > counts[base + table.first, kind]
    np.logical_or.at(known, owner, some)
    return known


def silent_cells(status: Status | None, offsets: Ints) -> Bools | None:
    """Return (N, K) the sentences whose annotation of a type is unknown, where all others are complete.

    Nothing is to be filled in then: such sentences are no evidence about these types. The result is ``None`` if
    ``status`` is, if a sentence annotates a type partly, or if all annotation is unknown.

    Args:
        status: (T, K) of each token and type.
        offsets: (N + 1,) first token of each sentence.

    >>> silent_cells(np.array([[COMPLETE, UNKNOWN], [COMPLETE, UNKNOWN], [COMPLETE, COMPLETE]]), np.array([0, 2, 3]))
    array([[False,  True],
           [False, False]])
    """
    if status is None or ((status != COMPLETE) & (status != UNKNOWN)).any():
        return None
    starts = np.minimum(offsets[:-1], len(status) - 1)
    least, most = np.minimum.reduceat(status, starts, axis=0), np.maximum.reduceat(status, starts, axis=0)
    silent: Bools = most == UNKNOWN
    return None if (least != most).any() or silent.all() else silent


def status_of_lanes(structure: Structure, status: Status) -> Status:
    """Return the completeness of annotation for each token and each copy of a structure's template.

    Args:
        structure: which may join all types.
        status: (T, K) of each token and type.

    Raises:
        DataError: the completeness differs between types that the structure joins.
    """
    if not structure.joint:
        return status
    if (status != status[:, :1]).any():
        raise DataError(
            f"annotation differs between types, but the structure {structure} joins them; "
            "annotate all types alike, or take a structure such as separators"
        )
    return status[:, :1]


def allowed_structures(
    structure: Structure, engine: Engine, table: MentionTable, edges: Edges, status: Status, offsets: Ints,
    types: tuple[str, ...],
) -> Bools:  # fmt: skip
    """Return the hyperedges (T, E, K) of the structures that partial annotation allows.

    They have all given mentions. At a token where annotation is complete, they have nothing else: a mention that begins
    before a complete zone, or ends after it, also counts inside it.

    Args:
        structure: in which the mentions are written.
        engine: of the structure.
        table: the given mentions; those that the structure cannot hold are not looked at.
        edges: (T, K, D) the encoding of these mentions.
        status: (T, K) of each token and type.
        offsets: (N + 1,) first token of each sentence.
        types: K names.

    Raises:
        DataError: the completeness differs between types that the structure joins.
    """
    lanes = edges.shape[1]
    status = status_of_lanes(structure, status)
    width = len(engine.template.edges)
    picked = np.zeros((len(edges), width + 1, lanes), bool)
    np.put_along_axis(picked, edges.transpose(0, 2, 1).astype(np.int64), True, axis=1)  # -1 is the one too many
    picked = picked[:, :width]
    allowed: Bools = picked | (status != COMPLETE)[:, None]
    paths = structure.paths(table.take(structure.holds(table)), types)
    partly = np.maximum.reduceat(status, np.minimum(offsets[:-1], len(status) - 1), axis=0) > 0
    for path in np.flatnonzero(partly[paths.sentence, paths.kind]).tolist():
        own = paths.spread(path).astype(bool)
        begin, kind = int(offsets[paths.sentence[path]] + paths.first[path]), int(paths.kind[path])
        rows = slice(begin, begin + len(own))
        if not (picked[rows, :, kind] & ~own).any():  # one of the ways in which a mention may be written
            allowed[rows, :, kind] &= own
    return allowed

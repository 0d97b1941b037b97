"""A cascade as a model file, and back: all chains in the same two files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict

from spanloom.errors import ModelError, plural
from spanloom.model.report import Report, ReportLines
from spanloom.model.structured import LinearModel
from spanloom.modelfile import damaged, read_kind, save_model
from spanloom.recognize.links import PREFIX, STRUCTURE, column_names
from spanloom.recognize.recognizer import Recognizer
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
from spanloom.tag.filling import Filler

KIND = "cascade"


@dataclass(frozen=True)
class CascadeReport(ReportLines):
    """What the training of a cascade saw and chose.

    Args:
        documents, sentences, tokens, mentions: of the training data.
        development: sentences of the development data.
        lost: reason -> how many mentions the chains cannot hold for it.
        ambiguous: mentions that are held, but read back otherwise.
        dropped: templates of a preset that the data cannot serve.
        rows: rows of weights, of all chains.
        steps: passes or iterations, of all chains.
        dev_f1: of all types, each chain with its penalty, 0 to 1.
        chains: type -> the report of its chain, in their order.
    """

    documents: int
    sentences: int
    tokens: int
    mentions: int
    development: int
    lost: dict[str, int]
    ambiguous: int
    dropped: tuple[str, ...]
    rows: int
    steps: int
    dev_f1: float
    chains: dict[str, Report]

    def chosen(self) -> Iterator[str]:
        """What training chose, and for each chain."""
        rows, steps = plural(self.rows, "row"), plural(self.steps, "step")
        yield f"{rows} of weights, {plural(len(self.chains), 'chain')}, {steps}"
        for name, chain in self.chains.items():
            figures = f"lambda {chain.l2:g}, mention penalty {chain.penalty:.2f}"
            yield f"  {name}: {plural(chain.mentions, 'mention')}, {figures}, development F1 {100 * chain.dev_f1:.1f}"
            yield from (f"    {line}" for line in chain.calibrated())


class StoredCascade(NamedTuple):
    """What a cascade's model file holds.

    Args:
        params: of the constructor.
        chains: trained, in their order.
        report: of the training.
        pos: what fills a column of documents that lack it, if anything does.
    """

    params: dict[str, Any]
    chains: tuple[Recognizer, ...]
    report: CascadeReport
    pos: Filler | None


class _Description(BaseModel):
    """What ``model.json`` says of a cascade."""

    model_config = ConfigDict(allow_inf_nan=False)

    params: dict[str, Any]
    rules: RuleTexts | None = None
    pos: dict[str, Any] | None = None
    report: CascadeReport
    chains: list[TaggerDescription]


def write_cascade(stored: StoredCascade, path: str | Path, *, force: bool) -> None:
    """Write a cascade; see `spanloom.modelfile.save_model`."""
    taggers = [chain.fitted for chain in stored.chains]
    description = _Description(
        params=stored.params,
        rules=rule_texts(taggers[0].scorer.features),
        pos=None if stored.pos is None else stored.pos.description(),
        report=stored.report,
        chains=[describe(chain.fitted, chain.strongest_) for chain in stored.chains],
    )
    arrays = shared_arrays(taggers[0].scorer.features) | pos_arrays(stored.pos)
    for number, tagger in enumerate(taggers):
        arrays |= tagger.scorer.arrays(_prefix(number))
    save_model(path, KIND, description.model_dump(mode="json"), arrays, force=force)


def read_cascade(path: str | Path) -> StoredCascade:
    """Read a cascade.

    Raises:
        ModelError: the folder holds no cascade, or a damaged one, or one of another format.
    """
    raw, arrays = read_kind(path, KIND)
    with damaged(path):
        description = _Description.model_validate(raw)
        types = _types(description)
        shared = read_shared(description.rules, arrays)
        pos = read_pos(description.pos, arrays)
        columns = column_names(sorted(types))
        chains = []
        for number, part in enumerate(description.chains):
            tagger = read_tagger(part, STRUCTURES[STRUCTURE], shared, arrays, _prefix(number))
            _check_columns(tagger, [columns[name] for name in types[:number]])
            chain = Recognizer(STRUCTURE, part.templates, pos=None)
            chain.types_, chain.tagger_, chain.strongest_ = tagger.types, tagger, part.strongest
            chain.report_ = description.report.chains[types[number]]
            chains.append(chain)
    return StoredCascade(description.params, tuple(chains), description.report, pos)


def _types(description: _Description) -> list[str]:
    """The types in their order."""
    types = [name for part in description.chains for name in part.types]
    if not types or any(len(part.types) != 1 for part in description.chains) or len(set(types)) < len(types):
        raise ModelError(f"chains of the types {types}, expected one chain for each type")
    return types


def _check_columns(tagger: LinearModel, earlier: Sequence[str]) -> None:
    """A chain may see the outputs of earlier ones only."""
    unknown = {name for name in tagger.scorer.needs if name.startswith(PREFIX)}.difference(earlier)
    if unknown:
        raise ModelError(f"the chain of {tagger.types[0]!r} sees {min(unknown)!r}, which no earlier chain gives")


def _prefix(number: int) -> str:
    return f"chain{number}."

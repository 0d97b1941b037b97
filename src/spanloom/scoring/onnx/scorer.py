"""The scorer whose role scores ONNX Runtime computes from an encoder's graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from spanloom.errors import ModelError
from spanloom.hypergraph import Singles
from spanloom.modelfile import Array, ModelPart, Within
from spanloom.scoring.base import Outputs
from spanloom.scoring.encoder.packing import Packed, pooled
from spanloom.scoring.encoder.reader import Compute, WindowScorer
from spanloom.scoring.encoder.settings import WindowSettings
from spanloom.scoring.encoder.subwords import SubwordTokenizer
from spanloom.scoring.onnx.graph import check_graph
from spanloom.scoring.onnx.runtime import OnnxRuntime, check_installed


class OnnxSettings(WindowSettings):
    """The settings of an encoder's graph in a model file.

    Args:
        precision: of its products.
        family: of the encoder, as its configuration named it.
        width: D, of the encoder.
        parameters: the number of trained parameters.
        padding: the sub-word for empty places.
    """

    precision: Literal["float32", "int8"]
    family: str
    width: Annotated[int, Within(1)]
    parameters: Annotated[int, Within(0)]
    padding: Annotated[int, Within(0, (1 << 31) - 1)] = 0


@dataclass(frozen=True)
class OnnxScorer(WindowScorer):
    """Gives tokens the scores that an encoder's graph computes: sub-words have scores, and tokens those of theirs.

    Args:
        runtime: of the graph, in which the linear layer is, without its bias.
        tokenizer: of the encoder.
        settings: how it reads.
        bias: (R, K) added to the scores of each token.
        fixed: (C, K) scores of the template's constants.
    """

    runtime: OnnxRuntime
    tokenizer: SubwordTokenizer
    settings: OnnxSettings
    bias: Singles
    fixed: Singles
    at_once: ClassVar[int] = 1 << 8  # more gain nothing here, and leave more padding
    even: ClassVar[int] = 1  # nothing is prepared for a length

    @property
    def roles(self) -> int:  # type: ignore[override]  # what cannot be set is enough
        """R, of the template."""
        return len(self.bias)

    @property
    def types(self) -> int:  # type: ignore[override]
        """K."""
        return len(self.bias.T)

    @property
    def padding(self) -> int:
        """The sub-word for empty places."""
        return self.settings.padding

    @property
    def constants(self) -> Singles:
        """(C, K) scores of the template's constants."""
        return self.fixed

    @contextmanager
    def computing(self) -> Iterator[Compute]:
        """See `WindowScorer.computing`."""
        session, outputs = self.runtime.session(), self.bias.size

        def compute(packs: Iterable[Packed]) -> Iterator[Singles]:
            for packed in packs:
                scores = self.runtime(session, packed.ids, packed.mask, outputs)
                yield pooled(scores, packed) + self.bias.reshape(-1)

        yield compute

    def describe(self) -> dict[str, Any]:
        """Describe the encoder for `spanloom inspect`."""
        values = {name: value for name, value in vars(self.settings).items() if name != "padding"}
        first = {name: values.pop(name) for name in ("family", "width", "parameters")}
        return {"encoder": {**first, "form": "onnx", **values}}

    def to_part(self) -> ModelPart:
        """Return the graph, the tokenizer and their settings as a part of a model file."""
        arrays: dict[str, Array] = {
            "graph": np.frombuffer(self.runtime.graph, np.uint8),
            "tokenizer": np.frombuffer(self.tokenizer.json.encode(), np.uint8),
            "head.bias": self.bias.reshape(-1), "constants": self.fixed,
        }  # fmt: skip
        return self.settings.part(arrays)

    @classmethod
    def from_part(cls, part: ModelPart, outputs: Outputs, types: int) -> OnnxScorer:
        """Restore a scorer from the result of `to_part`.

        Args:
            part: the result of `to_part`.
            outputs: roles and constants that have scores, such as a template's.
            types: K.

        Raises:
            ModelError: the graph is invalid or hostile, or does not fit the template or the tokenizer.
            UsageError: a library is missing.
        """
        check_installed()
        values, roles = part.read(OnnxSettings), len(outputs.roles)
        bias = part.array("head.bias", np.float32, roles * types).reshape(roles, types)
        fixed = part.array("constants", np.float32, len(outputs.constants), types)
        graph = bytes(part.array("graph", np.uint8, None))
        facts = check_graph(graph)
        facts.check(roles * types)
        tokenizer = SubwordTokenizer(bytes(part.array("tokenizer", np.uint8, None)).decode())
        if facts.rows is not None and tokenizer.size > facts.rows:
            raise ModelError(f"the tokenizer knows {tokenizer.size:,} sub-words, the encoder {facts.rows:,}")
        if facts.rows is not None and values.padding >= facts.rows:
            raise ModelError(f"padding is sub-word {values.padding:,}, but the encoder has {facts.rows:,}")
        runtime = OnnxRuntime(graph)
        runtime.session()  # what cannot be opened is reported now
        return cls(runtime, tokenizer, values, bias, fixed)

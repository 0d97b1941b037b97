"""Export of an encoder as an ONNX graph, by PyTorch; in 8 bits by the quantizer of ONNX Runtime."""

from __future__ import annotations

import tempfile
import warnings
from copy import deepcopy
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor, nn

from spanloom.errors import UsageError, reason_of
from spanloom.extras import extra
from spanloom.scoring.encoder.network import Network
from spanloom.scoring.encoder.scorer import EncoderScorer
from spanloom.scoring.onnx.graph import IDS, MASK, SCORES, check_graph
from spanloom.scoring.onnx.runtime import OnnxRuntime
from spanloom.scoring.onnx.scorer import OnnxScorer, OnnxSettings

_OPSET: Final = 20  # the first in which GELU is one operator
_LEAST: Final = 16  # sub-words of a window, as in training


class _Scores(nn.Module):
    """The scores of sub-words, without the bias."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.encoder = network.encoder
        self.head = nn.Linear(network.head.in_features, network.head.out_features, bias=False)
        self.head.weight = network.head.weight

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Return the (W, S, R * K) scores."""
        found: Tensor = self.head(self.encoder(input_ids=ids, attention_mask=mask).last_hidden_state)
        return found


def exported(scorer: EncoderScorer, precision: Any = "float32", window: Any = None) -> OnnxScorer:
    """Return a scorer that ONNX Runtime computes.

    Args:
        scorer: whose encoder becomes a graph.
        precision: of products: ``float32``, or ``int8``.
        window: sub-words that are read at once, at most; ``None`` for those of the scorer.

    Raises:
        UsageError: another precision or window, an encoder that PyTorch cannot export, or a library that is missing.
    """
    if precision not in ("float32", "int8"):
        raise UsageError(f"precision is {precision!r}, expected float32 or int8")
    most = scorer.settings.window
    read = most if window is None else window
    if type(read) is not int or not min(_LEAST, most) <= read <= most:
        raise UsageError(f"window is {window!r}, expected a whole number from {_LEAST} to {most}, that of training")
    with extra("onnx-export", "the export of an encoder"):
        import onnx  # noqa: F401  # which PyTorch asks for, too
        import onnxruntime  # noqa: F401
    network, own = scorer.network, scorer.settings
    graph = encoder_graph(network, scorer.padding)
    if precision == "int8":
        graph = _quantized(graph)
    check_graph(graph).check(scorer.roles * scorer.types)
    settings = OnnxSettings(
        pooling=own.pooling, window=read, context=own.context, digest=own.digest, precision=precision,
        family=network.encoder.config.model_type, width=network.encoder.config.hidden_size,
        parameters=scorer.parameters, padding=scorer.padding,
    )  # fmt: skip
    bias = network.head.bias.detach().cpu().numpy().reshape(scorer.roles, scorer.types)
    return OnnxScorer(OnnxRuntime(graph), scorer.tokenizer, settings, bias.copy(), scorer.constants.copy())


def encoder_graph(network: Network, padding: int) -> bytes:
    """Return the graph of a network, with any number of windows of any length.

    Args:
            network: it is not changed.
            padding: the sub-word for empty places.

    Raises:
        UsageError: PyTorch cannot export it.
    """
    module = _Scores(deepcopy(network).cpu().float()).eval()
    # other attention is exported with steps for windows of padding alone, a fifth of the time, and no window is
    module.encoder.set_attn_implementation("eager")
    ids = torch.full((2, 24), padding + 1, dtype=torch.int64)
    mask = torch.ones_like(ids)
    ids[1, 16:], mask[1, 16:] = padding, 0
    axes = {0: "windows", 1: "length"}
    stream = BytesIO()
    try:
        with torch.inference_mode(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what is fixed by tracing; tests compare other shapes
            torch.onnx.export(
                module, (ids, mask), stream, input_names=[IDS, MASK], output_names=[SCORES],
                dynamic_axes={IDS: axes, MASK: axes, SCORES: axes}, opset_version=_OPSET, dynamo=False,
            )  # fmt: skip
    except Exception as error:  # of many kinds; their message is all there is to know
        family = network.encoder.config.model_type
        raise UsageError(f"PyTorch cannot export this encoder, a {family}: {reason_of(error)}") from None
    return stream.getvalue()


def _quantized(graph: bytes) -> bytes:
    """Return the graph with products of 8 bits; the linear layer keeps its 32."""
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic

    model = onnx.load_from_string(graph)
    # else it logs advice to prepare the graph, and sets up logging for that; what is meant, PyTorch has done
    model.metadata_props.add(key="onnx.quant.pre_process", value="onnxruntime.quant")
    heads = [node.name for node in model.graph.node if SCORES in node.output]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "graph.onnx"
        quantize_dynamic(
            model, file, per_channel=True, weight_type=QuantType.QInt8, nodes_to_exclude=heads,
            op_types_to_quantize=["MatMul"],
        )  # fmt: skip
        return file.read_bytes()

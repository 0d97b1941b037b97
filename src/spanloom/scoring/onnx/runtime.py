"""ONNX Runtime: a graph's session, with one thread for each call and nothing left to chance."""

from __future__ import annotations

from threading import Lock
from typing import Any

from spanloom.errors import ModelError, reason_of
from spanloom.extras import extra
from spanloom.hypergraph import Ints, Singles
from spanloom.scoring.onnx.graph import IDS, MASK, SCORES

_SLOW = "SkipLayerNormFusion"  # one operator for a sum and its norm, which takes four times as long as the two
_FATAL = 4  # of ONNX Runtime's log; what goes wrong is an exception, too


def check_installed() -> None:
    """Check that the libraries of prediction are installed.

    Raises:
        UsageError: one is missing; the message has the package to install.
    """
    with extra("onnx", "a model with an encoder as an ONNX graph"):
        import onnxruntime  # noqa: F401
        import tokenizers  # noqa: F401


class OnnxRuntime:
    """A graph that can be computed. It may be used by several threads at once, copied and pickled.

    Args:
        graph: its bytes, checked.
    """

    def __init__(self, graph: bytes) -> None:
        self.graph = graph
        self._lock = Lock()
        self._open: Any = None

    def __reduce__(self) -> tuple[type[OnnxRuntime], tuple[bytes]]:
        return OnnxRuntime, (self.graph,)

    def session(self) -> Any:
        """Return the session, which is kept.

        Raises:
            ModelError: ONNX Runtime refuses the graph.
        """
        with self._lock:
            if self._open is None:
                self._open = _session(self.graph)
            return self._open

    def __call__(self, session: Any, ids: Ints, mask: Ints, outputs: int) -> Singles:
        """Return the (W, S, R * K) scores of sub-words.

        Args:
            session: one of its own.
            ids: (W, S) sub-words.
            mask: (W, S) 1 where there is one.
            outputs: R * K.

        Raises:
            ModelError: the graph cannot be computed, or gives something else.
        """
        try:
            [scores] = session.run([SCORES], {IDS: ids, MASK: mask})
        except Exception as error:  # of classes of its own, which differ from version to version
            raise _refused("cannot be computed", error) from None
        if scores.shape != (*ids.shape, outputs):
            raise ModelError(
                f"the encoder's graph gives scores of shape {scores.shape}, expected {(*ids.shape, outputs)}; train or "
                "export the model again"
            )
        found: Singles = scores
        return found


def _session(graph: bytes) -> Any:
    check_installed()
    import onnxruntime

    onnxruntime.disable_telemetry_events()  # some builds have them
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = 1, 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.use_deterministic_compute = True
    options.enable_mem_pattern = False  # which is planned for one shape, and each pack has its own
    options.log_severity_level = _FATAL
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # idle threads take no time
    try:
        return onnxruntime.InferenceSession(
            graph, options, providers=["CPUExecutionProvider"], disabled_optimizers=[_SLOW],
            enable_fallback=0,  # no second try, which it would report on standard output
        )  # fmt: skip
    except Exception as error:  # of classes of its own, which differ from version to version
        raise _refused("cannot be opened", error) from None


def _refused(what: str, error: Exception) -> ModelError:
    if isinstance(error, MemoryError):
        raise error
    return ModelError(f"the encoder's graph {what}: {reason_of(error)}; train or export the model again")

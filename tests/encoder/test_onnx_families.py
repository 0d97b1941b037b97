"""Every family of encoders that can be trained can be exported, and gives the same for windows of any length."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import transformers

from spanloom.scoring.encoder.folder import FAMILIES
from spanloom.scoring.encoder.network import Network
from spanloom.scoring.onnx.export import encoder_graph
from spanloom.scoring.onnx.graph import check_graph
from spanloom.scoring.onnx.runtime import OnnxRuntime

SUBWORDS = 97
SIZES: dict[str, Any] = {
    "vocab_size": SUBWORDS, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2,
    "intermediate_size": 32, "max_position_embeddings": 130, "pad_token_id": 1,
}  # fmt: skip
RELATIVE: dict[str, Any] = {
    "relative_attention": True, "pos_att_type": ["c2p", "p2c"], "position_biased_input": False
}  # fmt: skip
MORE: dict[str, dict[str, Any]] = {
    "albert": {"embedding_size": 8},
    "convbert": {"embedding_size": 16},
    "deberta": RELATIVE,
    "deberta-v2": {**RELATIVE, "position_buckets": 32, "norm_rel_ebd": "layer_norm", "share_att_key": True},
    "distilbert": {"dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 32},
    "electra": {"embedding_size": 8},
    "modernbert": {"local_attention": 16, "pad_token_id": 0},
}


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_a_family_gives_the_same(family: str) -> None:
    config = transformers.AutoConfig.for_model(family, **{**SIZES, **MORE.get(family, {})})
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        encoder = transformers.AutoModel.from_config(config)
        network = Network(encoder, 3, 2, 0).eval()
    with torch.no_grad():
        for array in encoder.parameters():
            array.mul_(5 if array.dim() > 1 else 1)  # so that attention chooses
    graph = encoder_graph(network, config.pad_token_id)
    facts = check_graph(graph)
    facts.check(6)
    assert facts.rows == SUBWORDS
    runtime = OnnxRuntime(graph)
    session = runtime.session()
    for windows, length in ((1, 8), (3, 17), (2, 64), (5, 40), (1, 100)):
        ids = np.random.default_rng(length).integers(4, SUBWORDS, (windows, length))
        mask = np.ones_like(ids)
        ids[1:, length // 2 :], mask[1:, length // 2 :] = config.pad_token_id, 0
        with torch.inference_mode():
            hidden = encoder(input_ids=torch.from_numpy(ids), attention_mask=torch.from_numpy(mask)).last_hidden_state
            expected = (hidden @ network.head.weight.T).numpy()
        found = runtime(session, ids, mask, 6)
        assert np.abs(expected).max() > 0.05
        assert np.abs(expected - found)[mask == 1].max() < 1e-4

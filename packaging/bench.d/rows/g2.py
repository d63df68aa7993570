# SPDX-License-Identifier: Apache-2.0
"""G2: tokens a second of a Llama on two Gloo ranks, one thread each."""
import tempfile

import measure
import specs
import training

RANKS, STEPS, WARM = 2, 15, 3
SHAPE = {"layers": 4, "heads": 8, "kv_heads": 4, "width": 256, "feed_forward": 704, "context": 256}


def measure_row(pairs):
    with tempfile.TemporaryDirectory() as folder:
        return training.compare(
            "G2", "tokens/s",
            training.Training(folder, specs.language("llama", SHAPE, batch=4), RANKS, STEPS),
            "train_llama.py", specs.language_peer(SHAPE), WARM, pairs or 5, floor=1, goal=1.15,
            peerName="transformers' LlamaForCausalLM with SDPA, torchrun DDP",
            gemmGflops=measure.product("gemm_rates")[0],
        )

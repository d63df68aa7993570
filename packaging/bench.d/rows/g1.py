# SPDX-License-Identifier: Apache-2.0
"""G1: tokens a second of a GPT on two Gloo ranks, one thread each."""
import tempfile

import measure
import specs
import training

RANKS, STEPS, WARM = 2, 15, 3
SHAPE = {"layers": 4, "heads": 4, "width": 256, "context": 256}


def measure_row(pairs):
    with tempfile.TemporaryDirectory() as folder:
        return training.compare(
            "G1", "tokens/s",
            training.Training(folder, specs.language("gpt", SHAPE, batch=4), RANKS, STEPS),
            "train_gpt.py", specs.language_peer(SHAPE), WARM, pairs or 5, floor=1, goal=1.15,
            peerName="GPT of nn.Linear and SDPA, torchrun DDP",
            gemmGflops=measure.product("gemm_rates")[0],
        )

# SPDX-License-Identifier: Apache-2.0
"""G1: tokens a second of a GPT on two Gloo ranks, one thread each."""
import tempfile

import training

RANKS, STEPS, WARM = 2, 15, 3
SHAPE = {"layers": 4, "heads": 4, "width": 256, "context": 256}
LR = 3e-4
SPEC = f"""
[model]
type = "gpt"
layers = {SHAPE["layers"]}
heads = {SHAPE["heads"]}
width = {SHAPE["width"]}
context = {SHAPE["context"]}
[data]
train = ["/usr/share/common-licenses"]
[train]
steps = STEPS
batch_size = 4
threads = 1
[optimizer]
lr = {LR}
"""


def measure_row(pairs):
    with tempfile.TemporaryDirectory() as folder:
        return training.compare(
            "G1", "tokens/s", training.Training(folder, SPEC, RANKS, STEPS), "train_gpt.py",
            {"shape": {**SHAPE, "vocabulary": 256}, "lr": LR}, WARM, pairs or 5, floor=1, goal=1.15,
            peerName="GPT of nn.Linear and SDPA, torchrun DDP",
        )

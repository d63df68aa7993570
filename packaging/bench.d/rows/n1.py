# SPDX-License-Identifier: Apache-2.0
"""N1: target tokens a second, without padding, of a translation on two Gloo ranks, one thread each."""
import tempfile

import measure
import specs
import training

RANKS, STEPS, WARM = 2, 24, 4
SHAPE = {"layers": 3, "heads": 4, "width": 256, "feed_forward": 1024, "context": 64}
CATALOGUES = "/usr/share/locale/it/LC_MESSAGES"


def spec(pairs):
    return {
        "model": {"type": "translation", **SHAPE, "dropout": 0.0},
        "data": {"train": [pairs], "validation_share": 0.03, "tokenizer": "sentencepiece",
                 "vocab_size": 4000},
        "train": {"batch_tokens": 1024, "label_smoothing": 0.1},
        "optimizer": {"beta2": 0.98, "eps": 1e-9, "weight_decay": 0.0},
    }


def measure_row(pairs):
    with tempfile.TemporaryDirectory() as folder:
        shard = f"{folder}/it.rmpairs"
        measure.run([training.TRAINER, "prepare", "--kind", "pairs", "--target", "it",
                     "--out", shard, CATALOGUES])
        return training.compare(
            "N1", "target tokens/s", training.Training(folder, spec(shard), RANKS, STEPS),
            "train_translation.py", {"shape": SHAPE, "lr": specs.LR}, WARM, pairs or 5,
            floor=1, goal=1.5,
            peerName="nn.Transformer on the same padded batches, torchrun DDP",
        )

# SPDX-License-Identifier: Apache-2.0
"""R1: pictures a second of a ResNet-18 on two Gloo ranks, one thread each."""
import tempfile

import measure
import training

RANKS, STEPS, WARM = 2, 12, 3
CLASSES, PICTURES, SIZE, BATCH, LR = 10, 200, 160, 8, 2e-5


def spec(pictures):
    return {
        "model": {"type": "resnet18", "image_size": SIZE},
        "data": {"train": [pictures], "validation_share": 0.05},
        "train": {"batch_size": BATCH},
        "optimizer": {"type": "sgd", "lr": LR, "momentum": 0.9, "weight_decay": 5e-4, "clip": 0.0},
    }


def measure_row(pairs):
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as pictures:
        measure.peer("image_reading.py", "make", pictures, PICTURES)
        return training.compare(
            "R1", "images/s", training.Training(folder, spec(pictures), RANKS, STEPS),
            "train_resnet.py", {"classes": CLASSES, "lr": LR}, WARM, pairs or 5, floor=1,
            goal=1.15, peerName="torchvision resnet18, channels last, torchrun DDP",
        )

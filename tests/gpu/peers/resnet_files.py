# SPDX-License-Identifier: Apache-2.0
"""Peer of T2 from JPEG files: torchvision's ImageFolder and transforms of bytes in a DataLoader with a
worker a core, pinned memory, copies that do not wait; normalized on the device. --batches: the folder.

Without torchvision it says so: {"missing": why}.
"""
import os

import torch

import common
import resnet


def loader_of(folder, row):
    """Batches of random views: bytes, and their classes."""
    import torchvision
    from torchvision.transforms import v2

    def load(path):
        return torchvision.io.decode_image(path, mode=torchvision.io.ImageReadMode.RGB)

    steps = [v2.RandomResizedCrop(row["size"], antialias=True), v2.RandomHorizontalFlip()]
    pictures = torchvision.datasets.ImageFolder(folder, v2.Compose(steps), loader=load)
    pictures[0]  # whether it can decode here
    workers = row.get("threads", len(os.sched_getaffinity(0)))
    return torch.utils.data.DataLoader(pictures, row["batch"], shuffle=True, drop_last=True,
                                       num_workers=workers, persistent_workers=True,
                                       pin_memory=torch.cuda.is_available())


def endless(loader):
    while True:
        yield from loader


class TrainingFromFiles(common.Training):
    def __init__(self, *arguments, loader):
        super().__init__(*arguments, batches=())
        self.read = endless(loader)

    def batch(self, number):
        pictures, classes = (t.to(self.chosen.device, non_blocking=True) for t in next(self.read))
        return resnet.normalized(pictures), classes

    def units(self, numbers):
        return len(numbers) * self.row["batch"]


def main():
    chosen, row = common.options(__doc__, "T2-files")
    try:
        loader = loader_of(chosen.batches, row)
    except (ImportError, RuntimeError) as error:  # not installed, or made for another torch
        return common.say(missing=f"torchvision: {error}")
    common.serve(resnet.make_training(chosen, row, TrainingFromFiles, loader=loader))


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Peer of D1: torchvision's ImageFolder and transforms through a DataLoader with one worker.

    image_reading.py MODE FOLDER SIZE BATCHES
    image_reading.py make FOLDER COUNT

MODE: "pillow" as torchvision's own training script, "tensor" with torchvision.io and transforms of
bytes. `make` fills FOLDER with JPEGs of the usual size and detail of photographs.
"""
import json
import pathlib
import resource
import sys
import time

import torch

BATCH = 32
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def photo(random, width, height):
    """Detail of every size, each half as strong as the next larger: as in nature."""
    import numpy
    from PIL import Image

    whole = numpy.full((height, width, 3), 128.0)
    for cell, strength in ((128, 60), (64, 40), (32, 26), (16, 17), (8, 11), (4, 7), (2, 5), (1, 3)):
        shape = (height // cell + 2, width // cell + 2, 3)
        coarse = random.normal(0, 1, shape).astype("float32")
        coarse = 0.35 * coarse + 0.65 * coarse.mean(2, keepdims=True)
        for channel in range(3):
            layer = Image.fromarray(coarse[:, :, channel], "F").resize((width, height), 3)
            whole[:, :, channel] += strength * numpy.asarray(layer)
    return Image.fromarray(whole.clip(0, 255).astype("uint8"))


def make(folder, count):
    import numpy

    random = numpy.random.default_rng(3)
    for index in range(int(count)):
        width, height = [(500, 375), (375, 500), (500, 333), (640, 480)][index % 4]
        path = pathlib.Path(folder) / f"class{index % 10}" / f"{index}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        photo(random, width, height).save(path, quality=90)


def dataset(mode, folder, size):
    import torchvision
    from torchvision.transforms import v2 as T

    if mode == "pillow":
        from torchvision import transforms as classic

        steps = [classic.RandomResizedCrop(size), classic.RandomHorizontalFlip(),
                 classic.ToTensor(), classic.Normalize(MEAN, DEVIATION)]
        return torchvision.datasets.ImageFolder(folder, classic.Compose(steps))

    def load(path):
        return torchvision.io.decode_image(path, mode=torchvision.io.ImageReadMode.RGB)

    steps = [T.RandomResizedCrop(size, antialias=True), T.RandomHorizontalFlip(),
             T.ToDtype(torch.float32, scale=True), T.Normalize(MEAN, DEVIATION)]
    return torchvision.datasets.ImageFolder(folder, T.Compose(steps), loader=load)


def cpu_seconds():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def worker_seconds(loader_iterator):
    """A worker that still runs is not among the children's times yet."""
    fields = [pathlib.Path(f"/proc/{worker.pid}/stat").read_text().rsplit(")", 1)[1].split()
              for worker in loader_iterator._workers]
    import os

    return sum(int(f[11]) + int(f[12]) for f in fields) / os.sysconf("SC_CLK_TCK")


def measure(mode, folder, size, batches):
    torch.set_num_threads(1)
    torch.manual_seed(7)
    data = dataset(mode, folder, int(size))
    batches = int(batches)
    samples = torch.utils.data.RandomSampler(data, True, num_samples=(batches + 1) * BATCH)
    loader = torch.utils.data.DataLoader(data, BATCH, sampler=samples, num_workers=1)
    iterator = iter(loader)
    total, labels = 0.0, 0
    next(iterator)
    wall, cpu = time.perf_counter(), cpu_seconds() + worker_seconds(iterator)
    for index in range(batches):
        pictures, classes = next(iterator)
        total += float(pictures[0].mean())
        labels += int(classes.sum())
        if index == batches - 1:
            cpu = cpu_seconds() + worker_seconds(iterator) - cpu
    report = {"images": batches * BATCH, "wallS": time.perf_counter() - wall, "cpuS": cpu,
              "mean": total / batches, "labels": labels}
    print(json.dumps(report))


if __name__ == "__main__":
    make(*sys.argv[2:]) if sys.argv[1] == "make" else measure(*sys.argv[1:])

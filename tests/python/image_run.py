# SPDX-License-Identifier: Apache-2.0
"""A folder of pictures for the trainer, and its checkpoint judged by torchvision.

`make` fills FOLDER/train and FOLDER/val with classes that differ in colour. `judge` loads the
checkpoint into torchvision's model of that name, strictly, and returns what it makes of FOLDER/val:
loss, top1, top5, and whether the classes are those of torchvision's ImageFolder.
"""
import json
import pathlib

import numpy
import torch
import torchvision
from PIL import Image
from safetensors.torch import load_file
from torch.nn import functional as F
from torchvision.transforms import v2 as T

import pictures

CLASSES = {"blue": (60, 80, 200), "green": (60, 200, 80), "Red": (210, 70, 60), "white": (220, 220, 220)}
SIZE = 32


def coloured(colour):
    photo = numpy.asarray(pictures.photo(72, 56)).astype(int) - 128
    return Image.fromarray((photo // 2 + colour).clip(0, 255).astype("uint8"))


def make(folder):
    for part, count in (("train", 12), ("val", 6)):
        for name, colour in CLASSES.items():
            place = pathlib.Path(folder) / part / name
            place.mkdir(parents=True)
            for index in range(count):
                suffix = (".jpg", ".png", ".JPEG")[index % 3]
                coloured(colour).save(place / f"{index}{suffix}")


def read(path):
    picture = T.functional.pil_to_tensor(Image.open(path).convert("RGB"))
    resized = T.functional.resize(picture, int(SIZE / 0.875))
    whole = T.functional.center_crop(resized, SIZE).float() / 255
    return T.functional.normalize(whole, (0.485, 0.456, 0.406), (0.229, 0.224, 0.225))


def judge(folder, checkpoint):
    checkpoint = pathlib.Path(checkpoint)
    config = json.loads((checkpoint / "config.json").read_text())
    model = getattr(torchvision.models, config["architecture"])(num_classes=config["num_classes"])
    model.load_state_dict(load_file(checkpoint / "model.safetensors"), strict=True)
    model.eval()
    pairs = torchvision.datasets.ImageFolder(pathlib.Path(folder) / "val")
    labels = torch.tensor([label for _, label in pairs.samples])
    with torch.no_grad():
        logits = model(torch.stack([read(path) for path, _ in pairs.samples]))
    best = logits.topk(min(5, len(pairs.classes)), 1).indices.eq(labels[:, None])
    names = [config["id2label"][str(index)] for index in range(len(pairs.classes))]
    return {
        "loss": float(F.cross_entropy(logits, labels)),
        "top1": float(best[:, 0].float().mean()),
        "top5": float(best.any(1).float().mean()),
        "sameClasses": names == pairs.classes,
    }

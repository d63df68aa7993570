# SPDX-License-Identifier: Apache-2.0
"""torchvision's transforms beside the trainer's.

`make` writes pictures of every kind, and FOLDER/list for picture_dump: crops, some of them flipped,
some decoded smaller, and the middles that validation looks at. `compare` makes the same with
torchvision, once from Pillow's pictures and once from tensors, and returns how far bytes are apart
at most, by kind of line.
"""
import pathlib

import numpy
from PIL import Image
from safetensors.numpy import load_file
from torchvision.transforms.v2 import functional as F

import pictures

SIZES = ((9, 7), (64, 48), (250, 333), (500, 375))
LARGE = ((1400, 1300),)
REDUCIBLE = ("4-4-4", "4-2-0", "progressive", "jpeg-grey")


def crops(width, height, count):
    for _ in range(count):
        w, h = (int(pictures.random.integers(1, side + 1)) for side in (width, height))
        x, y = (int(pictures.random.integers(side + 1)) for side in (width - w, height - h))
        yield x, y, w, h, int(pictures.random.integers(2))


def lines_for(path, width, height):
    for size in (32, 224):
        for x, y, w, h, flip in crops(width, height, 3):
            yield f"view {size} {x} {y} {w} {h} 1 {flip} {path}"
        yield f"view {size} 0 0 {width} {height} 1 0 {path}"
        yield f"centre {size} {path}"


def reduced_lines(path):
    """As large as drawView() wants them for a smaller transform, and larger."""
    for size, reduction, side in ((96, 2, 1152), (48, 4, 1152), (24, 8, 1152), (32, 4, 1200)):
        yield f"view {size} 64 32 {side} {side} {reduction} 0 {path}"


def make(folder):
    folder = pathlib.Path(folder)
    lines = []
    for path, width, height in pictures.write_all(folder, SIZES):
        lines += lines_for(path, width, height)
    for path, _, _ in pictures.write_all(folder, LARGE, REDUCIBLE):
        lines += reduced_lines(path)
    (folder / "list").write_text("\n".join(lines) + "\n")


def views(line, image):
    """What torchvision makes of a picture, be it Pillow's or a tensor."""
    kind, size, *rest = line.split()
    size = int(size)
    if kind == "centre":
        return F.center_crop(F.resize(image, int(size / 0.875)), size)
    x, y, w, h, _, flip = map(int, rest[:-1])
    cut = F.resized_crop(image, y, x, h, w, (size, size))
    return F.hflip(cut) if flip else cut


def kind_of(line):
    kind, size, *rest = line.split()
    if kind == "centre":
        return kind
    _, _, w, h, reduction, _ = map(int, rest[:-1])
    return "reduced" if reduction > 1 else "enlarged" if min(w, h) < int(size) else "shrunk"


def apart(mine, theirs):
    return numpy.abs(mine.astype(int) - theirs)


def compare(folder, dump_path):
    dump = load_file(dump_path)
    report = {}
    for number, line in enumerate((pathlib.Path(folder) / "list").read_text().splitlines()):
        mine, image = dump[str(number)], Image.open(line.split()[-1]).convert("RGB")
        from_pillow = apart(mine, numpy.asarray(views(line, image)))
        from_tensor = apart(mine, views(line, F.pil_to_tensor(image)).permute(1, 2, 0).numpy())
        row = report.setdefault(kind_of(line), {"lines": 0, "pillow": 0, "share": 0, "tensor": 0})
        row["lines"] += 1
        row["pillow"] = max(row["pillow"], int(from_pillow.max()))
        row["share"] = max(row["share"], float((from_pillow > 1).mean()))
        row["tensor"] = max(row["tensor"], int(from_tensor.max()))
    return report

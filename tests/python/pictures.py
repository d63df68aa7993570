# SPDX-License-Identifier: Apache-2.0
"""Made-up pictures of every kind that the trainer reads."""
import numpy
from PIL import Image

random = numpy.random.default_rng(7)


def photo(width, height):
    """Smooth, with some grain: what a camera might see."""
    coarse = random.normal(128, 60, (height // 8 + 2, width // 8 + 2, 3))
    smooth = Image.fromarray(coarse.clip(0, 255).astype("uint8")).resize((width, height), 3)
    grain = random.integers(-8, 9, (height, width, 1))
    return Image.fromarray((numpy.asarray(smooth) + grain).clip(0, 255).astype("uint8"))


def with_alpha(image):
    image.putalpha(Image.fromarray(random.integers(0, 256, image.size[::-1]).astype("uint8")))
    return image


JPEGS = {
    "4-4-4": (lambda p: p, {"subsampling": 0}),
    "4-2-2": (lambda p: p, {"subsampling": 1}),
    "4-2-0": (lambda p: p, {"subsampling": 2}),
    "4-1-1": (lambda p: p, {"subsampling": "4:1:1"}),
    "progressive": (lambda p: p, {"progressive": True}),
    "jpeg-grey": (lambda p: p.convert("L"), {}),
    "cmyk": (lambda p: p.convert("CMYK"), {}),
}
PNGS = {
    "rgb": (lambda p: p, {}),
    "rgba": (with_alpha, {}),
    "grey": (lambda p: p.convert("L"), {}),
    "grey-alpha": (lambda p: with_alpha(p.convert("L")), {}),
    "palette": (lambda p: p.quantize(200), {}),
    "palette-4-bits": (lambda p: p.quantize(13), {}),
    "palette-transparent": (lambda p: p.quantize(4), {"transparency": 1}),
    "one-bit": (lambda p: p.convert("1"), {}),
    "colour-key": (lambda p: p, {"transparency": (1, 2, 3)}),
}
BMPS = {
    "bmp": (lambda p: p, {}),
    "bmp-grey": (lambda p: p.convert("L"), {}),
    "bmp-palette": (lambda p: p.quantize(200), {}),
    "bmp-one-bit": (lambda p: p.convert("1"), {}),
}
WEBPS = {
    "lossy": (lambda p: p, {"quality": 90}),
    "lossless": (lambda p: p, {"lossless": True}),
    "webp-rgba": (with_alpha, {"quality": 90}),
}


def write_all(folder, sizes, only=None):
    """Yields (path, width, height) of every kind, or of those named, in every size."""
    for suffix, kinds, options in ((".jpg", JPEGS, {"quality": 90}), (".png", PNGS, {}), (".webp", WEBPS, {}), (".bmp", BMPS, {})):
        for name, (change, more) in kinds.items():
            if only and name not in only:
                continue
            for width, height in sizes:
                path = folder / f"{name}-{width}x{height}{suffix}"
                change(photo(width, height)).save(path, **options, **more)
                yield path, width, height

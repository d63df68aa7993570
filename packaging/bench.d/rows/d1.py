# SPDX-License-Identifier: Apache-2.0
"""D1: pictures read for each second of a core: random views, normalized, in batches."""
import tempfile

import measure

SIZE, BATCHES, PICTURES = 224, 40, 400
PEER = "image_reading.py"


def check(result):
    """The same pictures, evenly drawn: the mean of normalized pixels and of labels agree."""
    assert result["images"] == BATCHES * 32, result
    assert abs(result["mean"] - 0.19) < 0.1, result
    assert abs(result["labels"] / result["images"] - 4.5) < 0.3, result


def rate(results):
    [result] = results
    check(result)
    return result["images"] / result["cpuS"]


def ours_once(folder):
    return rate(measure.product("image_reading", folder, SIZE, BATCHES))


def peer_once(mode, folder):
    return rate(measure.peer(PEER, mode, folder, SIZE, BATCHES))


def measure_row(pairs):
    with tempfile.TemporaryDirectory() as folder:
        measure.peer(PEER, "make", folder, PICTURES)
        modes = {mode: peer_once(mode, folder) for mode in ("pillow", "tensor")}
        best = max(modes, key=modes.get)
        ours, theirs = measure.interleave(
            pairs or 5, lambda: ours_once(folder), lambda: peer_once(best, folder)
        )
    return measure.report(
        "D1", "images per second of a core", ours, theirs,
        measure.per_peer(ours, theirs), floor=1, goal=3, better="more",
        peerName=f"torchvision DataLoader, one worker, {best}", peerModes=modes,
        versions=measure.versions("torch", "torchvision", "pillow"),
    )

# SPDX-License-Identifier: Apache-2.0
"""C4 and C5: a checkpoint on its way to the disk, and back."""
import pathlib
import tempfile

import measure

MIB = 768
PROGRAM, PEER = "checkpoint_io", "torch_checkpoint.py"


def once(side, verb, folder, *more):
    [line] = side(PROGRAM if side is measure.product else PEER, verb, folder, *more)
    return line


def seconds(side, verb, folder, *more):
    return once(side, verb, folder, *more)["seconds"]


def measure_save(pairs):
    """Both into the same file system, each beside its last one, which it then replaces."""
    with tempfile.TemporaryDirectory(dir=measure.BUILD) as folder:
        ours, lines = measure.interleave(
            pairs or 7, lambda: seconds(measure.product, "save", folder, MIB),
            lambda: once(measure.peer, "save", folder, MIB),
        )
    theirs = [line["seconds"] for line in lines]
    return measure.report(
        "C4", f"s to save {MIB} MiB", ours, theirs, measure.per_ours(ours, theirs),
        floor=1, goal=1.5, better="more", peerName="torch.save beside the last one, fsync, rename",
        peerInPlaceWithoutFsyncS=measure.spread([line["inPlaceS"] for line in lines]),
        counts="ours: safetensors, SHA-256 of every byte, fsync, rename",
        versions=measure.versions("torch"),
    )


def measure_load(pairs):
    with tempfile.TemporaryDirectory(dir=measure.BUILD) as folder:
        for side in (measure.product, measure.peer):
            once(side, "save", folder, MIB)
        ours, theirs = measure.interleave(
            pairs or 7, lambda: seconds(measure.product, "load", folder),
            lambda: seconds(measure.peer, "load", folder),
        )
    return measure.report(
        "C5", f"s to load {MIB} MiB, cold", ours, theirs, measure.per_ours(ours, theirs),
        floor=1, goal=3, better="more", peerName="torch.load, weights_only",
        counts="ours: SHA-256 of every byte, compared with the manifest's",
        versions=measure.versions("torch"),
    )


def measure_flips(pairs):
    """P5: how many of so many turned bits are found before any weight is used."""
    flips = (pairs or 10) * 1000
    with tempfile.TemporaryDirectory(dir=measure.BUILD) as folder:
        once(measure.product, "save", folder, 1)
        ours = once(measure.product, "flip", folder, flips)["found"] / flips
        found = once(measure.peer, "flip", folder, flips)["found"]
    best = max(found, key=found.get)
    theirs = max(found[best] / flips, 1 / flips)
    return measure.report(
        "P5", "share of turned bits that are found", [ours], [theirs], [ours / theirs],
        floor=1, goal=1, better="more", least=None, flips=flips, isAllFound=ours == 1,
        peerFound=found, peerName=best, versions=measure.versions("torch", "safetensors"),
    )

# SPDX-License-Identifier: Apache-2.0
"""Peer of C4, C5 and P5: the tensors of tests/bench/checkpoint_io, through torch.save.

    torch_checkpoint.py save FOLDER MIB     torch.save of model and optimizer beside the last one,
                                            then fsync and rename; and over the last one, without
    torch_checkpoint.py load FOLDER         torch.load(weights_only=True), cold
    torch_checkpoint.py flip FOLDER N       torch.load, and safetensors, after one bit was turned
"""
import json
import os
import pathlib
import random
import sys
import time

import torch

TENSORS, SEED = 48, 7


def warm_memory(folder, mib):
    """As tests/bench/checkpoint_io does it, and why."""
    path = folder / "warm"
    with open(path, "wb") as file:
        for _ in range(mib):
            file.write(bytes(1 << 20))
        path.unlink()


def save(folder, mib):
    values = (mib << 20) // 4 // TENSORS // 3
    torch.manual_seed(SEED)
    state = {part: {f"blocks.{i}.weight": torch.randn(values // 1024, 1024) for i in range(TENSORS)}
             for part in ("model", "exp_avg", "exp_avg_sq")}
    path, beside = folder / "checkpoint.pt", folder / "checkpoint.new"
    warm_memory(folder, 4 * mib)
    began = time.monotonic()
    with open(beside, "wb") as file:
        torch.save(state, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, path)
    parent = os.open(folder, os.O_RDONLY)
    os.fsync(parent)
    os.close(parent)
    seconds = time.monotonic() - began
    # As many people do it: what was there is lost if this is cut off (P2).
    began = time.monotonic()
    torch.save(state, path)
    in_place = time.monotonic() - began
    with open(path, "rb") as file:  # not in the time: or whoever comes next waits for the disk
        os.fsync(file.fileno())
    return {"seconds": seconds, "inPlaceS": in_place, "bytes": path.stat().st_size}


def load(folder):
    path = folder / "checkpoint.pt"
    with open(path, "rb") as file:
        os.fdatasync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    began = time.monotonic()
    state = torch.load(path, weights_only=True)
    seconds = time.monotonic() - began
    return {"seconds": seconds, "sum": sum(t[0, 0].item() for part in state.values() for t in part.values())}


def loads(read, path, before):
    """Whether the bytes are read without an error, though a value is another one."""
    try:
        return read(path).keys() == before.keys()
    except Exception:  # whatever a reader makes of damaged bytes
        return False


def flip(folder, flips):
    from safetensors.torch import load_file, save_file
    tensors = {f"blocks.{i}.weight": torch.randn(4, 1024) for i in range(TENSORS)}
    torch.save(tensors, folder / "flip.pt")
    save_file(tensors, folder / "flip.safetensors")
    readers = {"torch": (folder / "flip.pt", lambda path: torch.load(path, weights_only=True)),
               "safetensors": (folder / "flip.safetensors", load_file)}
    found, chance = {}, random.Random(SEED)
    for name, (path, read) in readers.items():
        content = bytearray(path.read_bytes())
        found[name] = 0
        for _ in range(flips):
            bit = chance.randrange(len(content) * 8)
            content[bit // 8] ^= 1 << bit % 8
            path.write_bytes(content)
            found[name] += not loads(read, path, tensors)
            content[bit // 8] ^= 1 << bit % 8
    return {"flips": flips, "found": found}


def main():
    verb, folder, *number = sys.argv[1:]
    torch.set_num_threads(1)
    call = {"save": save, "load": load, "flip": flip}[verb]
    print(json.dumps(call(pathlib.Path(folder), *map(int, number))), flush=True)


main()

# SPDX-License-Identifier: Apache-2.0
"""Peer of P2: a process that saves over its own file by torch.save is killed while it does.

    torch_saves.py FOLDER MIB KILLS SEED

Each time a fork saves again and again and is killed at a random moment of a save. Prints one line
of JSON: after how many kills torch.load refused the file, and how many were in the middle of a save.
"""
import json
import os
import pathlib
import random
import signal
import statistics
import sys
import time

import torch

TENSORS, WARM = 48, 5
STEP_S = 0.01  # of training between two saves


def made(mib):
    values = (mib << 20) // 4 // TENSORS // 3
    return {part: {f"blocks.{i}.weight": torch.randn(values // 128, 128) for i in range(TENSORS)}
            for part in ("model", "exp_avg", "exp_avg_sq")}


def save_forever(state, path, bell):
    """Rings at the begin and at the end of each save."""
    while True:
        os.write(bell, b"b")
        torch.save(state, path)
        os.write(bell, b"e")
        time.sleep(STEP_S)


def is_loadable(path, state):
    try:
        return torch.load(path, weights_only=True).keys() == state.keys()
    except Exception:  # whatever it makes of half a file
        return False


def usual_seconds(state, path):
    took = []
    for _ in range(WARM):
        began = time.monotonic()
        torch.save(state, path)
        took.append(time.monotonic() - began)
    return statistics.median(took)


def rings_of_killed(state, path, wait_s):
    """What a fork rang until it was killed in its second save."""
    listen, bell = os.pipe()
    child = os.fork()
    if child == 0:
        save_forever(state, path, bell)
    os.close(bell)
    try:
        rings = b"".join(os.read(listen, 1) for _ in range(3))  # b, e, b
        time.sleep(wait_s)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    while more := os.read(listen, 4096):
        rings += more
    os.close(listen)
    return rings


def main():
    folder, mib, kills, seed = pathlib.Path(sys.argv[1]), *map(int, sys.argv[2:])
    torch.set_num_threads(1)
    state, path, chance = made(mib), folder / "checkpoint.pt", random.Random(seed)
    usual = usual_seconds(state, path)
    unloadable = middle = 0
    for _ in range(kills):
        rings = rings_of_killed(state, path, chance.uniform(0, usual))
        middle += rings.endswith(b"b")
        unloadable += not is_loadable(path, state)
    print(json.dumps({"unloadable": unloadable, "midSave": middle}), flush=True)


main()

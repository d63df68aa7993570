# SPDX-License-Identifier: Apache-2.0
"""Peer of P1: wandb offline, logged to until it is killed. What survived is read from its file.

    wandb_log.py log FOLDER SCALARS STEP-SECONDS
    wandb_log.py read FOLDER                    prints the numbers of the steps as JSON

FOLDER/told gets a line for each step, `STEP WALL_NS`, and is synced before wandb hears of it.
"""
import json
import os
import pathlib
import struct
import sys
import time

import wandb
from wandb.proto import wandb_internal_pb2

BLOCK, HEADER, RECORD = 32 * 1024, 7, struct.Struct("<IHB")


def log(folder, scalars, step_s):
    names = [f"train/metric{i}" for i in range(scalars)]
    run = wandb.init(project="bench", mode="offline", dir=folder, settings=wandb.Settings(silent=True))
    told = os.open(folder / "told", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    due = time.monotonic()
    for step in range(1, 1 << 40):
        due += step_s
        time.sleep(max(0, due - time.monotonic()))
        os.write(told, f"{step} {time.time_ns()}\n".encode())
        os.fdatasync(told)
        run.log({name: step + i / 7 for i, name in enumerate(names)}, step=step)


def records(content):
    """A log of blocks as LevelDB writes them, up to where the kill left it."""
    at, parts = HEADER, b""
    while at + RECORD.size <= len(content):
        room = BLOCK - at % BLOCK
        if room < RECORD.size:
            at += room
            continue
        _, length, kind = RECORD.unpack_from(content, at)
        at += RECORD.size
        if kind == 0 or at + length > len(content):
            return
        parts = content[at : at + length] if kind in (1, 2) else parts + content[at : at + length]
        at += length
        if kind in (1, 4):
            yield parts


def read(folder):
    steps = []
    for path in folder.glob("wandb/offline-run-*/*.wandb"):
        for content in records(path.read_bytes()):
            record = wandb_internal_pb2.Record.FromString(content)
            if record.HasField("history"):
                items = {item.key or "/".join(item.nested_key): item.value_json
                         for item in record.history.item}
                steps.append(int(items.get("_step", record.history.step.num)))
    print(json.dumps({"steps": steps}), flush=True)


def main():
    verb, folder, *numbers = sys.argv[1:]
    if verb == "log":
        log(pathlib.Path(folder), int(numbers[0]), float(numbers[1]))
    else:
        read(pathlib.Path(folder))


main()

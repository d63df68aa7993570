# SPDX-License-Identifier: Apache-2.0
"""Peer of L7, P3 and P6: the GPT of ddp.py, a checkpoint after each EVERY steps (default 1), trained
until it is ended.

    torchrun --max-restarts=N ... ddp_restarts.py TEXT-FILE FOLDER [EVERY]

Each start of a rank leaves FOLDER/RANK-RESTARTS.json after its first step: pid, number of the step,
wall time at its end. Rank 0 writes the checkpoint beside its place and renames it. With EVERY it also
leaves the number of each step and the wall time at its end, two u64 each, in FOLDER/steps-RESTARTS.
"""
import datetime
import json
import os
import pathlib
import struct
import sys
import time

import torch
from torch import distributed as dist
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel

import ddp


def note(folder, step):
    """Whole or not at all, as somebody waits for it."""
    name = f"{dist.get_rank()}-{os.environ['TORCHELASTIC_RESTART_COUNT']}.json"
    line = {"pid": os.getpid(), "step": step, "wallNs": time.time_ns()}
    (folder / (name + ".part")).write_text(json.dumps(line))
    os.rename(folder / (name + ".part"), folder / name)


def main():
    # Ranks of a restart may wait for one another's predecessors, half an hour by default.
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=5))
    folder = pathlib.Path(sys.argv[2])
    saved = folder / "checkpoint.pt"
    every = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    steps = None
    if len(sys.argv) > 3 and dist.get_rank() == 0:
        steps = open(folder / f"steps-{os.environ['TORCHELASTIC_RESTART_COUNT']}", "wb", buffering=0)
    torch.manual_seed(dist.get_rank())
    model = ddp.gpt()
    model.apply(ddp.initialize)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)
    step = 0
    if saved.exists():
        state = torch.load(saved, weights_only=True)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        step = state["step"]
    replica = DistributedDataParallel(model)
    first = step + 1
    while True:
        ids, targets = ddp.batch(sys.argv[1])
        optimizer.zero_grad()
        F.cross_entropy(replica(ids).flatten(0, 1), targets.flatten()).backward()
        optimizer.step()
        step += 1
        if step == first:
            note(folder, step)
        if steps:
            steps.write(struct.pack("<QQ", step, time.time_ns()))
        if dist.get_rank() == 0 and step % every == 0:
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}
            torch.save(state, str(saved) + ".part")
            os.rename(str(saved) + ".part", saved)


if __name__ == "__main__":
    main()

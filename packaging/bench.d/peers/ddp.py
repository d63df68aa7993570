# SPDX-License-Identifier: Apache-2.0
"""Peer of L1: the GPT of tests/python under DistributedDataParallel, one optimizer step.

    torchrun ... ddp.py TEXT-FILE

Each rank prints one line of JSON: rank, loss of the step, wall time at its end, sum of parameters.
"""
import json
import math
import pathlib
import sys
import time

import torch
from torch import distributed as dist
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "tests" / "python"))
from gpt import GPT  # noqa: E402

BATCH, CONTEXT = 8, 64


def initialize(module):
    if isinstance(module, (torch.nn.Linear, torch.nn.Embedding)):
        torch.nn.init.normal_(module.weight, std=0.02)
    if isinstance(module, torch.nn.Linear):
        torch.nn.init.zeros_(module.bias)


def batch(path):
    text = torch.frombuffer(bytearray(pathlib.Path(path).read_bytes()), dtype=torch.uint8)
    starts = torch.randint(len(text) - CONTEXT, (BATCH,))
    rows = torch.stack([text[start : start + CONTEXT + 1] for start in starts]).long()
    return rows[:, :-1], rows[:, 1:]


def gpt():
    return GPT({"vocab_size": 256, "n_positions": CONTEXT, "n_embd": 64, "n_head": 2, "n_layer": 1})


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(dist.get_rank())
    model = gpt()
    model.apply(initialize)
    model = DistributedDataParallel(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)
    ids, targets = batch(sys.argv[1])
    loss = F.cross_entropy(model(ids).flatten(0, 1), targets.flatten())
    loss.backward()
    optimizer.step()
    result = {"wallNs": time.time_ns(), "rank": dist.get_rank(), "loss": loss.item()}
    result["parameters"] = math.fsum(p.double().sum().item() for p in model.parameters())
    sys.stdout.write(json.dumps(result) + "\n")
    sys.stdout.flush()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

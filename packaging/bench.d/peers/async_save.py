# SPDX-License-Identifier: Apache-2.0
"""Peer of C1 and C3: a GPT that is trained while torch.distributed.checkpoint saves it.

    async_save.py ORDER     {"shape": ..., "batch": ..., "steps": ..., "every": ..., "folder": ...}

Prints one line of JSON: of each step the wall time at its end, and of each save when it was whole.
"""
import json
import os
import pathlib
import sys
import time

import torch
from torch import distributed as dist
from torch.distributed import checkpoint as dcp
from torch.distributed.checkpoint.state_dict_saver import AsyncCheckpointerType
from torch.nn import functional as F

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "tests" / "python"))
from gpt import GPT  # noqa: E402


def main():
    order = json.loads(sys.argv[1])
    torch.set_num_threads(1)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(order["port"]))
    dist.init_process_group("gloo", rank=0, world_size=1)
    shape = order["shape"]
    model = GPT(shape)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)
    ids = torch.randint(shape["vocab_size"], (order["batch"], shape["n_positions"]))
    ends, whole, saves = [], [], []
    for step in range(1, order["steps"] + 1):
        optimizer.zero_grad()
        F.cross_entropy(model(ids).flatten(0, 1), ids.flatten()).backward()
        optimizer.step()
        ends.append(time.time_ns())
        if step % order["every"] == 0:
            if saves:
                saves[-1].result()
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
            saves.append(dcp.async_save(
                state, checkpoint_id=f"{order['folder']}/{step}",
                async_checkpointer_type=AsyncCheckpointerType.PROCESS))
            saves[-1].add_done_callback(lambda _: whole.append(time.time_ns()))
    saves[-1].result()
    size = sum(f.stat().st_size for f in pathlib.Path(order["folder"], str(order["every"])).iterdir())
    print(json.dumps({"wallNs": ends, "wholeNs": whole, "bytes": size}), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":  # the process that saves imports this file
    main()

# SPDX-License-Identifier: Apache-2.0
"""What the training peers have in common: DistributedDataParallel set up with care, and steps
timed one by one on the batches that the trainer wrote for this rank.

Started by torchrun with one argument, JSON: folder, checkpoint, mode ("eager" or "compile"), steps,
bells (see ../peer_process.py), targets (of each rank's steps).
"""
import json
import os
import statistics
import sys
import time

import torch
from safetensors.torch import load_file
from torch import distributed as dist
from torch.nn.parallel import DistributedDataParallel

ORDER = json.loads(sys.argv[1])


def first_weights():
    return load_file(f"{ORDER['checkpoint']}/model.safetensors")


def batches():
    """By step the tensors of this rank's batch."""
    rank = os.environ["RANK"]
    tensors = load_file(f"{ORDER['folder']}/rank-{rank}.safetensors")
    found = [[] for _ in range(ORDER["steps"])]
    for name in sorted(tensors, key=lambda name: [int(part) for part in name.split(".")]):
        found[int(name.split(".")[0])].append(tensors[name])
    return found


def decaying(model):
    """Groups for the optimizer: weight decay for matrices, none for norms and biases."""
    parameters = list(model.parameters())
    return ([p for p in parameters if p.dim() > 1], [p for p in parameters if p.dim() <= 1])


def adamw(model, lr, betas, eps, decay):
    matrices, others = decaying(model)
    groups = [{"params": matrices, "weight_decay": decay}, {"params": others, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=lr, betas=betas, eps=eps, fused=True)


def loss_weights():
    """By step, so that the mean over the ranks is that over all their targets."""
    mine = ORDER["targets"][int(os.environ["RANK"])]
    means = [statistics.fmean(step) for step in zip(*ORDER["targets"])]
    return [one / mean for one, mean in zip(mine, means)]


def bells():
    """A "go" whenever a turn is wanted."""
    with open(f"{ORDER['bells']}/{os.environ['RANK']}", encoding="ascii") as bell:
        yield from iter(bell.readline, "end\n")


def wrapped(model, dynamic):
    """As it is trained: compiled, replicated."""
    if ORDER["mode"] == "compile":
        torch._dynamo.config.optimize_ddp = not dynamic  # for fixed shapes only
        model = torch.compile(model, dynamic=dynamic)
    if int(os.environ["WORLD_SIZE"]) == 1:
        return model
    dist.init_process_group("gloo")
    return DistributedDataParallel(
        model, gradient_as_bucket_view=True, static_graph=True, broadcast_buffers=False,
        bucket_cap_mb=ORDER.get("bucketMb"),  # none: 25, the first 1
    )


def make_steps(model, data, optimizer, clip):
    """`model` gives the loss of a batch. Losses and times at the ends of the steps."""
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    losses, ends = [], []
    for batch, weight in zip(data, loss_weights()):
        optimizer.zero_grad(set_to_none=True)
        loss = model(*batch)
        (loss if weight == 1 else loss * weight).backward()
        if clip:
            torch.nn.utils.clip_grad_norm_(parameters, clip)
        optimizer.step()
        losses.append(loss.item())
        ends.append(time.time_ns())
    return {"rank": int(os.environ["RANK"]), "loss": losses, "wallNs": ends}


def train(model, data, optimizer, clip=None, dynamic=None):
    """Turn after turn, each from the weights that the model has now."""
    first = {name: value.clone() for name, value in model.state_dict().items()}
    trained = wrapped(model, dynamic)
    for _ in bells():
        model.load_state_dict(first)
        optimizer.state.clear()
        line = json.dumps(make_steps(trained, data, optimizer, clip))
        sys.stdout.write(line + "\n")  # one write, as ranks share the pipe
        sys.stdout.flush()
    if dist.is_initialized():
        dist.destroy_process_group()

# SPDX-License-Identifier: Apache-2.0
"""What optim_dump computed, once more by torch.optim, torch.amp.GradScaler, AveragedModel and
torch.optim.lr_scheduler.

    optim_reference.py DUMP.safetensors

Prints one JSON object: of every case and every schedule the largest relative difference.
"""
import json
import sys

import torch
from safetensors import safe_open
from torch import nn
from torch.optim import lr_scheduler
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

LR = 1e-2
STEPS = 25
AVERAGE_DECAY = 0.9
MIN_LR, STEP_EVERY, STEP_FACTOR, DECAY_STEPS, LAST = 1e-3, 30, 0.25, 20, 100


class Weights(nn.Module):
    """Tensors under names that hold dots."""

    def __init__(self, tensors):
        super().__init__()
        self.names = list(tensors)
        self.values = nn.ParameterList(nn.Parameter(t.clone()) for t in tensors.values())


def make_optimizer(weights, case):
    groups = [
        {"params": [p for p in weights.values if p.ndim >= 2], "weight_decay": case["weight_decay"]},
        {"params": [p for p in weights.values if p.ndim < 2], "weight_decay": 0.0},
    ]
    if case["type"] == "sgd":
        return torch.optim.SGD(groups, LR, momentum=case["momentum"], nesterov=case["nesterov"])
    kind = {"adamw": torch.optim.AdamW, "adam": torch.optim.Adam}[case["type"]]
    return kind(groups, LR, betas=case["betas"], eps=case["eps"], foreach=False)


def clip(weights, case):
    if case["clip_value"]:
        nn.utils.clip_grad_value_(weights.parameters(), case["clip_value"])
    if case["clip"]:
        nn.utils.clip_grad_norm_(weights.parameters(), case["clip"])


def train(tensors, case):
    """Weights, their averages and the loss scale of every step."""
    names = [n.removeprefix("initial/") for n in tensors if n.startswith("initial/")]
    weights = Weights({name: tensors["initial/" + name] for name in names})
    optimizer = make_optimizer(weights, case)
    scaler = torch.amp.GradScaler("cpu", enabled=case["scales_loss"])
    scaler.scale(torch.ones(()))  # makes its scale
    averaged = AveragedModel(weights, multi_avg_fn=get_ema_multi_avg_fn(AVERAGE_DECAY))
    averaged.update_parameters(weights)
    scales = []
    for step in range(STEPS):
        scales.append(scaler.get_scale())
        for name, value in zip(names, weights.values):
            value.grad = tensors[f"gradient/{step}/{name}"] * scales[-1]
            if step + 1 in case["broken_steps"]:
                value.grad.fill_(torch.inf)
        scaler.unscale_(optimizer)
        clip(weights, case)
        scaler.step(optimizer)
        scaler.update()
        averaged.update_parameters(weights)
    return names, weights.values, averaged.module.values, torch.tensor(scales)


def difference(ours, theirs):
    return ((ours - theirs).norm() / theirs.norm()).item()


def compare_case(tensors, case):
    names, values, averages, scales = train(tensors, case)
    at = case["name"] + "/"
    pairs = [(tensors[at + n], v.detach()) for n, v in zip(names, values)]
    pairs += [(tensors[at + "average/" + n], v.detach()) for n, v in zip(names, averages)]
    pairs.append((tensors[at + "scales"], scales))
    return max(difference(ours, theirs) for ours, theirs in pairs)


def body_of(kind, optimizer, warmup):
    """torch's scheduler for the steps after the warm-up."""
    rest = LAST - warmup
    if kind == "constant":
        return lr_scheduler.ConstantLR(optimizer, 1.0)
    if kind == "step":
        return lr_scheduler.StepLR(optimizer, STEP_EVERY, STEP_FACTOR)
    if kind == "cosine":
        return lr_scheduler.CosineAnnealingLR(optimizer, rest, MIN_LR)
    if kind == "linear":
        return lr_scheduler.LinearLR(optimizer, 1.0, MIN_LR / LR, rest)
    if kind == "inverse-sqrt":
        peak = max(warmup, 1)
        return lr_scheduler.LambdaLR(optimizer, lambda t: (peak / max(warmup + t, 1)) ** 0.5)
    stable = lr_scheduler.ConstantLR(optimizer, 1.0)
    decay = lr_scheduler.LinearLR(optimizer, 1.0, MIN_LR / LR, DECAY_STEPS)
    return lr_scheduler.SequentialLR(optimizer, [stable, decay], [rest - DECAY_STEPS])


def torch_rates(kind, warmup):
    """Of steps 1 to LAST. Our warm-up is linear from 0 at step 0; after it, step `warmup` + t has
    the rate that torch's scheduler has after t calls of step(); a drop of StepLR comes one step
    later, so that the steps between two drops are STEP_EVERY also where no warm-up was."""
    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], LR)
    body = body_of(kind, optimizer, warmup)
    rates = [LR * step / warmup for step in range(1, warmup)]
    after = [optimizer.param_groups[0]["lr"]]
    for _ in range(LAST - warmup):
        optimizer.step()
        body.step()
        after.append(optimizer.param_groups[0]["lr"])
    if kind == "step":
        after = after[:1] + after[:-1]
    rates += after if warmup else after[1:]
    return torch.tensor(rates)


def main(path):
    with safe_open(path, "pt") as file:
        cases = json.loads(file.metadata()["cases"])
        tensors = {name: file.get_tensor(name) for name in file.keys()}
    report = {case["name"]: compare_case(tensors, case) for case in cases}
    for name, ours in tensors.items():
        if name.startswith("schedule/"):
            _, kind, warmup = name.split("/")
            report[name] = difference(ours, torch_rates(kind, int(warmup)))
    print(json.dumps(report))


main(sys.argv[1])

# SPDX-License-Identifier: Apache-2.0
"""The trainer's GPT once more, in plain PyTorch: compares its numbers with those of gpt_dump.

Its jobs, as jobs.py takes them:

    dump CHECKPOINT DUMP.safetensors
    loop CHECKPOINT LATER-CHECKPOINT BYTE

CHECKPOINT is one of the trainer at step 0. `dump` compares with what gpt_dump computed from it:
logits, loss, gradients, the loss of each step and the parameters after the last. `loop` compares
with what the trainer itself saved later, having seen nothing but BYTE, so that every batch is the
same however the data were dealt out. They give relative differences (Euclidean norms; of many
tensors the worst one and its name).
"""
import json
import math
import pathlib
import tomllib

import torch
from safetensors.torch import load_file
from torch import nn
from torch.nn import functional as F

import flops
import jobs
from gpt import GPT


def gpt2_names(model):
    """Our parameters under the names of GPT-2's checkpoints. Yields (name, getter): the getter
    gives the tensor in their layout, from our parameters' values or their gradients."""
    def linear(layer):
        return lambda of: of(layer.weight).t(), lambda of: of(layer.bias)

    def plain(parameter):
        return lambda of: of(parameter)

    def joined(layers):
        return (
            lambda of: torch.cat([of(layer.weight).t() for layer in layers], 1),
            lambda of: torch.cat([of(layer.bias) for layer in layers]),
        )

    yield "transformer.wte.weight", plain(model.tokens.weight)
    yield "transformer.wpe.weight", plain(model.positions.weight)
    for index, block in enumerate(model.blocks):
        at = f"transformer.h.{index}."
        attention = block.attention
        pairs = {
            "ln_1": (plain(block.norm1.weight), plain(block.norm1.bias)),
            "attn.c_attn": joined([attention.query, attention.key, attention.value]),
            "attn.c_proj": linear(attention.out),
            "ln_2": (plain(block.norm2.weight), plain(block.norm2.bias)),
            "mlp.c_fc": linear(block.mlp[0]),
            "mlp.c_proj": linear(block.mlp[2]),
        }
        for name, (weight, bias) in pairs.items():
            yield at + name + ".weight", weight
            yield at + name + ".bias", bias
    yield "transformer.ln_f.weight", plain(model.norm.weight)
    yield "transformer.ln_f.bias", plain(model.norm.bias)


@torch.no_grad()
def load(model, tensors):
    """Copies a GPT-2 checkpoint in. The layouts above are views except where three are joined."""
    remaining = dict(tensors)
    for index, block in enumerate(model.blocks):
        at = f"transformer.h.{index}.attn.c_attn."
        layers = [block.attention.query, block.attention.key, block.attention.value]
        for layer, weight in zip(layers, remaining.pop(at + "weight").chunk(3, 1)):
            layer.weight.copy_(weight.t())
        for layer, bias in zip(layers, remaining.pop(at + "bias").chunk(3)):
            layer.bias.copy_(bias)
    for name, view in gpt2_names(model):
        if "c_attn" not in name:
            view(lambda parameter: parameter).copy_(remaining.pop(name))
    assert not remaining, f"tensors that GPT-2 does not have: {sorted(remaining)}"


def without_key_bias(name, tensor):
    """Softmax cancels the bias of the keys: its gradient is rounding noise on both sides, which
    Adam then scales up to whole steps. All the rest of the tensor is compared."""
    if not name.endswith("attn.c_attn.bias"):
        return tensor
    query, _, value = tensor.chunk(3)
    return torch.cat([query, value])


def relative(ours, theirs):
    return ((ours - theirs).norm() / theirs.norm().clamp_min(1e-30)).item()


def worst(pairs):
    """Of (name, ours, theirs): the largest relative difference and whose it is."""
    difference, name = max(
        (relative(without_key_bias(name, a), without_key_bias(name, b)), name)
        for name, a, b in pairs
    )
    return {"difference": difference, "tensor": name}


def learning_rate(step, options):
    """Of step 1, 2, ...: linear warm-up to `lr`, then half a cosine down to `min_lr`."""
    peak, least = options["optimizer"]["lr"], options["schedule"]["min_lr"]
    warmup, steps = options["schedule"]["warmup_steps"], options["train"]["steps"]
    if step <= warmup:
        return peak * step / warmup
    progress = (step - warmup) / (steps - warmup)
    return least + (peak - least) * 0.5 * (1 + math.cos(math.pi * progress))


def make_optimizer(model, settings):
    matrices = [p for p in model.parameters() if p.ndim >= 2]
    vectors = [p for p in model.parameters() if p.ndim < 2]
    return torch.optim.AdamW(
        [
            {"params": matrices, "weight_decay": settings["weight_decay"]},
            {"params": vectors, "weight_decay": 0.0},
        ],
        betas=(settings["beta1"], settings["beta2"]),
        eps=settings["eps"],
        foreach=False,
    )


def mean_loss(logits, targets):
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def train(model, batches, options):
    """The loss of every step."""
    rounds = options["train"]["precision"] == "bfloat16"
    optimizer = make_optimizer(model, options["optimizer"])
    losses = []
    for step, (ids, targets) in enumerate(batches, start=1):
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=rounds):
            loss = mean_loss(model(ids), targets)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), options["optimizer"]["clip"])
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, options)
        optimizer.step()
        losses.append(loss.item())
    return torch.tensor(losses)


def open_checkpoint(folder):
    model = GPT(json.loads((folder / "config.json").read_text()))
    load(model, load_file(folder / "model.safetensors"))
    return model, tomllib.loads((folder / "spec.toml").read_text())


def compare_parameters(model, theirs):
    return worst((n, theirs[n], view(lambda p: p.detach())) for n, view in gpt2_names(model))


def compare_dump(checkpoint, dump_file):
    model, options = open_checkpoint(pathlib.Path(checkpoint))
    dump = load_file(dump_file)
    logits = model(dump["ids"][0])
    loss = mean_loss(logits, dump["targets"][0])
    loss.backward()
    gradients = [(n, dump["gradient." + n], view(lambda p: p.grad)) for n, view in gpt2_names(model)]
    report = {
        "logits": relative(dump["logits"], logits.detach()),
        "loss": relative(dump["losses"][0], loss.detach()),
        "gradients": worst(gradients),
        "flops": flops.difference(dump["flops"], flops.flops_of(lambda: model(dump["ids"][0]))),
    }
    losses = train(model, zip(dump["ids"], dump["targets"]), options)
    after = {n.removeprefix("after."): t for n, t in dump.items() if n.startswith("after.")}
    report["losses"] = ((dump["losses"] - losses).abs() / losses).max().item()
    report["parameters"] = compare_parameters(model, after)
    report["steps"] = len(losses)
    report["firstLoss"], report["lastLoss"] = losses[0].item(), losses[-1].item()
    return report


def compare_loop(checkpoint, later, byte):
    model, options = open_checkpoint(pathlib.Path(checkpoint))
    row = torch.full((1, options["model"]["context"]), byte)
    losses = train(model, [(row, row)] * options["train"]["steps"], options)
    saved = load_file(pathlib.Path(later) / "model.safetensors")
    return {"parameters": compare_parameters(model, saved), "losses": losses.tolist()}


jobs.run(dump=compare_dump, loop=compare_loop)

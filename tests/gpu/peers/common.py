# SPDX-License-Identifier: Apache-2.0
"""What the peers of the GPU benchmarks share: options, optimizers, rounds of timed steps.

A peer is started by `run` with a row, the trainer's first weights and the batches of both. It says
"ready" when the warm steps are done, then answers each line on its standard input with one round of
timed steps as a line of JSON, and ends with its input. --self-test makes a tiny round on the CPU
with weights and batches of its own.
"""
import argparse
import json
import sys
import time

import torch

import batches
import sizes
import tensors

MODES = ("eager", "compile", "max-autotune")


def options(description, row_name):
    """(options, row)"""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--mode", choices=MODES, default="eager")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--row", help="JSON of its sizes")
    parser.add_argument("--weights", help="model.safetensors of the trainer")
    parser.add_argument("--batches", help="safetensors of the batches")
    parser.add_argument("--folder", help="C2: where checkpoints go")
    parser.add_argument("--self-test", action="store_true", help="tiny, on the CPU")
    chosen = parser.parse_args()
    if chosen.self_test:
        chosen.device = "cpu"
    elif not (chosen.row and chosen.weights and chosen.batches):
        parser.error("--row, --weights and --batches, or --self-test")
    if chosen.device == "cuda" and not torch.cuda.is_available():
        sys.exit("no GPU: only --self-test and --device cpu run here")
    row = sizes.row(row_name, True) if chosen.self_test else json.loads(chosen.row)
    if "threads" in row:
        torch.set_num_threads(row["threads"])
    torch.manual_seed(1)
    torch.set_float32_matmul_precision("high")
    return chosen, row


def weights_of(chosen):
    """Names and values as the trainer has them; None: the model keeps its own."""
    return tensors.load(chosen.weights) if chosen.weights else None


def batches_of(chosen, row):
    """[{index: tensor on the device}, ...]; tensors that say "no padding" are left out."""
    if chosen.batches:
        read = tensors.batches_of(tensors.load(chosen.batches))
    else:
        read = [{i: t for i, t in enumerate(batch) if t.numel()} for batch in batches.make(row)]
    return [{i: t.to(chosen.device) for i, t in batch.items()} for batch in read]


def compiled(function, mode):
    if mode == "eager":
        return function
    return torch.compile(function, mode="max-autotune" if mode == "max-autotune" else None)


def autocast(chosen, row):
    return torch.autocast(chosen.device, torch.bfloat16, enabled=row["precision"] == "bfloat16")


def optimizer_of(model, row):
    groups = [
        {"params": [p for p in model.parameters() if p.dim() > 1], "weight_decay": row["decay"]},
        {"params": [p for p in model.parameters() if p.dim() == 1], "weight_decay": 0.0},
    ]
    if row["optimizer"] == "sgd":
        return torch.optim.SGD(groups, lr=row["lr"], momentum=row["momentum"], fused=True)
    kind = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[row["optimizer"]]
    return kind(groups, lr=row["lr"], betas=tuple(row["betas"]), eps=row["eps"], fused=True)


class Training:
    """A model with its optimizer. loss_of(batch) is the mean loss; units_of(batch) what counts."""

    def __init__(self, chosen, row, model, loss_of, units_of, batches=None):
        self.chosen, self.row, self.model = chosen, row, model
        self.loss_of, self.units_of = loss_of, units_of
        self.optimizer = optimizer_of(model, row)
        self.batches = batches_of(chosen, row) if batches is None else batches

    def batch(self, number):
        return self.batches[number % len(self.batches)]

    def units(self, numbers):
        return sum(self.units_of(self.batch(number)) for number in numbers)

    def gradients(self, number):
        with autocast(self.chosen, self.row):
            loss = self.loss_of(self.batch(number))
        loss.backward()
        return loss

    def update(self):
        if self.row["clip"]:
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.row["clip"])
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)

    def step(self, number):
        loss = self.gradients(number)
        self.update()
        return loss.detach().float().clone()

    def warm_up(self):
        """Compiles, and chooses algorithms. Losses."""
        losses = [self.step(number) for number in range(self.row["warm"])]
        return [loss.item() for loss in losses]

    def timed_round(self):
        warm, steps = self.row["warm"], self.row["steps"]
        wait(self.chosen)
        began = time.perf_counter()
        losses = [self.step(warm + i) for i in range(steps)]
        wait(self.chosen)
        seconds = time.perf_counter() - began
        units = self.units(range(warm, warm + steps))
        return {"ms": 1e3 * seconds / steps, "units_per_s": units / seconds,
                "losses": [loss.item() for loss in losses]}


def wait(chosen):
    if chosen.device == "cuda":
        torch.cuda.synchronize()


def say(**figures):
    print(json.dumps(figures), flush=True)


def serve(training):
    chosen = training.chosen
    losses = training.warm_up()
    say(ready=True, losses=losses, mode=chosen.mode, torch=torch.__version__)
    for _ in ("once",) if chosen.self_test else sys.stdin:
        figures = training.timed_round()
        if chosen.device == "cuda":
            figures["peak_bytes"] = torch.cuda.max_memory_allocated()
            torch.cuda.empty_cache()  # the other side wants it
        say(**figures)

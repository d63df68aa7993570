# SPDX-License-Identifier: Apache-2.0
"""What the peers of the GPU benchmarks share: options, timing, one line of JSON."""
import argparse
import json
import statistics
import sys
import time

import torch

MODES = ("eager", "compile", "max-autotune")


def options(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--mode", choices=MODES, default="eager")
    parser.add_argument("--warm", type=int, default=20, help="steps before the clock starts")
    parser.add_argument("--steps", type=int, default=100, help="timed steps")
    parser.add_argument("--self-test", action="store_true", help="tiny, on the CPU, eager")
    chosen = parser.parse_args()
    if chosen.self_test:
        chosen.mode, chosen.warm, chosen.steps = "eager", 1, 3
    elif not torch.cuda.is_available():
        sys.exit("no GPU: only --self-test runs here")
    chosen.device = "cpu" if chosen.self_test else "cuda"
    return chosen


def compiled(function, mode):
    """The model as `mode` runs it; shapes are the model's own business."""
    if mode == "eager":
        return function
    return torch.compile(function, mode="max-autotune" if mode == "max-autotune" else None)


class Clock:
    """CUDA events on a GPU; on the CPU, where nothing is queued, the host's clock."""

    def __init__(self, device):
        self.cuda = device == "cuda"
        self.marks = []

    def mark(self):
        if self.cuda:
            event = torch.cuda.Event(enable_timing=True)
            event.record()
            self.marks.append(event)
        else:
            self.marks.append(time.perf_counter())

    def laps_ms(self):
        pairs = list(zip(self.marks, self.marks[1:]))
        if not self.cuda:
            return [1e3 * (end - begin) for begin, end in pairs]
        torch.cuda.synchronize()
        return [begin.elapsed_time(end) for begin, end in pairs]


def measure(step, chosen):
    """Runs step(number) -> loss tensor; returns (milliseconds of each timed step, all losses)."""
    losses, clock = [], Clock(chosen.device)
    for number in range(chosen.warm + chosen.steps):
        if number >= chosen.warm:
            clock.mark()
        losses.append(step(number).detach().float().clone())
    clock.mark()
    return clock.laps_ms(), [loss.item() for loss in losses]


def report(peer, unit, units, laps, losses, chosen):
    """`units`: what the timed steps went through together."""
    name = torch.cuda.get_device_name() if chosen.device == "cuda" else "CPU"
    print(json.dumps({
        "peer": peer, "mode": chosen.mode, "device": name, "torch": torch.__version__,
        "self_test": chosen.self_test, "steps": len(laps), "ms": round(statistics.median(laps), 3),
        f"{unit}_per_s": round(units / sum(laps) * 1e3, 1), "losses": losses,
    }))

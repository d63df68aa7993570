# SPDX-License-Identifier: Apache-2.0
"""L1: from the click to the end of the first optimizer step on both of two Gloo ranks."""
import math
import os
import pathlib
import sys
import tempfile
import time

import measure

TEXT = "/usr/share/common-licenses/GPL-3"
SPEC = f"""
name = "first-step"
[model]
type = "gpt"
layers = 1
heads = 2
width = 64
context = 64
[data]
train = ["{TEXT}"]
[train]
steps = 1
batch_size = 8
[validation]
every = 0
[checkpoint]
every = 0
[launch]
device = "cpu"
"""
RANKS = 2


def check(ranks):
    """Both ranks made the step, from the loss that fresh weights have: ln(vocabulary)."""
    assert sorted(r["rank"] for r in ranks) == list(range(RANKS)), ranks
    assert all(abs(r["loss"] - math.log(256)) < 0.15 for r in ranks), ranks


def private_home(folder):
    """This bench's own state, cache and settings, so that nobody's runs are touched."""
    kinds = ("STATE", "CACHE", "CONFIG", "DATA")
    homes = {f"XDG_{kind}_HOME": f"{folder}/{kind.lower()}" for kind in kinds}
    runtime = pathlib.Path(folder) / "runtime"
    runtime.mkdir(mode=0o700, exist_ok=True)
    return {**os.environ, **homes, "XDG_RUNTIME_DIR": str(runtime)}


def ringmaster_once(folder):
    """Seconds. As a person would: the run is launched by the engine with all that belongs to it
    (agent, journals, database); the ranks note the time of the step themselves."""
    spec = pathlib.Path(folder) / "first-step.toml"
    spec.write_text(SPEC)
    runs = pathlib.Path(folder) / "state" / "ringmaster" / "runs"
    before = set(runs.glob("*"))
    program = measure.BUILD / "bin" / "ringmaster"
    click = time.time_ns()
    measure.run(
        [program, "run", spec, "--node", f"this-computer:{RANKS}", "--wait"], private_home(folder)
    )
    [made] = set(runs.glob("*")) - before
    ranks = measure.product("first_step", *sorted(made.glob("journal/rank-*.rmj")))
    check(ranks)
    assert all(r["step"] == 1 for r in ranks), ranks
    return (max(r["wallNs"] for r in ranks) - click) / 1e9


def torchrun_once():
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    launcher += [f"--nproc_per_node={RANKS}", measure.PEERS / "ddp.py", TEXT]
    click = time.time_ns()
    ranks = measure.json_lines(measure.run(launcher, measure.peer_environment()))
    check(ranks)
    assert ranks[0]["parameters"] == ranks[1]["parameters"], "the peer's replicas differ"
    return (max(r["wallNs"] for r in ranks) - click) / 1e9


def measure_row(pairs):
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = measure.interleave(
            pairs or 7, lambda: ringmaster_once(folder), torchrun_once
        )
    return measure.report(
        "L1", "s to the first step", ours, theirs, [t / o for o, t in zip(ours, theirs)],
        floor=3, goal=10, better="more",
        through="ringmaster run", peerName="torchrun --standalone, DDP",
        versions=measure.versions("torch"),
    )

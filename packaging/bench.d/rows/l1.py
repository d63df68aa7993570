# SPDX-License-Identifier: Apache-2.0
"""L1: from the click to the end of the first optimizer step on both of two Gloo ranks."""
import json
import math
import os
import pathlib
import socket
import sys
import tempfile
import time

import measure
import specs

TEXT = "/usr/share/common-licenses/GPL-3"
SHAPE = {"layers": 1, "heads": 2, "width": 64, "context": 64}
SPEC = specs.language("gpt", SHAPE, batch=8, data=TEXT)
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


def by_engine(spec, environment):
    """As a person would: engine, deployment, agent, journals and database."""
    program = measure.BUILD / "bin" / "ringmaster"
    measure.run([program, "run", spec, "--node", f"this-computer:{RANKS}", "--wait"], environment)


def start_agent(spec, environment):
    """Without the engine: a node's part alone. Its run id and run directory."""
    run_id = f"bench-{time.time_ns()}"
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    plan = {"run_id": run_id, "run_name": "bench", "local_ranks": RANKS, "world_size": RANKS,
            "master_port": port, "bundle": str(measure.BUILD)}
    lines = "".join(f"{key} = {json.dumps(value)}\n" for key, value in plan.items())
    order = json.dumps({"spec": spec.read_text(), "plan": lines})
    agent = measure.BUILD / "bin" / "ringmaster-agent"
    measure.run([agent, "start", run_id], environment, input=order)
    runs = pathlib.Path(environment["XDG_STATE_HOME"]) / "ringmaster" / "runs"
    return run_id, runs / run_id / "node-00000"


def by_agent(spec, environment):
    _, state = start_agent(spec, environment)
    deadline = time.monotonic() + measure.TIMEOUT_S
    while not json.loads((state / "agent.json").read_text())["ended"]:
        assert time.monotonic() < deadline, f"{state} does not end"
        time.sleep(0.02)


def launcher():
    return by_engine if (measure.BUILD / "bin" / "ringmaster").exists() else by_agent


def ringmaster_once(folder):
    """Seconds from the click until the last rank has made its step, by its own journal."""
    spec = pathlib.Path(folder) / "first-step.toml"
    spec.write_text(specs.text(SPEC, steps=1))
    environment = private_home(folder)
    runs = pathlib.Path(environment["XDG_STATE_HOME"]) / "ringmaster" / "runs"
    before = set(runs.glob("*"))
    click = time.time_ns()
    launcher()(spec, environment)
    [made] = set(runs.glob("*")) - before
    ranks = measure.product("first_step", *sorted(made.rglob("rank-*.rmj")))
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
        "L1", "s to the first step", ours, theirs, measure.per_ours(ours, theirs),
        floor=3, goal=10, better="more",
        through={by_engine: "ringmaster run", by_agent: "ringmaster-agent start"}[launcher()], peerName="torchrun --standalone, DDP",
        versions=measure.versions("torch"),
    )

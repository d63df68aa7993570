# SPDX-License-Identifier: Apache-2.0
"""P1: what a SIGKILL of everything of a run on a machine, at a random moment, loses of its points."""
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

import measure
import specs
from rows import l1, l7

SHAPE = {"layers": 2, "heads": 4, "width": 192, "context": 128}  # a step of about 0.1 s
STEP_S, SCALARS = 0.1, 10
SHORTEST_S, LONGEST_S, SEED = 12, 30, 1  # of training before the kill
FLUSH_S = 0.05  # a journal is written that often; less than this is not told from none
# Without restarts, as the attempt that follows would retire the steps that are to be counted.
SPEC = specs.merged(specs.language("gpt", SHAPE, batch=8, data=l1.TEXT),
                    {"checkpoint": {"every": 500}, "launch": {"max_restarts": 0}})


def value_of(path, read):
    try:
        return read(path)
    except OSError:  # it has ended meanwhile
        return None


def processes_with(variable):
    """Ours, by an environment that those of a run inherit from whoever began it."""
    folders = [path for path in pathlib.Path("/proc").iterdir() if path.name.isdigit()]
    read = lambda path: variable.encode() in (path / "environ").read_bytes().split(b"\0")
    return [int(path.name) for path in folders if value_of(path, read)]


def kill_all(variable):
    """Until none is left. The wall time of the begin."""
    began = time.time_ns()
    while pids := processes_with(variable):
        for pid in pids:
            value_of(pid, lambda pid: os.kill(pid, signal.SIGKILL))
        assert time.time_ns() - began < 10e9, f"{pids} do not end"
    return began


def loss_of(told, survived, killed):
    """Steps that were told before the kill and are nowhere, and the seconds since the first of them."""
    lost = {step: wall for step, wall in told.items() if step not in survived and wall < killed}
    return {"points": len(lost) * SCALARS,
            "seconds": (killed - min(lost.values())) / 1e9 if lost else 0.0}


def samples(program, run, environment, where):
    """The stored points, a line each."""
    measure.run([program, "export", run, "--output", where], environment)
    return set(where.read_text().splitlines()[1:])


def told_by_rank(folder, run):
    """Steps by the wall time that each rank noted, synced, before telemetry had it."""
    told = []
    for path in sorted(folder.glob(f"{run}-rank-*")):
        lines = [line.split() for line in path.read_text().split("\n")[:-1]]
        told.append({int(step): int(wall) for _, step, _, wall in lines})
    return told


def ringmaster_once(folder, wait_s):
    """The rank that lost most."""
    spec = pathlib.Path(folder) / "node.toml"
    spec.write_text(specs.text(SPEC, steps=10_000_000))
    environment = {**l1.private_home(folder), "RINGMASTER_ORACLE": f"{folder}/told"}
    told = pathlib.Path(environment["RINGMASTER_ORACLE"])
    told.mkdir(exist_ok=True)
    before = set(told.iterdir())
    program = measure.BUILD / "bin" / "ringmaster"
    app = subprocess.Popen([program, "run", spec, "--node", f"this-computer:{l1.RANKS}", "--wait"],
                           env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        made = lambda: sorted(path for path in set(told.iterdir()) - before if path.stat().st_size)
        run = l7.until(lambda: made()[1:], "a first step of both")[0].name.rsplit("-rank-", 1)[0]
        time.sleep(wait_s)
        acked = samples(program, run, environment, told.parent / "before.csv")
    finally:
        killed = kill_all(f"RINGMASTER_ORACLE={told}")
        app.wait()
    # Whoever looks next brings what is in the journals into the database.
    subprocess.run([program, "attach", run], env=environment, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, timeout=measure.TIMEOUT_S)
    stored = samples(program, run, environment, told.parent / "after.csv")
    losses = [line.split(",") for line in stored if line.startswith("train/loss,")]
    ranks = [loss_of(steps, {int(step) for _, of, step, *_ in losses if int(of) == rank}, killed)
             for rank, steps in enumerate(told_by_rank(told, run))]
    assert len(ranks) == l1.RANKS and acked, (ranks, len(acked))
    return {**max(ranks, key=lambda rank: rank["seconds"]), "acked": len(acked),
            "ackedAndMissing": len(acked - stored)}


def wandb_once(wait_s):
    with tempfile.TemporaryDirectory() as folder:
        where = pathlib.Path(folder)
        told = where / "told"
        variable = f"RINGMASTER_BENCH={folder}"
        name, value = variable.split("=", 1)
        environment = {**measure.peer_environment(), name: value}
        script = [sys.executable, measure.PEERS / "wandb_log.py"]
        process = subprocess.Popen([*script, "log", folder, str(SCALARS), str(STEP_S)],
                                   env=environment, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        try:
            l7.until(lambda: told.exists() and told.stat().st_size, "the peer's first step")
            time.sleep(wait_s)
        finally:
            killed = kill_all(variable)
            process.wait()
        [line] = measure.peer("wandb_log.py", "read", folder)
        lines = [line.split() for line in told.read_text().split("\n")[:-1]]
        return loss_of({int(step): int(wall) for step, wall in lines}, set(line["steps"]), killed)


def measure_row(pairs):
    chance, mine, others = random.Random(SEED), [], []
    with tempfile.TemporaryDirectory() as folder:
        for index in range(pairs or 5):
            wait_s = chance.uniform(SHORTEST_S, LONGEST_S)
            mine.append(ringmaster_once(folder, wait_s))
            others.append(wandb_once(wait_s))
            print(f"  pair {index + 1}: {mine[-1]} : {others[-1]}", file=sys.stderr)
    ours, theirs = ([once["seconds"] for once in side] for side in (mine, others))
    ratios = [their / max(our, FLUSH_S) for our, their in zip(ours, theirs)]
    missing = sum(once["ackedAndMissing"] for once in mine)
    assert missing == 0, f"{missing} points were stored and are gone"
    return measure.report(
        "P1", f"s of points lost to a SIGKILL of the node, steps of {STEP_S} s", ours, theirs, ratios,
        floor=1, goal=100, better="more", ackedAndMissing=missing,
        acked=[once["acked"] for once in mine], countsAtLeastS=FLUSH_S,
        pointsLost=[[once["points"] for once in side] for side in (mine, others)],
        peerName="wandb offline, all of its processes killed", versions=measure.versions("wandb"),
    )

# SPDX-License-Identifier: Apache-2.0
"""P6: the share of a minute with one fault, the SIGKILL of a rank, in which training made headway."""
import json
import os
import pathlib
import random
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import time

import measure
import specs
from rows import l1, l7

MINUTE_S, EVERY, SEED = 60, 500, 6  # a checkpoint each 500 steps: the product's default
FIRST_S, LAST_S = 5, 30  # the fault's moment, early enough that the minute has its end in it
PROMISED = 0.95
SPEC = specs.merged(l1.SPEC, {"checkpoint": {"every": EVERY}})


def kept_until(attempts, end):
    """Steps by number, with the wall time at their end and since the step before them (nothing for
    an attempt's first). An attempt that begins at a step takes the place of what was done from there on."""
    kept = {}
    for steps in attempts:
        steps = [(step, wall) for step, wall in steps if wall <= end]
        if steps:
            kept = {step: took for step, took in kept.items() if step < steps[0][0]}
        for (_, before), (step, wall) in zip([(0, None), *steps], steps):
            kept[step] = None if before is None else wall - before
    return kept


def headway(attempts, begin, end):
    """Seconds of the window that went into steps that count. A step that carries more than itself, the
    first of an attempt and those around a checkpoint, counts as the usual one."""
    kept = kept_until(attempts, end)
    plain = [took for step, took in kept.items() if took is not None and step % EVERY > 1]
    usual = statistics.median(plain)
    others = len(kept) - len(plain) - 1  # the window begins with the end of the first step
    return {"ettr": (sum(plain) + others * usual) / (end - begin), "usualS": usual / 1e9,
            "steps": len(kept)}


def minute(began, wait_s, pid_of_victim, attempts):
    """A minute from the first step on, with its fault. `attempts`: the steps of each so far."""
    time.sleep(max(0, began / 1e9 + wait_s - time.time()))
    os.kill(pid_of_victim(), signal.SIGKILL)
    time.sleep(max(0, began / 1e9 + MINUTE_S - time.time()))
    time.sleep(1)  # until the last step of the minute is in the file
    return headway(attempts(), began, began + MINUTE_S * 10**9)


def ringmaster_once(folder, wait_s, victim):
    spec = pathlib.Path(folder) / "faults.toml"
    spec.write_text(specs.text(SPEC, steps=10_000_000))
    environment = l1.private_home(folder)
    runs = pathlib.Path(environment["XDG_STATE_HOME"]) / "ringmaster" / "runs"
    before = set(runs.glob("*"))
    program = measure.BUILD / "bin" / "ringmaster"
    measure.run([program, "run", spec, "--node", f"this-computer:{l1.RANKS}"], environment)
    [made] = set(runs.glob("*")) - before
    node = made / "node-00000"

    def attempts():
        lines = [line for path in sorted(node.glob("journal/rank-00000-a*.rmj"))
                 for line in measure.product("journal_steps", path) if line]
        return [list(zip(line["step"], line["wallNs"], strict=True)) for line in lines]

    def pid():
        return json.loads((node / "agent.json").read_text())["ranks"][victim]["process"]["pid"]

    try:
        first = l7.until(lambda: l7.first_steps_of(node, 1), "a first step")
        return minute(max(step["wallNs"] for step in first), wait_s, pid, attempts)
    finally:
        measure.run([program, "kill", made.name], environment)


def torchrun_once(wait_s, victim):
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+") as log:
        where = pathlib.Path(folder)
        process = subprocess.Popen(l7.torchrun_words(l1.TEXT, folder, EVERY), stdout=log, stderr=log,
                                   env=l7.elastic_environment())

        def attempts():
            made = sorted(where.glob("steps-*"), key=lambda path: int(path.name.split("-")[1]))
            return [list(struct.iter_unpack("<QQ", content[: len(content) // 16 * 16]))
                    for content in (path.read_bytes() for path in made)]

        def first():
            found = [where / f"{rank}-0.json" for rank in range(l1.RANKS)]
            return [json.loads(path.read_text()) for path in found if path.exists()]

        with l7.ended(process):
            ranks = l7.until(lambda: first()[l1.RANKS - 1:] and first(), "the peer's first step")
            return minute(max(rank["wallNs"] for rank in ranks), wait_s,
                          lambda: ranks[victim]["pid"], attempts)


def measure_row(pairs):
    chance, ours, theirs = random.Random(SEED), [], []
    with tempfile.TemporaryDirectory() as folder:
        for index in range(pairs or 2):
            fault = chance.uniform(FIRST_S, LAST_S), chance.randrange(l1.RANKS)
            ours.append(ringmaster_once(folder, *fault))
            theirs.append(torchrun_once(*fault))
            print(f"  pair {index + 1}: {fault}: {ours[-1]} : {theirs[-1]}", file=sys.stderr)
    lost = [[(1 - once["ettr"]) * MINUTE_S for once in side] for side in (ours, theirs)]
    ettr = [measure.spread([once["ettr"] for once in side]) for side in (ours, theirs)]
    return measure.report(
        "P6", "s lost of a minute with a SIGKILL of a rank", *lost, measure.per_ours(*lost), floor=1,
        goal=5, better="more", ettr=ettr, ettrGoal=PROMISED,
        isEttrGoalMet=ettr[0]["median"] >= PROMISED, checkpointEverySteps=EVERY,
        usualS=[measure.spread([once["usualS"] for once in side]) for side in (ours, theirs)],
        peerName="torchrun --max-restarts, DDP, torch.save beside the old file, renamed",
        versions=measure.versions("torch"),
    )

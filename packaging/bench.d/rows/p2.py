# SPDX-License-Identifier: Apache-2.0
"""P2: a rank gets SIGKILL at a random moment of a save, again and again. What can be loaded afterwards?"""
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

import measure
import specs
import training
from rows import l1, l7

KILLS, SEED, PROMISED = 10, 2, 10_000  # of each side in a pair
SHAPE = {"layers": 4, "heads": 4, "width": 128, "context": 64}  # 10 MB with Adam's
MIB = 10
SPEC = specs.merged(specs.language("gpt", SHAPE, batch=1, data=l1.TEXT), {"checkpoint": {"every": 1}})
POLL_S = 0.0002


def checkpoints(folder):
    """Those that are published: a folder without a manifest is none."""
    return sorted(path.parent for path in folder.glob("step-*/MANIFEST.json"))


def is_whole(checkpoint):
    agent = measure.BUILD / "bin" / "ringmaster-agent"
    answer = json.loads(measure.run([agent, "verify-checkpoint"], input=str(checkpoint)))
    return answer["whole"]


def is_saving(folder):
    return any(name.startswith("tmp-step-") for name in os.listdir(folder))


class Victim:
    """The trainer, which goes on from its newest checkpoint each time that it begins."""

    def __init__(self, folder):
        self.spec, self.run = folder / "saves.toml", folder / "run"
        self.saves = self.run / "checkpoints"
        self.spec.write_text(specs.text(SPEC, steps=10_000_000))
        self.usual_s = 0.0
        with self._life() as process:
            self.usual_s = statistics.median(self._await_save(process, watch=True) for _ in range(5))
            process.kill()

    def _life(self):
        words = [training.TRAINER, "--spec", self.spec, "--run-dir", self.run]
        if found := self.saves.is_dir() and checkpoints(self.saves):
            words += ["--start-from", found[-1]]
        return subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def _await_save(self, process, watch=False):
        """From the begin of the next save on; with `watch` until its end. Seconds."""
        deadline = time.monotonic() + measure.TIMEOUT_S
        for isBusy in (False, True, False) if watch else (False, True):
            began = time.monotonic()
            while not self.saves.is_dir() or is_saving(self.saves) != isBusy:
                if process.poll() is not None or time.monotonic() > deadline:
                    raise ChildProcessError(f"the trainer ended: exit {process.returncode}")
                time.sleep(POLL_S)
        return time.monotonic() - began

    def killed(self, chance):
        """Once. What is left: is it loadable, and was it in the middle of a save?"""
        with self._life() as process:
            try:
                before = checkpoints(self.saves)[-1].name
                l7.until(lambda: checkpoints(self.saves)[-1].name > before, "a checkpoint of this life")
                self._await_save(process)
                before = checkpoints(self.saves)[-1].name
                time.sleep(chance.uniform(0, self.usual_s))
            finally:
                process.kill()
        left = checkpoints(self.saves)
        isGood = bool(left) and left[-1].name >= before and all(map(is_whole, left))
        return {"unloadable": not isGood, "midSave": is_saving(self.saves)}


def ours_once(victim, chance):
    """Of so many kills. A life that cannot begin from what the last one left raises."""
    found = [victim.killed(chance) for _ in range(KILLS)]
    return {name: sum(one[name] for one in found) for name in found[0]}


def peer_once(folder, chance):
    [line] = measure.peer("torch_saves.py", folder, MIB, KILLS, chance.randrange(1 << 30))
    return line


def measure_row(pairs):
    pairs = pairs or 10
    chance, ours, theirs = random.Random(SEED), [], []
    with tempfile.TemporaryDirectory(dir=measure.BUILD) as folder:
        victim = Victim(pathlib.Path(folder))
        for index in range(pairs):
            ours.append(ours_once(victim, chance))
            theirs.append(peer_once(folder, chance))
            print(f"  pair {index + 1}/{pairs}: {ours[-1]} : {theirs[-1]}", file=sys.stderr)
    kills = pairs * KILLS
    mine, others = ([once["unloadable"] / KILLS for once in side] for side in (ours, theirs))
    bad = sum(once["unloadable"] for once in ours)
    theirBad = sum(once["unloadable"] for once in theirs)
    return measure.report(
        "P2", "share of kills during a save after which a checkpoint cannot be loaded", mine, others,
        [bad / max(theirBad, 1)], floor=0, goal=0, better="less",
        meetsGoal=bad == 0 and kills >= PROMISED, kills=kills, goalKills=PROMISED,
        unloadable=[bad, theirBad],
        midSave=[sum(once["midSave"] for once in side) for side in (ours, theirs)],
        peerName="torch.save in place", counts="ours: every published checkpoint, byte by byte, "
        "and the next life begins from the newest", versions=measure.versions("torch"),
    )

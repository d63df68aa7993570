# SPDX-License-Identifier: Apache-2.0
"""C6: the steps after a pause and a resume, bit by bit against those of a run that was left alone."""
import contextlib
import json
import pathlib
import random
import tempfile

import measure
import specs
from rows import l1, l7

STEPS, COMPARED, SEED = 600, 100, 6
EARLIEST, LATEST = 50, 350  # asked for when rank 0 has made a step between the two
# What has a state that a resume must bring back: dropout, order of data, Adam, rate, clipping.
SPEC = specs.merged(l1.SPEC, {"model": {"dropout": 0.1},
                              "schedule": {"type": "cosine", "warmup_steps": 200}})


def steps_of(part, attempt="*"):
    """Of each rank, by number of the step, the loss as the journal has it."""
    losses = {rank: {} for rank in range(l1.RANKS)}
    for segment in sorted(part.glob(f"journal/rank-*-a{attempt}-s*.rmj")):
        for line in measure.product("journal_steps", segment):
            if line:
                losses[line["rank"]].update(zip(line["step"], line["loss"], strict=True))
    return losses


def last_step(part):
    """That rank 0 has in its journal."""
    return max(steps_of(part)[0], default=0)


def weights_at_the_end(part):
    """The files of the last checkpoint that hold tensors, by their SHA-256."""
    manifest = part / "checkpoints" / f"step-{STEPS:09}" / "MANIFEST.json"
    files = json.loads(manifest.read_text())["files"]
    return {f["name"]: f["sha256"] for f in files if f["name"].endswith(".safetensors")}


class Bench:
    """A spec and a home of its own, in which runs are launched."""

    def __init__(self, folder):
        self.environment = l1.private_home(folder)
        self.runs = pathlib.Path(self.environment["XDG_STATE_HOME"]) / "ringmaster" / "runs"
        self.spec = pathlib.Path(folder) / "resume.toml"
        self.spec.write_text(specs.text(SPEC, STEPS))

    def ask(self, *words):
        program = measure.BUILD / "bin" / "ringmaster"
        return measure.run([program, *words], self.environment)

    def launch(self, *options):
        before = set(self.runs.glob("*"))
        self.ask("run", self.spec, "--node", f"this-computer:{l1.RANKS}", *options)
        [made] = set(self.runs.glob("*")) - before
        return made

    def undisturbed(self, *options):
        return self.launch("--wait", *options) / "node-00000"

    def resumed(self, pause_at):
        """A run that was paused at that step or soon after. Its part, and the step."""
        made = self.launch()
        part = made / "node-00000"
        with self.killed_at_the_end(made.name):
            l7.until(lambda: last_step(part) >= pause_at, f"step {pause_at}")
            answer = json.loads(self.ask("pause", made.name, "--json"))
            assert answer["applied"], answer
            self.ask("resume", made.name, "--wait")
        return part, answer["step"]

    @contextlib.contextmanager
    def killed_at_the_end(self, run):
        try:
            yield
        except BaseException:
            self.ask("kill", run)
            raise


def equal_steps(losses, expected, after):
    """How many of the 100 after that step have the same bits on all ranks."""
    steps = range(after + 1, after + COMPARED + 1)
    assert steps[-1] <= STEPS, f"paused at step {after} of {STEPS}"
    assert all(step in expected[rank] for rank in expected for step in steps), "steps are missing"
    return sum(all(losses[rank].get(step) == expected[rank][step] for rank in expected)
               for step in steps)


def measure_row(pairs):
    chance = random.Random(SEED)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(folder)
        first = bench.undisturbed()
        expected, weights = steps_of(first), weights_at_the_end(first)
        other_seed = steps_of(bench.undisturbed("--set", "seed=7"))
        ours, again, at, whole = [], [], [], True
        for _ in range(pairs or 3):
            part, after = bench.resumed(chance.randrange(EARLIEST, LATEST))
            ours.append(equal_steps(steps_of(part, "00002"), expected, after))
            whole &= weights_at_the_end(part) == weights
            again.append(equal_steps(steps_of(bench.undisturbed()), expected, after))
            at.append(after)
    possible = COMPARED * len(at)
    return measure.report(
        "C6", f"steps of {COMPARED} after a resume that have the bits of an uninterrupted run",
        ours, again, [sum(ours) / possible], floor=1, goal=1, better="more",
        controls={"uninterrupted": [sum(again) / possible]}, margin=0, resumes=len(at),
        peerName="the same run, once more without a pause", pausedAt=at,
        areLastWeightsEqual=whole, equalWithAnotherSeed=equal_steps(other_seed, expected, at[0]),
    )

# SPDX-License-Identifier: Apache-2.0
"""Training on several ranks: the trainer and a program under torchrun, from the same weights, on the
same batches, step by step."""
import contextlib
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import tempfile

import measure
import specs
from peer_process import Peer

TRAINER = measure.BUILD / "bin" / "ringmaster-trainer"


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def together(commands):
    """Runs commands at the same time, all of which must succeed. Each is (words, environment)."""
    with contextlib.ExitStack() as stack:
        running = []
        for words, environment in commands:
            log = stack.enter_context(tempfile.TemporaryFile("w+"))
            process = subprocess.Popen([str(word) for word in words], env=environment,
                                       stdout=log, stderr=log)
            stack.callback(process.kill)
            running.append((process, log))
        for process, log in running:
            if process.wait(measure.TIMEOUT_S) != 0:
                log.seek(0)
                sys.exit(f"run {process.args}: exit {process.returncode}\n{log.read()[-3000:]}")


class Training:
    """A spec (see specs.py), and what both sides need of it: the first weights, every rank's batches.
    `links`: for each rank the words before a command that put it into its place; `address` of
    the first."""

    def __init__(self, folder, spec, ranks, steps, links=None, address="127.0.0.1"):
        self.folder, self.ranks, self.steps = pathlib.Path(folder), ranks, steps
        self.links, self.address = links or [[]] * ranks, address
        self.spec = self._write_spec("spec.toml", spec, steps)
        self.turns = 0
        self.targets = self._write_batches()
        self.checkpoint = self._write_checkpoint(spec)

    def _write_spec(self, name, spec, steps):
        path = self.folder / name
        path.write_text(specs.text(spec, steps))
        return path

    def _write_batches(self):
        lines = measure.product("step_batches", self.spec, self.folder, self.ranks, self.steps)
        return [line["targets"] for line in sorted(lines, key=lambda line: line["rank"])]

    def _write_checkpoint(self, spec):
        made = self.folder / "initial"
        one_step = self._write_spec("initial.toml", spec, 1)
        measure.run([TRAINER, "--spec", one_step, "--run-dir", made, "--save-initial"])
        return made / "checkpoints" / "step-000000000"

    def ours(self):
        """One run of the trainer: what each rank's journal says of its steps."""
        self.turns += 1
        where = self.folder / f"run-{self.turns}"
        world = {"WORLD_SIZE": self.ranks, "LOCAL_WORLD_SIZE": self.links.count(self.links[0]),
                 "MASTER_ADDR": self.address, "MASTER_PORT": free_port()}
        commands = []
        for rank in range(self.ranks):
            local = self.links[:rank].count(self.links[rank])
            mine = {**world, "RANK": rank, "LOCAL_RANK": local} if self.ranks > 1 else {}
            environment = {**os.environ, **{name: str(value) for name, value in mine.items()}}
            words = [*self.links[rank], TRAINER, "--spec", self.spec, "--run-dir", where]
            commands.append((words, environment))
        together(commands)
        return measure.product("journal_steps", *sorted(where.glob("journal/rank-*.rmj")))

    def peer(self, script, mode, settings):
        """A peer that stays, to be asked for turns: the same steps each time, as it prints them."""
        order = {"folder": str(self.folder), "checkpoint": str(self.checkpoint), "mode": mode,
                 "steps": self.steps, "targets": self.targets, **settings}
        return Peer(script, order, self.ranks, self.links, self.address, free_port())

    def rate(self, ranks, warm):
        """Targets a second of all ranks after the steps of warming up."""
        return sum(sum(steps[warm:]) for steps in self.targets) / seconds(ranks, warm)


def seconds(ranks, warm):
    """From the end of the slower rank's last step of warming up to that of its last step."""
    ends = [max(times) for times in zip(*(rank["wallNs"] for rank in ranks))]
    return (ends[-1] - ends[warm - 1]) / 1e9


def check_losses(ours, theirs, tolerance=0.01):
    """Both made all steps, each rank with the same losses on both sides."""
    by_rank = [{rank["rank"]: rank["loss"] for rank in side} for side in (ours, theirs)]
    assert by_rank[0].keys() == by_rank[1].keys(), by_rank
    for rank, losses in by_rank[0].items():
        others = by_rank[1][rank]
        assert len(losses) == len(others), (len(losses), len(others))
        apart = max(abs(a - b) for a, b in zip(losses, others))
        assert apart <= tolerance, f"rank {rank}: losses up to {apart} apart: {losses} {others}"


def compare(row, unit, training, script, settings, warm, pairs, floor, goal, **details):
    """Throughput of both sides, the peer in the better of its modes, all of which take turns.
    `settings` are the peer's."""
    modes = {"eager": [], "compile": []}
    ours = []
    with contextlib.ExitStack() as stack:
        peers = {mode: stack.enter_context(training.peer(script, mode, settings)) for mode in modes}
        for index in range(-1, pairs):  # the first round warms caches, and compiles
            turns = {None: training.ours(), **{mode: peer.turn() for mode, peer in peers.items()}}
            rates = {who: training.rate(turn, warm) for who, turn in turns.items()}
            for mode in modes:
                check_losses(turns[None], turns[mode])
            if index < 0:
                continue
            ours.append(rates[None])
            for mode, values in modes.items():
                values.append(rates[mode])
            print(f"  pair {index + 1}/{pairs}: {rates}", file=sys.stderr)
    best = max(modes, key=lambda mode: statistics.median(modes[mode]))
    theirs = modes[best]
    return measure.report(
        row, unit, ours, theirs, measure.per_peer(ours, theirs), floor, goal, "more",
        peerMode=best, peerModes={mode: measure.spread(values) for mode, values in modes.items()},
        versions=measure.versions("torch"), **details,
    )

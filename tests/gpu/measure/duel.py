# SPDX-License-Identifier: Apache-2.0
"""T1, T2, T3: the trainer and its peers in turn, on the same batches from the same weights."""
import contextlib
import json
import statistics
import sys

import batches
import sizes
import tensors
from clock import Deadline, Overrun, rounds_that_fit
from peer import Peer, PeerFailed
from trainer import Trainer, TrainerFailed

SCRIPTS = {"T1": "gpt.py", "T2": "resnet.py", "T3": "translation.py"}
UNITS = {"T1": "tokens/s", "T2": "images/s", "T3": "target tokens/s without padding"}
# Peers of one group are on the GPU together, which T1's would not all fit.
GROUPS = {"T1": [["eager"], ["compile", "max-autotune"]], "T2": [["eager", "compile"]],
          "T3": [["eager", "compile"]]}
# (floor, goal) of ours / theirs.
BARS = {("T1", "eager"): (1.0, 1.8), ("T1", "compile"): (1.0, 1.1),
        ("T1", "max-autotune"): (1.0, 1.1), ("T2", "eager"): (1.0, 1.1),
        ("T2", "compile"): (1.0, 1.1), ("T3", "eager"): (1.2, 1.5), ("T3", "compile"): (None, 1.5)}


def spread(values):
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


STARTING = 2 / 3  # of the time that is left may pass until the peers of a group are ready
COMPARED = 100  # steps from the first weights on, whose losses must be the same


class Rounds:
    """What came of one mode: units a second of each side."""

    def __init__(self):
        self.losses = []  # the peer's, from the first step on
        self.ours, self.theirs = [], []
        self.peak_bytes = None
        self.why = None  # the peer failed or was cut


class Duel:
    def __init__(self, place, name, rehearsal, rounds, deadline, alone=False):
        self.place, self.name, self.rounds, self.deadline = place, name, rounds, deadline
        self.rehearsal = rehearsal
        self.row = sizes.row(name, rehearsal, alone)
        self.made = batches.make(self.row)
        path = place.scratch / f"{name}.safetensors"
        tensors.save_batches(path, self.made)
        self.trainer = Trainer(place, self.row, path)
        self.weights = None
        self.losses, self.events = {}, []

    def units(self):
        """Of the timed steps."""
        index = 3 if self.row["model"] == "translation" else 1
        numbers = range(self.row["warm"], self.row["warm"] + self.row["steps"])
        return sum(self.made[n % len(self.made)][index].numel() for n in numbers)

    def our_round(self):
        ms, self.losses, self.events = self.trainer.timed(self.deadline)
        return 1e3 * self.units() / ms

    def peer(self, mode):
        return Peer(self.place, SCRIPTS[self.name], "--mode", mode, "--device", self.place.device,
                    "--row", json.dumps(self.row), "--weights", self.weights,
                    "--batches", self.trainer.batches)

    def ask(self, peers, results, take):
        """take(peer, its results) for each; a peer that fails is left out from then on."""
        for mode, peer in list(peers.items()):
            try:
                take(peer, results[mode])
            except (Overrun, PeerFailed) as error:
                results[mode].why = str(error)
                peers.pop(mode).stop()

    def run_group(self, modes, results):
        """Fills `results` (by mode) round by round, so that a cut leaves what was measured."""
        results |= {mode: Rounds() for mode in modes}
        with contextlib.ExitStack() as stack:
            peers = {mode: stack.enter_context(self.peer(mode)) for mode in modes}
            started = Deadline(self.deadline.left() * STARTING)
            self.ask(peers, results,
                     lambda peer, result: result.losses.extend(peer.answer(started)["losses"]))
            # Against the slow peer alone one tells enough, for the time it takes.
            for _ in rounds_that_fit(self.rounds if len(modes) > 1 else 1, self.deadline):
                if peers:
                    ours = self.our_round()
                    self.ask(peers, results, lambda peer, result: self.take(peer, result, ours))

    def take(self, peer, result, ours):
        said = peer.ask(self.deadline)
        if not result.ours:
            result.losses += said["losses"]
        result.peak_bytes = said.get("peak_bytes")
        result.ours.append(ours)
        result.theirs.append(said["units_per_s"])
        print(f"  {self.name}: {ours:.6g} : {result.theirs[-1]:.6g} ({peer.name})",
              file=sys.stderr, flush=True)

    def run(self, report):
        results, why = {}, None
        groups = [["eager"]] if self.rehearsal else GROUPS[self.name]
        try:
            self.weights = self.trainer.first_weights(self.deadline)
            for modes in groups:
                self.run_group(modes, results)
        except (Overrun, TrainerFailed) as error:
            why = str(error)
        for mode in [mode for group in groups for mode in group]:
            report(self.line(mode, results.get(mode, Rounds()), why))

    def line(self, mode, result, why):
        line = {"part": "bench", "row": self.name, "peer": mode, "unit": UNITS[self.name]}
        why = "; ".join(filter(None, [result.why, why]))
        if not result.ours:
            return line | {"ok": False, "why": why}
        off = self.largest_difference(result.losses)
        ratios = [ours / theirs for ours, theirs in zip(result.ours, result.theirs)]
        same = off <= self.row["tolerance"]
        judged, fast = self.judge(mode, statistics.median(ratios), statistics.median(result.ours))
        reasons = [why, None if same else "the losses differ", None if fast else "below the floor"]
        why = "; ".join(filter(None, reasons))
        line |= {"ok": not why, "ours": spread(result.ours), "theirs": spread(result.theirs),
                 "ratio": spread(ratios), "rounds": len(ratios), "steps": self.row["steps"],
                 "lossesDiffer": off, "lossesMay": self.row["tolerance"], "firstLoss": result.losses[0],
                 "lastLoss": result.losses[-1], "peerPeakBytes": result.peak_bytes,
                 "events": self.events}
        return line | judged | ({"why": why} if why else {})

    def judge(self, mode, ratio, ours):
        """Beside floor and goal, and whether it is not below the floor."""
        if self.rehearsal:
            return {"rehearsal": True}, True
        floor, goal = BARS[self.name, mode]
        judged = {"floor": floor, "goal": goal, "meetsGoal": ratio >= goal}
        if self.name == "T1":
            judged["mfu"] = self.mfu(ours)
        return judged, floor is None or ratio >= floor

    def mfu(self, ours):
        """Share of an H200's 989 TFLOP/s in bf16, by nanoGPT's count of operations."""
        row = self.row
        parameters = 12 * row["layers"] * row["width"] ** 2 + row["vocabulary"] * row["width"]
        per_token = 6 * parameters + 12 * row["layers"] * row["width"] * row["context"]
        return ours * per_token / 989e12

    def largest_difference(self, theirs):
        """Relative unless the row says otherwise, over the steps that the trainer logged."""
        absolute = self.row.get("absolute")
        return max(abs(ours - theirs[step - 1]) / (1 if absolute else abs(theirs[step - 1]))
                   for step, ours in self.losses.items() if step <= COMPARED)

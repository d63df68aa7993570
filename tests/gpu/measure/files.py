# SPDX-License-Identifier: Apache-2.0
"""T2's second line: ResNet-50 learns from JPEG files in memory, by the trainer's own image task, beside
itself on synthetic batches and beside torchvision's DataLoader."""
import json
import math
import subprocess
import sys

import batches
import sizes
import tensors
from clock import Deadline, Overrun, rounds_that_fit
from duel import spread
from peer import Peer, PeerFailed
from trainer import Trainer, TrainerFailed

AT_LEAST = 0.95  # of the speed on synthetic batches
SAMPLE = "0/0.jpg"


def make_pictures(place, row, deadline):
    folder = place.scratch / "pictures"
    try:
        done = place.run("ringmaster-gpu-bench", "pictures", folder, row["pictures"],
                         row["classes"], timeout=deadline.left())
    except subprocess.TimeoutExpired:
        raise Overrun("cut: the pictures were not made in time") from None
    if done.returncode:
        raise TrainerFailed(f"make pictures: {done.stderr.strip()}")
    return folder


class Side:
    """Pictures a second, by round."""

    missing = False

    def __init__(self, name):
        self.name, self.speeds, self.why = name, [], None


class OurSide(Side):
    def __init__(self, name, place, row, data, deadline):
        super().__init__(name)
        self.row, self.deadline = row, deadline
        self.trainer = Trainer(place, row, data)
        self.losses, self.events = {}, []

    def round(self):
        ms, self.losses, self.events = self.trainer.timed(self.deadline)
        if not all(map(math.isfinite, self.losses.values())):
            raise TrainerFailed(f"its losses are {self.losses}")
        self.speeds.append(1e3 * self.row["steps"] * self.row["batch"] / ms)


class TheirSide(Side):
    """`missing`: it cannot run here, and `why` says why."""

    def __init__(self, peer, deadline):
        super().__init__("torchvision DataLoader")
        self.peer, self.deadline = peer, deadline

    def start(self):
        def take():
            said = self.peer.answer(Deadline(self.deadline.left() / 2))
            if "missing" in said:
                self.missing, self.why = True, said["missing"]
        self.guarded(take)

    def guarded(self, work):
        try:
            work()
        except (Overrun, PeerFailed) as error:
            self.why = str(error)

    def round(self):
        if not self.why:
            self.guarded(lambda: self.speeds.append(self.peer.ask(self.deadline)["units_per_s"]))


def peer_of(place, row, folder, weights, rehearsal):
    mode = "eager" if rehearsal else "compile"
    return Peer(place, "resnet_files.py", "--mode", mode, "--device", place.device,
                "--row", json.dumps(row), "--weights", weights, "--batches", folder)


class Race:
    def __init__(self, place, rehearsal, deadline):
        self.place, self.rehearsal, self.deadline = place, rehearsal, deadline
        self.row = sizes.row("T2-files", rehearsal)
        self.ours = self.synthetic = self.theirs = None
        self.picture_bytes = None

    def run(self, rounds):
        """Round by round, so that a cut leaves what was measured."""
        path = self.place.scratch / "T2-files.safetensors"
        tensors.save_batches(path, batches.make(self.row))
        folder = make_pictures(self.place, self.row, self.deadline)
        self.picture_bytes = (folder / SAMPLE).stat().st_size
        self.synthetic = OurSide("ours, synthetic", self.place, self.row, path, self.deadline)
        self.ours = OurSide("ours", self.place, self.row, folder, self.deadline)
        weights = self.synthetic.trainer.first_weights(self.deadline)
        with peer_of(self.place, self.row, folder, weights, self.rehearsal) as peer:
            self.theirs = TheirSide(peer, self.deadline)
            self.theirs.start()
            for _ in rounds_that_fit(rounds, self.deadline):
                for side in (self.synthetic, self.ours, self.theirs):
                    side.round()
                    print(f"  T2-files: {side.speeds[-1:]} ({side.name})", file=sys.stderr, flush=True)

    def line(self, other, least, why):
        """Ours beside `other`; `least` is floor and goal of the ratio, None: there is none."""
        line = {"part": "bench", "row": "T2-files", "unit": "images/s", "peer": other.name,
                "pictureBytes": self.picture_bytes}
        if other.missing:
            return line | {"ok": True, "skipped": other.why}
        ratios = [mine / others for mine, others in zip(self.ours.speeds, other.speeds)]
        why = "; ".join(filter(None, [other.why, why]))
        if not ratios:
            return line | {"ok": False, "why": why}
        line |= {"ours": spread(self.ours.speeds), "theirs": spread(other.speeds),
                 "ratio": spread(ratios), "rounds": len(ratios),
                 "lastLoss": list(self.ours.losses.values())[-1], "events": self.ours.events}
        if least is not None:
            line |= {"floor": least, "goal": least, "meetsGoal": line["ratio"]["median"] >= least}
            why = "; ".join(filter(None, [why, None if line["meetsGoal"] else "below the floor"]))
        return line | {"ok": not why} | ({"why": why} if why else {})


def measure_row(place, rehearsal, rounds, deadline, report):
    race, why = Race(place, rehearsal, deadline), None
    try:
        race.run(rounds)
    except (Overrun, TrainerFailed) as error:
        why = str(error)
    if race.theirs is None:
        return report({"part": "bench", "row": "T2-files", "ok": False, "why": why})
    report(race.line(race.synthetic, None if rehearsal else AT_LEAST, why))
    report(race.line(race.theirs, None, why))

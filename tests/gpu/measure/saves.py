# SPDX-License-Identifier: Apache-2.0
"""C2: how long a checkpoint holds training up. Every step is waited for on both sides; a stall is what
the step of a checkpoint, the call included, and the two behind it took beyond three usual steps."""
import json
import statistics

import batches
import sizes
import tensors
from clock import Overrun
from peer import Peer, PeerFailed
from trainer import Trainer, TrainerFailed

FLOOR, GOAL, GOAL_MS = 0.5, 0.1, 5.0


def stalls(laps, row):
    """Milliseconds by checkpoint. `laps`: of each step, beginning with the first."""
    usual = statistics.median(laps)
    due = range(row["every"], row["steps"], row["every"])
    return [sum(laps[step - 1 : step + 2]) - usual * len(laps[step - 1 : step + 2]) for step in due]


def our_laps(trainer, row, deadline):
    series = trainer.run(row["steps"], 1, deadline, checkpoint_every=row["every"])["series"]
    laps = dict(map(tuple, series["train/step_ms"]))
    for step, ms in series["phase/checkpoint_ms"]:
        if step % row["every"] == 0 and step < row["steps"]:
            laps[step] += ms  # of the call; the stream's own wait is in the next step
    return [laps[step] for step in range(1, row["steps"] + 1)]


def their_laps(place, row, trainer, weights, deadline):
    with Peer(place, "checkpoint.py", "--device", place.device, "--row", json.dumps(row),
              "--weights", weights, "--batches", trainer.batches,
              "--folder", place.scratch / "theirs") as peer:
        return peer.answer(deadline)["ms"]


def measure_row(place, rehearsal, deadline, report):
    row = sizes.row("C2", rehearsal)
    line = {"part": "bench", "row": "C2", "peer": "dcp.async_save", "unit": "ms of stall"}
    path = place.scratch / "C2.safetensors"
    tensors.save_batches(path, batches.make(row))
    trainer = Trainer(place, row, path)
    try:
        weights = trainer.first_weights(deadline)
        ours = stalls(our_laps(trainer, row, deadline), row)
        theirs = stalls(their_laps(place, row, trainer, weights, deadline), row)
    except (Overrun, PeerFailed, TrainerFailed) as error:
        return report(line | {"ok": False, "why": str(error)})
    mine, other = statistics.median(ours[1:]), statistics.median(theirs[1:])
    line |= {"ok": True, "ours": ours, "theirs": theirs}
    if rehearsal:
        return report(line | {"rehearsal": True})
    ratio = mine / other if other > 0 else None
    fast = ratio is not None and ratio <= FLOOR
    line |= {"ok": fast, "ratioBehindTheFirst": ratio, "floor": FLOOR, "goal": GOAL, "goalMs": GOAL_MS,
             "meetsGoal": fast and ratio <= GOAL and mine <= GOAL_MS}
    return report(line if fast else line | {"why": "above the floor"})

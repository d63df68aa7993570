# SPDX-License-Identifier: Apache-2.0
"""T4: how much longer a step of two ranks takes than one of a single rank, over a slow network."""
import contextlib
import json
import os
import statistics
import sys
import tempfile

import measure
import shaped_link
import specs
import training

MBIT = 200
STEPS, WARM = 4, 2  # DistributedDataParallel has its final buckets from the second step on
SHAPE = {"layers": 6, "heads": 6, "width": 384, "context": 256}  # 10.8 million parameters
SPEC = specs.language("gpt", SHAPE, batch=24)
OURS = "ours"
PEERS = {  # DistributedDataParallel's buckets: 1 MiB and then 25, or all of at most so many
    "default": {}, "3 MiB": {"bucketMb": 3}, "1 MiB": {"bucketMb": 1},
}


def step_seconds(turn):
    return training.seconds(turn, WARM) / (STEPS - WARM)


class Race:
    """Everyone's turns, alone and over the link."""

    def __init__(self, stack, link):
        folders = [stack.enter_context(tempfile.TemporaryDirectory()) for _ in range(2)]
        self.alone = training.Training(folders[0], SPEC, 1, STEPS)
        self.both = training.Training(folders[1], SPEC, 2, STEPS, link.prefixes(),
                                      shaped_link.ADDRESSES[0])

        def peer(where, more):
            settings = {**specs.language_peer(SHAPE), **more}
            return stack.enter_context(where.peer("train_gpt.py", "eager", settings))

        self.lone_peer = peer(self.alone, {})
        self.peers = {name: peer(self.both, more) for name, more in PEERS.items()}

    def round(self):
        """Seconds of a step by who made it: alone, over the link."""
        ours = [self.alone.ours(), self.both.ours()]
        lone = self.lone_peer.turn()
        training.check_losses(ours[0], lone)
        seconds = {OURS: [step_seconds(turn) for turn in ours]}
        for name, peer in self.peers.items():
            turn = peer.turn()
            training.check_losses(ours[1], turn)
            seconds[name] = [step_seconds(lone), step_seconds(turn)]
        print(f"  alone, over the link: {seconds}", file=sys.stderr)
        return seconds


def measure_link(link, pairs):
    """Of every round the seconds of a step, as Race.round() has them."""
    with contextlib.ExitStack() as stack:
        race = Race(stack, link)
        rounds = [race.round() for _ in range(1 + pairs)]
        return rounds[1:]  # the first warms caches


def exposed(rounds, who):
    return [both - alone for alone, both in (seconds[who] for seconds in rounds)]


def measure_row(pairs):
    if cause := shaped_link.why_not():
        print(json.dumps({"row": "T4", "notMeasured": cause}), flush=True)
        return True
    os.environ["GLOO_SOCKET_IFNAME"] = shaped_link.DEVICE
    try:
        with shaped_link.ShapedLink(MBIT) as link:
            rounds = measure_link(link, pairs or 3)
    finally:
        del os.environ["GLOO_SOCKET_IFNAME"]
    modes = {name: exposed(rounds, name) for name in PEERS}
    best = min(modes, key=lambda name: statistics.median(modes[name]))
    ours, theirs = exposed(rounds, OURS), modes[best]
    alone = {who: measure.spread([seconds[who][0] for seconds in rounds]) for who in (OURS, best)}
    return measure.report(
        "T4", "s of exposed communication a step", ours, theirs,
        measure.per_peer(ours, theirs), floor=1, goal=0.5, better="less",
        aloneS=alone, peerMode=best,
        peerModes={name: measure.spread(values) for name, values in modes.items()},
        peerName=f"torchrun DDP, eager, in the best of its buckets' sizes; {MBIT} Mbit/s",
        versions=measure.versions("torch"),
    )

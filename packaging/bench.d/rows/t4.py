# SPDX-License-Identifier: Apache-2.0
"""T4: how much longer a step of two ranks takes than one of a single rank, over a slow network."""
import contextlib
import json
import os
import sys
import tempfile

import measure
import shaped_link
import training

MBIT, BUCKET_MB = 200, 25
STEPS, WARM = 3, 1
SHAPE = {"layers": 6, "heads": 6, "width": 384, "context": 256}  # 10.8 million parameters
LR = 3e-4
SPEC = f"""
[model]
type = "gpt"
layers = {SHAPE["layers"]}
heads = {SHAPE["heads"]}
width = {SHAPE["width"]}
context = {SHAPE["context"]}
[data]
train = ["/usr/share/common-licenses"]
[train]
steps = STEPS
batch_size = 24
threads = 1
[optimizer]
lr = {LR}
[distribution]
bucket_mb = {BUCKET_MB}
"""
PEER = ("train_gpt.py", "eager",
        {"shape": {**SHAPE, "vocabulary": 256}, "lr": LR, "bucketMb": BUCKET_MB})


def step_seconds(turn):
    return training.seconds(turn, WARM) / (STEPS - WARM)


def measure_link(link, pairs):
    """Exposed seconds of each pair, ours and the peer's, and the steps of single ranks."""
    exposed, alone_s = {"ours": [], "peer": []}, {"ours": [], "peer": []}
    with contextlib.ExitStack() as stack:
        folders = [stack.enter_context(tempfile.TemporaryDirectory()) for _ in range(2)]
        alone = training.Training(folders[0], SPEC, 1, STEPS)
        both = training.Training(folders[1], SPEC, 2, STEPS, link.prefixes(),
                                 shaped_link.ADDRESSES[0])
        peers = [stack.enter_context(one.peer(*PEER)) for one in (alone, both)]
        for index in range(-1, pairs):  # the first round warms caches
            for side, turns in (("ours", [alone.ours(), both.ours()]),
                                ("peer", [peer.turn() for peer in peers])):
                single, double = map(step_seconds, turns)
                if side == "ours":
                    ours = turns
                else:
                    training.check_losses(ours[0], turns[0])
                    training.check_losses(ours[1], turns[1])
                print(f"  {side}: {single:.3f} s alone, {double:.3f} s over the link",
                      file=sys.stderr)
                if index >= 0:
                    exposed[side].append(double - single)
                    alone_s[side].append(single)
    return exposed, alone_s


def measure_row(pairs):
    if cause := shaped_link.why_not():
        print(json.dumps({"row": "T4", "notMeasured": cause}), flush=True)
        return True
    os.environ["GLOO_SOCKET_IFNAME"] = shaped_link.DEVICE
    try:
        with shaped_link.ShapedLink(MBIT) as link:
            exposed, alone_s = measure_link(link, pairs or 3)
    finally:
        del os.environ["GLOO_SOCKET_IFNAME"]
    ours, theirs = exposed["ours"], exposed["peer"]
    return measure.report(
        "T4", "s of exposed communication a step", ours, theirs,
        [o / t for o, t in zip(ours, theirs)], floor=1, goal=0.5, better="less",
        aloneS={side: measure.spread(values) for side, values in alone_s.items()},
        peerName=f"torchrun DDP, eager; {MBIT} Mbit/s, buckets of at most {BUCKET_MB} MiB",
        versions=measure.versions("torch"),
    )

# SPDX-License-Identifier: Apache-2.0
"""M1: what one scalar costs the training thread, with whatever drains it running."""
import measure

PUSHES = 10_000_000
STEPS, SCALARS = 20_000, 10


def ours_once():
    [result] = measure.product("scalar_cost", PUSHES)
    assert result["rows"] == PUSHES, result
    return result["nsPerScalar"]


def peer_once(script):
    [result] = measure.peer(script, STEPS, SCALARS)
    assert result["rows"] == STEPS * SCALARS, result
    return result["nsPerScalar"]


def measure_against(row, script, name, package, pairs, floor, goal):
    ours, theirs = measure.interleave(pairs, ours_once, lambda: peer_once(script))
    return measure.report(
        row, "ns per scalar", ours, theirs, measure.per_ours(ours, theirs),
        floor=floor, goal=goal, better="more",
        peerName=name, versions=measure.versions("torch", package),
        durability="journal: write(2) without fsync; peer: its file or database after close",
    )


def measure_row(pairs):
    writer = measure_against(
        "M1", "summary_writer.py", "torch SummaryWriter", "tensorboard", pairs or 5, 20, 100
    )
    trackio = measure_against("M1-trackio", "trackio_log.py", "trackio", "trackio", pairs or 5, 1, 8)
    return writer and trackio

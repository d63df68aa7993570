# SPDX-License-Identifier: Apache-2.0
"""M1: what one scalar costs the training thread, with whatever drains it running."""
import statistics

import measure

PUSHES = 10_000_000
STEPS, SCALARS = 20_000, 10
MARGIN = 0.15  # of a side against itself


def ours_once():
    [result] = measure.product("scalar_cost", PUSHES)
    assert result["rows"] == PUSHES, result
    return result["nsPerScalar"]


def peer_once(script):
    [result] = measure.peer(script, STEPS, SCALARS)
    assert result["rows"] == STEPS * SCALARS, result
    return result["nsPerScalar"]


def measure_against(row, script, name, package, pairs, floor, goal):
    def twice(once):
        return lambda: (once(), once())

    ours, theirs = measure.interleave(pairs, twice(ours_once), twice(lambda: peer_once(script)))
    controls = {"ours": [b / a for a, b in ours], "peer": [b / a for a, b in theirs]}
    ours, theirs = ([statistics.fmean(both) for both in side] for side in (ours, theirs))
    return measure.report(
        row, "ns per scalar", ours, theirs, measure.per_ours(ours, theirs),
        floor=floor, goal=goal, better="more", controls=controls, margin=MARGIN,
        peerName=name, versions=measure.versions("torch", package),
        durability="journal: write(2) without fsync; peer: its file or database after close",
    )


def measure_row(pairs):
    writer = measure_against(
        "M1", "summary_writer.py", "torch SummaryWriter", "tensorboard", pairs or 5, 20, 100
    )
    trackio = measure_against("M1-trackio", "trackio_log.py", "trackio", "trackio", pairs or 5, 1, 8)
    return writer and trackio

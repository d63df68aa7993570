# SPDX-License-Identifier: Apache-2.0
"""T5: how much longer a step of 1 ms takes because it is watched."""
import measure

STEPS, SCALARS = 25, 10
MARGIN = 0.002  # telemetry's floor: if the control differs by more, the row says nothing


def measure_row(pairs):
    pairs = pairs or 400
    [result] = measure.product("telemetry_tax", pairs, STEPS)
    watched, plain, control = (
        [block / STEPS for block in result[name]] for name in ("watchedMs", "plainMs", "controlMs")
    )
    assert result["rows"] == pairs * STEPS * SCALARS, result["rows"]
    assert len(watched) == len(plain) == len(control) == pairs
    return measure.report(
        "T5", "ms per step", watched, plain, measure.per_peer(watched, plain),
        floor=1.002, goal=1.0005, better="less",
        controls={"unwatched": measure.per_peer(control, plain)}, margin=MARGIN, least=1 - MARGIN,
        peerName="the same loop unwatched",
        counts="board, clock, 10 scalars a step, encoding and write(2); no GPU here",
    )

# SPDX-License-Identifier: Apache-2.0
"""packaging/bench after its set-up: measures the rows asked for."""
import argparse
import pathlib
import sys

import fleet_lab
import measure
from rows import c1, c4, c6, d1, g1, g2, l1, l2, l3, l4, l5, l6, l7, m1, n1, p1, p2, p6, r1, t4, t5

ROWS = {"L1": l1.measure_row, "L2": l2.measure_row, "L3": l3.measure_row, "L4": l4.measure_row,
        "L5": l5.measure_row, "L6": l6.measure_row, "T4": t4.measure_row, "T5": t5.measure_row, "M1": m1.measure_row,
        "D1": d1.measure_row, "G1": g1.measure_row, "G2": g2.measure_row, "R1": r1.measure_row,
        "N1": n1.measure_row, "C1": c1.measure_row, "C4": c4.measure_save, "C5": c4.measure_load,
        "C6": c6.measure_row,
        "P1": p1.measure_row, "P2": p2.measure_row, "P5": c4.measure_flips, "L7": l7.measure_row,
        "P3": l7.measure_hang, "P6": p6.measure_row}


def main():
    parser = argparse.ArgumentParser(prog="packaging/bench")
    parser.add_argument("--force", action="store_true", help="measure on a busy machine as well")
    parser.add_argument("--pairs", type=int, help="of product and peer (default: by row)")
    parser.add_argument("--nodes", type=int, default=fleet_lab.NODES,
                        help="of L2, L3 and L5: 3 to 64 (default: 64)")
    parser.add_argument("rows", nargs="*", metavar="ROW", help=" ".join(ROWS))
    options = parser.parse_args()
    for row in options.rows:
        if row not in ROWS:
            parser.error(f"row {row}: there are {', '.join(ROWS)}")
    measure.require_peers()
    fleet_lab.NODES = options.nodes
    met = True
    for row in options.rows or ROWS:
        busy = measure.wait_until_quiet(options.force)
        load = pathlib.Path("/proc/loadavg").read_text().strip()
        print(f"{row}: loadavg {load}; {busy:.2f} cores busy before the start", file=sys.stderr)
        met &= ROWS[row](options.pairs)
    return 0 if met else 1


sys.exit(main())

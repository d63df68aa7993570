# SPDX-License-Identifier: Apache-2.0
"""Peer of M1: trackio without a dashboard. trackio_log.py STEPS SCALARS-PER-STEP"""
import contextlib
import json
import os
import pathlib
import sqlite3
import sys
import tempfile
import time


def rows_in(folder):
    [database] = pathlib.Path(folder).glob("bench*.db")
    with contextlib.closing(sqlite3.connect(database)) as connection:
        found = connection.execute("SELECT metrics FROM metrics").fetchall()
    return sum(len(json.loads(metrics)) for (metrics,) in found)


def main():
    steps, scalars = int(sys.argv[1]), int(sys.argv[2])
    names = [f"train/metric{i}" for i in range(scalars)]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TRACKIO_DIR"] = folder
        import trackio  # reads TRACKIO_DIR when it is imported

        with contextlib.redirect_stdout(sys.stderr):
            trackio.init(project="bench", auto_log_gpu=False)
            begin = time.perf_counter_ns()
            for step in range(steps):
                trackio.log({name: step * 0.5 for name in names}, step=step)
            end = time.perf_counter_ns()
            trackio.finish()
        rows = rows_in(folder)
    print(json.dumps({"nsPerScalar": (end - begin) / (steps * scalars), "rows": rows}))


main()

# SPDX-License-Identifier: Apache-2.0
"""Peer of M1: torch's SummaryWriter. summary_writer.py STEPS SCALARS-PER-STEP"""
import json
import pathlib
import sys
import tempfile
import time

from tensorboard.backend.event_processing.event_file_loader import LegacyEventFileLoader
from torch.utils.tensorboard import SummaryWriter


def rows_in(folder):
    return sum(
        len(event.summary.value)
        for path in pathlib.Path(folder).iterdir()
        for event in LegacyEventFileLoader(str(path)).Load()
    )


def main():
    steps, scalars = int(sys.argv[1]), int(sys.argv[2])
    names = [f"train/metric{i}" for i in range(scalars)]
    with tempfile.TemporaryDirectory() as folder:
        # A queue this long never makes the caller wait for the disk.
        writer = SummaryWriter(folder, max_queue=steps * scalars, flush_secs=3600)
        begin = time.perf_counter_ns()
        for step in range(steps):
            for name in names:
                writer.add_scalar(name, step * 0.5, step)
        end = time.perf_counter_ns()
        writer.close()
        rows = rows_in(folder)
    print(json.dumps({"nsPerScalar": (end - begin) / (steps * scalars), "rows": rows}))


main()

# SPDX-License-Identifier: Apache-2.0
"""C1 and C3: what a checkpoint costs the training beside which it is written."""
import contextlib
import json
import pathlib
import shutil
import statistics
import tempfile

import measure
import specs
import training

LAYERS, WIDTH, CONTEXT, BATCH = 12, 768, 64, 1  # 85 million parameters: 1 GB with Adam's
STEPS, EVERY = 60, 20  # the first save warms both; the second is measured
SHAPE = {"layers": LAYERS, "heads": 12, "width": WIDTH, "context": CONTEXT}
SPEC = specs.merged(specs.language("gpt", SHAPE, batch=BATCH), {"checkpoint": {"every": EVERY}})
AT = 2 * EVERY


def durations(ends):
    """Seconds of every step from the second on, by number."""
    return {i + 1: (ends[i] - ends[i - 1]) / 1e9 for i in range(1, len(ends))}


def cost(ends, whole):
    """Seconds that training stood still, and its share of speed until the checkpoint was whole."""
    took = durations(ends)
    beside = [step for step in took if AT < step and ends[step - 2] < whole]
    usual = statistics.median(s for step, s in took.items() if EVERY // 2 < step <= EVERY)
    stall = took[AT + 1] + took[AT + 2] - 2 * usual
    return {"stall": max(stall, 1e-4), "share": len(beside) * usual / sum(took[s] for s in beside),
            "usual": usual, "written": (whole - ends[AT - 1]) / 1e9}


def trainer_once(folder):
    spec = pathlib.Path(folder) / "saves.toml"
    spec.write_text(specs.text(SPEC, STEPS))
    where = pathlib.Path(folder) / "run"
    shutil.rmtree(where, ignore_errors=True)
    measure.run([training.TRAINER, "--spec", spec, "--run-dir", where])
    [rank] = measure.product("journal_steps", *sorted(where.glob("journal/rank-*.rmj")))
    manifest = where / "checkpoints" / f"step-{AT:09}" / "MANIFEST.json"
    return cost(rank["wallNs"], manifest.stat().st_mtime_ns)


def peer_once():
    shape = {"vocab_size": 256, "n_positions": CONTEXT, "n_embd": WIDTH, "n_head": 12,
             "n_layer": LAYERS}
    with tempfile.TemporaryDirectory(dir=measure.BUILD) as folder:
        order = {"shape": shape, "batch": BATCH, "steps": STEPS, "every": EVERY, "folder": folder,
                 "port": training.free_port()}
        [line] = measure.peer("async_save.py", json.dumps(order))
    return cost(line["wallNs"], line["wholeNs"][AT // EVERY - 1])


def measure_row(pairs):
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(dir=measure.BUILD))
        ours, theirs = measure.interleave(pairs or 5, lambda: trainer_once(folder), peer_once)
    column = lambda rows, name: [row[name] for row in rows]
    about = {"usualS": [measure.spread(column(rows, "usual")) for rows in (ours, theirs)],
             "writtenS": [measure.spread(column(rows, "written")) for rows in (ours, theirs)],
             "versions": measure.versions("torch"),
             "peerName": "torch.distributed.checkpoint.async_save in a process"}
    stalls = [column(rows, "stall") for rows in (ours, theirs)]
    shares = [column(rows, "share") for rows in (ours, theirs)]
    met = measure.report("C1", "s of stall a checkpoint of 1 GB", *stalls,
                         measure.per_peer(*stalls), floor=1, goal=0.1, better="less", **about)
    return measure.report("C3", "share of the usual speed while it is written", *shares,
                          shares[0], floor=0.95, goal=0.99, better="more", **about) and met

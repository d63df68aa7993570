# SPDX-License-Identifier: Apache-2.0
"""L7 and P3: from the end of a rank, by SIGKILL or SIGSTOP, to the next step of both of two Gloo ranks."""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import measure
import specs
from rows import l1

RESTARTS = 10
SPEC = specs.merged(l1.SPEC, {"checkpoint": {"every": 1}, "launch": {"max_restarts": RESTARTS}})
VICTIM = 1
HANG_S = 60  # so long the peer is watched


def until(find, what, patience_s=measure.TIMEOUT_S):
    """What `find` returns once that is something."""
    deadline = time.monotonic() + patience_s
    while not (found := find()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {patience_s} s for {what}")
        time.sleep(0.02)
    return found


def end_and_wait(pid, how, first_steps, patience_s=measure.TIMEOUT_S):
    """Seconds from the signal to the last rank's first step afterwards."""
    ended = time.time_ns()
    os.kill(pid, how)
    steps = until(first_steps, "a step after it", patience_s)
    return (max(step["wallNs"] for step in steps) - ended) / 1e9


def first_steps_of(node, attempt):
    """Of both ranks in that attempt, or nothing yet."""
    segments = sorted(node.glob(f"journal/rank-*-a{attempt:05d}-s0001-*.rmj"))
    lines = []
    for segment in segments:
        done = subprocess.run([measure.BUILD / "tests" / "first_step", segment],
                              capture_output=True, text=True, timeout=measure.TIMEOUT_S)
        lines += measure.json_lines(done.stdout)
    return lines if len(lines) == l1.RANKS else []


def ringmaster_once(folder, how):
    spec = pathlib.Path(folder) / "restart.toml"
    spec.write_text(specs.text(SPEC, steps=10_000_000))
    environment = l1.private_home(folder)
    runs = pathlib.Path(environment["XDG_STATE_HOME"]) / "ringmaster" / "runs"
    before = set(runs.glob("*"))
    program = measure.BUILD / "bin" / "ringmaster"
    measure.run([program, "run", spec, "--node", f"this-computer:{l1.RANKS}"], environment)
    [made] = set(runs.glob("*")) - before
    node = made / "node-00000"
    try:
        until(lambda: first_steps_of(node, 1), "a first step")
        until(lambda: list(made.glob("**/step-*/MANIFEST.json")), "a checkpoint")
        ranks = json.loads((node / "agent.json").read_text())["ranks"]
        return end_and_wait(ranks[VICTIM]["process"]["pid"], how, lambda: first_steps_of(node, 2))
    finally:
        measure.run([program, "kill", made.name], environment)


def elastic_environment():
    """Without this, torchrun's restarted ranks meet the addresses of those before, and fail several times."""
    return {**measure.peer_environment(), "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"}


def torchrun_words(*arguments):
    return [str(word) for word in (
        sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc_per_node={l1.RANKS}",
        f"--max-restarts={RESTARTS}", measure.PEERS / "ddp_restarts.py", *arguments)]


@contextlib.contextmanager
def ended(launcher):
    """torchrun ends its ranks when it is asked to end."""
    try:
        yield
    finally:
        launcher.terminate()
        try:
            launcher.wait(60)
        finally:
            launcher.kill()


def torchrun_once(how):
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+") as log:
        where = pathlib.Path(folder)

        def first_steps(restarts):
            """Of both ranks after one of so many restarts."""
            for count in restarts:
                found = [where / f"{rank}-{count}.json" for rank in range(l1.RANKS)]
                if all(path.exists() for path in found):
                    return [json.loads(path.read_text()) for path in found]
            return []

        process = subprocess.Popen(torchrun_words(l1.TEXT, folder), stdout=log, stderr=log,
                                   env=elastic_environment())
        with ended(process):
            victim = until(lambda: first_steps([0]), "the peer's first step")[VICTIM]["pid"]
            until((where / "checkpoint.pt").exists, "the peer's checkpoint")
            again = lambda: first_steps(range(1, RESTARTS + 1))
            if how == signal.SIGKILL:
                return end_and_wait(victim, how, again)
            try:
                return end_and_wait(victim, how, again, HANG_S)
            except TimeoutError:
                with contextlib.suppress(ProcessLookupError):  # torchrun may have killed it
                    os.kill(victim, signal.SIGCONT)
                return HANG_S


def race(pairs, how):
    with tempfile.TemporaryDirectory() as folder:
        return measure.interleave(
            pairs, lambda: ringmaster_once(folder, how), lambda: torchrun_once(how)
        )


def measure_row(pairs):
    ours, theirs = race(pairs or 5, signal.SIGKILL)
    return measure.report(
        "L7", "s from SIGKILL to the next step", ours, theirs, measure.per_ours(ours, theirs),
        floor=3, goal=10, better="more", peerName="torchrun --max-restarts, DDP, torch.save each step",
        versions=measure.versions("torch"),
    )


def measure_hang(pairs):
    ours, theirs = race(pairs or 3, signal.SIGSTOP)
    return measure.report(
        "P3", "s from SIGSTOP to the next step", ours, theirs, measure.per_ours(ours, theirs),
        floor=1, goal=4, better="more", watchedS=HANG_S,
        peerName=f"torchrun --max-restarts, watched for {HANG_S} s; its waits cut to 5 s",
        versions=measure.versions("torch"),
    )

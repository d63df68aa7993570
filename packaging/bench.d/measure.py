# SPDX-License-Identifier: Apache-2.0
"""How every row is measured: peer and product in turn, the ratio of each pair, medians."""
import importlib.metadata
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).parents[2]
BUILD = ROOT / "build" / "release"
PEERS = pathlib.Path(__file__).parent / "peers"
TIMEOUT_S = 180


def peer_environment():
    """For Python peers: the torch that the trainer is built with, see tests/python."""
    stand_ins = str(BUILD / "tests" / "stand-ins")
    return {
        **os.environ,
        "LD_LIBRARY_PATH": stand_ins,
        "PYTHONPATH": str(ROOT / "tests" / "python" / "peer"),
    }


def run(command, environment=None, **options):
    """Standard output of a command that must succeed."""
    done = subprocess.run(
        [str(word) for word in command],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        timeout=TIMEOUT_S,
        **options,
    )
    if done.returncode != 0:
        sys.exit(f"run {command[0]}: exit {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout


def json_lines(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def peer(script, *arguments):
    """The JSON lines that a program in peers/ prints."""
    return json_lines(run([sys.executable, PEERS / script, *arguments], peer_environment()))


def product(program, *arguments):
    """The JSON lines that a program of tests/bench prints."""
    return json_lines(run([BUILD / "tests" / program, *arguments]))


def require_peers():
    """Ends the program if this Python lacks a pinned peer: what it would measure is not the pinned one."""
    def plain(name):
        return re.sub("[-_.]+", "-", name).lower()

    pinned = (ROOT / "packaging" / "requirements" / "bench.txt").read_text()
    found = {plain(made.name): made.version for made in importlib.metadata.distributions()}
    missing = [f"{name} {version}"
               for name, version in re.findall(r"^([\w.-]+)==(\S+)", pinned, re.MULTILINE)
               if found.get(plain(name)) != version]
    if missing:
        sys.exit(f"find the peers: {sys.executable} lacks {', '.join(missing)}. packaging/bench installs them into "
                 "~/.cache/ringmaster/python-bench; if that is what lacks them, delete it and run packaging/bench again")


def versions(*packages):
    found = {name: importlib.metadata.version(name) for name in packages}
    return {"python": sys.version.split()[0], **found}


def busy_cores(seconds):
    """Cores in use by anyone, as /proc/stat counts them."""
    def reading():
        fields = [int(n) for n in pathlib.Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
        return sum(fields), fields[3] + fields[4]

    total, idle = reading()
    time.sleep(seconds)
    total_after, idle_after = reading()
    share = 1 - (idle_after - idle) / max(1, total_after - total)
    return share * os.cpu_count()


def wait_until_quiet(force, limit=0.2, patience_s=60):
    """Refuses to measure while other work uses more than `limit` cores."""
    deadline = time.monotonic() + patience_s
    while (busy := busy_cores(2)) > limit and not force:
        if time.monotonic() > deadline:
            sys.exit(f"measure: {busy:.2f} cores are busy with other work (limit {limit}); "
                     "try when the machine is quiet, or --force for figures that do not count")
    return busy


def interleave(pairs, product_once, peer_once):
    """One round of each to warm caches, then `pairs` times product, peer."""
    product_once(), peer_once()
    ours, theirs = [], []
    for index in range(pairs):
        ours.append(product_once())
        theirs.append(peer_once())
        print(f"  pair {index + 1}/{pairs}: {ours[-1]} : {theirs[-1]}", file=sys.stderr)
    return ours, theirs


def per_peer(ours, theirs):
    return [o / t for o, t in zip(ours, theirs)]


def per_ours(ours, theirs):
    return per_peer(theirs, ours)


def spread(values):
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def processor():
    """Its name, and the vector units that decide which code libraries choose."""
    text = pathlib.Path("/proc/cpuinfo").read_text()
    fields = dict(re.findall(r"^(model name|flags)\s*: (.*)$", text, re.MULTILINE))
    units = [unit for unit in ("avx2", "avx512f", "avx512_bf16", "amx_tile")
             if unit in fields.get("flags", "").split()]
    return f"{fields.get('model name', 'unknown')} ({', '.join(units)}), {os.cpu_count()} cores"


def why_void(ratio, controls, margin, least):
    """Why a row says nothing; None: it does."""
    for name, ratios in controls.items():
        if abs((against := statistics.median(ratios)) - 1) > margin:
            return f"{name} against itself: {against:.4f}, where it may be {margin} from 1"
    if least is not None and ratio < least:
        return f"the ratio is {ratio:.4f}, and no less than {least} is possible: another effect"
    return None


def report(row, unit, ours, theirs, ratios, floor, goal, better, controls=None, margin=None,
           least=None, **details):
    """Prints the row as one line of JSON; whether it meets its floor. `better`: "more" or "less" of
    the ratio is better. `controls`: ratios of the same against the same, by name; one whose median
    is further than `margin` from 1 voids the row, as does a ratio below `least`."""
    ratio = statistics.median(ratios)
    void = why_void(ratio, controls or {}, margin, least)
    meets = (lambda limit: ratio >= limit) if better == "more" else (lambda limit: ratio <= limit)
    line = {
        "row": row,
        "processor": processor(),
        "unit": unit,
        "ours": spread(ours),
        "peer": spread(theirs),
        "ratio": spread(ratios),
        "pairs": len(ratios),
        "floor": floor,
        "goal": goal,
        "meetsFloor": void is None and meets(floor),
        "meetsGoal": void is None and meets(goal),
        **({"void": void} if void else {}),
        **({"controls": {name: spread(ratios) for name, ratios in controls.items()}}
           if controls else {}),
        "loadavg": pathlib.Path("/proc/loadavg").read_text().split()[:3],
        **details,
    }
    print(json.dumps(line), flush=True)
    return line["meetsFloor"]

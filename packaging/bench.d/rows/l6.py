# SPDX-License-Identifier: Apache-2.0
"""L6: bytes of what a node needs to train: our bundle, and the tree that pip installs."""
import json
import os
import pathlib

import measure

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache"))) / "ringmaster"
# By runtime: where it is built, the version of torch, the goal.
RUNTIMES = {"cpu": ("release", "2.11.0", 0.15), "cuda13": ("release", "2.11.0", 0.4),
            "cuda12": ("cuda12", "2.7.1", 0.4)}
FLOOR = 0.5


def bytes_of_bundle(build, runtime):
    """Of the files of a bundle, as the list beside the program names them; None: it is not built."""
    prefix = measure.ROOT / "build" / build
    contents = prefix / "share" / "ringmaster" / f"bundle-{runtime}.txt"
    if not contents.exists():
        return None
    files = [prefix / line.split("\t")[1] for line in contents.read_text().splitlines() if "\t" in line]
    return sum(path.stat().st_size for path in files) if all(map(pathlib.Path.exists, files)) else None


def bytes_of_tree(version, runtime):
    """Of torch and what is beside it for that runtime, as pip unpacks it; None: it is not there."""
    tree = CACHE / f"torch-{version}-{runtime}"
    files = [path for path in tree.rglob("*") if path.is_file() and not path.is_symlink()]
    return sum(path.stat().st_size for path in files) or None


def measure_runtime(runtime):
    build, version, goal = RUNTIMES[runtime]
    ours, theirs = bytes_of_bundle(build, runtime), bytes_of_tree(version, runtime)
    row = f"L6-{runtime}"
    if not ours or not theirs:
        missing = "its bundle is not built" if theirs else "its wheels are not there"
        print(json.dumps({"row": row, "notMeasured": f"{missing} (packaging/run --{runtime})"}), flush=True)
        return True
    return measure.report(row, "bytes", [ours], [theirs], [ours / theirs], floor=FLOOR, goal=goal,
                          better="less", peerName=f"torch {version} and the wheels that are set up with it",
                          resumes="tst_deploy_chain, whatWasCutGoesOnWhereItEnded")


def measure_row(_):
    return all([measure_runtime(runtime) for runtime in RUNTIMES])

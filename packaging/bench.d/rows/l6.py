# SPDX-License-Identifier: Apache-2.0
"""L6: bytes of what a node needs to train: our bundle, and the tree that pip installs."""
import ctypes
import json
import os
import pathlib

import measure

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache"))) / "ringmaster"
# By runtime: the version of torch, the goal.
RUNTIMES = {"cpu": ("2.11.0", 0.15), "cuda13": ("2.11.0", 0.4), "cuda12": ("2.7.1", 0.4)}
FLOOR = 0.5
CHUNK, LEVEL = 512 * 1024, 1  # as tree_sender.cpp packs what it sends


def files_of_bundle(runtime):
    """As the list beside the program names them; None: it is not built."""
    contents = measure.BUILD / "share" / "ringmaster" / f"bundle-{runtime}.txt"
    if not contents.exists():
        return None
    files = [pathlib.Path(line.split("\t")[1]) for line in contents.read_text().splitlines()]
    return files if all(map(pathlib.Path.exists, files)) else None


def files_of_tree(version, runtime):
    """Of torch and what is beside it for that runtime, as pip unpacks it."""
    tree = CACHE / f"torch-{version}-{runtime}"
    return [path for path in tree.rglob("*") if path.is_file() and not path.is_symlink()]


def bytes_of(files):
    return sum(path.stat().st_size for path in files)


def bytes_sent_of(files):
    """What they are on their way to a node that has none of them."""
    zstd = ctypes.CDLL("libzstd.so.1")
    zstd.ZSTD_compressBound.restype = zstd.ZSTD_compress.restype = ctypes.c_size_t
    packed = ctypes.create_string_buffer(zstd.ZSTD_compressBound(ctypes.c_size_t(CHUNK)))
    room = ctypes.c_size_t(len(packed))
    sent = 0
    for path in files:
        with path.open("rb") as file:
            while piece := file.read(CHUNK):
                sent += zstd.ZSTD_compress(packed, room, piece, ctypes.c_size_t(len(piece)), LEVEL)
    return sent


def measure_runtime(runtime):
    version, goal = RUNTIMES[runtime]
    bundle, tree = files_of_bundle(runtime), files_of_tree(version, runtime)
    row = f"L6-{runtime}"
    if not bundle or not tree:
        missing = "its bundle is not built" if tree else "its wheels are not there"
        option = "" if runtime == "cpu" else f" --{runtime}"
        print(json.dumps({"row": row, "notMeasured": f"{missing} (packaging/run{option})"}), flush=True)
        return True
    ours, theirs, sent = bytes_of(bundle), bytes_of(tree), bytes_sent_of(bundle)
    return measure.report(row, "bytes", [ours], [theirs], [ours / theirs], floor=FLOOR, goal=goal,
                          better="less", bytesSent=sent, sentOfPeer=round(sent / theirs, 3),
                          peerName=f"torch {version} and the wheels that are set up with it",
                          resumes="tst_deploy_chain, whatWasCutGoesOnWhereItEnded")


def measure_row(_):
    return all([measure_runtime(runtime) for runtime in RUNTIMES])

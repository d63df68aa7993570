# SPDX-License-Identifier: Apache-2.0
"""What each row of the GPU benchmarks trains: full for a GPU, tiny to try the same code on a CPU.

`warm` steps come before the clock starts, `steps` are timed; both are whole blocks of `block`, after
which the trainer logs. `batches` differ, then they recur. `tolerance`: of the losses, relative
unless `absolute`. ALONE changes what a row is when `run` measures nothing else.
"""
COMMON = {"warm": 10, "steps": 40, "block": 10, "precision": "bfloat16", "seed": 1}
TINY = {"warm": 2, "steps": 4, "block": 2, "precision": "float32", "threads": 1,
        "tolerance": 1e-4}

GPT = {"layers": 12, "heads": 12, "width": 768, "context": 1024, "vocabulary": 50304, "batch": 64,
       "batches": 10, "optimizer": "adamw", "lr": 6e-4, "betas": [0.9, 0.95], "eps": 1e-8,
       "decay": 0.1, "clip": 1.0, "tolerance": 0.01, "absolute": True}
TINY_GPT = {"layers": 2, "heads": 2, "width": 32, "context": 16, "vocabulary": 64, "batch": 4}

RESNET = {"size": 224, "classes": 1000, "batch": 256, "batches": 4, "optimizer": "sgd", "lr": 0.01,
          "momentum": 0.9, "decay": 1e-4, "clip": 0.0, "tolerance": 0.02}
TINY_RESNET = {"size": 64, "classes": 10, "batch": 8, "batches": 2}
# The same from so many JPEG files.
FILES = {"pictures": 4000}
TINY_FILES = {"pictures": 24}

# Without dropout, so that the losses of both sides can be compared. Every batch comes up twice before
# the clock starts: peers compile at the first, the trainer records at the second.
TRANSLATION = {"layers": 6, "heads": 8, "width": 512, "longest": 256, "vocabulary": 32000,
               "tokens": 16384, "batches": 50, "warm": 100, "steps": 50, "smoothing": 0.1,
               "optimizer": "adam", "lr": 1e-4, "betas": [0.9, 0.98], "eps": 1e-9, "decay": 0.0,
               "clip": 0.0, "tolerance": 5e-3}
TINY_TRANSLATION = {"layers": 2, "heads": 2, "width": 32, "longest": 12, "vocabulary": 50,
                    "tokens": 40, "batches": 5}

# Checkpoints after every `every` steps of T1's loop; every step is waited for.
SAVES = {"steps": 80, "every": 25}
TINY_SAVES = {"steps": 16, "every": 5}

ROWS = {
    "T1": ({"model": "gpt"} | GPT, TINY_GPT),
    "T2": ({"model": "resnet50"} | RESNET, TINY_RESNET),
    "T2-files": ({"model": "resnet50"} | RESNET | FILES, TINY_RESNET | TINY_FILES),
    "T3": ({"model": "translation"} | TRANSLATION, TINY_TRANSLATION),
    "C2": ({"model": "gpt"} | GPT | SAVES, TINY_GPT | TINY_SAVES),
}

ALONE = {"T1": {"warm": 20, "steps": 100}}


def row(name, tiny, alone=False):
    full, small = ROWS[name]
    whole = COMMON | full | (ALONE.get(name, {}) if alone else {})
    return whole | (TINY | small if tiny else {})

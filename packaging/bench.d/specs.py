# SPDX-License-Identifier: Apache-2.0
"""The trainer's specs, as sections of keys, and what the peers of language models need to know of the same."""
import json

LICENCES = "/usr/share/common-licenses"
LR = 3e-4
COMMON = {
    "train": {"threads": 1},
    "optimizer": {"lr": LR},
    "schedule": {"type": "constant"},
    "validation": {"every": 0, "sample_tokens": 0},
    "checkpoint": {"every": 0},
    "launch": {"device": "cpu"},
}


def merged(*specs):
    """Of a key that several specs have, the last one's value."""
    sections = {name: {} for spec in specs for name in spec}
    for spec in specs:
        for name, keys in spec.items():
            sections[name].update(keys)
    return sections


def text(spec, steps):
    """The TOML of a run of so many steps."""
    lines = ['name = "bench"']
    for name, keys in merged(COMMON, spec, {"train": {"steps": steps}}).items():
        lines += [f"[{name}]", *(f"{key} = {json.dumps(value)}" for key, value in keys.items())]
    return "\n".join(lines) + "\n"


def language(kind, shape, batch, data=LICENCES):
    return {"model": {"type": kind, **shape}, "data": {"train": [data]},
            "train": {"batch_size": batch}}


def language_peer(shape):
    """Settings of the peers of language models; the vocabulary is that of bytes."""
    return {"shape": {**shape, "vocabulary": 256}, "lr": LR}

# SPDX-License-Identifier: Apache-2.0
"""Our side: the trainer itself, through ringmaster-gpu-bench, with a spec made from a row."""
import json
import shutil
import subprocess

from clock import Overrun

INITIAL = "checkpoints/step-000000000/model.safetensors"


class TrainerFailed(Exception):
    pass


def toml(value):
    return json.dumps(value)


def spec_of(row, batches, steps, log_every, checkpoint_every):
    """Run spec in TOML. Options that a row does not have keep their defaults."""
    betas = dict(zip(("beta1", "beta2"), row.get("betas", ())))
    sections = {
        "model": {"type": row["model"]} | pick(row, layers="layers", heads="heads", width="width",
                                               context="context", classes="classes",
                                               image_size="size"),
        "data": {"train": [str(batches)], "validation_share": 0} | pick(row, vocab_size="vocabulary"),
        "train": {"steps": steps, "precision": row["precision"], "log_every": log_every,
                  "tf32": True} | pick(row, batch_size="batch", label_smoothing="smoothing",
                                       threads="threads", batch_tokens="tokens"),
        "optimizer": {"type": row["optimizer"], "lr": row["lr"], "clip": row["clip"],
                      "weight_decay": row["decay"]} | betas | pick(row, eps="eps", momentum="momentum"),
        "schedule": {"type": "constant"},
        "validation": {"every": 0, "sample_tokens": 0},
        "checkpoint": {"every": checkpoint_every, "keep_last": 2, "keep_best": False},
    }
    if row["model"] == "translation":
        sections["model"]["context"] = row["longest"]
        sections["data"]["tokenizer"] = "sentencepiece"
    lines = ['name = "bench"', f"seed = {row['seed']}"]
    for section, values in sections.items():
        lines += [f"[{section}]", *(f"{key} = {toml(value)}" for key, value in values.items())]
    return "\n".join(lines) + "\n"


def pick(row, **names):
    return {key: row[name] for key, name in names.items() if name in row}


class Trainer:
    """Runs one row; each run() is a process from the first step on."""

    def __init__(self, place, row, batches):
        self.place, self.row, self.batches = place, row, batches
        self.folder = place.scratch / "ours"

    def run(self, steps, log_every, deadline, checkpoint_every=0, save_initial=False):
        """{"series": {metric: [[step, value], ...]}, "events": [...]} of its journal."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        spec = self.folder / "spec.toml"
        spec.write_text(spec_of(self.row, self.batches, steps, log_every, checkpoint_every))
        arguments = ["--spec", spec, "--run-dir", self.folder, "--device", self.place.device]
        try:
            done = self.place.run("ringmaster-gpu-bench", *arguments,
                                  *(["--save-initial"] if save_initial else []),
                                  timeout=deadline.left())
        except subprocess.TimeoutExpired:
            raise Overrun("cut: the trainer did not end in time") from None
        if done.returncode:
            raise TrainerFailed(f"exit {done.returncode}: {done.stderr.strip()[-1500:]}")
        return json.loads(done.stdout.splitlines()[-1])

    def first_weights(self, deadline):
        """Makes the trainer write what every run begins with."""
        self.run(1, 1, deadline, save_initial=True)
        return (self.folder / INITIAL).rename(self.place.scratch / "first.safetensors")

    def timed(self, deadline):
        """Milliseconds of all timed steps together, and losses by step."""
        block = self.row["block"]
        figures = self.run(self.row["warm"] + self.row["steps"], block, deadline)
        series = figures["series"]
        ms = sum(block * value for step, value in series["train/step_ms"] if step > self.row["warm"])
        return ms, dict(map(tuple, series["train/loss"])), figures["events"]

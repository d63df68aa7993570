# SPDX-License-Identifier: Apache-2.0
"""Marian of Hugging Face beside the trainer's.

Its jobs, as jobs.py takes them:

    compare TEXTS FOLDER DUMP.safetensors
        loads FOLDER by from_pretrained() and does once more what marian_dump did; gives relative
        differences (Euclidean norms; of many tensors the worst one and its name) and what is equal
    make FOLDER INTO
        writes the model of FOLDER with other weights, biases among them, as transformers save
        it (INTO/hf) and as a state dict of DistributedDataParallel (INTO/parallel.pt)
"""
import json
import pathlib
import warnings

import torch
from safetensors import safe_open
from torch.nn import functional as F
from transformers import MarianMTModel, MarianTokenizer

import flops
import jobs

SMOOTHING = 0.1
BEAMS = {"num_beams": 4, "length_penalty": 0.6, "early_stopping": False}
IGNORED = -100


def relative(ours, theirs, scale=0.0):
    assert ours.shape == theirs.shape, (ours.shape, theirs.shape)
    return ((ours - theirs).norm() / max(theirs.norm(), scale, 1e-30)).item()


def load(folder):
    model, info = MarianMTModel.from_pretrained(folder, output_loading_info=True)
    assert not any(info.values()), info
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # sacremoses: a normalization that training never saw
        return model.eval(), MarianTokenizer.from_pretrained(folder)


def lists(tensors, kind):
    """The dump's lists of ids, by sentence."""
    names = [n for n in tensors if n.startswith(kind + ".")]
    return [tensors[n].tolist() for n in sorted(names, key=lambda n: int(n.split(".")[1]))]


def padded(rows, padding):
    width = max(map(len, rows))
    return torch.tensor([row + [padding] * (width - len(row)) for row in rows])


def generated(model, inputs, **settings):
    """Without what every translation begins with, its end, and padding."""
    rows = model.generate(**inputs, **settings)[:, 1:].tolist()
    end = model.config.eos_token_id
    return [row[: row.index(end)] if end in row else row for row in rows]


def gradients(model):
    """As ours are named; one tensor that has several names has the first."""
    return {n: p.grad for n, p in model.named_parameters() if p.grad is not None}


def worst_gradient(model, tensors):
    theirs = gradients(model)
    ours = {n.removeprefix("gradient."): t for n, t in tensors.items() if n.startswith("gradient.")}
    assert ours.keys() == theirs.keys(), ours.keys() ^ theirs.keys()
    differences = {}
    for name, gradient in theirs.items():
        # Softmax cancels the bias of the keys: its gradient is rounding noise on both sides.
        scale = theirs[name.replace("k_proj", "q_proj")].norm() if "k_proj.bias" in name else 0.0
        differences[name] = relative(ours[name], gradient, scale)
    name = max(differences, key=differences.get)
    return {"tensor": name, "difference": differences[name], "count": len(differences)}


def numbers(model, tensors, inputs, labels):
    out = model(**inputs, labels=labels)
    smoothed = F.cross_entropy(
        out.logits.flatten(0, 1), labels.flatten(), label_smoothing=SMOOTHING, ignore_index=IGNORED
    )
    smoothed.backward()
    real = labels != IGNORED  # behind them the decoders see different fillers
    theirs = flops.flops_of(lambda: model(**inputs, labels=labels))
    theirs -= 2 * int((~real).sum()) * out.logits.shape[-1] * model.config.d_model
    return {
        "flops": flops.difference(tensors["flops"], theirs),  # ours scores no padding
        "logits": relative(tensors["logits"][real], out.logits.detach()[real]),
        "loss": relative(tensors["loss"], out.loss.detach()),
        "smoothed": relative(tensors["smoothed"], smoothed.detach()),
        "gradients": worst_gradient(model, tensors),
    }


def compare(texts, folder, dump):
    lines = pathlib.Path(texts).read_text(encoding="utf-8").split("\n")[:-1]
    pairs = [line.split("\t") for line in lines]
    with safe_open(dump, "pt") as file:
        texts = json.loads(file.metadata()["greedy"])
        tensors = {name: file.get_tensor(name) for name in file.keys()}
    model, tokenizer = load(folder)
    encoded = tokenizer([p[0] for p in pairs], text_target=[p[1] for p in pairs])
    sources, targets = lists(tensors, "source"), lists(tensors, "target")
    source = padded(sources, tokenizer.pad_token_id)
    mask = padded([[1] * len(row) for row in sources], 0)
    inputs = {"input_ids": source, "attention_mask": mask}
    greedy = generated(model, inputs)  # with the settings of generation_config.json
    return {
        "sourceIds": encoded["input_ids"] == sources,
        "targetIds": encoded["labels"] == targets,
        **numbers(model, tensors, inputs, padded(targets, IGNORED)),
        "greedy": greedy == lists(tensors, "greedy"),
        "beams": generated(model, inputs, **BEAMS) == lists(tensors, "beams"),
        "texts": tokenizer.batch_decode(greedy, skip_special_tokens=True) == texts,
        "distinctTexts": len(set(texts)),
    }


@torch.no_grad()
def make(folder, into):
    model, tokenizer = load(folder)
    torch.manual_seed(3)
    for parameter in model.parameters():
        if parameter.requires_grad:
            parameter.add_(torch.randn_like(parameter) * 0.1)
    model.final_logits_bias.normal_(std=0.1)
    model.save_pretrained(pathlib.Path(into) / "hf")
    tokenizer.save_pretrained(pathlib.Path(into) / "hf")
    state = {"module." + name: tensor for name, tensor in model.state_dict().items()}
    torch.save(state, pathlib.Path(into) / "parallel.pt")


torch.set_num_threads(1)  # as marian_dump: sums are taken in the same order
jobs.run(compare=compare, make=make)

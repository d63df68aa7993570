# SPDX-License-Identifier: Apache-2.0
"""GPT-2 of Hugging Face beside the trainer's.

Its jobs, as jobs.py takes them:

    compare FOLDER DUMP.safetensors
        loads FOLDER by from_pretrained() and compares its logits with those of gpt_dump, and the
        probabilities of the next token with those that transformers' warpers make of gpt_dump's
        logits: `sampling` is the largest difference by setting
    make FOLDER
        writes small random GPT-2s in every form in which people have them, under FOLDER, and
        gives the sum of each tensor
    logits FOLDER DUMP.safetensors REFERENCE
        as compare, and the weights of FOLDER must be those of the folder REFERENCE
"""
import argparse
import collections
import os
import pathlib
import zipfile

import torch
from safetensors.torch import load_file, save_file
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    LogitsProcessorList,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

import jobs

LINEAR = ("attn.c_attn.weight", "attn.c_proj.weight", "mlp.c_fc.weight", "mlp.c_proj.weight")


def relative(ours, theirs):
    return ((ours - theirs).norm() / theirs.norm()).item()


def load(folder):
    model, info = GPT2LMHeadModel.from_pretrained(folder, output_loading_info=True)
    assert not info["missing_keys"] and not info["unexpected_keys"], info
    return model.eval()


def sampling_difference(probabilities, logits, setting):
    temperature, top_k, top_p = map(float, setting)
    warpers = LogitsProcessorList([TemperatureLogitsWarper(temperature)])
    if top_k > 0:
        warpers.append(TopKLogitsWarper(int(top_k)))
    if top_p < 1:
        warpers.append(TopPLogitsWarper(top_p))
    expected = warpers(None, logits.flatten(0, 1)).softmax(-1)
    return (probabilities - expected).abs().max().item()


@torch.no_grad()
def compare(folder, dump_file):
    dump = load_file(dump_file)
    logits = load(folder)(dump["ids"][0]).logits
    sampling = {
        name: sampling_difference(tensor, dump["logits"], name.split()[1:])
        for name, tensor in dump.items()
        if name.startswith("probabilities ")
    }
    return {"logits": relative(dump["logits"], logits), "sampling": sampling}


@torch.no_grad()
def logits(folder, dump_file, reference):
    ours, theirs = load(folder).state_dict(), load(reference).state_dict()
    equal = ours.keys() == theirs.keys() and all(torch.equal(ours[n], theirs[n]) for n in ours)
    return {**compare(folder, dump_file), "weightsEqual": equal}


def as_linear(tensors):
    """nanoGPT's layout: torch.nn.Linear keeps (out, in)."""
    return {n: t.t().contiguous() if n.endswith(LINEAR) else t for n, t in tensors.items()}


def save_torch(tensors, path, **options):
    torch.save(collections.OrderedDict(tensors), path, **options)


class Executes:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (os.mkdir, (str(self.path),))


def swelling(path):
    """An archive whose one storage is small in the file and 600 MB outside of it."""
    torch.save({"t": torch.zeros(4)}, path)
    with zipfile.ZipFile(path) as archive:
        records = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in records.items():
            archive.writestr(name, bytes(600 << 20) if name.endswith("data/0") else content)


def make_hostile(folder):
    torch.save({"t": torch.ones(2), "x": Executes(folder / "executed")}, folder / "lure.pt")
    torch.save(Executes(folder / "executed"), folder / "executes.pt")
    torch.save({"t": torch.ones(2)}, folder / "protocol4.pt", pickle_protocol=4)
    torch.jit.script(torch.nn.Linear(2, 2)).save(str(folder / "script.pt"))
    (folder / "noise.pt").write_bytes(b"PK\x03\x04" + bytes(range(256)) * 8)
    swelling(folder / "swells.pt")


def make(folder):
    folder = pathlib.Path(folder)
    torch.manual_seed(11)
    config = GPT2Config(
        vocab_size=256, n_positions=32, n_embd=64, n_layer=2, n_head=4, n_inner=96,
        bos_token_id=0, eos_token_id=1,
    )
    model = GPT2LMHeadModel(config).eval()
    for parameter in model.parameters():  # biases too, so that a mix-up shows
        torch.nn.init.normal_(parameter, std=0.1)
    model.save_pretrained(folder / "hf")
    model.save_pretrained(folder / "sharded", max_shard_size="60KB")
    config.save_pretrained(folder / "bin")
    tied = {n: t.detach().clone() for n, t in model.state_dict().items()}
    plain = {n: t for n, t in tied.items() if n != "lm_head.weight"}
    torch.save(tied, folder / "bin" / "pytorch_model.bin")
    save_file(plain, folder / "plain.safetensors")
    save_file({n: t.half() for n, t in plain.items()}, folder / "half.safetensors")
    save_file({n: t.double() for n, t in plain.items()}, folder / "double.safetensors")
    save_torch(tied, folder / "tied.pt")
    save_torch(tied, folder / "legacy.pth", _use_new_zipfile_serialization=False)
    save_torch({"module." + n: t for n, t in tied.items()}, folder / "parallel.pt")
    headless = {n.removeprefix("transformer."): t for n, t in plain.items()}
    mask = torch.ones(32, 32).tril().view(1, 1, 32, 32)
    headless.update({f"h.{i}.attn.bias": mask for i in range(2)})
    save_torch(headless, folder / "headless.pt")
    optimizer = torch.optim.AdamW(model.parameters())
    model(torch.zeros(1, 4, dtype=torch.long)).logits.sum().backward()
    optimizer.step()
    settings = {"optimizer": optimizer.state_dict(), "args": argparse.Namespace(lr=0.1), "iter": 7}
    torch.save({"model": as_linear(tied), **settings}, folder / "nested.pt")
    broken = dict(plain)
    broken["transformer.ln_f.bias"] = torch.zeros(63)
    broken["transformer.extra"] = torch.zeros(1)
    del broken["transformer.wpe.weight"]
    save_torch(broken, folder / "broken.pt")
    make_hostile(folder)
    return {n: t.double().sum().item() for n, t in plain.items()}


jobs.run(compare=compare, make=make, logits=logits)

# SPDX-License-Identifier: Apache-2.0
"""LlamaForCausalLM of Hugging Face beside the trainer's Llama.

Its jobs, as jobs.py takes them:

    make FOLDER
        writes small random Llamas of every shape, and in every form in which people have them,
        under FOLDER
    compare SPEC FOLDER DUMP.safetensors SAVED
        does with the model of FOLDER what llama_dump did and gives relative differences (Euclidean
        norms; of many tensors the worst one and its name), whether the tokens of greedy generation
        are equal, and the difference between the logits of the model that llama_dump left in SAVED
        and those that it computed with it
"""
import json
import pathlib
import tomllib

import torch
from safetensors.torch import load_file, save_file
from torch.nn import functional as F
from transformers import LlamaConfig, LlamaForCausalLM

import flops
import jobs

SHAPES = {
    "grouped": {"num_key_value_heads": 2},
    "tied": {"num_key_value_heads": 1, "tie_word_embeddings": True},
    "wide-heads": {"num_key_value_heads": 4, "head_dim": 24},
    "linear": {
        "num_key_value_heads": 2,
        "rope_parameters": {"rope_type": "linear", "rope_theta": 500.0, "factor": 2.5},
    },
    "llama3": {
        "num_key_value_heads": 2,
        "rope_parameters": {
            "rope_type": "llama3", "rope_theta": 5000.0, "factor": 8.0, "low_freq_factor": 1.0,
            "high_freq_factor": 4.0, "original_max_position_embeddings": 16,
        },
    },
}


def relative(ours, theirs):
    assert ours.shape == theirs.shape, (ours.shape, theirs.shape)
    return ((ours - theirs).norm() / theirs.norm().clamp_min(1e-30)).item()


def worst(pairs):
    """Of (name, ours, theirs): the largest relative difference and whose it is."""
    difference, name = max((relative(ours, theirs), name) for name, ours, theirs in pairs)
    return {"difference": difference, "tensor": name}


def load(folder):
    model, info = LlamaForCausalLM.from_pretrained(
        folder, dtype=torch.float32, attn_implementation="sdpa", output_loading_info=True
    )
    assert not any(info.values()), info
    return model.eval()


def as_before_version_5(config):
    """The same config.json with rotary embeddings as earlier versions wrote them."""
    rope = config.pop("rope_parameters")
    config["rope_theta"] = rope.pop("rope_theta")
    config["rope_scaling"] = rope
    config["torch_dtype"] = config.pop("dtype")
    return config


def make_forms(folder, model):
    """One model in other forms. In the last one its output is there once more, as some save it."""
    model.save_pretrained(folder / "sharded", max_shard_size="40KB")
    assert (folder / "sharded" / "model.safetensors.index.json").exists()
    path = folder / "tied" / "model.safetensors"
    twice = load_file(path)
    twice["lm_head.weight"] = twice["model.embed_tokens.weight"].clone()
    save_file(twice, path, {"format": "pt"})
    path = folder / "llama3" / "config.json"
    path.write_text(json.dumps(as_before_version_5(json.loads(path.read_text()))))


def make(folder):
    folder = pathlib.Path(folder)
    torch.manual_seed(11)
    for name, shape in SHAPES.items():
        model = LlamaForCausalLM(
            LlamaConfig(
                vocab_size=96, hidden_size=64, intermediate_size=112, num_hidden_layers=2,
                num_attention_heads=4, max_position_embeddings=64, rms_norm_eps=1e-5,
                bos_token_id=None, eos_token_id=None, **shape,
            )
        )
        for parameter in model.parameters():
            torch.nn.init.normal_(parameter, mean=float(parameter.ndim == 1), std=0.1)
        model.save_pretrained(folder / name)
    make_forms(folder, model)
    model.to(torch.bfloat16).save_pretrained(folder / "bfloat16")
    return sorted(path.name for path in folder.iterdir())


def mean_loss(logits, targets):
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def make_optimizer(model, settings):
    matrices = [p for p in model.parameters() if p.ndim >= 2]
    vectors = [p for p in model.parameters() if p.ndim < 2]
    return torch.optim.AdamW(
        [
            {"params": matrices, "weight_decay": settings["weight_decay"]},
            {"params": vectors, "weight_decay": 0.0},
        ],
        lr=settings["lr"],
        betas=(settings["beta1"], settings["beta2"]),
        eps=settings["eps"],
        foreach=False,
    )


def train(model, batches, options):
    """The loss of every step, at a constant learning rate."""
    optimizer = make_optimizer(model, options["optimizer"])
    losses = []
    for ids, targets in batches:
        optimizer.zero_grad()
        loss = mean_loss(model(ids).logits, targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), options["optimizer"]["clip"])
        optimizer.step()
        losses.append(loss.item())
    return torch.tensor(losses)


def greedy(model, prompt, count):
    made = model.generate(
        prompt, attention_mask=torch.ones_like(prompt), do_sample=False, max_new_tokens=count
    )
    return made[0, prompt.shape[1]:]


def compare(spec, folder, dump_file, saved):
    options = tomllib.loads(pathlib.Path(spec).read_text())
    model, dump = load(folder), load_file(dump_file)
    ids, targets = dump["ids"], dump["targets"]
    with torch.no_grad():
        made = greedy(model, ids[0, :1, :5], len(dump["greedy"]))
    logits = model(ids[0]).logits
    loss = mean_loss(logits, targets[0])
    loss.backward()
    report = {
        "logits": relative(dump["logits"], logits.detach()),
        "loss": relative(dump["losses"][0], loss.detach()),
        "greedyEqual": torch.equal(dump["greedy"], made),
        "gradients": worst((n, dump["gradient." + n], p.grad) for n, p in model.named_parameters()),
        "tensors": sum(n.startswith("gradient.") for n in dump),
        "expectedTensors": len(list(model.parameters())),
        "flops": flops.difference(dump["flops"], flops.flops_of(lambda: model(ids[0]))),
    }
    losses = train(model, zip(ids, targets), options)
    report["losses"] = ((dump["losses"] - losses).abs() / losses).max().item()
    report["parameters"] = worst(
        (n, dump["after." + n], p.detach()) for n, p in model.named_parameters()
    )
    report["steps"] = len(losses)
    report["firstLoss"], report["lastLoss"] = losses[0].item(), losses[-1].item()
    with torch.no_grad():
        report["saved"] = relative(dump["logits after"], load(saved)(ids[0]).logits)
    return report


jobs.run(make=make, compare=compare)

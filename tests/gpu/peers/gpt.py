# SPDX-License-Identifier: Apache-2.0
"""Peer of T1: GPT-2 124M in plain PyTorch, bf16 autocast, fused AdamW, flash attention.

Vocabulary 50304, as everybody pads it; 64 sequences of 1024 synthetic tokens in GPU memory.
"""
import re

import torch
from torch import nn
from torch.nn import functional as F

import common

OURS = {"ln_1": "norm1", "attn.c_attn": "qkv", "attn.c_proj": "out", "ln_2": "norm2",
        "mlp.c_fc": "rise", "mlp.c_proj": "fall"}


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.rise, self.fall = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):  # (B, T, C)
        b, t, c = x.shape
        q, k, v = (
            part.view(b, t, self.heads, c // self.heads).transpose(1, 2)
            for part in self.qkv(self.norm1(x)).split(c, dim=2)
        )
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(b, t, c))
        return x + self.fall(F.gelu(self.rise(self.norm2(x)), approximate="tanh"))


class Gpt(nn.Module):
    def __init__(self, row):
        super().__init__()
        width = row["width"]
        self.tokens = nn.Embedding(row["vocabulary"], width)
        self.positions = nn.Embedding(row["context"], width)
        self.blocks = nn.ModuleList(Block(width, row["heads"]) for _ in range(row["layers"]))
        self.norm = nn.LayerNorm(width)
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=0.02)

    def forward(self, ids, targets):
        x = self.tokens(ids) + self.positions(torch.arange(ids.shape[1], device=ids.device))
        for block in self.blocks:
            x = block(x)
        logits = F.linear(self.norm(x), self.tokens.weight)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def renamed(weights):
    """The trainer's names are transformers'; its matrices are (in, out)."""
    whole = {"wte": "tokens", "wpe": "positions", "ln_f": "norm"}
    state = {}
    for name, value in weights.items():
        path, kind = name.removeprefix("transformer.").rsplit(".", 1)
        layer = re.fullmatch(r"h\.(\d+)\.(.+)", path)
        if layer:
            value = value.t() if value.dim() == 2 else value
            path = f"blocks.{layer[1]}.{OURS[layer[2]]}"
        state[f"{whole.get(path, path)}.{kind}"] = value
    return state


def make_training(description, row_name):
    chosen, row = common.options(description, row_name)
    model = Gpt(row)
    if weights := common.weights_of(chosen):
        model.load_state_dict(renamed(weights))
    model.to(chosen.device)
    forward = common.compiled(model, chosen.mode)
    return common.Training(chosen, row, model, lambda batch: forward(batch[0], batch[1]),
                           lambda batch: batch[1].numel())


if __name__ == "__main__":
    common.serve(make_training(__doc__, "T1"))

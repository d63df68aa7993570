# SPDX-License-Identifier: Apache-2.0
"""Peer of G1 and T4: a GPT as small training scripts have it, with the settings of the order."""
import torch
from torch import nn
from torch.nn import functional as F

import ddp_steps

TRANSPOSED = ("attn.c_attn.weight", "attn.c_proj.weight", "mlp.c_fc.weight", "mlp.c_proj.weight")


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn = nn.ModuleDict(
            {"c_attn": nn.Linear(width, 3 * width), "c_proj": nn.Linear(width, width)}
        )
        self.mlp = nn.ModuleDict(
            {"c_fc": nn.Linear(width, 4 * width), "c_proj": nn.Linear(4 * width, width)}
        )

    def attention(self, x):  # (B, T, C)
        b, t, c = x.shape
        query, key, value = (
            part.view(b, t, self.heads, c // self.heads).transpose(1, 2)
            for part in self.attn["c_attn"](x).split(c, 2)
        )
        mixed = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.attn["c_proj"](mixed.transpose(1, 2).reshape(b, t, c))

    def forward(self, x):
        x = x + self.attention(self.ln_1(x))
        hidden = F.gelu(self.mlp["c_fc"](self.ln_2(x)), approximate="tanh")
        return x + self.mlp["c_proj"](hidden)


class Gpt(nn.Module):
    def __init__(self, shape):
        super().__init__()
        width = shape["width"]
        self.wte = nn.Embedding(shape["vocabulary"], width)
        self.wpe = nn.Embedding(shape["context"], width)
        self.h = nn.ModuleList(Block(width, shape["heads"]) for _ in range(shape["layers"]))
        self.ln_f = nn.LayerNorm(width)

    def forward(self, ids, targets):  # both (B, T)
        x = self.wte(ids) + self.wpe(torch.arange(ids.shape[1]))
        for block in self.h:
            x = block(x)
        logits = F.linear(self.ln_f(x), self.wte.weight)
        return F.cross_entropy(logits.view(-1, logits.shape[-1]), targets.view(-1))


def load(model):
    weights = {}
    for name, value in ddp_steps.first_weights().items():
        if name.startswith("transformer."):
            name = name.removeprefix("transformer.")
            weights[name] = value.t() if name.endswith(TRANSPOSED) else value
    model.load_state_dict(weights)


model = Gpt(ddp_steps.ORDER["shape"])
load(model)
optimizer = ddp_steps.adamw(model, ddp_steps.ORDER["lr"], (0.9, 0.95), 1e-8, 0.1)
ddp_steps.train(model, ddp_steps.batches(), optimizer, clip=1.0)

# SPDX-License-Identifier: Apache-2.0
"""Peer of T1: GPT-2 124M in plain PyTorch, bf16 autocast, fused AdamW, flash attention.

Vocabulary 50304, as everybody pads it; 64 sequences of 1024 synthetic tokens in GPU memory.
"""
import torch
from torch import nn
from torch.nn import functional as F

from common import compiled, measure, options, report


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
    def __init__(self, layers, heads, width, context, vocabulary):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocabulary, width), nn.Embedding(context, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
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


def main():
    chosen = options(__doc__)
    torch.manual_seed(1)
    tiny = chosen.self_test
    batch, context, vocabulary = (2, 16, 64) if tiny else (64, 1024, 50304)
    layers, heads, width = (2, 2, 32) if tiny else (12, 12, 768)
    model = Gpt(layers, heads, width, context, vocabulary).to(chosen.device)
    groups = [
        {"params": [p for p in model.parameters() if p.dim() > 1], "weight_decay": 0.1},
        {"params": [p for p in model.parameters() if p.dim() == 1], "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups, lr=6e-4, betas=(0.9, 0.95), fused=True)
    loss_of = compiled(model, chosen.mode)
    ids = torch.randint(vocabulary, (batch, context + 1), device=chosen.device)

    def step(_):
        with torch.autocast(chosen.device, torch.bfloat16):
            loss = loss_of(ids[:, :-1], ids[:, 1:])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss

    laps, losses = measure(step, chosen)
    report("gpt", "tokens", batch * context * len(laps), laps, losses, chosen)


main()

# SPDX-License-Identifier: Apache-2.0
"""Peer of T3: torch.nn.Transformer (512 wide, 6 + 6 layers, label smoothing 0.1) on padded batches
of pairs of about one length. Synthetic lengths; targets are counted without padding.
"""
import math

import torch
from torch import nn
from torch.nn import functional as F

from common import compiled, measure, options, report

PAD, FIRST = 0, 3


class Translator(nn.Module):
    def __init__(self, vocabulary, width, heads, layers, longest):
        super().__init__()
        self.scale = math.sqrt(width)
        self.source, self.target = (
            nn.Embedding(vocabulary, width, padding_idx=PAD) for _ in range(2)
        )
        for embedding in (self.source, self.target):
            nn.init.normal_(embedding.weight, std=1 / self.scale)
        self.transformer = nn.Transformer(width, heads, layers, layers, 4 * width, 0.1,
                                          batch_first=True)
        rate = torch.exp(torch.arange(0, width, 2) * (-math.log(10000.0) / width))
        angle = torch.arange(longest)[:, None] * rate
        self.register_buffer("positions", torch.cat([angle.sin(), angle.cos()], 1))

    def embed(self, embedding, ids):
        return embedding(ids) * self.scale + self.positions[: ids.shape[1]]

    def forward(self, source, shifted, target):
        length = shifted.shape[1]
        future = torch.ones(length, length, dtype=torch.bool, device=source.device).triu(1)
        padding = source == PAD
        out = self.transformer(
            self.embed(self.source, source), self.embed(self.target, shifted), tgt_mask=future,
            src_key_padding_mask=padding, memory_key_padding_mask=padding, tgt_is_causal=True,
        )
        logits = F.linear(out, self.target.weight)
        return F.cross_entropy(logits.flatten(0, 1).float(), target.flatten(), ignore_index=PAD,
                               label_smoothing=0.1)


def make_batches(count, tokens, vocabulary, longest, device):
    """Batches of at most `tokens` padded targets, each of pairs that were neighbours by length."""
    lengths = (torch.randn(64 * count).mul(0.6).add(math.log(longest / 4)).exp().long()
               .clamp(2, longest).sort().values.tolist())
    batches, at = [], 0
    while at < len(lengths):
        size = 1
        while at + size < len(lengths) and (size + 1) * lengths[at + size] <= tokens:
            size += 1
        own = torch.tensor(lengths[at : at + size])
        real = torch.arange(int(own[-1]))[None] < own[:, None]
        ids = [torch.randint(FIRST, vocabulary, real.shape) * real for _ in range(2)]
        shifted = F.pad(ids[1], (1, -1), value=1)
        batches.append((int(own.sum()), [t.to(device) for t in (ids[0], shifted, ids[1])]))
        at += size
    return [batches[i] for i in torch.randperm(len(batches)).tolist()]


def main():
    chosen = options(__doc__)
    torch.manual_seed(1)
    tiny = chosen.self_test
    vocabulary, longest, tokens = (50, 12, 40) if tiny else (32000, 256, 16384)
    width, heads, layers = (16, 2, 1) if tiny else (512, 8, 6)
    model = Translator(vocabulary, width, heads, layers, longest).to(chosen.device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9,
                                 fused=True)
    loss_of = compiled(model, chosen.mode)
    batches = make_batches(4 if tiny else 400, tokens, vocabulary, longest, chosen.device)

    def step(number):
        with torch.autocast(chosen.device, torch.bfloat16):
            loss = loss_of(*batches[number % len(batches)][1])
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss

    laps, losses = measure(step, chosen)
    timed = range(chosen.warm, chosen.warm + len(laps))
    report("translation", "tokens", sum(batches[n % len(batches)][0] for n in timed), laps, losses,
           chosen)


main()

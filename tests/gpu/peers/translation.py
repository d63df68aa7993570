# SPDX-License-Identifier: Apache-2.0
"""Peer of T3: torch.nn.Transformer (512 wide, 6 + 6 layers, label smoothing 0.1) on padded batches
of pairs of about one length. Targets are counted without padding.
"""
import math

import torch
from torch import nn
from torch.nn import functional as F

import common
from batches import PAD

NORMS = {"self_attn_layer_norm": "norm1", "encoder_attn_layer_norm": "norm2"}


class Translator(nn.Module):
    def __init__(self, row):
        super().__init__()
        width, layers = row["width"], row["layers"]
        self.smoothing = row["smoothing"]
        self.scale = math.sqrt(width)
        self.source, self.target = (
            nn.Embedding(row["vocabulary"], width, padding_idx=PAD) for _ in range(2)
        )
        for embedding in (self.source, self.target):
            nn.init.normal_(embedding.weight, std=1 / self.scale)
        self.transformer = nn.Transformer(width, row["heads"], layers, layers, 4 * width, 0.0,
                                          batch_first=True)
        # Marian's layers end with norms; one more behind them all it has not.
        self.transformer.encoder.norm = self.transformer.decoder.norm = None
        rate = torch.exp(torch.arange(0, width, 2) * (-math.log(10000.0) / width))
        angle = torch.arange(row["longest"])[:, None] * rate
        positions = torch.cat([angle.sin(), angle.cos()], 1)
        self.register_buffer("positions", positions, persistent=False)

    def embed(self, embedding, ids):
        return embedding(ids) * self.scale + self.positions[: ids.shape[1]]

    def forward(self, source, seen, target):
        length = seen.shape[1]
        future = torch.ones(length, length, dtype=torch.bool, device=source.device).triu(1)
        padding = source == PAD
        out = self.transformer(
            self.embed(self.source, source), self.embed(self.target, seen), tgt_mask=future,
            src_key_padding_mask=padding, memory_key_padding_mask=padding, tgt_is_causal=True,
        )
        logits = F.linear(out, self.target.weight)
        return F.cross_entropy(logits.flatten(0, 1).float(), target.flatten(), ignore_index=PAD,
                               label_smoothing=self.smoothing)


def renamed(weights):
    """The trainer's names are Marian's; nn.Transformer has queries, keys and values in one."""
    state = {"source.weight": weights["model.encoder.embed_tokens.weight"],
             "target.weight": weights["model.decoder.embed_tokens.weight"]}
    for name, value in weights.items():
        if ".layers." not in name:
            continue
        side, _, index, *path, kind = name.removeprefix("model.").split(".")
        prefix = f"transformer.{side}.layers.{index}"
        last_norm = "norm2" if side == "encoder" else "norm3"
        plain = {"fc1": "linear1", "fc2": "linear2", "final_layer_norm": last_norm} | NORMS
        if len(path) == 1:
            state[f"{prefix}.{plain[path[0]]}.{kind}"] = value
            continue
        attention = f"{prefix}.{'self_attn' if path[0] == 'self_attn' else 'multihead_attn'}"
        if path[1] == "out_proj":
            state[f"{attention}.out_proj.{kind}"] = value
        elif path[1] == "q_proj":
            parts = [weights[name.replace("q_proj", part)] for part in ("q_proj", "k_proj", "v_proj")]
            state[f"{attention}.in_proj_{kind}"] = torch.cat(parts)
    return state


def padded_target(batch):
    """What follows each token seen, (B, T), from the targets without padding."""
    target = torch.full_like(batch[2], PAD)
    places = batch.get(4)
    target.view(-1)[slice(None) if places is None else places] = batch[3]
    return target


def main():
    chosen, row = common.options(__doc__, "T3")
    model = Translator(row)
    if weights := common.weights_of(chosen):
        model.load_state_dict(renamed(weights))
    model.to(chosen.device)
    forward = common.compiled(model, chosen.mode)
    training = common.Training(chosen, row, model,
                               lambda batch: forward(batch[0], batch[2], batch["target"]),
                               lambda batch: batch[3].numel())
    for batch in training.batches:
        batch["target"] = padded_target(batch)
    common.serve(training)


main()

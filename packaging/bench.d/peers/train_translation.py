# SPDX-License-Identifier: Apache-2.0
"""Peer of N1: nn.Transformer on the trainer's batches of like lengths, padded."""
import math

import torch
from torch import nn
from torch.nn import functional as F

import ddp_steps

PAD = -100


def sinusoids(positions, width):
    angles = torch.arange(positions).double()[:, None] / 10000 ** (
        torch.arange(0, width, 2).double() / width
    )
    return torch.cat([angles.sin(), angles.cos()], 1).float()


class Translator(nn.Module):
    def __init__(self, shape):
        super().__init__()
        width = shape["width"]
        layer = (width, shape["heads"], shape["feed_forward"], 0.0)
        encoder = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(*layer, batch_first=True), shape["layers"],
            enable_nested_tensor=False,
        )
        decoder = nn.TransformerDecoder(
            nn.TransformerDecoderLayer(*layer, batch_first=True), shape["layers"]
        )
        self.transformer = nn.Transformer(
            width, shape["heads"], custom_encoder=encoder, custom_decoder=decoder, batch_first=True
        )
        self.source = nn.Embedding(*shape["source"])
        self.target = nn.Embedding(*shape["target"])
        self.scale = math.sqrt(width)
        self.register_buffer("positions", sinusoids(shape["context"], width), persistent=False)

    def embed(self, table, ids):
        return table(ids) * self.scale + self.positions[: ids.shape[1]]

    def forward(self, source, padding, seen, labels):
        causal = nn.Transformer.generate_square_subsequent_mask(seen.shape[1])
        out = self.transformer(
            self.embed(self.source, source), self.embed(self.target, seen), tgt_mask=causal,
            src_key_padding_mask=padding, memory_key_padding_mask=padding, tgt_is_causal=True,
        )
        logits = F.linear(out, self.target.weight)
        return F.cross_entropy(
            logits.flatten(0, 1), labels.flatten(), ignore_index=PAD, label_smoothing=0.1
        )


NAMES = {  # in the checkpoint, which has transformers' names, and in nn.Transformer
    "encoder": {"self_attn": "self_attn", "self_attn_layer_norm": "norm1",
                "final_layer_norm": "norm2", "fc1": "linear1", "fc2": "linear2"},
    "decoder": {"self_attn": "self_attn", "self_attn_layer_norm": "norm1",
                "encoder_attn": "multihead_attn", "encoder_attn_layer_norm": "norm2",
                "final_layer_norm": "norm3", "fc1": "linear1", "fc2": "linear2"},
}


def renamed(weights, side, index):
    """One layer's weights."""
    ours, theirs = f"model.{side}.layers.{index}", f"transformer.{side}.layers.{index}"
    made = {}
    for name, other in NAMES[side].items():
        for kind in ("weight", "bias"):
            if not name.endswith("attn"):
                made[f"{theirs}.{other}.{kind}"] = weights[f"{ours}.{name}.{kind}"]
                continue
            parts = [weights[f"{ours}.{name}.{p}_proj.{kind}"] for p in "qkv"]
            made[f"{theirs}.{other}.in_proj_{kind}"] = torch.cat(parts)
            made[f"{theirs}.{other}.out_proj.{kind}"] = weights[f"{ours}.{name}.out_proj.{kind}"]
    return made


def load(shape):
    weights = ddp_steps.first_weights()
    tables = {side: weights[f"model.{coder}.embed_tokens.weight"]
              for side, coder in (("source", "encoder"), ("target", "decoder"))}
    model = Translator({**shape, **{side: table.shape for side, table in tables.items()}})
    state = {f"{side}.weight": table for side, table in tables.items()}
    for side in NAMES:
        for index in range(shape["layers"]):
            state.update(renamed(weights, side, index))
    model.load_state_dict(state)
    return model


def padded(source, mask, seen, targets, places):
    """What the trainer's batch says, as rectangles."""
    labels = torch.full((seen.numel(),), PAD)
    labels[places if places.numel() else slice(None)] = targets
    padding = ~mask[:, 0, 0] if mask.numel() else torch.zeros_like(source, dtype=torch.bool)
    return source, padding, seen, labels.view_as(seen)


model = load(ddp_steps.ORDER["shape"])
optimizer = ddp_steps.adamw(model, ddp_steps.ORDER["lr"], (0.9, 0.98), 1e-9, 0.0)
batches = [padded(*batch) for batch in ddp_steps.batches()]
ddp_steps.train(model, batches, optimizer, clip=1.0, dynamic=True)

# SPDX-License-Identifier: Apache-2.0
"""Peer of G2: LlamaForCausalLM of transformers, with the settings of the order."""
import torch
from torch import nn
from transformers import LlamaConfig, LlamaForCausalLM

import ddp_steps


class Llama(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.model = LlamaForCausalLM(LlamaConfig(
            vocab_size=shape["vocabulary"], hidden_size=shape["width"],
            intermediate_size=shape["feed_forward"], num_hidden_layers=shape["layers"],
            num_attention_heads=shape["heads"], num_key_value_heads=shape["kv_heads"],
            max_position_embeddings=shape["context"], rms_norm_eps=1e-5, use_cache=False,
            tie_word_embeddings=False, attn_implementation="sdpa",
        ))

    def forward(self, ids, targets):  # both (B, T)
        logits = self.model(input_ids=ids).logits
        return nn.functional.cross_entropy(logits.view(-1, logits.shape[-1]), targets.view(-1))


model = Llama(ddp_steps.ORDER["shape"])
model.model.load_state_dict(ddp_steps.first_weights())
optimizer = ddp_steps.adamw(model, ddp_steps.ORDER["lr"], (0.9, 0.95), 1e-8, 0.1)
ddp_steps.train(model, ddp_steps.batches(), optimizer, clip=1.0)

# SPDX-License-Identifier: Apache-2.0
"""Peer of R1: torchvision's resnet18, channels last, on the views that the trainer cut."""
import torch
import torchvision
from torch import nn
from torch.nn import functional as F

import ddp_steps

MEAN, DEVIATION = (torch.tensor(values).view(1, 3, 1, 1)
                   for values in ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)))


class Classifier(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.net = torchvision.models.resnet18(num_classes=classes)
        self.net.load_state_dict(ddp_steps.first_weights())
        self.net.to(memory_format=torch.channels_last)
        self.register_buffer("mean", MEAN, persistent=False)
        self.register_buffer("deviation", DEVIATION, persistent=False)

    def forward(self, pictures, labels):  # uint8 (B, 3, H, W), int64 (B)
        x = (pictures.float() / 255 - self.mean) / self.deviation
        return F.cross_entropy(self.net(x), labels)


model = Classifier(ddp_steps.ORDER["classes"])
matrices, others = ddp_steps.decaying(model)
optimizer = torch.optim.SGD(
    [{"params": matrices, "weight_decay": 5e-4}, {"params": others, "weight_decay": 0.0}],
    lr=ddp_steps.ORDER["lr"], momentum=0.9, fused=True,
)
batches = [(pictures.contiguous(memory_format=torch.channels_last), labels)
           for pictures, labels in ddp_steps.batches()]
ddp_steps.train(model, batches, optimizer)

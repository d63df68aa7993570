# SPDX-License-Identifier: Apache-2.0
"""Peer of T2: ResNet-50 (v1.5) in plain PyTorch, channels-last, bf16 autocast, SGD with momentum.

256 synthetic pictures of 224 x 224 in GPU memory. torchvision's where it is installed, else the one
below, whose layers are the same.
"""
import torch
from torch import nn
from torch.nn import functional as F

from common import compiled, measure, options, report


def convolution(inputs, outputs, size, stride=1):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, size, stride, size // 2, bias=False), nn.BatchNorm2d(outputs)
    )


class Bottleneck(nn.Module):
    def __init__(self, inputs, width, stride):
        super().__init__()
        outputs = 4 * width
        self.first = convolution(inputs, width, 1)
        self.second = convolution(width, width, 3, stride)
        self.third = convolution(width, outputs, 1)
        changes = stride != 1 or inputs != outputs
        self.shortcut = convolution(inputs, outputs, 1, stride) if changes else nn.Identity()

    def forward(self, x):
        out = F.relu(self.second(F.relu(self.first(x))))
        return F.relu(self.third(out) + self.shortcut(x))


def own_resnet(blocks, classes):
    layers = [convolution(3, 64, 7, 2), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    inputs = 64
    for stage, count in enumerate(blocks):
        width = 64 << stage
        for index in range(count):
            layers.append(Bottleneck(inputs, width, 2 if stage and index == 0 else 1))
            inputs = 4 * width
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, classes)]
    return nn.Sequential(*layers)


def make_model(tiny):
    if tiny:
        return own_resnet((1, 1), 10)
    try:
        from torchvision.models import resnet50
    except ImportError:
        return own_resnet((3, 4, 6, 3), 1000)
    return resnet50()


def main():
    chosen = options(__doc__)
    torch.manual_seed(1)
    batch, size, classes = (2, 32, 10) if chosen.self_test else (256, 224, 1000)
    model = make_model(chosen.self_test).to(chosen.device, memory_format=torch.channels_last)
    torch.backends.cudnn.benchmark = True
    groups = [
        {"params": [p for p in model.parameters() if p.dim() > 1], "weight_decay": 1e-4},
        {"params": [p for p in model.parameters() if p.dim() == 1], "weight_decay": 0.0},
    ]
    optimizer = torch.optim.SGD(groups, lr=0.1, momentum=0.9, fused=True)
    logits_of = compiled(model, chosen.mode)
    pictures = torch.randn(batch, 3, size, size, device=chosen.device)
    pictures = pictures.contiguous(memory_format=torch.channels_last)
    targets = torch.randint(classes, (batch,), device=chosen.device)

    def step(_):
        with torch.autocast(chosen.device, torch.bfloat16):
            loss = F.cross_entropy(logits_of(pictures), targets)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss

    laps, losses = measure(step, chosen)
    report("resnet50", "images", batch * len(laps), laps, losses, chosen)


main()

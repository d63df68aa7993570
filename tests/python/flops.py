# SPDX-License-Identifier: Apache-2.0
"""What PyTorch counts of a forward pass."""
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode


@torch.no_grad()
def flops_of(forward):
    """With attention as the two products that it is."""
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        forward()
    return counter.get_total_flops()


def difference(ours, theirs):
    """Relative, of a dump's tensor and what flops_of() gave."""
    return abs(ours.item() / theirs - 1)

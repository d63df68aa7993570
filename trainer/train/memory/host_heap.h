// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace rm {

/// Makes malloc keep what is freed, blocks of any size. Every step asks for the same large tensors
/// again; otherwise the kernel takes their pages back and clears them anew each time (4 % of a
/// GPT's step on a CPU). Call once, before tensors are made.
void keepFreedMemory();

} // namespace rm

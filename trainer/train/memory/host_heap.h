// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace rm {

/// Makes malloc keep what is freed, blocks of any size. Every step asks for the same large tensors
/// again; otherwise the kernel takes their pages back and clears them anew each time (4 % of a
/// GPT's step on a CPU). Call once, before tensors are made.
void keepFreedMemory();

/// Lets this process allocate no more than so many bytes from now on: allocations fail then, where
/// otherwise the kernel would end a process, and first of all this one, not a neighbour's.
void limitMemory(int64_t bytes);

} // namespace rm

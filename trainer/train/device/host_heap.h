// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace rm {

/// Makes malloc keep what is freed, blocks of any size. Every step asks for the same large tensors
/// again; otherwise the kernel takes their pages back and clears them anew each time (4 % of a
/// GPT's step on a CPU). Tensors come from useTensorHeap() then, so that what is kept is used
/// again. Call once, before tensors are made.
void keepFreedMemory();

/// Lets all threads allocate from one heap. With more, what one thread freed (the one that copied
/// for a checkpoint, say) lies there while another asks for new memory.
void keepOneHeap();

/// Lets go of what was kept, once.
void giveFreedMemoryBack();

/// Makes oneDNN, and ATen's way to it, keep fewer of the programs that they made, one for each
/// shape of an operation: of sentences of all lengths there are so many shapes that what they keep
/// by default grew to ten times a small model's tensors, and few were used again. What the
/// environment says wins. Call before the first operation.
void keepFewPrograms();

/// Lets this process allocate no more than so many bytes from now on: allocations fail then, where
/// otherwise the kernel would end a process, and first of all this one, not a neighbour's.
void limitMemory(int64_t bytes);

} // namespace rm

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace rm {

/// Makes malloc keep freed blocks of any size. Every step allocates the same large tensors again;
/// without this the kernel would take their pages back and clear them each time (4 % of a GPT's
/// step on a CPU). It also calls useTensorHeap(), so that kept blocks are reused. Call once, before
/// tensors are made.
void keepFreedMemory();

/// Makes all threads allocate from one heap. Otherwise memory freed by one thread (such as the one
/// that copies for a checkpoint) stays in its heap while another thread asks for more.
void keepOneHeap();

/// Returns the kept memory to the kernel, once.
void giveFreedMemoryBack();

/// Limits the primitive caches of oneDNN and of ATen's interface to it, which have an entry for
/// each shape of an operation. Sentences of all lengths have so many shapes that by default these
/// caches grew to ten times a small model's tensors, and few entries were reused. Environment
/// variables take precedence. Call before the first operation.
void keepFewPrograms();

/// Limits what this process can allocate from now on, so that an allocation fails instead of the
/// kernel killing a process; and makes this process the first that the kernel would kill.
void limitMemory(int64_t bytes);

} // namespace rm

// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace rm {

/// Lets ATen's tensors on the CPU come from malloc(), aligned as before. By default they come from
/// posix_memalign(), and glibc before 2.38 asks its heap for more than it then keeps: a freed block
/// is too small for the next tensor of its size, and the heap grew by a tenth (GPT) to a fifth
/// (ResNet-18, translation) of a small model's process. Call before the first tensor.
void useTensorHeap();

} // namespace rm

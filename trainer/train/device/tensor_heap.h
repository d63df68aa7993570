// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace rm {

/// Makes ATen allocate CPU tensors with malloc(), with the same alignment. By default it uses
/// posix_memalign(), for which glibc before 2.38 takes more from the heap than the block keeps. A
/// freed block is then too small for the next tensor of its size; the heap grew by a tenth (GPT) to
/// a fifth (ResNet-18, translation) of a small model's process. Call before the first tensor.
void useTensorHeap();

} // namespace rm

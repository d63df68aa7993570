// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/CPUAllocator.h>

namespace rm {

/// As long as it lives, ATen's tensors on the CPU get addresses, and memory only where they are
/// written to: however large they are, and whatever memory there is. What is written then reads as
/// 0 before. No other thread may make tensors meanwhile; those that are made may outlive it.
class AddressMemory {
public:
    AddressMemory();
    ~AddressMemory();
    AddressMemory(const AddressMemory&) = delete;
    AddressMemory& operator=(const AddressMemory&) = delete;

private:
    c10::Allocator* m_before;
};

} // namespace rm

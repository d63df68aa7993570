// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/CPUAllocator.h>

namespace rm {

/// While it lives, ATen's tensors on the CPU get address space only; pages are allocated, as zeros,
/// when they are first written. So tensors may be larger than the machine's memory. No other thread
/// may make tensors meanwhile; tensors made here may outlive it.
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

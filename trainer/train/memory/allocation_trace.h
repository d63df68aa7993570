// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace rm {

/// The allocations (+) and releases (-) of ATen on one kind of device, in order, in bytes as its
/// allocator counts them.
using MemoryTrace = std::vector<int64_t>;

/// Traces ATen's allocators with the hook of torch's profiler, on CPU and GPU: what its own thread
/// allocates, and autograd's threads on its behalf, while it lives. Memory of libraries (oneDNN,
/// cuBLAS, the driver) is not included. Only one at a time.
class AllocationTrace {
public:
    explicit AllocationTrace(at::DeviceType device);
    ~AllocationTrace();
    AllocationTrace(const AllocationTrace&) = delete;
    AllocationTrace& operator=(const AllocationTrace&) = delete;

    /// Bytes that are allocated and were not when the trace began.
    int64_t level() const;
    /// The allocations since the last take().
    MemoryTrace take();

private:
    struct Recorder;
    struct Scope;
    std::shared_ptr<Recorder> m_recorder;
    std::unique_ptr<Scope> m_scope;
};

} // namespace rm

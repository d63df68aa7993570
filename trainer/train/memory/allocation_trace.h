// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace rm {

/// What ATen allocates (+) and frees (-) on one kind of device, in order, in bytes as its allocator
/// counts them.
using MemoryTrace = std::vector<int64_t>;

/// Follows ATen's allocators by the hook that torch's profiler uses, on the CPU and on a GPU alike:
/// all that the thread that made it does, and autograd's threads on its behalf, as long as it
/// lives. Libraries' own memory (oneDNN's, cuBLAS', the driver's) does not pass there. One at a
/// time.
class AllocationTrace {
public:
    explicit AllocationTrace(at::DeviceType device);
    ~AllocationTrace();
    AllocationTrace(const AllocationTrace&) = delete;
    AllocationTrace& operator=(const AllocationTrace&) = delete;

    /// Bytes that are allocated now and were not when it was made.
    int64_t level() const;
    /// What happened since the last take().
    MemoryTrace take();

private:
    struct Recorder;
    struct Scope;
    std::shared_ptr<Recorder> m_recorder;
    std::unique_ptr<Scope> m_scope;
};

} // namespace rm

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAStream.h>

#include <vector>

namespace rm {

/// Copies batches from pinned memory to the device, on a stream of its own, while the device
/// computes.
class BatchCopies {
public:
    explicit BatchCopies(at::Device device);

    /// Returns the copies. Later work on the current stream waits for them; the host does not.
    std::vector<at::Tensor> start(const std::vector<at::Tensor>& host);

private:
    at::Device m_device;
    c10::cuda::CUDAStream m_stream;
    at::cuda::CUDAEvent m_copied;
};

} // namespace rm

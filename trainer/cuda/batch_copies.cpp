// SPDX-License-Identifier: Apache-2.0
#include "trainer/cuda/batch_copies.h"

#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>

namespace rm {
namespace {

/// Converts pictures (N, C, H, W) to channels-last, which tensor cores need, if the host has not
/// done so. Runs on the device.
at::Tensor laidOut(const at::Tensor& tensor) {
    return tensor.dim() == 4 ? tensor.contiguous(at::MemoryFormat::ChannelsLast) : tensor;
}

} // namespace

BatchCopies::BatchCopies(at::Device device)
    : m_device(device)
    , m_stream(c10::cuda::getStreamFromPool(/*isHighPriority=*/false, device.index())) {}

std::vector<at::Tensor> BatchCopies::start(const std::vector<at::Tensor>& host) {
    std::vector<at::Tensor> here;
    {
        const c10::cuda::CUDAStreamGuard guard(m_stream);
        for (const at::Tensor& tensor : host) {
            const at::Tensor pinned = tensor.is_pinned() ? tensor : tensor.pin_memory();
            here.push_back(laidOut(pinned.to(m_device, /*non_blocking=*/true)));
        }
        m_copied.record(m_stream);
    }
    const c10::cuda::CUDAStream user = c10::cuda::getCurrentCUDAStream();
    m_copied.block(user);
    for (const at::Tensor& tensor : here) // or its memory may be reused while `user` reads
        c10::cuda::CUDACachingAllocator::recordStream(tensor.storage().data_ptr(), user);
    return here;
}

} // namespace rm

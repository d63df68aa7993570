// SPDX-License-Identifier: Apache-2.0
#include "trainer/cuda/batch_copies.h"

#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>

namespace rm {
namespace {

/// Pictures, (N, C, H, W), come with their channels last, as tensor cores want them; the conversion
/// runs on the device where the host has not done it.
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
    for (const at::Tensor& tensor : here) // else its memory is used again while `user` still reads
        c10::cuda::CUDACachingAllocator::recordStream(tensor.storage().data_ptr(), user);
    return here;
}

} // namespace rm

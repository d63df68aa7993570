// SPDX-License-Identifier: Apache-2.0
#include "trainer/cuda/step_graph.h"

#include <ATen/cuda/CUDAEvent.h>
#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>

namespace rm {
namespace {

/// cuBLAS, cuDNN and the allocator have settled after that many.
constexpr int kWarmUps = 3;

/// The first line: torch appends where in its source it threw.
std::string firstLine(const std::exception& error) {
    const std::string text = error.what();
    return text.substr(0, text.find('\n'));
}

/// What follows on `later` waits for what is queued on `earlier`.
void waitFor(c10::cuda::CUDAStream earlier, c10::cuda::CUDAStream later) {
    at::cuda::CUDAEvent event;
    event.record(earlier);
    event.block(later);
}

} // namespace

CudaStepGraph::CudaStepGraph(std::function<void()> step)
    : m_step(std::move(step))
    , m_stream(c10::cuda::getStreamFromPool()) {}

bool CudaStepGraph::run() {
    if (!m_obstacle.empty()) {
        m_step();
        return false;
    }
    if (m_warmUps < kWarmUps) {
        ++m_warmUps;
        runOnSideStream(m_step);
        return false;
    }
    if (!m_graph)
        capture();
    if (!m_graph) {
        m_step();
        return false;
    }
    runOnSideStream([this] { m_graph->replay(); });
    return true;
}

void CudaStepGraph::runOnSideStream(const std::function<void()>& work) {
    const c10::cuda::CUDAStream outside = c10::cuda::getCurrentCUDAStream();
    waitFor(outside, m_stream);
    {
        const c10::cuda::CUDAStreamGuard guard(m_stream);
        work();
    }
    waitFor(m_stream, outside);
}

void CudaStepGraph::capture() {
    const at::Generator& generator = at::cuda::detail::getDefaultCUDAGenerator();
    const at::Generator before = generator.clone();
    const auto pool = at::cuda::graph_pool_handle();
    auto graph = std::make_unique<at::cuda::CUDAGraph>();
    // The recording gets memory of its own, as much as a step takes, and while it is made the
    // allocator gives nothing back of what the steps before left with it.
    c10::cuda::CUDACachingAllocator::emptyCache();
    waitFor(c10::cuda::getCurrentCUDAStream(), m_stream);
    const c10::cuda::CUDAStreamGuard guard(m_stream);
    try {
        graph->register_generator_state(generator);
        // Other threads read ahead and watch collectives meanwhile: they are none of its business.
        graph->capture_begin(pool, cudaStreamCaptureModeThreadLocal);
        m_step();
        graph->capture_end();
        m_graph = std::move(graph);
    } catch (const std::exception& error) {
        m_obstacle = "record the training step as a CUDA graph: " + firstLine(error);
        try {
            graph->capture_end();
        } catch (const std::exception&) { // it says again that the capture is broken
        }
        graph.reset();
        abandon(pool, before);
    }
}

/// torch leaves allocator and generator in the state of capturing when a capture breaks.
void CudaStepGraph::abandon(at::cuda::MempoolId_t pool, at::Generator before) {
    (void)cudaGetLastError(); // else the next CUDA call of torch would report this one
    const c10::DeviceIndex device = c10::cuda::current_device();
    try {
        c10::cuda::CUDACachingAllocator::endAllocateToPool(device, pool);
    } catch (const c10::Error&) { // capture_end() came that far
    }
    try {
        c10::cuda::CUDACachingAllocator::releasePool(device, pool);
    } catch (const c10::Error&) { // the capture had not even begun
    }
    at::Generator generator = at::cuda::detail::getDefaultCUDAGenerator();
    const std::scoped_lock lock(generator.mutex());
    generator.graphsafe_set_state(before);
}

} // namespace rm

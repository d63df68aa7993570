// SPDX-License-Identifier: Apache-2.0
#include "trainer/cuda/step_graph.h"

#include <ATen/core/CachingHostAllocator.h>
#include <ATen/cuda/CUDAEvent.h>
#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <ATen/ops/zeros.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>

namespace rm {
namespace {

/// The first line only: torch appends the place in its source.
std::string firstLine(const std::exception& error) {
    const std::string text = error.what();
    return text.substr(0, text.find('\n'));
}

/// Makes further work on `later` wait for what is queued on `earlier`.
void waitFor(c10::cuda::CUDAStream earlier, c10::cuda::CUDAStream later) {
    at::cuda::CUDAEvent event;
    event.record(earlier);
    event.block(later);
}

/// Runs a clean-up step that may have been done already.
template <class Step>
void attempt(const Step& step) {
    try {
        step();
    } catch (const std::exception&) { // done before
    }
}

} // namespace

void CudaGraph::capture(at::cuda::MempoolId_t pool, const std::function<void()>& step) {
    try {
        register_generator_state(at::cuda::detail::getDefaultCUDAGenerator());
        // Thread-local: other threads read ahead and watch collectives meanwhile.
        capture_begin(pool, cudaStreamCaptureModeThreadLocal);
        step();
        capture_end();
    } catch (const std::exception&) {
        abandon(pool);
        throw;
    }
}

/// When a capture fails, torch leaves both allocators and the generators in capturing mode. Pools
/// are reference-counted, so each is released only if this capture was using it.
void CudaGraph::abandon(at::cuda::MempoolId_t pool) {
    if (!capture_ended_)
        attempt([&] { capture_end(); }); // throws again: the capture failed
    (void)cudaGetLastError();            // or torch's next CUDA call would report it
    if (!capture_ended_) {               // else the destructor releases the pool
        const c10::DeviceIndex device = c10::cuda::current_device();
        attempt([&] {
            c10::cuda::CUDACachingAllocator::endAllocateToPool(device, pool);
            c10::cuda::CUDACachingAllocator::releasePool(device, pool);
        });
        attempt([&] {
            at::getHostAllocator(at::kCUDA)->end_allocate_to_pool(pool);
            at::getHostAllocator(at::kCUDA)->release_pool(pool);
        });
    }
    // Earlier graphs share this state, so the generator must keep it.
    for (auto& captured : captured_generator_states_)
        captured.first->capturing_ = false;
}

CudaGraphHome::CudaGraphHome()
    : m_stream(c10::cuda::getStreamFromPool())
    , m_pool(at::cuda::graph_pool_handle()) {}

void CudaGraphHome::run(const std::function<void()>& work) {
    const c10::cuda::CUDAStream outside = c10::cuda::getCurrentCUDAStream();
    waitFor(outside, m_stream);
    {
        const c10::cuda::CUDAStreamGuard guard(m_stream);
        work();
    }
    waitFor(m_stream, outside);
    ++m_runs;
}

std::unique_ptr<CudaGraph> CudaGraphHome::capture(const std::function<void()>& step) {
    // Frees what earlier steps left cached, as the allocator cannot free it during a capture.
    c10::cuda::CUDACachingAllocator::emptyCache();
    waitFor(c10::cuda::getCurrentCUDAStream(), m_stream);
    const c10::cuda::CUDAStreamGuard guard(m_stream);
    if (!m_keeper) {
        auto keeper = std::make_unique<CudaGraph>();
        keeper->capture(m_pool, [] { at::zeros({1}, at::TensorOptions(at::kCUDA)); });
        m_keeper = std::move(keeper);
    }
    auto graph = std::make_unique<CudaGraph>();
    graph->capture(m_pool, step);
    return graph;
}

CudaStepGraph::CudaStepGraph(std::shared_ptr<CudaGraphHome> home, std::function<void()> step)
    : m_home(std::move(home))
    , m_step(std::move(step)) {}

bool CudaStepGraph::run() {
    if (!m_graph && m_obstacle.empty()) {
        if (!m_ran || !m_home->isWarm()) {
            m_home->run(m_step);
            m_ran = true;
            return false;
        }
        capture();
    }
    if (!m_graph) {
        m_step();
        return false;
    }
    m_home->run([this] { m_graph->replay(); });
    return true;
}

void CudaStepGraph::capture() {
    try {
        m_graph = m_home->capture(m_step);
    } catch (const std::exception& error) {
        m_obstacle = "record the training step as a CUDA graph: " + firstLine(error);
    }
}

std::unique_ptr<StepGraph> CudaStepGraphs::make(std::function<void()> step) {
    return std::make_unique<CudaStepGraph>(m_home, std::move(step));
}

} // namespace rm

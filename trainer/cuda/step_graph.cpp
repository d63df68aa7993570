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

/// Does what may turn out to be done already.
template <class Step>
void attempt(const Step& step) {
    try {
        step();
    } catch (const std::exception&) { // it was
    }
}

} // namespace

void CudaGraph::capture(at::cuda::MempoolId_t pool, const std::function<void()>& step) {
    try {
        register_generator_state(at::cuda::detail::getDefaultCUDAGenerator());
        // Other threads read ahead and watch collectives meanwhile: they are none of its business.
        capture_begin(pool, cudaStreamCaptureModeThreadLocal);
        step();
        capture_end();
    } catch (const std::exception&) {
        abandon(pool);
        throw;
    }
}

/// torch leaves both allocators and the generators in the state of capturing when a capture breaks.
/// Pools are counted by those who use them: each is released if it was being used, and only then.
void CudaGraph::abandon(at::cuda::MempoolId_t pool) {
    if (!capture_ended_)
        attempt([&] { capture_end(); }); // it says again that the capture is broken
    (void)cudaGetLastError();            // else the next CUDA call of torch would report this one
    if (!capture_ended_) {               // else the destructor releases
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
    // The graphs recorded before share this state, so it must stay the generator's.
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
    // While it is made the allocator gives nothing back of what the steps before left with it.
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

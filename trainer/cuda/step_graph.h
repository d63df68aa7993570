// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/device/plugin.h"

#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAStream.h>

namespace rm {

/// at::cuda::CUDAGraph with what it does not have: a way out of a capture that broke.
class CudaGraph final : public at::cuda::CUDAGraph {
public:
    /// Captures what `step` queues on the current stream, which must be a side stream, into `pool`.
    /// An error leaves allocators and generators as they were before.
    void capture(at::cuda::MempoolId_t pool, const std::function<void()>& step);

private:
    void abandon(at::cuda::MempoolId_t pool);
};

/// What the graphs of a set have in common. One stream: torch's allocator gives memory back to the
/// stream only that had it. One private memory pool, which serves the next capture with all that
/// the captures before do not hold any more: as much as the largest step takes, not the sum of all.
/// torch shares a pool among graphs that never run at the same time, as long as nobody reads what
/// one of them left after another ran; it dies with its last graph, so a small one keeps it.
class CudaGraphHome {
public:
    CudaGraphHome();

    /// Runs `work` on the side stream, in the order of the current one.
    void run(const std::function<void()>& work);

    std::unique_ptr<CudaGraph> capture(const std::function<void()>& step);

    /// cuBLAS, cuDNN and the allocator have settled.
    bool isWarm() const { return m_runs >= kWarmUps; }

private:
    static constexpr int kWarmUps = 3;

    c10::cuda::CUDAStream m_stream;
    at::cuda::MempoolId_t m_pool;
    std::unique_ptr<CudaGraph> m_keeper; ///< of the pool
    int m_runs = 0;
};

/// StepGraph by a CUDA graph. Its first run is as it is written, on the side stream, so that
/// libraries load and choose what they need for its sizes; the next one is captured, once three
/// runs of any graph of the set have set the libraries up, and from then on the graph is launched.
class CudaStepGraph final : public StepGraph {
public:
    CudaStepGraph(std::shared_ptr<CudaGraphHome> home, std::function<void()> step);

    bool run() override;
    std::string obstacle() const override { return m_obstacle; }

private:
    void capture();

    std::shared_ptr<CudaGraphHome> m_home;
    std::function<void()> m_step;
    bool m_ran = false;
    std::unique_ptr<CudaGraph> m_graph;
    std::string m_obstacle;
};

class CudaStepGraphs final : public StepGraphs {
public:
    std::unique_ptr<StepGraph> make(std::function<void()> step) override;

private:
    std::shared_ptr<CudaGraphHome> m_home = std::make_shared<CudaGraphHome>();
};

} // namespace rm

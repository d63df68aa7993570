// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/device/plugin.h"

#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAStream.h>

namespace rm {

/// at::cuda::CUDAGraph that can also recover from a failed capture.
class CudaGraph final : public at::cuda::CUDAGraph {
public:
    /// Captures what `step` queues on the current stream, which must be a side stream, into `pool`.
    /// An error leaves allocators and generators as they were before.
    void capture(at::cuda::MempoolId_t pool, const std::function<void()>& step);

private:
    void abandon(at::cuda::MempoolId_t pool);
};

/// The stream and the memory pool that the graphs of a set share. One stream, since torch's
/// allocator reuses memory only on the stream that it was allocated on. One private memory pool,
/// where a capture reuses everything that earlier captures have freed, so that it grows to the need
/// of the largest step and not to the sum. torch allows that for graphs that never run at the same
/// time, as long as the outputs of one are not read after another ran. The pool is freed with its
/// last graph, so a small one keeps it alive.
class CudaGraphHome {
public:
    CudaGraphHome();

    /// Runs `work` on the side stream, ordered with the current stream.
    void run(const std::function<void()>& work);

    std::unique_ptr<CudaGraph> capture(const std::function<void()>& step);

    /// Enough runs for cuBLAS, cuDNN and the allocator to be set up.
    bool isWarm() const { return m_runs >= kWarmUps; }

private:
    static constexpr int kWarmUps = 3;

    c10::cuda::CUDAStream m_stream;
    at::cuda::MempoolId_t m_pool;
    std::unique_ptr<CudaGraph> m_keeper; ///< keeps the pool
    int m_runs = 0;
};

/// StepGraph by a CUDA graph. The first run executes the step eagerly on the side stream, so that
/// libraries load and choose algorithms for its sizes. The next one is captured, once the graphs of
/// the set have had three runs in all. From then on the graph is launched.
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

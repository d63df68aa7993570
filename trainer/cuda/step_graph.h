// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/device/plugin.h"

#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAStream.h>

namespace rm {

/// StepGraph by a CUDA graph: the first steps run as they are, on a side stream, so that libraries
/// set themselves up and choose their algorithms; the next one is captured into a private memory
/// pool, with the default generator registered, and from then on the graph is launched.
class CudaStepGraph final : public StepGraph {
public:
    explicit CudaStepGraph(std::function<void()> step);

    bool run() override;
    std::string obstacle() const override { return m_obstacle; }

private:
    void runOnSideStream(const std::function<void()>& work);
    void capture();
    void abandon(at::cuda::MempoolId_t pool, at::Generator before);

    std::function<void()> m_step;
    c10::cuda::CUDAStream m_stream;
    int m_warmUps = 0;
    std::unique_ptr<at::cuda::CUDAGraph> m_graph;
    std::string m_obstacle;
};

} // namespace rm

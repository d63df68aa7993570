// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/dist/torch_versions.h"

#include <torch/csrc/distributed/c10d/Backend.hpp>

#include <utility>

namespace rm::test {

class DoneNow final : public c10d::Work {
public:
    bool isCompleted() override { return true; }
    bool wait(std::chrono::milliseconds) override { return true; }
};

/// Gloo's sums, damaged on the way back if wanted.
class OwnSums final : public BackendBefore {
public:
    OwnSums(c10::intrusive_ptr<c10d::Backend> gloo, bool areWrong)
        : BackendBefore(std::move(gloo))
        , m_areWrong(areWrong) {}
    const std::string getBackendName() const override { return "own"; }
    c10::intrusive_ptr<c10d::Work> allreduce(std::vector<at::Tensor>& tensors,
                                             const c10d::AllreduceOptions& options) override {
        m_backend->allreduce(tensors, options)->wait();
        if (m_areWrong)
            tensors.front().add_(1);
        return c10::make_intrusive<DoneNow>();
    }

private:
    const bool m_areWrong;
};

} // namespace rm::test

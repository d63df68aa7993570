// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/reducer.hpp>
#include <torch/version.h>

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#define RM_TORCH_AT_LEAST(major, minor)                                                            \
    (TORCH_VERSION_MAJOR * 100 + TORCH_VERSION_MINOR >= (major)*100 + (minor))

namespace rm {

// The trainer is built with the torch of each runtime (packaging/requirements/runtime-*.txt): 2.11
// and 2.7. Their differences are here, and no other source asks for the version. Which parts of the
// plugin are built for each version (no graphs of steps for 2.7) is decided in the CMakeLists.txt
// of trainer/cuda.

/// Makes DDP's Reducer for dense gradients, all of them used, with these buckets of indices.
std::shared_ptr<c10d::Reducer> makeDdpReducer(std::vector<at::Tensor> values,
                                              std::vector<std::vector<size_t>> buckets,
                                              c10::intrusive_ptr<c10d::ProcessGroup> group,
                                              int64_t bucketBytes);

/// Whether TCPStore's default server can take over a socket that listens already. Where it cannot,
/// its older server can.
inline constexpr bool kLibUvTakesSockets = RM_TORCH_AT_LEAST(2, 11);

/// A backend in front of another one; options and time-outs are those of that one. In torch 2.7 a
/// Backend has neither.
class BackendBefore : public c10d::Backend {
public:
#if RM_TORCH_AT_LEAST(2, 11)
    c10::intrusive_ptr<Options> getBackendOptions() override {
        return m_backend->getBackendOptions();
    }
    void setTimeout(std::chrono::milliseconds timeout) override {
        m_backend->setTimeout(timeout);
    }
#endif

protected:
    explicit BackendBefore(c10::intrusive_ptr<c10d::Backend> backend)
        : Backend(backend->getRank(), backend->getSize())
        , m_backend(std::move(backend)) {}

    const c10::intrusive_ptr<c10d::Backend> m_backend;
};

} // namespace rm

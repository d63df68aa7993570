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
// and 2.7. What they have otherwise is here, and no other source asks for the version; which of a
// plugin's parts are built for which (graphs of steps are not for 2.7) is in trainer/cuda's
// CMakeLists.txt.

/// DDP's Reducer of dense gradients, every one of them used, with these buckets of indices.
std::shared_ptr<c10d::Reducer> makeDdpReducer(std::vector<at::Tensor> values,
                                              std::vector<std::vector<size_t>> buckets,
                                              c10::intrusive_ptr<c10d::ProcessGroup> group,
                                              int64_t bucketBytes);

/// Whether TCPStore's server, as it is by default, takes over a socket that listens already. Where
/// not, its older one does.
inline constexpr bool kLibUvTakesSockets = RM_TORCH_AT_LEAST(2, 11);

/// A backend before another one, whose options and time-outs are that one's. Torch 2.7 has neither
/// in a Backend.
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

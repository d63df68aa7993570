// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include <chrono>
#include <string>

namespace rm {

/// A Gloo group over the interface that GLOO_SOCKET_IFNAME names, else the one by which this
/// machine reaches `masterAddr`.
c10::intrusive_ptr<c10d::Backend> makeGloo(const c10::intrusive_ptr<c10d::Store>& store, int rank,
                                           int worldSize, const std::string& masterAddr,
                                           std::chrono::milliseconds timeout);

} // namespace rm

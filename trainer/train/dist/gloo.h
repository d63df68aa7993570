// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include <chrono>
#include <stdexcept>
#include <string>

namespace rm {

/// The error that no route leads to another rank. Names the addresses where this rank listens.
class NoWayToRank : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The address from which this machine would talk to `host`; empty when it cannot.
std::string addressTowards(const std::string& host);

/// A Gloo group that listens at `address` of this machine, save that GLOO_SOCKET_IFNAME names other
/// interfaces: then at the first address of each. Throws where it cannot connect to another rank.
c10::intrusive_ptr<c10d::Backend> makeGloo(const c10::intrusive_ptr<c10d::Store>& store, int rank,
                                           int worldSize, const std::string& address,
                                           std::chrono::milliseconds timeout);

} // namespace rm

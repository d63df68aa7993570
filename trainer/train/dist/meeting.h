// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <torch/csrc/distributed/c10d/Store.hpp>

#include <functional>
#include <string>

namespace rm {

struct TorchrunEnvironment;

/// A function that gets warnings: texts about things that are wrong, but no failure.
using Warn = std::function<void(const std::string&)>;

/// The store where the ranks of one attempt leave each other their addresses. Unless the launcher
/// has one, rank 0 serves it on MASTER_ADDR alone; where that is no address of its machine, on
/// every address, with a warning. The store has no password: whoever reaches its port can read and
/// change it. Keys are kept apart by run, attempt and nonce.
///
/// kUnavailable: the port is taken, or it serves another run's store, or another process has this
/// rank already, or other ranks do not come within five minutes, or this process is told to end
/// meanwhile. Standard error says after some seconds who is missing.
Result<c10::intrusive_ptr<c10d::Store>> meetAtStore(const TorchrunEnvironment& environment,
                                                    const Warn& warn);

} // namespace rm

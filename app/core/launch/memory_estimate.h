// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/remote/host.h"
#include "shared/spec/node_plan.h"

#include <string>

namespace rm {

/// A trainer's estimate of the memory that the ranks of a node will need.
struct NodeMemory {
    bool fits = true;
    bool isLeast = false; ///< `needed` leaves activations out: there was no room to try
    int64_t needed = 0;   ///< bytes of one rank
    int64_t free = 0;     ///< for one rank
    std::string advice;   ///< when it does not fit: what would
    bool operator==(const NodeMemory&) const = default;
};

/// Parses the JSON of `ringmaster-trainer estimate`. kCorrupt: it is something else.
Result<NodeMemory> parseNodeMemory(const std::string& json);

/// Lets the trainer of `plan.bundle` rehearse a step on the node: some seconds, at most 20.
/// `agent` is what deployAgent() gave.
Result<NodeMemory> estimateOnNode(HostSession& session, const std::string& agent,
                                  const std::string& specToml, const NodePlan& plan,
                                  std::stop_token stop);

/// "NODE has too little memory for RUN: ...": what is needed, what is free, what to do.
std::string tooLargeText(const std::string& run, const std::string& node, const NodePlan& plan,
                         const NodeMemory& estimate);

} // namespace rm

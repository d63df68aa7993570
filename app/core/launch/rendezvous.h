// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/agent/agent_client.h"
#include "app/core/launch/host_worker.h"
#include "app/core/launch/plan.h"

#include <string>
#include <vector>

namespace rm {

/// What the other nodes said about one address of the first.
struct AddressTrial {
    InterfaceReport local;           ///< on the first node
    std::vector<DialAnswer> answers; ///< per other node
};

/// The addresses of the first node at which ranks could meet: of interfaces that are up, without
/// loopback and link-local ones. If `interface` is not empty, only those of that interface.
std::vector<InterfaceReport> rendezvousCandidates(const NodeReport& report,
                                                  const std::string& interface);

/// The trial that every node reached, by link speed, then by the slowest answer. kUnavailable
/// names for each address who could not reach it and why.
Result<Rendezvous> chooseRendezvous(const std::vector<AddressTrial>& trials, int64_t port,
                                    const std::vector<std::string>& otherNodes);

/// Opens a port on the first node, lets every other node dial each candidate, and chooses one. A
/// single node uses its loopback. Blocks, but returns soon after `unwanted` is requested. Must not
/// be called on a worker's thread.
Result<Rendezvous> findRendezvous(const std::vector<HostWorker*>& workers,
                                  const std::vector<PlacedNode>& nodes, const RunSpec& spec,
                                  const std::stop_token& unwanted);

} // namespace rm

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/launch/host_worker.h"
#include "app/core/launch/plan.h"
#include "app/core/network/network_matrix.h"

#include <string>
#include <vector>

namespace rm {

/// The addresses of a node at which other machines may reach it: those of the interfaces that its
/// ranks use by a NCCL_SOCKET_IFNAME or GLOO_SOCKET_IFNAME of the spec or of the node, which win;
/// else those of the spec's launch.interface alone, if it has one of that name.
std::vector<InterfaceReport> meetingAddresses(const PlacedNode& node, const RunSpec& spec);

/// A matrix with meetingAddresses() of these nodes, and no trials yet. kInvalid: a node has none,
/// or the first has no launch.interface and no variable that wins.
Result<NetworkMatrix> rendezvousCandidates(const std::vector<PlacedNode>& nodes,
                                           const RunSpec& spec);

/// Checks a run of this node alone, whose ranks meet by loopback unless a NCCL_SOCKET_IFNAME or
/// GLOO_SOCKET_IFNAME says otherwise. kInvalid: one of these names no interface there that is up
/// (NCCL's counts on GPUs alone).
Result<void> checkAlone(const PlacedNode& node, const RunSpec& spec);

/// Chooses by chooseNetwork() from what the nodes found. kUnavailable says which two cannot talk,
/// in which direction, and why.
Result<Rendezvous> chooseRendezvous(const NetworkMatrix& matrix);

/// Up to so many nodes a launch dials every pair: each dials seven others at once, which takes no
/// longer than one. Beyond that the dials, and the 64 KiB that go with each, would grow with the
/// square: 4032 pairs of 64 nodes, before every run. `ringmaster nodes network` dials those.
inline constexpr size_t kMostDialedInPairs = 8;

/// Whether a launch on so many nodes lets that one dial that other: of more than
/// kMostDialedInPairs all the first and back, and each the one before and after it, so that every
/// address is tried in both directions, and each node with several others.
bool isDialedForLaunch(size_t nodes, int from, int to);

/// Opens ports on every node, lets them dial each other as isDialedForLaunch() says, and chooses by
/// both directions. A single node uses its loopback. Blocks, but returns soon after `unwanted` is
/// requested. Must not be called on a worker's thread.
Result<Rendezvous> findRendezvous(const std::vector<HostWorker*>& workers,
                                  const std::vector<PlacedNode>& nodes, const RunSpec& spec,
                                  const std::stop_token& unwanted);

} // namespace rm

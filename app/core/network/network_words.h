// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/findings/check_row.h"
#include "app/core/network/network_matrix.h"

#include <string>
#include <vector>

namespace rm {

/// A way in one or two words: "0.1 ms", "no route", "some ports".
std::string cellWords(const WayThere& way);

/// One address of a way with each of its ports: "10.0.0.5 (ens5) by ens6: 29500 0.1 ms, 35012
/// dropped".
std::string wayInWords(const WayThere& way);

/// A sentence that says that `from` cannot talk to `to` and why: for each address where it is
/// blocked, as far as that can be told, and what to do. Of addresses on bridges of one node, or
/// without a route to them, only where there are no others. Empty: it can.
std::string whyBlocked(const NetworkMatrix& matrix, int from, int to);

/// Why chooseNetwork() found none: whyBlocked() of pairs, as far as a person reads that.
std::string whyNoNetwork(const NetworkMatrix& matrix);

/// "ens5 on node-a and eth0 on 7 nodes": the nodes of each interface, both in the order of nodes.
/// Nodes whose interface is empty are left out.
std::string byInterface(const std::vector<std::string>& interfaces,
                        const std::vector<std::string>& nodes);

/// Says that NCCL takes a card's first address of the family of the chosen one, on which nodes that
/// is another one, and what to do. Empty: on none.
std::string ncclElsewhere(const NetworkMatrix& matrix, const NetworkChoice& choice);

/// What to do where ranks of a node may meet at a public address: a firewall, or launch.interface,
/// if by the `last` measurement runs take a private address of it, and it has that one `now`, on a
/// card without a public one.
std::string publicAddressFix(const std::optional<NetworkMatrix>& last, const std::string& node,
                             const std::vector<InterfaceReport>& now);

/// The findings for a person. First ("choice") which network runs take: bad if they would be
/// refused, and where ncclElsewhere() ("nccl", a warning). Then nodes that took no part ("node",
/// bad), and pairs between which nothing works
/// ("way", bad), or if there are none those of which a way works by half ("half-way", warnings).
/// Then the nodes that a node did not try ("untried", bad). At last where optionalPort alone is
/// blocked ("port", warnings).
std::vector<CheckRow> networkFindings(const NetworkMatrix& matrix);

/// The findings as a sentence each: "EVIDENCE: CAUSE; FIX."
std::vector<std::string> networkSentences(const std::vector<CheckRow>& findings);

/// Pairs of nodes, in one direction, between which no way works that was tried.
int countBlocked(const NetworkMatrix& matrix);

} // namespace rm

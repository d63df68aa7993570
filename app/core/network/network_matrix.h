// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/wire/dial.h"
#include "shared/wire/node_report.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace rm {

/// A node as it took part in a measurement.
struct NetworkNode {
    std::string name;
    std::vector<InterfaceReport> addresses; ///< those that isForOthers()
    OpenPorts ports;                        ///< that its listener served
    std::string problem; ///< why it took no part: nothing was dialed there or from there
    bool operator==(const NetworkNode&) const = default;
};

/// One dial of one address and port.
struct NetworkTrial {
    int from = 0; ///< index of a node
    int to = 0;
    std::string by;      ///< the interface that was asked for; empty: as the kernel routes
    std::string address; ///< of `to`
    int64_t port = 0;
    DialAnswer answer;
    bool operator==(const NetworkTrial&) const = default;
};

/// The rendezvous port that is measured: what torchrun takes, and what people open in firewalls.
inline constexpr int64_t kMeasuredPort = 29500;

/// Which addresses of nodes are reached from which interfaces of the others. Of a measurement on
/// demand all pairs, of a launch those that say enough.
struct NetworkMatrix {
    std::vector<NetworkNode> nodes;
    std::vector<NetworkTrial> trials;
    int64_t measuredNs = 0; ///< by this computer's clock; 0: never
    /// A port that a run uses only if its launch.master_port names it: no way is judged by it
    /// unless it is in the ephemeral range of the node. 0: none.
    int64_t optionalPort = 0;
    bool operator==(const NetworkMatrix&) const = default;
};

/// What was found between those of its nodes that `isThere` says of their names. nullopt: there
/// are not two of them, so nothing was measured.
std::optional<NetworkMatrix>
measuredBetween(const NetworkMatrix& matrix,
                const std::function<bool(const std::string& name)>& isThere);

/// How it is to get from one node to one address of another, as the kernel routes it.
enum class Way {
    kUnknown,    ///< not tried
    kWorks,      ///< every port that runs need and that was tried, with packets of full size
    kSomePorts,  ///< some ports answer, others that runs need do not
    kLosesLarge, ///< only small packets pass
    kBlocked,    ///< no port
};

struct WayThere {
    Way way = Way::kUnknown;
    InterfaceReport at;    ///< the address, of the node that is to be reached
    std::string interface; ///< by which it leaves
    int64_t microseconds = -1;
    int64_t mtu = 0;
    std::vector<const NetworkTrial*> trials; ///< of the matrix
    const NetworkTrial* optional = nullptr;  ///< that of them which does not count; null: all do
};

/// Whether the port of a node is NetworkMatrix::optionalPort, and others of it were dialed that
/// runs need.
bool isOptional(const NetworkMatrix& matrix, const NetworkNode& node, int64_t port);

/// What the first port met that counts, was tried and was not reached; null: none.
const DialAnswer* failureOf(const WayThere& way);

/// The ways of a matrix by what leads where, which are looked for once: all trials among 64 nodes
/// take no longer than one pair. The matrix must outlive it.
class NetworkWays {
public:
    explicit NetworkWays(const NetworkMatrix& matrix);

    /// To each address of `to` that was tried, in the order of its addresses.
    const std::vector<WayThere>& between(int from, int to) const;
    /// The best of them: one that works before one that does not, of those what says most of why
    /// (that packets are dropped, say, before that there is no route), then as chooseNetwork()
    /// prefers.
    std::optional<WayThere> best(int from, int to) const;
    /// To that address; null: it was not tried.
    const WayThere* find(int from, int to, const std::string& address) const;
    const NetworkMatrix& matrix() const { return m_matrix; }

private:
    size_t at(int from, int to) const;

    const NetworkMatrix& m_matrix;
    std::vector<std::vector<WayThere>> m_ways; ///< by pair
};

/// An address of every node at which all others reach it.
struct NetworkChoice {
    std::vector<InterfaceReport> addresses; ///< per node; without a name: it took no part
    bool isWhole = true; ///< false: a way between them was to be tried, and there was no time
    bool operator==(const NetworkChoice&) const = default;
};

/// Addresses between which every way that was tried works, in both directions. Of several sets that
/// which isWhole, with no isVirtualInterface(), with private addresses, of the fastest link (the
/// slowest of a set counts; unknown is slowest), with IPv4, of the quickest answer is taken, in
/// this order. Nodes with a problem are left out. nullopt: there is none.
std::optional<NetworkChoice> chooseNetwork(const NetworkMatrix& matrix);

} // namespace rm

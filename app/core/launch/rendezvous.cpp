// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/launch/rendezvous.h"

#include "app/core/launch/network_survey.h"
#include "app/core/network/address_kind.h"
#include "app/core/network/network_words.h"
#include "shared/return_if_error.h"

#include <algorithm>
#include <cstdlib>

namespace rm {

namespace {

constexpr const char* kAttempt = "find an address where all ranks can meet: ";
/// After a node was reached at one address: longer than an answer takes that comes at all.
constexpr int64_t kSettleMs = 250;

tl::unexpected<Error> noCandidate(const std::string& node, const std::string& interface) {
    const std::string which = interface.empty() ? "" : " of the name " + interface;
    return fail(ErrorCode::kInvalid, kAttempt + node + " has no network interface" + which +
                                         " that is up and that other machines could reach");
}

/// With these every address is tried in both directions, and each node with several others, by
/// fewer than four dials a node where all pairs would be as many as there are nodes.
bool isDialedForLaunch(int from, int to) {
    return from == 0 || to == 0 || std::abs(from - to) == 1;
}

std::vector<ListenOrder> listenOrders(size_t nodes, int64_t masterPort) {
    std::vector<ListenOrder> orders(nodes, ListenOrder{0, false, 1});
    orders.front() = {masterPort, nodes > 1, nodes > 1 && masterPort > 0 ? 1 : 0};
    return orders;
}

} // namespace

std::vector<InterfaceReport> meetingAddresses(const NodeReport& report,
                                              const std::string& interface) {
    std::vector<InterfaceReport> all, named;
    std::ranges::copy_if(report.interfaces, std::back_inserter(all), isForOthers);
    std::ranges::copy_if(all, std::back_inserter(named),
                         [&](const InterfaceReport& item) { return item.name == interface; });
    return interface.empty() || named.empty() ? all : named;
}

Result<NetworkMatrix> rendezvousCandidates(const std::vector<PlacedNode>& nodes,
                                           const std::string& interface) {
    NetworkMatrix matrix;
    for (const PlacedNode& placed : nodes) {
        auto addresses = meetingAddresses(placed.report, interface);
        const bool lacksIt = matrix.nodes.empty() && !interface.empty() && !addresses.empty() &&
                             addresses.front().name != interface;
        if (addresses.empty() || lacksIt)
            return noCandidate(placed.node.name, matrix.nodes.empty() ? interface : "");
        matrix.nodes.push_back({placed.node.name, std::move(addresses), {}, {}});
    }
    return matrix;
}

Result<Rendezvous> chooseRendezvous(const NetworkMatrix& matrix) {
    const auto choice = chooseNetwork(matrix);
    if (!choice)
        return fail(ErrorCode::kUnavailable, kAttempt + whyNoNetwork(matrix));
    Rendezvous rendezvous;
    rendezvous.masterAddr = choice->addresses.front().address;
    rendezvous.masterPort = matrix.nodes.front().ports.port;
    rendezvous.agentPort = matrix.nodes.front().ports.next;
    for (const InterfaceReport& chosen : choice->addresses)
        rendezvous.interfaces.push_back(chosen.name);
    return rendezvous;
}

Result<Rendezvous> findRendezvous(const std::vector<HostWorker*>& workers,
                                  const std::vector<PlacedNode>& nodes, const RunSpec& spec,
                                  const std::stop_token& unwanted) {
    const bool isOneNode = nodes.size() == 1;
    NetworkMatrix matrix;
    if (!isOneNode) {
        RM_ASSIGN_OR_RETURN(matrix, rendezvousCandidates(nodes, spec.launch.interface));
    }
    OpenListeners listeners(workers);
    const auto opened =
        listeners.open(listenOrders(nodes.size(), spec.launch.masterPort), unwanted);
    for (const Result<OpenPorts>& ports : opened)
        if (!ports)
            return tl::unexpected(ports.error());
    if (isOneNode)
        return Rendezvous{"127.0.0.1", opened.front()->port, {""}};
    for (size_t i = 0; i < nodes.size(); ++i)
        matrix.nodes[i].ports = *opened[i];
    // What seems to be blocked is tried once more, with patience: machines that are starting ranks
    // may be late to answer, and the next launch would be a person's.
    for (const int64_t settleMs : {kSettleMs, int64_t{-1}}) {
        matrix.trials.clear();
        survey(matrix, workers, {isDialedForLaunch, false, settleMs}, unwanted);
        for (const NetworkNode& node : matrix.nodes)
            if (!node.problem.empty())
                return fail(ErrorCode::kUnavailable, node.problem);
        if (chooseNetwork(matrix))
            return chooseRendezvous(matrix);
    }
    const auto problems = listeners.close();
    for (size_t i = 0; i < problems.size(); ++i)
        if (!problems[i].empty())
            return fail(ErrorCode::kUnavailable,
                        kAttempt + nodes[i].node.name + ": " + brokenListener(problems[i]));
    return chooseRendezvous(matrix);
}

} // namespace rm

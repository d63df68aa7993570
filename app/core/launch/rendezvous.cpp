// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/launch/rendezvous.h"

#include "app/core/findings/text.h"
#include "app/core/launch/network_survey.h"
#include "app/core/network/address_kind.h"
#include "app/core/network/network_words.h"
#include "shared/return_if_error.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string_view>

namespace rm {

namespace {

/// The wait after a node was reached at one address: longer than any answer that comes takes.
constexpr int64_t kSettleMs = 250;

tl::unexpected<Error> noMeeting(ErrorCode code, const std::string& why) {
    return failAs(say("launch.find-meeting"), {code, why});
}

/// Whether ranks use the interface by this value: names, of which NCCL takes the beginnings, too;
/// with "^" before them all but these, with "=" by whole names alone.
/// https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-socket-ifname
bool isTaken(std::string_view value, std::string_view interface, bool isNccl) {
    const auto cut = [&](char sign) {
        const bool isThere = isNccl && value.starts_with(sign);
        value.remove_prefix(isThere ? 1 : 0);
        return isThere;
    };
    const bool isExcluding = cut('^');
    const bool isWhole = cut('=') || !isNccl;
    bool isListed = false;
    std::istringstream names{std::string(value)};
    for (std::string name; std::getline(names, name, ',');)
        isListed |= isWhole ? interface == name : interface.starts_with(name);
    return isListed != isExcluding;
}

/// "NCCL_SOCKET_IFNAME=eth1": such variables of the node's ranks that the spec or the node sets.
std::vector<std::string> interfaceVariables(const PlacedNode& placed, const RunSpec& spec) {
    std::vector<std::string> all = ownVariables(placed, spec);
    std::erase_if(all, [](const std::string& variable) {
        const size_t end = variable.find('=') + 1;
        const std::string_view name = std::string_view(variable).substr(0, end);
        const bool isOne = name == "NCCL_SOCKET_IFNAME=" || name == "GLOO_SOCKET_IFNAME=";
        return !isOne || end == variable.size(); // NCCL and Gloo take an empty one for none
    });
    return all;
}

/// Whether the variable ("NCCL_SOCKET_IFNAME=eth1") names the interface.
bool isTakenBy(const std::string& variable, const InterfaceReport& interface) {
    return isTaken(std::string_view(variable).substr(variable.find('=') + 1), interface.name,
                   variable.starts_with("NCCL"));
}

/// The interfaces that other machines may reach, as "; it has eth0, eth1", or "".
std::string interfacesOf(const PlacedNode& placed) {
    std::vector<std::string> names;
    for (const InterfaceReport& item : placed.report.interfaces)
        if (isForOthers(item) && std::ranges::find(names, item.name) == names.end())
            names.push_back(item.name);
    return names.empty() ? std::string()
                         : say("launch.it-has", {{"interfaces", joined(names, ", ")}});
}

/// The error that no address fits. `named`: the interface that it must have; empty: any.
tl::unexpected<Error> noCandidate(const PlacedNode& placed, const RunSpec& spec,
                                  const std::string& named) {
    const Value node{"node", placed.node.name}, others{"others", interfacesOf(placed)};
    const std::string variables = orListed(interfaceVariables(placed, spec));
    return noMeeting(
        ErrorCode::kInvalid,
        !variables.empty()
            ? say("launch.no-interface-of-variables", {node, others, {"variables", variables}})
        : !named.empty() ? say("launch.no-interface-called", {node, others, {"name", named}})
                         : say("launch.no-interface", {node, others}));
}

std::vector<ListenOrder> listenOrders(size_t nodes, int64_t masterPort) {
    std::vector<ListenOrder> orders(nodes, ListenOrder{0, false, 1});
    orders.front() = {masterPort, nodes > 1, nodes > 1 && masterPort > 0 ? 1 : 0};
    return orders;
}

} // namespace

bool isDialedForLaunch(size_t nodes, int from, int to) {
    return nodes <= kMostDialedInPairs || from == 0 || to == 0 || std::abs(from - to) == 1;
}

std::vector<InterfaceReport> meetingAddresses(const PlacedNode& placed, const RunSpec& spec) {
    std::vector<InterfaceReport> all, named;
    std::ranges::copy_if(placed.report.interfaces, std::back_inserter(all), isForOthers);
    const auto variables = interfaceVariables(placed, spec);
    std::ranges::copy_if(all, std::back_inserter(named), [&](const InterfaceReport& item) {
        if (variables.empty())
            return item.name == spec.launch.interface;
        return std::ranges::any_of(
            variables, [&](const std::string& variable) { return isTakenBy(variable, item); });
    });
    return variables.empty() && named.empty() ? all : named;
}

Result<NetworkMatrix> rendezvousCandidates(const std::vector<PlacedNode>& nodes,
                                           const RunSpec& spec) {
    NetworkMatrix matrix;
    for (const PlacedNode& placed : nodes) {
        auto addresses = meetingAddresses(placed, spec);
        const bool lacksIt = matrix.nodes.empty() && !spec.launch.interface.empty() &&
                             interfaceVariables(placed, spec).empty() && !addresses.empty() &&
                             addresses.front().name != spec.launch.interface;
        if (addresses.empty() || lacksIt)
            return noCandidate(placed, spec, matrix.nodes.empty() ? spec.launch.interface : "");
        matrix.nodes.push_back({placed.node.name, std::move(addresses), {}, {}});
    }
    return matrix;
}

Result<Rendezvous> chooseRendezvous(const NetworkMatrix& matrix) {
    auto choice = chooseNetwork(matrix);
    if (!choice)
        return noMeeting(ErrorCode::kUnavailable, whyNoNetwork(matrix));
    Rendezvous rendezvous;
    rendezvous.masterAddr = choice->addresses.front().address;
    rendezvous.masterPort = matrix.nodes.front().ports.port;
    rendezvous.agentPort = matrix.nodes.front().ports.next;
    rendezvous.ncclElsewhere = ncclElsewhere(matrix, *choice);
    rendezvous.addresses = std::move(choice->addresses);
    return rendezvous;
}

Result<void> checkAlone(const PlacedNode& placed, const RunSpec& spec) {
    const bool onCpu = spec.launch.device == "cpu" || placed.report.gpus.empty();
    for (const std::string& variable : interfaceVariables(placed, spec))
        if ((!onCpu || variable.starts_with("GLOO")) &&
            std::ranges::none_of(placed.report.interfaces, [&](const InterfaceReport& item) {
                return item.up && isTakenBy(variable, item);
            }))
            return noMeeting(ErrorCode::kInvalid,
                             say("launch.no-interface-up", {{"node", placed.node.name},
                                                            {"variable", variable},
                                                            {"others", interfacesOf(placed)}}));
    return {};
}

Result<Rendezvous> findRendezvous(const std::vector<HostWorker*>& workers,
                                  const std::vector<PlacedNode>& nodes, const RunSpec& spec,
                                  const std::stop_token& unwanted) {
    const bool isOneNode = nodes.size() == 1;
    NetworkMatrix matrix;
    if (isOneNode) {
        RM_RETURN_IF_ERROR(checkAlone(nodes.front(), spec));
    } else {
        RM_ASSIGN_OR_RETURN(matrix, rendezvousCandidates(nodes, spec));
    }
    OpenListeners listeners(workers);
    const auto opened =
        listeners.open(listenOrders(nodes.size(), spec.launch.masterPort), unwanted);
    for (const Result<OpenPorts>& ports : opened)
        if (!ports)
            return tl::unexpected(ports.error());
    if (isOneNode)
        return Rendezvous{"127.0.0.1", opened.front()->port};
    for (size_t i = 0; i < nodes.size(); ++i)
        matrix.nodes[i].ports = *opened[i];
    // What seems to be blocked is tried once more, with patience: machines that are starting ranks
    // may be late to answer, and the next launch would be a person's.
    const auto isDialed = [count = nodes.size()](int from, int to) {
        return isDialedForLaunch(count, from, to);
    };
    for (const int64_t settleMs : {kSettleMs, int64_t{-1}}) {
        matrix.trials.clear();
        survey(matrix, workers, {isDialed, false, settleMs}, unwanted);
        for (const NetworkNode& node : matrix.nodes)
            if (!node.problem.empty())
                return fail(ErrorCode::kUnavailable, node.problem);
        if (const auto choice = chooseNetwork(matrix); choice && choice->isWhole)
            return chooseRendezvous(matrix);
    }
    const auto problems = listeners.close();
    for (size_t i = 0; i < problems.size(); ++i)
        if (!problems[i].empty())
            return noMeeting(ErrorCode::kUnavailable,
                             say("launch.of-node", {{"node", nodes[i].node.name},
                                                    {"what", brokenListener(problems[i])}}));
    return chooseRendezvous(matrix);
}

} // namespace rm

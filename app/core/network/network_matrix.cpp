// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/network/network_matrix.h"

#include "app/core/network/address_kind.h"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace rm {

namespace {

bool losesLarge(const DialAnswer& answer) {
    return answer.large == LargePackets::kLostThere || answer.large == LargePackets::kLostBack;
}

/// Ranks bind their sockets to no interface.
bool countsForRanks(const NetworkTrial& trial) {
    return trial.by.empty();
}

Way judge(const std::vector<const NetworkTrial*>& trials, const NetworkTrial* optional) {
    size_t tried = 0, reached = 0;
    bool isLossy = false;
    for (const NetworkTrial* trial : trials) {
        if (trial == optional)
            continue;
        tried += trial->answer.reach != Reach::kUntried;
        reached += trial->answer.reach == Reach::kReached;
        isLossy = isLossy || losesLarge(trial->answer);
    }
    if (tried == 0)
        return Way::kUnknown;
    if (reached == 0 && !(optional && optional->answer.reach == Reach::kReached))
        return Way::kBlocked;
    if (isLossy)
        return Way::kLosesLarge;
    return reached == tried ? Way::kWorks : Way::kSomePorts;
}

WayThere wayTo(const NetworkMatrix& matrix, const InterfaceReport& at,
               std::vector<const NetworkTrial*> trials) {
    WayThere way;
    way.at = at;
    for (const NetworkTrial* trial : trials)
        if (isOptional(matrix, matrix.nodes[static_cast<size_t>(trial->to)], trial->port))
            way.optional = trial;
    way.way = judge(trials, way.optional);
    for (const NetworkTrial* trial : trials) {
        const DialAnswer& answer = trial->answer;
        if (!answer.interface.empty())
            way.interface = answer.interface;
        if (answer.microseconds >= 0 &&
            (way.microseconds < 0 || answer.microseconds < way.microseconds))
            way.microseconds = answer.microseconds;
        way.mtu = std::max(way.mtu, answer.mtu);
    }
    way.trials = std::move(trials);
    return way;
}

/// How little it says of why two nodes cannot talk that this address of theirs cannot be used:
/// that cards are in other networks is so on purpose, often.
int emptiness(const WayThere& way) {
    if (way.way == Way::kWorks)
        return 0;
    if (isVirtualInterface(way.at.name))
        return 3;
    const DialAnswer* failure = failureOf(way);
    if (way.way == Way::kUnknown || (failure && failure->reach == Reach::kNoRoute))
        return 2;
    return failure && failure->reach == Reach::kNoNeighbour ? 1 : 0;
}

/// Smaller is better.
using Rank = std::tuple<bool, bool, int64_t, bool, int64_t>;

Rank rankOf(const InterfaceReport& at, int64_t microseconds) {
    return {isVirtualInterface(at.name), isPublic(at.address), -at.speedMbit, isSix(at.address),
            microseconds};
}

/// The worse in each respect.
Rank worse(const Rank& a, const Rank& b) {
    return {std::max(std::get<0>(a), std::get<0>(b)), std::max(std::get<1>(a), std::get<1>(b)),
            std::max(std::get<2>(a), std::get<2>(b)), std::max(std::get<3>(a), std::get<3>(b)),
            std::max(std::get<4>(a), std::get<4>(b))};
}

struct Candidate {
    NetworkChoice choice;
    Rank rank;

    bool operator<(const Candidate& other) const {
        return std::pair(!choice.isWhole, rank) < std::pair(!other.choice.isWhole, other.rank);
    }
};

/// The worst between that address of `node` and what was chosen for the nodes after `hub` and
/// before it: kWorks, also where nobody was to try, kUnknown or kBlocked.
Way wayToOthers(const NetworkWays& ways, int hub, int node, const InterfaceReport& own,
                const NetworkChoice& chosen) {
    Way worst = Way::kWorks;
    for (int other = hub + 1; other < node; ++other) {
        const InterfaceReport& theirs = chosen.addresses[static_cast<size_t>(other)];
        for (const WayThere* way :
             {ways.find(other, node, own.address), ways.find(node, other, theirs.address)}) {
            if (way && way->way == Way::kUnknown)
                worst = Way::kUnknown;
            else if (way && way->way != Way::kWorks)
                return Way::kBlocked;
        }
    }
    return worst;
}

/// Every node's best partner for that address of node `hub`; nullopt: one has none.
std::optional<Candidate> completed(const NetworkWays& ways, int hub, const InterfaceReport& first) {
    const std::vector<NetworkNode>& nodes = ways.matrix().nodes;
    Candidate whole{{}, rankOf(first, 0)};
    whole.choice.addresses.resize(nodes.size());
    whole.choice.addresses[static_cast<size_t>(hub)] = first;
    for (int node = hub + 1; node < static_cast<int>(nodes.size()); ++node) {
        const NetworkNode& there = nodes[static_cast<size_t>(node)];
        if (!there.problem.empty())
            continue;
        const WayThere* back = ways.find(node, hub, first.address);
        if (!back || back->way != Way::kWorks)
            return std::nullopt;
        std::optional<std::tuple<bool, bool, Rank>> best;
        for (const InterfaceReport& own : there.addresses) {
            const WayThere* way = ways.find(hub, node, own.address);
            if (isSix(own.address) != isSix(first.address) || !way || way->way != Way::kWorks)
                continue;
            const Way toOthers = wayToOthers(ways, hub, node, own, whole.choice);
            if (toOthers == Way::kBlocked)
                continue;
            // Both directions by one interface, where that can be had.
            const std::tuple rank{
                toOthers == Way::kUnknown, own.name != back->interface,
                worse(rankOf(own, way->microseconds), rankOf(first, back->microseconds))};
            if (best && *best <= rank)
                continue;
            whole.choice.addresses[static_cast<size_t>(node)] = own;
            best = rank;
        }
        if (!best)
            return std::nullopt;
        whole.choice.isWhole = whole.choice.isWhole && !std::get<0>(*best);
        whole.rank = worse(whole.rank, std::get<Rank>(*best));
    }
    return whole;
}

} // namespace

std::optional<NetworkMatrix>
measuredBetween(const NetworkMatrix& matrix,
                const std::function<bool(const std::string& name)>& isThere) {
    NetworkMatrix part{{}, {}, matrix.measuredNs, matrix.optionalPort};
    std::vector<int> indices; ///< in the part; -1: it is not there
    for (const NetworkNode& node : matrix.nodes) {
        const bool stays = isThere(node.name);
        indices.push_back(stays ? static_cast<int>(part.nodes.size()) : -1);
        if (stays)
            part.nodes.push_back(node);
    }
    if (part.nodes.size() < 2)
        return std::nullopt;
    for (NetworkTrial trial : matrix.trials) {
        trial.from = indices[static_cast<size_t>(trial.from)];
        trial.to = indices[static_cast<size_t>(trial.to)];
        if (trial.from >= 0 && trial.to >= 0)
            part.trials.push_back(std::move(trial));
    }
    return part;
}

bool isOptional(const NetworkMatrix& matrix, const NetworkNode& node, int64_t port) {
    const OpenPorts& ports = node.ports;
    const bool isInRange = port >= ports.rangeFirst && port <= ports.rangeLast;
    return port == matrix.optionalPort && !isInRange && !ports.samples.empty();
}

const DialAnswer* failureOf(const WayThere& way) {
    for (const NetworkTrial* trial : way.trials)
        if (trial != way.optional && trial->answer.reach != Reach::kReached &&
            trial->answer.reach != Reach::kUntried)
            return &trial->answer;
    return nullptr;
}

NetworkWays::NetworkWays(const NetworkMatrix& matrix)
    : m_matrix(matrix)
    , m_ways(matrix.nodes.size() * matrix.nodes.size()) {
    std::vector<std::vector<const NetworkTrial*>> trials(m_ways.size());
    for (const NetworkTrial& trial : matrix.trials)
        if (countsForRanks(trial))
            trials[at(trial.from, trial.to)].push_back(&trial);
    for (size_t pair = 0; pair < m_ways.size(); ++pair)
        for (const InterfaceReport& address : matrix.nodes[pair % matrix.nodes.size()].addresses) {
            std::vector<const NetworkTrial*> there;
            std::ranges::copy_if(trials[pair], std::back_inserter(there),
                                 [&address](const NetworkTrial* trial) {
                                     return trial->address == address.address;
                                 });
            if (!there.empty())
                m_ways[pair].push_back(wayTo(matrix, address, std::move(there)));
        }
}

size_t NetworkWays::at(int from, int to) const {
    return static_cast<size_t>(from) * m_matrix.nodes.size() + static_cast<size_t>(to);
}

const std::vector<WayThere>& NetworkWays::between(int from, int to) const {
    return m_ways[at(from, to)];
}

std::optional<WayThere> NetworkWays::best(int from, int to) const {
    const auto rank = [](const WayThere& way) {
        const int order = way.way == Way::kUnknown ? static_cast<int>(Way::kBlocked) + 1
                                                   : static_cast<int>(way.way);
        return std::tuple{emptiness(way), order, rankOf(way.at, way.microseconds)};
    };
    const std::vector<WayThere>& ways = between(from, to);
    const auto best = std::ranges::min_element(ways, {}, rank);
    return best == ways.end() ? std::nullopt : std::optional(*best);
}

const WayThere* NetworkWays::find(int from, int to, const std::string& address) const {
    for (const WayThere& way : between(from, to))
        if (way.at.address == address)
            return &way;
    return nullptr;
}

std::optional<NetworkChoice> chooseNetwork(const NetworkMatrix& matrix) {
    const auto hub = std::ranges::find_if(
        matrix.nodes, [](const NetworkNode& node) { return node.problem.empty(); });
    if (hub == matrix.nodes.end())
        return std::nullopt;
    const NetworkWays ways(matrix);
    std::optional<Candidate> best;
    for (const InterfaceReport& first : hub->addresses) {
        auto candidate = completed(ways, static_cast<int>(hub - matrix.nodes.begin()), first);
        if (candidate && (!best || *candidate < *best))
            best = std::move(candidate);
    }
    return best ? std::optional(std::move(best->choice)) : std::nullopt;
}

} // namespace rm

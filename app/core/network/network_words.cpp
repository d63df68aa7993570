// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/network/network_words.h"

#include "app/core/findings/text.h"
#include "app/core/network/address_kind.h"
#include "shared/counted.h"

#include <algorithm>
#include <cstdio>
#include <set>
#include <utility>

namespace rm {

namespace {

constexpr size_t kMostFindings = 8;
constexpr size_t kFewNodes = 4; ///< that are named one by one

std::string milliseconds(int64_t us) {
    char text[32];
    std::snprintf(text, sizeof text, us < 10'000 ? "%.1f ms" : "%.0f ms",
                  static_cast<double>(us) / 1000);
    return text;
}

std::string reachWord(Reach reach) {
    switch (reach) {
    case Reach::kUntried:
        return say("network.not-tried");
    case Reach::kReached:
        return say("network.reached");
    case Reach::kRefused:
        return say("network.refused");
    case Reach::kNoRoute:
        return say("network.no-route");
    case Reach::kRejected:
        return say("network.rejected");
    case Reach::kDropped:
        return say("network.dropped");
    case Reach::kStranger:
        return say("network.stranger");
    case Reach::kSilent:
        return say("network.silent");
    case Reach::kUnreachable:
        return say("network.unreachable");
    case Reach::kNoNeighbour:
        return say("network.no-neighbour");
    }
    return {};
}

std::string placeOf(const InterfaceReport& at) {
    return say("network.place", {{"address", at.address}, {"interface", at.name}});
}

/// The ports that were reached, or the others.
std::string portsWith(const WayThere& way, bool isReached) {
    std::vector<std::string> ports;
    for (const NetworkTrial* trial : way.trials)
        if (trial->answer.reach != Reach::kUntried &&
            (trial->answer.reach == Reach::kReached) == isReached)
            ports.push_back(std::to_string(trial->port));
    return isReached ? listed(ports) : orListed(ports);
}

std::string portsMeeting(const WayThere& way, Reach reach) {
    std::vector<std::string> ports;
    for (const NetworkTrial* trial : way.trials)
        if (trial->answer.reach == reach)
            ports.push_back(std::to_string(trial->port));
    return orListed(ports);
}

/// One pair in one direction, in words.
class PairWords {
public:
    PairWords(const NetworkMatrix& matrix, int from, int to)
        : m_matrix(matrix)
        , m_from(matrix.nodes[static_cast<size_t>(from)])
        , m_to(matrix.nodes[static_cast<size_t>(to)])
        , m_fromIndex(from)
        , m_toIndex(to) {}

    /// The finding of that address alone; without id: it works.
    CheckRow of(const WayThere& way) const {
        switch (way.way) {
        case Way::kSomePorts:
            return somePorts(way, *failureOf(way));
        case Way::kLosesLarge:
            return losesLarge(way);
        case Way::kBlocked:
            return blocked(way, *failureOf(way));
        case Way::kUnknown:
            return untried(way, way.trials.front()->answer);
        case Way::kWorks:
            break;
        }
        return {};
    }

private:
    CheckRow somePorts(const WayThere& way, const DialAnswer& failure) const {
        const Value place{"place", placeOf(way.at)}, open{"open", portsWith(way, true)},
            closed{"closed", portsWith(way, false)}, how{"how", reachWord(failure.reach)},
            portRange{"range", range()}, fix{"fix", advice(way)};
        const bool isFirewall = failure.reach == Reach::kDropped ||
                                failure.reach == Reach::kRefused ||
                                failure.reach == Reach::kRejected;
        if (isFirewall)
            return finding("way.some-ports", {place, open, closed, how, portRange, fix});
        return finding("way.some-ports-fail",
                       {place, open, closed, how, portRange, fix, {"error", failure.error}});
    }

    CheckRow losesLarge(const WayThere& way) const {
        const Value place{"place", placeOf(way.at)}, own{"interface", way.interface},
            theirs{"their-interface", way.at.name}, from{"from", m_from.name}, to{"to", m_to.name};
        if (isLostBack(way))
            return finding("way.loses-large-back", {place, own, theirs, from, to});
        if (way.mtu > 0)
            return finding("way.loses-large-of-mtu",
                           {place, own, theirs, from, to, {"mtu", std::to_string(way.mtu)}});
        return finding("way.loses-large", {place, own, theirs, from, to});
    }

    CheckRow blocked(const WayThere& way, const DialAnswer& failure) const {
        const Value place{"place", placeOf(way.at)}, from{"from", m_from.name},
            ports{"ports", portsMeeting(way, failure.reach)}, error{"error", failure.error},
            fix{"fix", advice(way)};
        if (isOwnToo(way.at))
            return finding("way.own-address", {place, from});
        switch (failure.reach) {
        case Reach::kDropped:
            return finding("way.dropped", {place, ports, {"why", whyDropped(way)}, fix});
        case Reach::kRefused:
            return finding("way.refused", {place, ports, fix});
        case Reach::kNoRoute:
            return finding("way.no-route", {place, error, from});
        case Reach::kNoNeighbour:
            return finding("way.no-neighbour", {place, error});
        case Reach::kRejected:
            return finding("way.rejected", {place, {"who", whose(failure)}, error, fix});
        case Reach::kUnreachable:
            return finding("way.unreachable", {place, {"who", whose(failure)}, error});
        case Reach::kStranger:
            return finding("way.stranger", {place, error});
        case Reach::kSilent:
            return finding("way.silent", {place, ports, error, fix});
        case Reach::kUntried:
        case Reach::kReached:
            break; // failureOf() gives neither
        }
        return untried(way, failure);
    }

    static CheckRow untried(const WayThere& way, const DialAnswer& answer) {
        return finding("way.untried", {{"place", placeOf(way.at)}, {"error", answer.error}});
    }

    /// Who answered by ICMP.
    std::string whose(const DialAnswer& failure) const {
        const std::string& by = failure.answeredBy;
        if (by.empty())
            return say("network.some-firewall");
        const Value address{"address", by};
        if (hasAddress(m_from, by))
            return say("network.own-firewall", {{"node", m_from.name}, address});
        if (hasAddress(m_to, by))
            return say("network.their-firewall", {{"node", m_to.name}, address});
        return say("network.firewall-between", {address});
    }

    static bool hasAddress(const NetworkNode& node, const std::string& address) {
        return std::ranges::find(node.addresses, address, &InterfaceReport::address) !=
               node.addresses.end();
    }

    bool isOwnToo(const InterfaceReport& at) const { return hasAddress(m_from, at.address); }

    static bool isLostBack(const WayThere& way) {
        return std::ranges::any_of(way.trials, [](const NetworkTrial* trial) {
            return trial->answer.large == LargePackets::kLostBack;
        });
    }

    /// Silence alone does not tell what drops: the sending node, the receiving one, its answer, or
    /// something between. What else was tried may tell it.
    std::string whyDropped(const WayThere& way) const {
        const Value from{"from", m_from.name}, to{"to", m_to.name};
        const std::string source = sourceOf(way);
        if (const DialAnswer* back = ownRouteOf(m_toIndex, m_fromIndex, source))
            return say("network.no-route-back", {to, {"source", source}, {"error", back->error}});
        const Others there = othersTo(way.at.address), here = othersFrom(way.interface);
        if (there.reached && here.reached)
            return say("network.dropped-between", {from, to});
        if (there.reached && here.dialed)
            return say("network.dropped-leaving", {from, {"interface", way.interface}});
        if (there.dialed && !there.reached && here.reached)
            return say("network.dropped-coming", {from, to});
        return say("network.dropped-somewhere", {from, to});
    }

    /// How dials of others went.
    struct Others {
        bool dialed = false;
        bool reached = false;

        void add(const NetworkTrial& trial) {
            dialed = dialed || trial.answer.reach == Reach::kDropped;
            reached = reached || trial.answer.reach == Reach::kReached;
        }
    };

    Others othersTo(const std::string& address) const {
        Others others;
        for (const NetworkTrial& trial : m_matrix.trials)
            if (trial.to == m_toIndex && trial.from != m_fromIndex && trial.by.empty() &&
                trial.address == address)
                others.add(trial);
        return others;
    }

    Others othersFrom(const std::string& interface) const {
        Others others;
        for (const NetworkTrial& trial : m_matrix.trials)
            if (trial.from == m_fromIndex && trial.to != m_toIndex && trial.by.empty() &&
                trial.answer.interface == interface)
                others.add(trial);
        return others;
    }

    /// Where that node's own routes do not lead to that address of another; null: they do.
    const DialAnswer* ownRouteOf(int from, int to, const std::string& address) const {
        for (const NetworkTrial& trial : m_matrix.trials)
            if (trial.from == from && trial.to == to && trial.by.empty() &&
                trial.address == address && trial.answer.reach == Reach::kNoRoute)
                return &trial.answer;
        return nullptr;
    }

    /// The address that it sends from, of several one to which the routes of the other lead; its
    /// name where that is not known.
    std::string sourceOf(const WayThere& way) const {
        std::string first;
        for (const InterfaceReport& own : m_from.addresses) {
            if (own.name != way.interface || isSix(own.address) != isSix(way.at.address))
                continue;
            if (!ownRouteOf(m_toIndex, m_fromIndex, own.address))
                return own.address;
            if (first.empty())
                first = own.address;
        }
        return first.empty() ? m_from.name : first;
    }

    std::string range() const {
        return std::to_string(m_to.ports.rangeFirst) + "-" + std::to_string(m_to.ports.rangeLast);
    }

    std::string advice(const WayThere& way) const {
        const int64_t port = m_to.ports.port;
        const bool isInRange = port >= m_to.ports.rangeFirst && port <= m_to.ports.rangeLast;
        const bool isNeeded = !isInRange && !isOptional(m_matrix, m_to, port);
        const Value source{"source", sourceOf(way)}, portRange{"range", range()};
        return isNeeded ? say("network.let-port-through",
                              {source, portRange, {"port", std::to_string(port)}})
                        : say("network.let-through", {source, portRange});
    }

    const NetworkMatrix& m_matrix;
    const NetworkNode& m_from;
    const NetworkNode& m_to;
    int m_fromIndex;
    int m_toIndex;
};

bool works(const NetworkWays& ways, int from, int to) {
    const auto best = ways.best(from, to);
    return best && best->way == Way::kWorks;
}

/// From which node which other one was dialed, by whatever interface.
std::set<std::pair<int, int>> dialedPairs(const NetworkMatrix& matrix) {
    std::set<std::pair<int, int>> pairs;
    for (const NetworkTrial& trial : matrix.trials)
        pairs.emplace(trial.from, trial.to);
    return pairs;
}

/// Every way of that pair was to be tried, and none was.
bool isUntried(const NetworkWays& ways, int from, int to) {
    const std::vector<WayThere>& all = ways.between(from, to);
    return !all.empty() &&
           std::ranges::all_of(all, [](const WayThere& way) { return way.way == Way::kUnknown; });
}

/// Calls `found(from, to)` for each direction in which nothing works that was tried.
template <class Found>
void forEachBlocked(const NetworkWays& ways, Found found) {
    for (const auto& [from, to] : dialedPairs(ways.matrix()))
        if (from != to && !works(ways, from, to) && !isUntried(ways, from, to))
            found(from, to);
}

std::string choiceInWords(const NetworkMatrix& matrix, const NetworkChoice& choice) {
    std::vector<std::string> interfaces, nodes;
    for (size_t i = 0; i < choice.addresses.size(); ++i) {
        interfaces.push_back(choice.addresses[i].name);
        nodes.push_back(matrix.nodes[i].name);
    }
    return byInterface(interfaces, nodes);
}

size_t countTaking(const NetworkMatrix& matrix) {
    return static_cast<size_t>(std::ranges::count_if(
        matrix.nodes, [](const NetworkNode& node) { return node.problem.empty(); }));
}

/// "EVIDENCE: CAUSE"; without a cause the evidence alone.
std::string withCause(const CheckRow& row) {
    std::string words = row.evidence;
    if (!row.cause.empty())
        append(words, row.cause, ": ");
    return words;
}

/// "EVIDENCE: CAUSE; FIX", without what is empty.
std::string inWords(const CheckRow& row) {
    std::string words = withCause(row);
    if (!row.fix.empty())
        append(words, row.fix);
    return words;
}

/// As many findings as people read, and how many more there would be, which are not made: among 64
/// nodes there are 4032 pairs.
class FirstFindings {
public:
    /// `more` is the finding of those beyond them.
    explicit FirstFindings(const char* more)
        : m_more(more) {}

    template <class Make>
    void add(Make make) {
        if (++m_count <= kMostFindings)
            m_findings.push_back(make());
    }
    std::vector<CheckRow> take() && {
        if (m_count > kMostFindings)
            m_findings.push_back(
                finding(m_more, {{"count", std::to_string(m_count - kMostFindings)}}));
        return std::move(m_findings);
    }

private:
    const char* m_more;
    size_t m_count = 0;
    std::vector<CheckRow> m_findings;
};

const std::string& nameOf(const NetworkMatrix& matrix, int node) {
    return matrix.nodes[static_cast<size_t>(node)].name;
}

/// Ways that work by half, also between addresses that were not chosen: they could harm later.
std::vector<CheckRow> halfWays(const NetworkWays& ways) {
    const NetworkMatrix& matrix = ways.matrix();
    FirstFindings findings("half-way.more");
    const int count = static_cast<int>(matrix.nodes.size());
    for (int from = 0; from < count; ++from)
        for (int to = 0; to < count; ++to)
            for (const WayThere& way : ways.between(from, to))
                if (!isVirtualInterface(way.at.name) &&
                    (way.way == Way::kSomePorts || way.way == Way::kLosesLarge))
                    findings.add([&] {
                        const CheckRow row = PairWords(matrix, from, to).of(way);
                        return finding("half-way", {{"from", nameOf(matrix, from)},
                                                    {"to", nameOf(matrix, to)},
                                                    {"found", row.evidence},
                                                    {"cause", row.cause},
                                                    {"fix", row.fix}});
                    });
    return std::move(findings).take();
}

/// "a, b and c" or "7 nodes".
std::string fewOf(const std::vector<std::string>& nodes) {
    return nodes.size() > kFewNodes ? counted(static_cast<int64_t>(nodes.size()), "node")
                                    : listed(nodes);
}

/// Whom a node did not try, so that nothing is known of the way there.
std::vector<CheckRow> untriedFindings(const NetworkWays& ways) {
    const NetworkMatrix& matrix = ways.matrix();
    FirstFindings findings("untried.more");
    const int count = static_cast<int>(matrix.nodes.size());
    for (int from = 0; from < count; ++from) {
        std::vector<std::string> names;
        std::string error;
        for (int to = 0; to < count; ++to)
            if (isUntried(ways, from, to)) {
                names.push_back(nameOf(matrix, to));
                error = ways.between(from, to).front().trials.front()->answer.error;
            }
        if (!names.empty())
            findings.add([&] {
                return finding(
                    "untried",
                    {{"node", nameOf(matrix, from)}, {"others", fewOf(names)}, {"error", error}});
            });
    }
    return std::move(findings).take();
}

/// NetworkMatrix::optionalPort of a node, where it did not answer and others did.
struct BlockedPort {
    int to = 0;
    Reach reach = Reach::kDropped;
    std::vector<std::string> from;
    std::vector<std::string> at; ///< addresses
};

std::vector<BlockedPort> blockedPorts(const NetworkWays& ways) {
    const NetworkMatrix& matrix = ways.matrix();
    std::vector<BlockedPort> ports;
    const auto add = [](std::vector<std::string>& list, const std::string& item) {
        if (std::ranges::find(list, item) == list.end())
            list.push_back(item);
    };
    const int count = static_cast<int>(matrix.nodes.size());
    for (int to = 0; to < count; ++to)
        for (int from = 0; from < count; ++from)
            for (const WayThere& way : ways.between(from, to)) {
                const Reach reach = way.optional ? way.optional->answer.reach : Reach::kUntried;
                if (way.way != Way::kWorks || isVirtualInterface(way.at.name) ||
                    reach == Reach::kUntried || reach == Reach::kReached)
                    continue;
                auto port = std::ranges::find_if(ports, [&](const BlockedPort& known) {
                    return known.to == to && known.reach == reach;
                });
                if (port == ports.end())
                    port = ports.insert(port, {to, reach, {}, {}});
                add(port->from, nameOf(matrix, from));
                add(port->at, placeOf(way.at));
            }
    return ports;
}

std::vector<CheckRow> blockedPortFindings(const NetworkWays& ways) {
    const NetworkMatrix& matrix = ways.matrix();
    FirstFindings findings("port.more");
    for (const BlockedPort& blocked : blockedPorts(ways))
        findings.add([&] {
            return finding("port", {{"port", std::to_string(matrix.optionalPort)},
                                    {"how", reachWord(blocked.reach)},
                                    {"from", fewOf(blocked.from)},
                                    {"to", nameOf(matrix, blocked.to)},
                                    {"places", listed(blocked.at)}});
        });
    return std::move(findings).take();
}

} // namespace

std::string byInterface(const std::vector<std::string>& interfaces,
                        const std::vector<std::string>& nodes) {
    std::vector<std::pair<std::string, std::vector<std::string>>> groups;
    for (size_t i = 0; i < interfaces.size(); ++i) {
        if (interfaces[i].empty())
            continue;
        auto group = std::ranges::find(groups, interfaces[i], &decltype(groups)::value_type::first);
        if (group == groups.end())
            group = groups.insert(group, {interfaces[i], {}});
        group->second.push_back(nodes[i]);
    }
    std::vector<std::string> parts;
    for (const auto& [interface, on] : groups)
        parts.push_back(
            say("network.interface-on", {{"interface", interface}, {"nodes", fewOf(on)}}));
    return listed(parts);
}

namespace {

/// Where NCCL listens on the node.
const InterfaceReport& firstOfCard(const NetworkNode& node, const InterfaceReport& chosen) {
    const auto first = std::ranges::find_if(node.addresses, [&chosen](const auto& each) {
        return each.name == chosen.name && isSix(each.address) == isSix(chosen.address);
    });
    return first == node.addresses.end() ? chosen : *first;
}

CheckRow ncclFinding(const NetworkMatrix& matrix, const NetworkChoice& choice) {
    std::vector<std::string> places;
    for (size_t i = 0; i < choice.addresses.size(); ++i) {
        const InterfaceReport& chosen = choice.addresses[i];
        const InterfaceReport& first = firstOfCard(matrix.nodes[i], chosen);
        if (first.address != chosen.address)
            places.push_back(say("network.nccl-at", {{"place", placeOf(first)},
                                                     {"node", matrix.nodes[i].name},
                                                     {"address", chosen.address}}));
    }
    if (places.size() > kFewNodes)
        places = {places.front(),
                  say("network.nccl-more", {{"count", std::to_string(places.size() - 1)}})};
    return places.empty() ? CheckRow() : finding("nccl", {{"places", listed(places)}});
}

} // namespace

std::string ncclElsewhere(const NetworkMatrix& matrix, const NetworkChoice& choice) {
    const CheckRow row = ncclFinding(matrix, choice);
    return row.id.empty() ? std::string() : inWords(row);
}

namespace {

/// By which interface runs reach that node by a private network; empty: that is not known.
std::string privateInterface(const NetworkMatrix& last, const std::string& node,
                             const std::vector<InterfaceReport>& now) {
    const auto choice = chooseNetwork(last);
    const auto at = std::ranges::find(last.nodes, node, &NetworkNode::name);
    if (!choice || at == last.nodes.end())
        return {};
    const InterfaceReport& chosen = choice->addresses[static_cast<size_t>(at - last.nodes.begin())];
    const bool isThere = std::ranges::any_of(now, [&chosen](const InterfaceReport& each) {
        return isForOthers(each) && each.name == chosen.name && each.address == chosen.address;
    });
    const bool hasPublic = std::ranges::any_of(now, [&chosen](const InterfaceReport& each) {
        return each.name == chosen.name && isPublic(each.address);
    });
    return isThere && !hasPublic && !isVirtualInterface(chosen.name) ? chosen.name : std::string();
}

} // namespace

std::string publicAddressFix(const std::optional<NetworkMatrix>& last, const std::string& node,
                             const std::vector<InterfaceReport>& now) {
    const std::string closed = last ? privateInterface(*last, node, now) : std::string();
    return closed.empty() ? say("network.admit-nodes")
                          : say("network.admit-nodes-or-private", {{"interface", closed}});
}

std::string cellWords(const WayThere& way) {
    switch (way.way) {
    case Way::kUnknown:
        return say("network.not-tried");
    case Way::kWorks:
        return milliseconds(way.microseconds);
    case Way::kSomePorts:
        return say("network.some-ports");
    case Way::kLosesLarge:
        return say("network.small-only");
    case Way::kBlocked:
        return reachWord(failureOf(way)->reach);
    }
    return {};
}

std::string wayInWords(const WayThere& way) {
    std::vector<std::string> ports;
    for (const NetworkTrial* trial : way.trials) {
        const DialAnswer& answer = trial->answer;
        ports.push_back(std::to_string(trial->port) + ' ' +
                        (answer.reach == Reach::kReached ? milliseconds(answer.microseconds)
                                                         : reachWord(answer.reach)));
    }
    const Value place{"place", placeOf(way.at)}, tried{"ports", joined(ports, ", ")};
    std::string words = way.interface.empty()
                            ? say("network.way", {place, tried})
                            : say("network.way-by", {place, tried, {"interface", way.interface}});
    if (way.way == Way::kLosesLarge)
        append(words, say("network.loses-large"), ", ");
    if (way.mtu > 0)
        append(words, say("network.mtu", {{"mtu", std::to_string(way.mtu)}}), ", ");
    return words;
}

namespace {

CheckRow blockedWay(const NetworkWays& ways, int from, int to) {
    const NetworkMatrix& matrix = ways.matrix();
    const Value source{"from", nameOf(matrix, from)}, target{"to", nameOf(matrix, to)};
    // A card without a route and a bridge say little where another address is there.
    std::vector<CheckRow> parts, others;
    for (const WayThere& way : ways.between(from, to)) {
        CheckRow part = PairWords(matrix, from, to).of(way);
        const DialAnswer* failure = failureOf(way);
        const bool saysLittle =
            isVirtualInterface(way.at.name) || (failure && failure->reach == Reach::kNoRoute);
        if (!part.id.empty())
            (saysLittle ? others : parts).push_back(std::move(part));
    }
    if (parts.empty())
        parts = others;
    if (parts.empty())
        parts = {finding("way.no-address", {source, target})};
    std::vector<std::string> causes, fixes;
    for (const CheckRow& part : parts) {
        causes.push_back(withCause(part));
        if (std::ranges::find(fixes, part.fix) == fixes.end())
            fixes.push_back(part.fix);
    }
    if (works(ways, to, from))
        causes.push_back(say("network.back-works"));
    return finding("way", {source, target, {"causes", joined(causes)}, {"fixes", joined(fixes)}});
}

std::vector<CheckRow> blockedWays(const NetworkWays& ways) {
    FirstFindings findings("way.more");
    forEachBlocked(
        ways, [&](int from, int to) { findings.add([&] { return blockedWay(ways, from, to); }); });
    return std::move(findings).take();
}

CheckRow choiceFinding(const NetworkMatrix& matrix, const std::optional<NetworkChoice>& choice,
                       bool isUnknown) {
    const size_t taking = countTaking(matrix);
    if (taking < 2)
        return finding("choice.few");
    if (isUnknown)
        return finding("choice.unknown");
    if (!choice)
        return finding("choice.none");
    const Value interfaces{"interfaces", choiceInWords(matrix, *choice)};
    if (taking == matrix.nodes.size())
        return finding(choice->isWhole ? "choice" : "choice.as-tried", {interfaces});
    return finding(choice->isWhole ? "choice.of-others" : "choice.of-others-as-tried",
                   {interfaces});
}

} // namespace

std::string whyBlocked(const NetworkMatrix& matrix, int from, int to) {
    const NetworkWays ways(matrix);
    return works(ways, from, to) ? std::string() : inWords(blockedWay(ways, from, to));
}

std::string whyNoNetwork(const NetworkMatrix& matrix) {
    const NetworkWays ways(matrix);
    auto findings = blockedWays(ways);
    if (findings.empty())
        findings = untriedFindings(ways);
    if (findings.empty())
        return say("network.no-common-address");
    std::vector<std::string> sentences;
    for (const CheckRow& row : findings)
        sentences.push_back(inWords(row));
    return joined(sentences, ". ");
}

std::vector<CheckRow> networkFindings(const NetworkMatrix& matrix) {
    const auto choice = chooseNetwork(matrix);
    const NetworkWays ways(matrix);
    const auto blocked = choice ? std::vector<CheckRow>() : blockedWays(ways);
    const auto untried = untriedFindings(ways);
    const bool isUnknown = !choice && blocked.empty() && !untried.empty();
    std::vector<CheckRow> findings;
    const auto add = [&findings](const std::vector<CheckRow>& more) {
        findings.insert(findings.end(), more.begin(), more.end());
    };
    for (const NetworkNode& node : matrix.nodes)
        if (!node.problem.empty())
            findings.push_back(
                finding("node", {{"node", node.name},
                                 {"problem", node.problem},
                                 {"command", "ringmaster nodes check " + node.name}}));
    findings.push_back(choiceFinding(matrix, choice, isUnknown)); // behind whom it leaves out
    if (auto nccl = choice ? ncclFinding(matrix, *choice) : CheckRow(); !nccl.id.empty())
        findings.push_back(std::move(nccl));
    add(blocked.empty() ? halfWays(ways) : blocked);
    add(untried);
    add(blockedPortFindings(ways));
    return findings;
}

std::vector<std::string> networkSentences(const std::vector<CheckRow>& findings) {
    std::vector<std::string> sentences;
    for (const CheckRow& row : findings)
        sentences.push_back(inWords(row) + ".");
    return sentences;
}

int countBlocked(const NetworkMatrix& matrix) {
    int count = 0;
    forEachBlocked(NetworkWays(matrix), [&count](int, int) { ++count; });
    return count;
}

} // namespace rm

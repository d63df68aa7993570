// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/network/network_words.h"

#include "app/core/network/address_kind.h"

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

const char* reachWord(Reach reach) {
    switch (reach) {
    case Reach::kUntried:
        return "not tried";
    case Reach::kReached:
        return "reached";
    case Reach::kRefused:
        return "refused";
    case Reach::kNoRoute:
        return "no route";
    case Reach::kRejected:
        return "rejected";
    case Reach::kDropped:
        return "dropped";
    case Reach::kStranger:
        return "somebody else";
    case Reach::kSilent:
        return "silent";
    case Reach::kUnreachable:
        return "unreachable";
    case Reach::kNoNeighbour:
        return "no neighbour";
    }
    return "";
}

std::string listed(const std::vector<std::string>& items, const char* last = " and ") {
    std::string text;
    for (size_t i = 0; i < items.size(); ++i)
        text += (i == 0 ? "" : i + 1 == items.size() ? last : ", ") + items[i];
    return text;
}

std::string joined(const std::vector<std::string>& items, const char* between) {
    std::string text;
    for (const std::string& item : items)
        text += (text.empty() ? "" : between) + item;
    return text;
}

std::string placeOf(const InterfaceReport& at) {
    return at.address + " (" + at.name + ")";
}

/// The ports that were reached, or the others.
std::string portsWith(const WayThere& way, bool isReached) {
    std::vector<std::string> ports;
    for (const NetworkTrial* trial : way.trials)
        if (trial->answer.reach != Reach::kUntried &&
            (trial->answer.reach == Reach::kReached) == isReached)
            ports.push_back(std::to_string(trial->port));
    return listed(ports, isReached ? " and " : " or ");
}

std::string portsMeeting(const WayThere& way, Reach reach) {
    std::vector<std::string> ports;
    for (const NetworkTrial* trial : way.trials)
        if (trial->answer.reach == reach)
            ports.push_back(std::to_string(trial->port));
    return listed(ports, " or ");
}

/// A way in words; parts that are not known are empty.
struct Told {
    std::string found;
    std::string cause;
    std::string fix;
};

/// One pair in one direction, in words.
class Telling {
public:
    Telling(const NetworkMatrix& matrix, int from, int to)
        : m_matrix(matrix)
        , m_from(matrix.nodes[static_cast<size_t>(from)])
        , m_to(matrix.nodes[static_cast<size_t>(to)])
        , m_fromIndex(from)
        , m_toIndex(to) {}

    /// Empty: it works.
    Told of(const WayThere& way) const {
        switch (way.way) {
        case Way::kSomePorts:
            return somePorts(way, *failureOf(way));
        case Way::kLosesLarge:
            return {placeOf(way.at) + " answers, but packets of full size are lost on the way " +
                        (isLostBack(way) ? "back" : "there" + mtuOf(way)),
                    "something between has a smaller MTU and does not say so",
                    "set a smaller MTU on " + way.interface + " of " + m_from.name + " and " +
                        way.at.name + " of " + m_to.name + ", or let ICMP through"};
        case Way::kBlocked:
            return blocked(way, *failureOf(way));
        case Way::kUnknown:
            return {placeOf(way.at) + " was not tried", way.trials.front()->answer.error, {}};
        case Way::kWorks:
            break;
        }
        return {};
    }

private:
    Told somePorts(const WayThere& way, const DialAnswer& failure) const {
        const bool isFirewall = failure.reach == Reach::kDropped ||
                                failure.reach == Reach::kRefused ||
                                failure.reach == Reach::kRejected;
        return {placeOf(way.at) + " answers at port " + portsWith(way, true) + ", but not at " +
                    portsWith(way, false) + " (" + reachWord(failure.reach) + ")",
                (isFirewall ? "a firewall lets only some ports through" : failure.error) +
                    ", and Gloo and NCCL open ports of " + range(),
                advice(way)};
    }

    Told blocked(const WayThere& way, const DialAnswer& failure) const {
        const std::string place = placeOf(way.at), ports = portsMeeting(way, failure.reach);
        if (isOwnToo(way.at))
            return {place + " is an address of " + m_from.name + " itself, too", {}, {}};
        switch (failure.reach) {
        case Reach::kDropped:
            return {place + " does not answer at port " + ports, whyDropped(way), advice(way)};
        case Reach::kRefused:
            return {place + " refuses port " + ports + ", although its agent listens there",
                    "a firewall answers in its place, or another machine has that address",
                    {}};
        case Reach::kNoRoute:
            return {"its own routes do not lead to " + place, failure.error,
                    "give both an address in one network, or " + m_from.name + " a route there"};
        case Reach::kNoNeighbour:
            return {place + " cannot be found",
                    failure.error +
                        ", so the cards of the two are in different networks (switch or VLAN), or "
                        "a link is down",
                    "put both cards into one network, or see to that link"};
        case Reach::kRejected:
            return {whose(failure) + " rejects connections to " + place + " by ICMP (" +
                        failure.error + ")",
                    {},
                    advice(way)};
        case Reach::kUnreachable:
            return {whose(failure) + " answers that " + place + " cannot be reached by it",
                    failure.error,
                    "give that router a way there, or both an address in one network"};
        case Reach::kStranger:
            return {"at " + place + " " + failure.error, {}, {}};
        case Reach::kSilent:
            return {place + " takes connections at port " + ports + ", and " + failure.error,
                    "a proxy or firewall takes them in the place of its agent, or lets no data "
                    "through",
                    {}};
        case Reach::kUntried:
        case Reach::kReached:
            break;
        }
        return {place + " was not tried in time", {}, {}};
    }

    /// Who answered by ICMP.
    std::string whose(const DialAnswer& failure) const {
        const std::string& by = failure.answeredBy;
        if (by.empty())
            return "a router or firewall";
        if (hasAddress(m_from, by))
            return "a firewall or router on " + m_from.name + " itself (" + by + ")";
        if (hasAddress(m_to, by))
            return "the firewall of " + m_to.name + " (" + by + ")";
        return "a router or firewall between (" + by + ")";
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

    static std::string mtuOf(const WayThere& way) {
        return way.mtu > 0 ? " (an MTU of " + std::to_string(way.mtu) + " was taken for granted)"
                           : std::string();
    }

    /// Silence alone does not tell what drops: the sending node, the receiving one, its answer, or
    /// something between. What else was tried may tell it.
    std::string whyDropped(const WayThere& way) const {
        const std::string source = sourceOf(way);
        if (const DialAnswer* back = ownRouteOf(m_toIndex, m_fromIndex, source))
            return "the routes of " + m_to.name + " do not lead back to " + source + " (" +
                   back->error + ")";
        const Others there = othersTo(way.at.address), here = othersFrom(way.interface);
        if (there.reached && here.reached)
            return "dropped between these two alone, by a firewall on " + m_from.name + ", on " +
                   m_to.name + " or by something between, as others reach that address and " +
                   m_from.name + " reaches others";
        if (there.reached && here.asked)
            return "dropped by a firewall for what leaves " + m_from.name +
                   ", on it or next to it, as others reach that address and it reaches nobody by " +
                   way.interface;
        if (there.asked && !there.reached && here.reached)
            return "dropped by a firewall for what comes to " + m_to.name +
                   ", on it or next to it, as nobody reaches that address and " + m_from.name +
                   " reaches others";
        return "dropped by a firewall on " + m_from.name + ", on " + m_to.name +
               " or by something between";
    }

    /// How dials of others went.
    struct Others {
        bool asked = false;
        bool reached = false;

        void add(const NetworkTrial& trial) {
            asked = asked || trial.answer.reach == Reach::kDropped;
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
        return "let TCP from " + sourceOf(way) + " to ports " +
               (isNeeded ? std::to_string(port) + " and " : "") + range() + " through";
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
std::set<std::pair<int, int>> askedPairs(const NetworkMatrix& matrix) {
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
    for (const auto& [from, to] : askedPairs(ways.matrix()))
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

CheckRow finding(const char* id, CheckRow::State state, std::string title, Told told) {
    return {id,
            state,
            std::move(title),
            std::move(told.found),
            std::move(told.cause),
            std::move(told.fix)};
}

/// "found: cause; fix".
std::string inWords(const std::string& found, const std::string& cause, const std::string& fix) {
    return found + (cause.empty() ? "" : ": ") + cause + (fix.empty() ? "" : "; ") + fix;
}

std::string inWords(const CheckRow& row) {
    return inWords(row.evidence, row.cause, row.fix);
}

/// As many findings as people read, and how many more there would be, which are not made: among 64
/// nodes there are 4032 pairs.
class FirstFindings {
public:
    template <class Make>
    void add(Make make) {
        if (++m_count <= kMostFindings)
            m_findings.push_back(make());
    }
    std::vector<CheckRow> take() && {
        if (m_count > kMostFindings)
            m_findings.push_back(
                finding(m_findings.back().id.c_str(), m_findings.back().state, "More",
                        {"And " + std::to_string(m_count - kMostFindings) + " more such", {}, {}}));
        return std::move(m_findings);
    }

private:
    size_t m_count = 0;
    std::vector<CheckRow> m_findings;
};

const std::string& nameOf(const NetworkMatrix& matrix, int node) {
    return matrix.nodes[static_cast<size_t>(node)].name;
}

std::string titleOf(const NetworkMatrix& matrix, int from, int to) {
    return nameOf(matrix, from) + " to " + nameOf(matrix, to);
}

/// Ways that work by half, also between addresses that were not chosen: they could harm later.
std::vector<CheckRow> halfWays(const NetworkWays& ways) {
    const NetworkMatrix& matrix = ways.matrix();
    FirstFindings findings;
    const int count = static_cast<int>(matrix.nodes.size());
    for (int from = 0; from < count; ++from)
        for (int to = 0; to < count; ++to)
            for (const WayThere& way : ways.between(from, to))
                if (!isVirtualInterface(way.at.name) &&
                    (way.way == Way::kSomePorts || way.way == Way::kLosesLarge))
                    findings.add([&] {
                        Told told = Telling(matrix, from, to).of(way);
                        told.found = "From " + nameOf(matrix, from) + ", " + told.found;
                        return finding("half-way", CheckRow::State::kWarning,
                                       titleOf(matrix, from, to), std::move(told));
                    });
    return std::move(findings).take();
}

/// "a, b and c" or "7 nodes".
std::string fewOf(const std::vector<std::string>& nodes) {
    return nodes.size() > kFewNodes ? std::to_string(nodes.size()) + " nodes" : listed(nodes);
}

/// Whom a node did not try, so that nothing is known of the way there.
std::vector<CheckRow> untriedFindings(const NetworkWays& ways) {
    const NetworkMatrix& matrix = ways.matrix();
    FirstFindings findings;
    const int count = static_cast<int>(matrix.nodes.size());
    for (int from = 0; from < count; ++from) {
        std::vector<std::string> names;
        std::string cause;
        for (int to = 0; to < count; ++to)
            if (isUntried(ways, from, to)) {
                names.push_back(nameOf(matrix, to));
                cause = ways.between(from, to).front().trials.front()->answer.error;
            }
        if (!names.empty())
            findings.add([&] {
                return finding("untried", CheckRow::State::kBad, nameOf(matrix, from),
                               {nameOf(matrix, from) + " did not try " + fewOf(names), cause,
                                "try fewer nodes at a time"});
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
    const std::string port = std::to_string(matrix.optionalPort);
    FirstFindings findings;
    for (const BlockedPort& blocked : blockedPorts(ways))
        findings.add([&] {
            const std::string from = fewOf(blocked.from);
            const std::string& to = nameOf(matrix, blocked.to);
            return finding("port", CheckRow::State::kWarning, "Port " + port,
                           {"Port " + port + " is blocked (" + reachWord(blocked.reach) +
                                ") from " + from + " to " + to + " at " + listed(blocked.at),
                            "it matters only if launch.master_port names it",
                            "leave launch.master_port at 0, or let TCP from " + from + " to port " +
                                port + " of " + to + " through"});
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
        parts.push_back(interface + " on " + fewOf(on));
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
            places.push_back(placeOf(first) + " on " + matrix.nodes[i].name + ", not at " +
                             chosen.address);
    }
    if (places.size() > kFewNodes)
        places = {places.front(), std::to_string(places.size() - 1) + " more nodes alike"};
    if (places.empty())
        return {};
    return finding("nccl", CheckRow::State::kWarning, "NCCL",
                   {"On GPUs, NCCL listens at " + listed(places),
                    "it takes the first address of a card, whichever leads to the others",
                    "make the chosen one the first there, or put it on a card of its own"});
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
    return "let a firewall admit the other nodes alone" +
           (closed.empty()
                ? std::string()
                : ", or keep to a private network: launch.interface = \"" + closed + '"');
}

std::string cellWords(const WayThere& way) {
    switch (way.way) {
    case Way::kUnknown:
        return "not tried";
    case Way::kWorks:
        return milliseconds(way.microseconds);
    case Way::kSomePorts:
        return "some ports";
    case Way::kLosesLarge:
        return "small only";
    case Way::kBlocked:
        return reachWord(failureOf(way)->reach);
    }
    return {};
}

std::string wayInWords(const WayThere& way) {
    std::string text = placeOf(way.at);
    if (!way.interface.empty())
        text += " by " + way.interface;
    std::vector<std::string> ports;
    for (const NetworkTrial* trial : way.trials) {
        const DialAnswer& answer = trial->answer;
        ports.push_back(std::to_string(trial->port) + " " +
                        (answer.reach == Reach::kReached ? milliseconds(answer.microseconds)
                                                         : reachWord(answer.reach)));
    }
    text += ": " + listed(ports, ", ");
    if (way.way == Way::kLosesLarge)
        text += ", large packets are lost";
    return way.mtu > 0 ? text + ", MTU " + std::to_string(way.mtu) : text;
}

namespace {

CheckRow blockedWay(const NetworkWays& ways, int from, int to) {
    const NetworkMatrix& matrix = ways.matrix();
    // A card without a route and a bridge say little where another address is there.
    std::vector<Told> parts, others;
    for (const WayThere& way : ways.between(from, to)) {
        Told part = Telling(matrix, from, to).of(way);
        const DialAnswer* failure = failureOf(way);
        const bool saysLittle =
            isVirtualInterface(way.at.name) || (failure && failure->reach == Reach::kNoRoute);
        if (!part.found.empty())
            (saysLittle ? others : parts).push_back(std::move(part));
    }
    if (parts.empty())
        parts = others;
    std::vector<std::string> causes, fixes;
    for (const Told& part : parts) {
        causes.push_back(inWords(part.found, part.cause, {}));
        if (!part.fix.empty() && std::ranges::find(fixes, part.fix) == fixes.end())
            fixes.push_back(part.fix);
    }
    if (causes.empty())
        causes.emplace_back("it has no address that other machines could reach");
    if (works(ways, to, from))
        causes.emplace_back("the other direction works");
    return finding("way", CheckRow::State::kBad, titleOf(matrix, from, to),
                   {nameOf(matrix, from) + " cannot reach " + nameOf(matrix, to),
                    joined(causes, "; "), joined(fixes, "; ")});
}

std::vector<CheckRow> blockedWays(const NetworkWays& ways) {
    FirstFindings findings;
    forEachBlocked(
        ways, [&](int from, int to) { findings.add([&] { return blockedWay(ways, from, to); }); });
    return std::move(findings).take();
}

CheckRow choiceFinding(const NetworkMatrix& matrix, const std::optional<NetworkChoice>& choice,
                       bool isUnknown) {
    const char* const id = "choice";
    const char* const title = "Network of all";
    if (countTaking(matrix) < 2)
        return finding(id, CheckRow::State::kWarning, title,
                       {"Fewer than two nodes answered, so there is nothing between them to be "
                        "measured",
                        {},
                        {}});
    if (isUnknown)
        return finding(id, CheckRow::State::kBad, title,
                       {"It is not known by which network all of them reach each other",
                        "not every pair was tried",
                        {}});
    if (!choice)
        return finding(id, CheckRow::State::kBad, title,
                       {"There is no network by which all of them reach each other",
                        "a run on all of them would be refused",
                        {}});
    const bool areAll = countTaking(matrix) == matrix.nodes.size();
    return finding(id, CheckRow::State::kGood, title,
                   {(areAll ? "All reach" : "All others reach") +
                        std::string(" each other in both directions by ") +
                        choiceInWords(matrix, *choice) +
                        (choice->isWhole ? "" : ", as far as there was time to try"),
                    "runs set NCCL_SOCKET_IFNAME and GLOO_SOCKET_IFNAME to that. "
                    "launch.interface of a run's spec names another",
                    {}});
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
        return "each pair of nodes has a way, but there is no address of every node that all "
               "others reach; `ringmaster nodes network` shows which pair uses which";
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
            findings.push_back(finding("node", CheckRow::State::kBad, node.name,
                                       {node.name + " took no part", node.problem, {}}));
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

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/findings/tables.h"

#include <QCoreApplication>

namespace rm {

namespace {

constexpr auto kGood = CheckRow::State::kGood;
constexpr auto kWarning = CheckRow::State::kWarning;
constexpr auto kBad = CheckRow::State::kBad;

/// Which ways there are between nodes and what stands in them, and what is wrong with an answer of
/// an agent.
struct NetworkTexts {
    Q_DECLARE_TR_FUNCTIONS(Findings)
    // Texts of several findings.
    static constexpr const char* kMore = QT_TR_NOOP("More");
    static constexpr const char* kCountMore = QT_TR_NOOP("And {count} more such");
    static constexpr const char* kThoseFirst = QT_TR_NOOP("correct those above, then try again");
    static constexpr const char* kFewer = QT_TR_NOOP("try fewer nodes at a time");
    static constexpr const char* kSetInterfaces =
        QT_TR_NOOP("runs set NCCL_SOCKET_IFNAME and GLOO_SOCKET_IFNAME to that. launch.interface "
                   "of a run's spec names another");
    static constexpr const char* kSomePorts =
        QT_TR_NOOP("{place} answers at port {open}, but not at {closed} ({how})");
    static constexpr const char* kSmallerMtu =
        QT_TR_NOOP("something between has a smaller MTU and does not say so");
    static constexpr const char* kSetMtu =
        QT_TR_NOOP("set a smaller MTU on {interface} of {from} and {their-interface} of {to}, or "
                   "let ICMP through");

public:
    static constexpr FindingText kFindings[] = {
        {"choice", kGood, QT_TR_NOOP("Network of all"),
         QT_TR_NOOP("All reach each other in both directions by {interfaces}"), kSetInterfaces},
        {"choice.as-tried", kGood, "",
         QT_TR_NOOP("All reach each other in both directions by {interfaces}, as far as there was "
                    "time to try"),
         kSetInterfaces},
        {"choice.of-others", kGood, "",
         QT_TR_NOOP("All others reach each other in both directions by {interfaces}"),
         kSetInterfaces},
        {"choice.of-others-as-tried", kGood, "",
         QT_TR_NOOP("All others reach each other in both directions by {interfaces}, as far as "
                    "there was time to try"),
         kSetInterfaces},
        {"choice.few", kWarning, "",
         QT_TR_NOOP("Fewer than two nodes answered, so there is nothing between them to be "
                    "measured"),
         "", QT_TR_NOOP("measure between two or more nodes that answer")},
        {"choice.unknown", kBad, "",
         QT_TR_NOOP("It is not known by which network all of them reach each other"),
         QT_TR_NOOP("not every pair was tried"), kFewer},
        {"choice.none", kBad, "",
         QT_TR_NOOP("There is no network by which all of them reach each other"),
         QT_TR_NOOP("a run on all of them would be refused"),
         QT_TR_NOOP("run on nodes that reach each other, or give all of them one network")},

        {"nccl", kWarning, QT_TR_NOOP("NCCL"), QT_TR_NOOP("On GPUs, NCCL listens at {places}"),
         QT_TR_NOOP("it takes the first address of a card, whichever leads to the others"),
         QT_TR_NOOP("make the chosen one the first there, or put it on a card of its own")},

        {"node", kBad, QT_TR_NOOP("{node}"), QT_TR_NOOP("{node} took no part"),
         QT_TR_NOOP("{problem}"), QT_TR_NOOP("see with {command} what is wrong with it")},

        // A pair in one direction. Causes and fixes are those of the findings of single addresses,
        // which follow.
        {"way", kBad, QT_TR_NOOP("{from} to {to}"), QT_TR_NOOP("{from} cannot reach {to}"),
         QT_TR_NOOP("{causes}"), QT_TR_NOOP("{fixes}")},
        {"way.no-address", kBad, "",
         QT_TR_NOOP("it has no address that other machines could reach"), "",
         QT_TR_NOOP("give {to} an address in the network of {from}")},
        {"way.more", kBad, kMore, kCountMore, "", kThoseFirst},
        {"way.some-ports", kBad, QT_TR_NOOP("{place}"), kSomePorts,
         QT_TR_NOOP("a firewall lets only some ports through, and Gloo and NCCL open ports of "
                    "{range}"),
         QT_TR_NOOP("{fix}")},
        {"way.some-ports-fail", kBad, "", kSomePorts,
         QT_TR_NOOP("{error}, and Gloo and NCCL open ports of {range}"), QT_TR_NOOP("{fix}")},
        {"way.loses-large", kBad, "",
         QT_TR_NOOP("{place} answers, but packets of full size are lost on the way there"),
         kSmallerMtu, kSetMtu},
        {"way.loses-large-of-mtu", kBad, "",
         QT_TR_NOOP("{place} answers, but packets of full size are lost on the way there (an MTU "
                    "of {mtu} was taken for granted)"),
         kSmallerMtu, kSetMtu},
        {"way.loses-large-back", kBad, "",
         QT_TR_NOOP("{place} answers, but packets of full size are lost on the way back"),
         kSmallerMtu, kSetMtu},
        {"way.untried", kBad, "", QT_TR_NOOP("{place} was not tried"), QT_TR_NOOP("{error}"),
         QT_TR_NOOP("try again, or fewer nodes at a time")},
        {"way.own-address", kBad, "", QT_TR_NOOP("{place} is an address of {from} itself, too"), "",
         QT_TR_NOOP("give each of the two an address of its own")},
        {"way.dropped", kBad, "", QT_TR_NOOP("{place} does not answer at port {ports}"),
         QT_TR_NOOP("{why}"), QT_TR_NOOP("{fix}")},
        {"way.refused", kBad, "",
         QT_TR_NOOP("{place} refuses port {ports}, although its agent listens there"),
         QT_TR_NOOP("a firewall answers in its place, or another machine has that address"),
         QT_TR_NOOP("{fix}, or give that other machine another address")},
        {"way.no-route", kBad, "", QT_TR_NOOP("its own routes do not lead to {place}"),
         QT_TR_NOOP("{error}"),
         QT_TR_NOOP("give both an address in one network, or {from} a route there")},
        {"way.no-neighbour", kBad, "", QT_TR_NOOP("{place} cannot be found"),
         QT_TR_NOOP("{error}, so the cards of the two are in different networks (switch or VLAN), "
                    "or a link is down"),
         QT_TR_NOOP("put both cards into one network, or see to that link")},
        {"way.rejected", kBad, "",
         QT_TR_NOOP("{who} rejects connections to {place} by ICMP ({error})"), "",
         QT_TR_NOOP("{fix}")},
        {"way.unreachable", kBad, "",
         QT_TR_NOOP("{who} answers that {place} cannot be reached by it"), QT_TR_NOOP("{error}"),
         QT_TR_NOOP("give that router a way there, or both an address in one network")},
        {"way.stranger", kBad, "", QT_TR_NOOP("at {place} {error}"), "",
         QT_TR_NOOP("find what answers there, and give it another address")},
        {"way.silent", kBad, "",
         QT_TR_NOOP("{place} takes connections at port {ports}, and {error}"),
         QT_TR_NOOP("a proxy or firewall takes them in the place of its agent, or lets no data "
                    "through"),
         QT_TR_NOOP("{fix}, without a proxy between")},

        {"half-way", kWarning, QT_TR_NOOP("{from} to {to}"), QT_TR_NOOP("From {from}, {found}"),
         QT_TR_NOOP("{cause}"), QT_TR_NOOP("{fix}")},
        {"half-way.more", kWarning, kMore, kCountMore, "", kThoseFirst},

        {"untried", kBad, QT_TR_NOOP("{node}"), QT_TR_NOOP("{node} did not try {others}"),
         QT_TR_NOOP("{error}"), kFewer},
        {"untried.more", kBad, kMore, kCountMore, "", kThoseFirst},

        {"port", kWarning, QT_TR_NOOP("Port {port}"),
         QT_TR_NOOP("Port {port} is blocked ({how}) from {from} to {to} at {places}"),
         QT_TR_NOOP("it matters only if launch.master_port names it"),
         QT_TR_NOOP("leave launch.master_port at 0, or let TCP from {from} to port {port} of {to} "
                    "through")},
        {"port.more", kWarning, kMore, kCountMore, "", kThoseFirst},
    };
    static constexpr Phrase kPhrases[] = {
        {"network.not-tried", QT_TR_NOOP("not tried")},
        {"network.reached", QT_TR_NOOP("reached")},
        {"network.refused", QT_TR_NOOP("refused")},
        {"network.no-route", QT_TR_NOOP("no route")},
        {"network.rejected", QT_TR_NOOP("rejected")},
        {"network.dropped", QT_TR_NOOP("dropped")},
        {"network.stranger", QT_TR_NOOP("somebody else")},
        {"network.silent", QT_TR_NOOP("silent")},
        {"network.unreachable", QT_TR_NOOP("unreachable")},
        {"network.no-neighbour", QT_TR_NOOP("no neighbour")},
        {"network.some-ports", QT_TR_NOOP("some ports")},
        {"network.small-only", QT_TR_NOOP("small only")},

        {"network.place", QT_TR_NOOP("{address} ({interface})")},
        {"network.way", QT_TR_NOOP("{place}: {ports}")},
        {"network.way-by", QT_TR_NOOP("{place} by {interface}: {ports}")},
        {"network.loses-large", QT_TR_NOOP("large packets are lost")},
        {"network.mtu", QT_TR_NOOP("MTU {mtu}")},
        {"network.interface-on", QT_TR_NOOP("{interface} on {nodes}")},
        {"network.nccl-at", QT_TR_NOOP("{place} on {node}, not at {address}")},
        {"network.nccl-more", QT_TR_NOOP("{count} more nodes alike")},

        // What drops what is sent: the cause of "way.dropped".
        {"network.no-route-back",
         QT_TR_NOOP("the routes of {to} do not lead back to {source} ({error})")},
        {"network.dropped-between",
         QT_TR_NOOP("dropped between these two alone, by a firewall on {from}, on {to} or by "
                    "something between, as others reach that address and {from} reaches others")},
        {"network.dropped-leaving",
         QT_TR_NOOP("dropped by a firewall for what leaves {from}, on it or next to it, as others "
                    "reach that address and it reaches nobody by {interface}")},
        {"network.dropped-coming",
         QT_TR_NOOP("dropped by a firewall for what comes to {to}, on it or next to it, as nobody "
                    "reaches that address and {from} reaches others")},
        {"network.dropped-somewhere",
         QT_TR_NOOP("dropped by a firewall on {from}, on {to} or by something between")},

        // Who answers in the place of an address.
        {"network.some-firewall", QT_TR_NOOP("a router or firewall")},
        {"network.own-firewall", QT_TR_NOOP("a firewall or router on {node} itself ({address})")},
        {"network.their-firewall", QT_TR_NOOP("the firewall of {node} ({address})")},
        {"network.firewall-between", QT_TR_NOOP("a router or firewall between ({address})")},

        {"network.let-through", QT_TR_NOOP("let TCP from {source} to ports {range} through")},
        {"network.let-port-through",
         QT_TR_NOOP("let TCP from {source} to ports {port} and {range} through")},
        {"network.back-works", QT_TR_NOOP("the other direction works")},
        {"network.no-common-address",
         QT_TR_NOOP("each pair of nodes has a way, but there is no address of every node that all "
                    "others reach; `ringmaster nodes network` shows which pair uses which")},
        {"network.admit-nodes", QT_TR_NOOP("let a firewall admit the other nodes alone")},
        {"network.admit-nodes-or-private",
         QT_TR_NOOP("let a firewall admit the other nodes alone, or keep to a private network: "
                    "launch.interface = \"{interface}\"")},

        // Errors of the file that keeps what was measured.
        {"network.no-measurement",
         QT_TR_NOOP("read {file}: it is no measurement of the network; measure again")},
        {"network.of-later-release",
         QT_TR_NOOP("read {file}: a later release wrote it; measure again")},
        {"network.not-measured", QT_TR_NOOP("read {file}: nothing was measured yet")},

        // What was attempted: the part of an error's message before its ": ".
        {"agent.read-folder", QT_TR_NOOP("read checkpoint.directory")},
        {"agent.open-port", QT_TR_NOOP("open a rendezvous port on {where}")},
        {"agent.dial", QT_TR_NOOP("dial from {where}")},

        // A path that a rank could not read, behind "which".
        {"agent.missing", QT_TR_NOOP("is not there")},
        {"agent.denied", QT_TR_NOOP("cannot be read: {error}")},
        {"agent.empty", QT_TR_NOOP("is an empty folder")},
        {"agent.other", QT_TR_NOOP("is neither a file nor a folder")},

        {"agent.answer", QT_TR_NOOP("the agent's answer to {command}")},
        {"agent.no-folder", QT_TR_NOOP("folder: the agent's answer tells of no folder")},
        {"agent.no-answers", QT_TR_NOOP("ask: the agent's answer is none to what was asked")},
        {"agent.no-fingerprint", QT_TR_NOOP("fingerprint: the agent's answer holds none")},
        {"agent.no-job", QT_TR_NOOP("submit: the agent's answer names no job")},
        {"agent.no-verdict", QT_TR_NOOP("verify-checkpoint: the agent's answer is no verdict")},
        {"agent.no-checkpoint",
         QT_TR_NOOP("find-checkpoint: the agent's answer names no checkpoint")},
        {"agent.no-run-folder", QT_TR_NOOP("remove: the agent's answer names no folder")},
        {"agent.odd-named-folder", QT_TR_NOOP("remove: the agent's answer names a folder wrongly")},
    };
};

} // namespace

TextTable networkTexts() {
    return {NetworkTexts::kFindings, NetworkTexts::kPhrases};
}

} // namespace rm

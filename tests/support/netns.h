// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/io/descriptor.h"
#include "shared/result.h"

#include <QString>
#include <QStringList>

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace rm {

/// Whether this process may make network namespaces (root with ip(8)); else why not.
Result<void> canMakeNamespaces();

/// A process seen in /proc.
struct SeenProcess {
    pid_t pid = 0;
    QString command; ///< its arguments joined by spaces
};

/// A network in namespaces, isolated from the machine's: the laptop and its nodes, each a network
/// namespace. Interfaces on a node: `mgmt0` to the laptop, `data0` to the other nodes, by a cable
/// where there are two and else by a router, as the kernel has room for 1024 neighbours in all
/// namespaces together. The laptop cannot reach the data network, and no node forwards.
///
///     laptop 10.231.1.1 -- 10.231.1.2 node 0 10.232.0.1 --.
///     laptop 10.231.2.1 -- 10.231.2.2 node 1 10.232.0.2 --+
///
/// Names carry this process's pid; what a dead process of the same `label` left is removed first.
/// The destructor kills what still runs inside and removes everything, within 10 s.
class NetworkLab {
public:
    static constexpr int kNodes = 2; ///< unless one asks for others
    static constexpr int kMaxNodes = 64;

    /// `nodes`: 2 to kMaxNodes.
    static Result<NetworkLab> create(const QString& label, int nodes = kNodes);
    NetworkLab(NetworkLab&& other) noexcept;
    NetworkLab& operator=(NetworkLab&&) = delete;
    ~NetworkLab();

    QString laptop() const; ///< namespace names
    QString node(int index) const;
    static QString managementAddress(int index); ///< of the node
    static QString dataAddress(int index);

    /// Cuts or restores the link between the laptop and a node, silently like a pulled cable; a
    /// restored one carries when this returns.
    Result<void> setManagementLink(int index, bool up);

    /// The same for the link between node 0 and the others.
    Result<void> setDataLink(bool up);

    /// What the link between the laptop and a node carries in either direction, as tc(8) writes it:
    /// "64kbit"; empty: all. A second of it waits, then packets are lost.
    Result<void> setManagementRate(int index, const QString& rate);

    /// Where there are more than two nodes, once: what the laptop sends goes through one link to
    /// the router, as from a home behind its provider, and what nodes answer comes over mgmt0. That
    /// link and all of a node's carry `rate`.
    Result<void> addUplink(const QString& rate);

    /// Another interface of a node, up, with that address ("10.240.0.1/24"), which leads to no
    /// other node: a card in another switch, or a bridge for containers.
    Result<void> addInterface(int index, const QString& name, const QString& address);
    /// Another address of an interface, IPv4 or IPv6.
    Result<void> addAddress(int index, const QString& interface, const QString& address);

    /// Where there are two nodes: the IPv4 addresses of data0, in this order, in the place of those
    /// that it has.
    Result<void> setDataAddresses(int index, const QStringList& addresses);

    /// Where there are two nodes: what the other one begins is dropped by this one without a word,
    /// as by a firewall that lets in what belongs to its own connections.
    Result<void> dropConnectionsTo(int index, bool drops);
    /// Connections that others begin to this port of a node are dropped.
    Result<void> dropPort(int index, int port, bool drops);

    /// Where there are more than two nodes: only small packets get to this node, and nobody says
    /// so to who sends larger ones.
    Result<void> loseLargePacketsTo(int index);

    /// The same for what two nodes send each other; for rates at which a processor keeps up.
    Result<void> setDataRate(const QString& rate);

    /// SIGKILLs all that runs on a node, its sshd as well, as if the power failed.
    void killAllOn(int index);

    /// Bytes that came in over the management link so far; -1: unknown.
    int64_t managementBytesTo(int index) const;

    /// Argument list that runs `command` inside a namespace: for QProcess.
    static QStringList commandIn(const QString& space, const QStringList& command);

    /// What runs in a namespace right now.
    static std::vector<SeenProcess> processesIn(const QString& space);

private:
    NetworkLab(QString prefix, int nodes)
        : m_prefix(std::move(prefix))
        , m_nodes(nodes) {}
    Result<void> build();
    QStringList uplink() const; ///< commands that make it
    Result<void> setDropRule(int index, const QString& what, bool drops);
    QString router() const;     ///< a namespace, where there are more than two nodes
    QStringList spaces() const; ///< all, that of the router last
    QStringList cables() const; ///< commands that join the nodes

    QString m_prefix; ///< "rm-e2e-4711", empty when moved from
    int m_nodes;
};

/// The network of this thread, and of what it starts, as long as this lives: that of a namespace.
class EnteredSpace {
public:
    static Result<EnteredSpace> enter(const QString& space);
    EnteredSpace(EnteredSpace&&) = default;
    EnteredSpace& operator=(EnteredSpace&&) = delete;
    ~EnteredSpace();

private:
    explicit EnteredSpace(Descriptor own)
        : m_own(std::move(own)) {}

    Descriptor m_own; ///< the namespace that was left
};

} // namespace rm

// SPDX-License-Identifier: Apache-2.0
#pragma once

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

/// A small network in namespaces, isolated from the machine's: the laptop and two nodes, each a
/// network namespace. Interfaces on a node: `mgmt0` to the laptop, `data0` to the other node; the
/// laptop cannot reach the data network and nothing is forwarded.
///
///     laptop 10.231.1.1 -- 10.231.1.2 node 0 10.231.3.1 --.
///     laptop 10.231.2.1 -- 10.231.2.2 node 1 10.231.3.2 --'
///
/// Names carry this process's pid; what a dead process of the same `label` left is removed first.
/// The destructor kills what still runs inside and removes everything, within 10 s.
class NetworkLab {
public:
    static constexpr int kNodes = 2;

    static Result<NetworkLab> create(const QString& label);
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

    /// The same for the link between the nodes.
    Result<void> setDataLink(bool up);

    /// What the link between the laptop and a node carries in either direction, as tc(8) writes it:
    /// "64kbit"; empty: all. A second of it waits, then packets are lost.
    Result<void> setManagementRate(int index, const QString& rate);

    /// SIGKILLs all that runs on a node, its sshd as well, as if the power failed.
    void killAllOn(int index);

    /// Bytes that came in over the management link so far; -1: unknown.
    int64_t managementBytesTo(int index) const;

    /// Argument list that runs `command` inside a namespace: for QProcess.
    static QStringList commandIn(const QString& space, const QStringList& command);

    /// What runs in a namespace right now.
    static std::vector<SeenProcess> processesIn(const QString& space);

private:
    explicit NetworkLab(QString prefix)
        : m_prefix(std::move(prefix)) {}
    Result<void> build();

    QString m_prefix; ///< "rm-e2e-4711", empty when moved from
};

} // namespace rm

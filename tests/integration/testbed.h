// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/node/node.h"
#include "shared/exit_code.h"
#include "tests/integration/cli.h"
#include "tests/support/netns.h"
#include "tests/support/sshd.h"
#include "tests/support/step_pace.h"

#include <QTemporaryDir>

#include <memory>
#include <optional>
#include <vector>

namespace rm {

/// What a test's run differs in from other tests' runs; all are a GPT of a few thousand weights,
/// with larger steps where nothing paces them.
struct SmallSpec {
    int64_t steps = 400;
    int64_t checkpointEvery = 50;
    int64_t masterPort = 0;
    int64_t minNodes = 0;
    int64_t keepLast = 3;
    int64_t validationEvery = 100;
    int64_t validationBatches = 2;
};

/// A laptop and nodes behind sshd, "node-a", "node-b" and then "node-3" to "node-64", each in its
/// own network namespace with its own host key and, unless one asks for others, home and XDG
/// folders. One thread.
class Testbed {
public:
    struct Options {
        QStringList environment = {}; ///< "NAME=value" on the nodes; {node} in it is the index
        std::vector<QStringList> ownEnvironment = {};    ///< by node, beside that
        std::vector<std::vector<OwnFile>> ownFiles = {}; ///< by node, see SshServer
        int nodes = NetworkLab::kNodes;
        /// What a step of a rank takes at least; see paceOf(). 0 where a test measures steps, or
        /// where its faults are to strike anywhere in them.
        int stepMs = kPaceMs;
        bool sharesHome = false; ///< the nodes have one home, as a cluster's have
        QString keptHome = {};   ///< one home for all nodes there, which stays
        /// Nodes have agent and trainer from the first, where tst_seed has run and overlayfs can be
        /// mounted. For tests of something else than what is sent and removed: a folder of the seed
        /// cannot be renamed.
        bool seeded = false;
        /// The nodes, and not the laptop, have one drive mounted: what drive() names is one folder.
        bool sharesDrive = false;
        /// No node sees files of another, or of the laptop, by their paths, as they are different
        /// machines: what is in one's home and below the folder of temporary files is its own.
        bool areApart = false;
    };

    static Result<void> canRun();
    static QString seedHome();   ///< of the node from whose folder others are seeded
    static QString seedFolder(); ///< that folder
    static Result<std::unique_ptr<Testbed>> create(const QString& label, const Options& options);
    static Result<std::unique_ptr<Testbed>> create(const QString& label);

    NetworkLab& lab() { return m_lab; }
    int nodes() const { return static_cast<int>(m_servers.size()); }
    SshServer& server(int node) { return *m_servers[static_cast<size_t>(node)]; }
    const Cli& laptop() const { return m_laptop; }
    /// Of the key id_ed25519, which the servers take.
    QString publicKey() const { return m_publicKey; }
    QString path(const QString& name) const { return m_dir.filePath(name); }
    /// Where Options::sharesDrive mounts it, and what is mounted there.
    QString drive() const { return path("mnt"); }
    QString driveFolder() const { return path("drive"); }
    static QString nodeName(int node);

    /// A node as the app has it.
    Node node(int index) const;

    /// Makes this process the laptop's as long as the testbed lives: its home, which knows the host
    /// keys of all nodes, and its network, for this thread and those that it begins from now on.
    Result<void> actAsLaptop();

    /// `nodes add ...` for a node; `place`: of a proxy before it, as "address:port".
    QStringList addCommand(int node, const QString& fingerprint, const QString& place = {}) const;
    /// Adds the nodes to `cli`'s fleet: kUnavailable with what the program said.
    Result<void> addNodes(const Cli& cli);

    /// Writes NAME.toml and gives its path.
    QString writeSpec(const QString& name, const SmallSpec& spec) const;

    /// That program of ours, with these words after its name, on a node.
    std::vector<pid_t> processes(int node, const QString& program, const QString& words = {}) const;
    int processesNamed(int node, const QString& program) const;
    /// Command lines of all that runs on the nodes beside the listening sshd; "" is clean.
    QString strayProcesses() const;

    /// For the log of a failed test: what the app that it started said last, what is known of the
    /// newest run and what lives on the nodes. Then the links are whole and the nodes are clean
    /// again, so that the next test tells of itself alone.
    QByteArray reportAndClean(QProcess* app);

private:
    explicit Testbed(NetworkLab lab);
    Result<void> startServers(const Options& options);

    QTemporaryDir m_dir;
    QString m_publicKey;
    NetworkLab m_lab;
    Cli m_laptop;
    bool m_isPaced = true;
    std::vector<std::unique_ptr<SshServer>> m_servers;
    std::optional<EnteredSpace> m_entered; ///< by actAsLaptop(); what runs there ends with the lab
};

} // namespace rm

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/findings/check_row.h"
#include "app/core/node/node.h"
#include "app/core/remote/credential_store.h"
#include "app/core/remote/host.h"

#include <QFuture>
#include <QObject>
#include <QString>

#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace rm {

/// What this Ringmaster has stored of a run.
enum class KnownRun { kLive, kEnded };
/// By run id; a run that is not there is of another Ringmaster.
using KnownRuns = std::map<std::string, KnownRun>;

/// Answer of a check of one node.
struct NodeCheck {
    std::string node;
    bool ready = false;
    std::vector<CheckRow> rows;
    std::optional<NodeReport> report;
    std::optional<ConnectFailure> failure; ///< no connection: what it needs
    int64_t roundTripUs = -1;
    int64_t checkedNs = 0; ///< by this computer's clock
};

/// A check that was made before.
struct PastCheck {
    int64_t checkedNs = 0; ///< by this computer's clock
    bool ready = false;
    std::string problem; ///< why not; empty where nothing was bad
    std::optional<NodeReport> report;
    std::vector<std::string> changes; ///< since the check before it, a few words each
};

/// A node that was taken off the list, and what was known of it.
struct RemovedNode {
    Node node;
    std::optional<NodeCheck> check;
    std::string history; ///< text of its file
    CredentialStore::Taken granted;
};

/// How far a check is.
enum class CheckStage { kConnect, kSendAgent, kLook };

/// "connects", "sends the agent", "looks".
std::string stageWord(CheckStage stage);

/// The nodes a person added, in `$XDG_CONFIG_HOME/ringmaster/nodes.toml`, plus the local one.
/// Checks survive in `$XDG_STATE_HOME/ringmaster/checks.json`, until their node is reached in
/// another way; the last ones of each node in `checks/NAME.json` there, until it is removed.
/// GUI thread; each node's blocking work runs on that node's own worker thread.
class Fleet : public QObject {
    Q_OBJECT
public:
    /// The folders are made when missing. Without `stateDir` no check outlives this object.
    explicit Fleet(QString configDir, QString stateDir = {}, QObject* parent = nullptr);
    ~Fleet() override;

    /// Reads nodes.toml and the last checks. A broken file is an error that names it; it is not
    /// changed. Called again, it takes over what another process wrote.
    Result<void> load();

    /// Why the last load() could not read nodes.toml: until it can, nodes that are not known here
    /// may stand there, and none is added, changed or removed.
    std::optional<Error> problem() const;

    /// What nodes.toml has that only a later release understands, a sentence each; each is told
    /// once.
    std::vector<std::string> takeWarnings();

    std::vector<Node> nodes() const; ///< local first, then by name
    std::optional<Node> find(const QString& name) const;

    /// kInvalid: bad or taken name, bad host. Saved at once.
    Result<void> add(const Node& node);
    /// All of them, or none: then the error is that of the first which cannot be added.
    Result<void> addAll(const std::vector<Node>& nodes);
    /// From now on the node of that name is reached and used as `node` says; this computer can be
    /// told how to be used. What is known of the machine is forgotten if it is reached in another
    /// way. kNotFound: there is none of that name.
    Result<void> change(const Node& node);
    /// Returns what undoes it. kInvalid: this computer, which always is one. kNotFound: there is
    /// none of that name.
    Result<RemovedNode> remove(const QString& name);
    /// The node with all that was known of it. kInvalid: as add().
    Result<void> bringBack(const RemovedNode& removed);

    /// Passwords and passphrases that opened a node in this session: check() uses and fills it, and
    /// whoever opens sessions to these nodes takes them from here. Thread-safe; lives as long as
    /// the fleet.
    CredentialStore& credentials() const;

    /// Connects, deploys the agent when needed, probes. Never fails as a future. A password or
    /// passphrase that `credentials` lacks is taken from credentials().
    QFuture<NodeCheck> check(const QString& name, Credentials credentials = {});
    std::optional<NodeCheck> lastCheck(const QString& name) const;
    std::vector<NodeCheck> lastChecks() const; ///< in the order of nodes()
    /// The last checks that were kept, the newest first. Reads a file: of a machine with 8 GPUs, 10
    /// addresses and 10 disks less than 150 kB.
    std::vector<PastCheck> history(const QString& name) const;

    /// How far the check of a node is that this process makes; nullopt: it makes none.
    std::optional<CheckStage> stageOf(const QString& name) const;
    /// Ends a check that is under way: its answer comes at once, is kUnavailable and not kept. A
    /// check that another process makes goes on there, without anybody waiting for it.
    void cancelCheck(const QString& name);

    /// What this Ringmaster has stored of runs, asked for at the start of checks that this process
    /// makes, once for all that are begun in the same turn of the event loop. Called in this
    /// object's thread.
    void setKnownRuns(std::function<KnownRuns()> knownRuns);
    /// Reads the database.
    KnownRuns knownRuns() const;

    /// Lets another process do the work of check(), which still stores and announces the answer.
    /// Empty: this process does it.
    using Checker = std::function<QFuture<NodeCheck>(const QString&, const Credentials&)>;
    void setChecker(Checker checker);

Q_SIGNALS:
    void nodesChanged();
    void nodeEdited(const QString& name);      ///< is reached in another way now
    void checkChanged(const QString& name);    ///< started, or lastCheck() is new
    void nodeOpened(const QString& name);      ///< a check got in
    void checkProgressed(const QString& name); ///< stageOf() is another

private:
    void keepAnswer(const QString& name, const Node& checked, const NodeCheck& check);

    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

} // namespace rm

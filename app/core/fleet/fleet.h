// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/fleet/node.h"
#include "app/core/remote/host.h"

#include <QFuture>
#include <QObject>
#include <QString>

#include <map>
#include <optional>
#include <vector>

namespace rm {

class CredentialStore;

/// One line of a node's check, in words.
struct CheckRow {
    enum class Verdict { kGood, kWarning, kBad };
    Verdict verdict = Verdict::kGood;
    std::string title;  ///< "SSH and host key"
    std::string detail; ///< "ed25519, same fingerprint as last time"
    bool operator==(const CheckRow&) const = default;
};

/// Answer of a check of one node.
struct NodeCheck {
    std::string node;
    bool ready = false;
    std::vector<CheckRow> rows;
    std::optional<NodeReport> report;
    std::optional<ConnectFailure> failure; ///< no connection: what it needs
    int64_t roundTripUs = -1;
};

/// The nodes a person added, in `$XDG_CONFIG_HOME/ringmaster/nodes.toml`, plus the local one.
/// GUI thread; each node's blocking work runs on that node's own worker thread.
class Fleet : public QObject {
    Q_OBJECT
public:
    /// `configDir` is made when missing.
    explicit Fleet(QString configDir, QObject* parent = nullptr);
    ~Fleet() override;

    /// Reads nodes.toml; a broken file is an error that names it and is left as it is.
    Result<void> load();

    std::vector<Node> nodes() const; ///< local first, then by name
    std::optional<Node> find(const QString& name) const;

    /// kInvalid: bad or taken name, bad host. Saved at once.
    Result<void> add(const Node& node);
    Result<void> remove(const QString& name);

    /// Passwords and passphrases that opened a node in this session: check() uses and fills it, and
    /// whoever opens sessions to these nodes takes them from here. Thread-safe; lives as long as
    /// the fleet.
    CredentialStore& credentials() const;

    /// Connects, deploys the agent when needed, probes. Never fails as a future. A password or
    /// passphrase that `credentials` lacks is taken from credentials().
    QFuture<NodeCheck> check(const QString& name, Credentials credentials = {});
    std::optional<NodeCheck> lastCheck(const QString& name) const;

    /// Host aliases in ~/.ssh/config that are no patterns, for the import list.
    static std::vector<std::string> sshConfigAliases();

Q_SIGNALS:
    void nodesChanged();
    void checkChanged(const QString& name); ///< started, or lastCheck() is new
    void nodeOpened(const QString& name);   ///< a check got in

private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

} // namespace rm

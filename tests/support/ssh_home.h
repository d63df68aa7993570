// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/node/node.h"
#include "tests/support/sshd.h"

#include <QTemporaryDir>

#include <memory>

namespace rm {

/// A temporary home folder with its own ~/.ssh, and a server on loopback. Only one per process, in
/// one thread.
class SshHome {
public:
    /// Sets HOME and XDG_*_HOME to a temporary folder, makes the key ~/.ssh/id_ed25519 and
    /// forgets the SSH agent. kNotFound: sshd is not installed.
    Result<void> prepare();
    QString path(const QString& name) const { return m_dir.filePath(name); }
    QString publicKey() const { return m_publicKey; }

    /// Stops the current server and starts one with these options.
    Result<void> serve(const SshServer::Options& options);
    SshServer& server() { return *m_server; }
    /// The server as a node.
    Node node(const std::string& name) const;

    /// known_hosts holds the server, and nothing else.
    Result<void> know();
    /// Writes ~/.ssh/NAME.
    Result<void> write(const QString& name, const QString& text) const;

private:
    QTemporaryDir m_dir;
    QString m_publicKey;
    std::unique_ptr<SshServer> m_server;
};

} // namespace rm

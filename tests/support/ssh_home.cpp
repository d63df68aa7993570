// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/ssh_home.h"

#include "shared/io/file.h"

#include <QDir>

namespace rm {

Result<void> SshHome::prepare() {
    if (auto can = canRunSshd(); !can)
        return can;
    qputenv("HOME", m_dir.path().toUtf8());
    for (const char* kind : {"CONFIG", "DATA", "STATE", "CACHE"})
        qputenv(("XDG_" + QByteArray(kind) + "_HOME").constData(),
                path(QString(kind).toLower()).toUtf8());
    qunsetenv("SSH_AUTH_SOCK");
    if (!QDir(m_dir.path()).mkpath(".ssh"))
        return fail(ErrorCode::kDenied, "make " + path(".ssh").toStdString());
    auto key = makeSshKey(path(".ssh/id_ed25519"));
    if (!key)
        return tl::unexpected(key.error());
    m_publicKey = *key;
    return {};
}

Result<void> SshHome::serve(const SshServer::Options& options) {
    m_server.reset();
    auto server = SshServer::start(options);
    if (!server)
        return tl::unexpected(server.error());
    m_server = std::move(*server);
    return {};
}

Node SshHome::node(const std::string& name) const {
    Node node;
    node.name = name;
    node.sshHost = m_server->address().toStdString();
    node.port = m_server->port();
    return node;
}

Result<void> SshHome::know() {
    return write("known_hosts", m_server->knownHostsLine() + '\n');
}

Result<void> SshHome::write(const QString& name, const QString& text) const {
    return writeFileAtomically(path(".ssh/" + name).toStdString(), text.toStdString());
}

} // namespace rm

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/data/credential_vault.h"

#include <qt6keychain/keychain.h>

namespace rm {

namespace {

const QString kService = QStringLiteral("ringmaster");

QString entryOf(const Node& node) {
    return QString::fromStdString("ssh:" + node.user + '@' + node.sshHost + ':' +
                                  std::to_string(node.port));
}

void overwrite(std::string& secret) {
    for (volatile char& c : secret)
        c = 0;
    secret.clear();
}

} // namespace

CredentialVault::~CredentialVault() {
    for (auto& [name, password] : m_passwords)
        overwrite(password);
}

Credentials CredentialVault::credentials(const Node& node) const {
    const std::lock_guard lock(m_mutex);
    const auto found = m_passwords.find(node.name);
    Credentials credentials;
    if (found != m_passwords.end())
        credentials.password = found->second;
    return credentials;
}

void CredentialVault::fetch(const Node& node, std::function<void()> done) {
    auto* job = new QKeychain::ReadPasswordJob(kService, this);
    job->setKey(entryOf(node));
    connect(job, &QKeychain::Job::finished, this, [this, node, done](QKeychain::Job* finished) {
        auto* read = static_cast<QKeychain::ReadPasswordJob*>(finished);
        if (read->error() == QKeychain::NoError) {
            const std::lock_guard lock(m_mutex);
            m_passwords[node.name] = read->textData().toStdString();
        }
        done();
    });
    job->start();
}

void CredentialVault::keep(const Node& node, const QString& password, bool inKeyring) {
    {
        const std::lock_guard lock(m_mutex);
        m_passwords[node.name] = password.toStdString();
    }
    if (!inKeyring)
        return;
    auto* job = new QKeychain::WritePasswordJob(kService, this);
    job->setKey(entryOf(node));
    job->setTextData(password);
    job->start();
}

void CredentialVault::forget(const Node& node) {
    {
        const std::lock_guard lock(m_mutex);
        if (const auto found = m_passwords.find(node.name); found != m_passwords.end()) {
            overwrite(found->second);
            m_passwords.erase(found);
        }
    }
    auto* job = new QKeychain::DeletePasswordJob(kService, this);
    job->setKey(entryOf(node));
    job->start();
}

} // namespace rm

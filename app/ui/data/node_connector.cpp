// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/data/node_connector.h"

#include "app/ui/data/credential_vault.h"
#include "app/ui/dialogs/connect_dialogs.h"

namespace rm {

NodeConnector::NodeConnector(Fleet& fleet, CredentialVault& vault, QWidget* window)
    : QObject(window)
    , m_fleet(fleet)
    , m_vault(vault)
    , m_window(window) {}

void NodeConnector::check(const QString& name) {
    const auto node = m_fleet.find(name);
    if (node && !m_checking.contains(name))
        start(name, m_vault.credentials(*node));
}

void NodeConnector::checkAll() {
    for (const Node& node : m_fleet.nodes())
        check(QString::fromStdString(node.name));
}

void NodeConnector::forget(const Node& node) {
    m_lookedUp.remove(QString::fromStdString(node.name));
    if (!node.isLocal)
        m_vault.forget(node);
}

void NodeConnector::start(const QString& name, const Credentials& credentials) {
    m_checking.insert(name);
    m_fleet.check(name, credentials).then(this, [this](const NodeCheck& answer) {
        finish(answer);
    });
    Q_EMIT checkingChanged(name);
}

void NodeConnector::finish(const NodeCheck& answer) {
    const QString name = QString::fromStdString(answer.node);
    m_checking.remove(name);
    Q_EMIT checkingChanged(name);
    const auto node = m_fleet.find(name);
    if (!node || !answer.failure)
        return;
    if (answer.failure->need == ConnectFailure::Need::kTrustHostKey)
        askForTrust(*node, *answer.failure);
    else if (answer.failure->need == ConnectFailure::Need::kPassword)
        lookForPassword(*node, *answer.failure);
}

void NodeConnector::askForTrust(const Node& node, const ConnectFailure& failure) {
    auto* dialog = new HostKeyDialog(node, QString::fromStdString(failure.fingerprint), m_window);
    connect(dialog, &QDialog::accepted, this, [this, node, failure] {
        Credentials credentials = m_vault.credentials(node);
        credentials.trustedFingerprint = failure.fingerprint;
        start(QString::fromStdString(node.name), credentials);
    });
    dialog->open();
}

void NodeConnector::lookForPassword(const Node& node, const ConnectFailure& failure) {
    const QString name = QString::fromStdString(node.name);
    if (m_lookedUp.contains(name)) {
        askForPassword(node, failure);
        return;
    }
    m_lookedUp.insert(name);
    m_vault.fetch(node, [this, node, failure, name] {
        const Credentials credentials = m_vault.credentials(node);
        if (credentials.password)
            start(name, credentials);
        else
            askForPassword(node, failure);
    });
}

void NodeConnector::askForPassword(const Node& node, const ConnectFailure& failure) {
    auto* dialog =
        new PasswordDialog(node, QString::fromStdString(failure.error.message), m_window);
    connect(dialog, &QDialog::accepted, this, [this, node, dialog] {
        m_vault.keep(node, dialog->password(), dialog->keepInKeyring());
        start(QString::fromStdString(node.name), m_vault.credentials(node));
    });
    dialog->open();
}

} // namespace rm

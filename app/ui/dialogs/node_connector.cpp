// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/dialogs/node_connector.h"

#include "app/core/answer.h"
#include "app/core/remote/credential_store.h"
#include "app/core/remote/keyring.h"
#include "app/ui/dialogs/connect_dialogs.h"

#include <QApplication>
#include <QTimer>

namespace rm {

NodeConnector::NodeConnector(Fleet& fleet, QWidget* window)
    : QObject(window)
    , m_fleet(fleet)
    , m_keyring(new Keyring(this))
    , m_window(window) {}

void NodeConnector::check(const QString& name) {
    const auto node = m_fleet.find(name);
    if (node && !m_checking.contains(name) && !m_asking.contains(name))
        start(name, {});
}

void NodeConnector::checkAnew(const QString& name) {
    m_fleet.cancelCheck(name);
    m_checking.remove(name);
    check(name);
}

void NodeConnector::checkAll() {
    for (const Node& node : m_fleet.nodes())
        check(QString::fromStdString(node.name));
}

void NodeConnector::cancelAll() {
    for (const QString& name : QSet<QString>(m_checking))
        m_fleet.cancelCheck(name);
}

void NodeConnector::forget(const Node& node) {
    m_lookedUp.remove(QString::fromStdString(node.name));
    if (!node.isLocal)
        m_keyring->remove(node);
    m_fleet.credentials().forget(node);
}

void NodeConnector::start(const QString& name, const Credentials& credentials) {
    m_checking.insert(name);
    if (credentials == Credentials())
        m_lettingIn.remove(name);
    else
        m_lettingIn.insert(name);
    whenAnswered(m_fleet.check(name, credentials), this,
                 [this, name, round = ++m_rounds[name]](const NodeCheck& answer) {
                     if (round == m_rounds.value(name))
                         finish(answer);
                 });
    Q_EMIT checkingChanged(name);
}

void NodeConnector::finish(const NodeCheck& answer) {
    const QString name = QString::fromStdString(answer.node);
    m_checking.remove(name);
    m_lettingIn.remove(name);
    Q_EMIT checkingChanged(name);
    const auto node = m_fleet.find(name);
    if (node && answer.failure)
        askFor(*node, *answer.failure);
}

void NodeConnector::askAgain(const QString& name) {
    const auto node = m_fleet.find(name);
    const auto check = m_fleet.lastCheck(name);
    if (node && check && check->failure && !m_checking.contains(name) && !m_asking.contains(name))
        askFor(*node, *check->failure);
}

void NodeConnector::askFor(const Node& node, const ConnectFailure& failure) {
    switch (failure.need) {
    case ConnectFailure::Need::kNothing:
        return;
    case ConnectFailure::Need::kTrustHostKey:
        return askForTrust(node, failure);
    case ConnectFailure::Need::kPassword:
        return lookForPassword(node, failure);
    case ConnectFailure::Need::kPassphrase:
        return askForPassphrase(node, failure);
    }
}

void NodeConnector::askForTrust(const Node& node, const ConnectFailure& failure) {
    HostKeyDialog*& dialog = m_keyQuestions[QString::fromStdString(failure.fingerprint)];
    if (dialog != nullptr) {
        dialog->add(node);
        hold(node, dialog);
        return;
    }
    dialog = new HostKeyDialog(node, QString::fromStdString(failure.fingerprint), m_window);
    connect(dialog, &QDialog::finished, this, [this, failure, question = dialog](int result) {
        m_keyQuestions.remove(QString::fromStdString(failure.fingerprint));
        if (result == QDialog::Accepted)
            trust(question->nodes(), failure.fingerprint);
    });
    ask(node, dialog);
}

void NodeConnector::trust(const std::vector<Node>& nodes, const std::string& fingerprint) {
    Credentials credentials;
    credentials.trustedFingerprint = fingerprint;
    for (const Node& node : nodes)
        if (const QString name = QString::fromStdString(node.name); m_fleet.find(name))
            start(name, credentials);
}

void NodeConnector::lookForPassword(const Node& node, const ConnectFailure& failure) {
    const QString name = QString::fromStdString(node.name);
    if (m_lookedUp.contains(name)) {
        askForPassword(node, failure);
        return;
    }
    m_lookedUp.insert(name);
    m_keyring->read(node, [this, node, failure](const std::optional<Secret>& password) {
        if (m_asking.contains(QString::fromStdString(node.name)))
            return; // asked for once more meanwhile
        if (password)
            usePassword(node, *password);
        else
            askForPassword(node, failure);
    });
}

void NodeConnector::usePassword(const Node& node, const Secret& password) {
    Credentials credentials;
    credentials.password = password;
    // A node that was edited meanwhile is another one.
    if (const QString name = QString::fromStdString(node.name); m_fleet.find(name) == node)
        start(name, credentials);
}

void NodeConnector::askForPassword(const Node& node, const ConnectFailure& failure) {
    auto* dialog =
        new PasswordDialog(node, QString::fromStdString(failure.error.message), m_window);
    connect(dialog, &QDialog::accepted, this, [this, node, dialog] {
        if (dialog->keepInKeyring())
            m_keyring->write(node, dialog->password(), [this, node](const Result<void>& kept) {
                if (!kept)
                    Q_EMIT problem(QString::fromStdString(kept.error().message));
            });
        usePassword(node, dialog->password());
    });
    ask(node, dialog);
}

void NodeConnector::askForPassphrase(const Node& node, const ConnectFailure& failure) {
    auto* dialog = new PasswordDialog(node, QString::fromStdString(failure.error.message), m_window,
                                      PasswordDialog::Request::kPassphrase);
    connect(dialog, &QDialog::accepted, this, [this, node, dialog] {
        Credentials credentials;
        credentials.passphrase = dialog->password();
        start(QString::fromStdString(node.name), credentials);
    });
    ask(node, dialog);
}

/// One question after another: two would lie on top of each other. The next one opens when a double
/// click on the one before cannot answer it unread.
void NodeConnector::ask(const Node& node, QDialog* dialog) {
    hold(node, dialog);
    m_questions.push_back(dialog);
    connect(dialog, &QDialog::finished, this, [this] {
        m_questions.pop_front();
        m_sinceAnswer.start();
        askNext();
    });
    if (m_questions.size() == 1)
        askNext();
}

/// Not within a double click on the one before, whenever this one came.
void NodeConnector::askNext() {
    const qint64 apart = QApplication::doubleClickInterval();
    const qint64 passed = m_sinceAnswer.isValid() ? m_sinceAnswer.elapsed() : apart;
    if (passed < apart)
        QTimer::singleShot(apart - passed, this, &NodeConnector::askNext);
    else if (!m_questions.empty() && !m_questions.front()->isVisible())
        m_questions.front()->open();
}

void NodeConnector::hold(const Node& node, QDialog* dialog) {
    const QString name = QString::fromStdString(node.name);
    m_asking.insert(name);
    connect(dialog, &QDialog::finished, this, [this, name](int result) {
        m_asking.remove(name);
        if (result == QDialog::Rejected)
            Q_EMIT leftUnanswered(name);
    });
}

} // namespace rm

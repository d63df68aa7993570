// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/fleet/fleet.h"

#include <QElapsedTimer>
#include <QHash>
#include <QObject>
#include <QSet>

#include <deque>

class QDialog;

namespace rm {

class HostKeyDialog;
class Keyring;

/// Checks nodes and asks the person what only a person can decide: trust a key seen for the first
/// time, give a password. A changed key is never asked about: its check fails and says why.
class NodeConnector : public QObject {
    Q_OBJECT
public:
    NodeConnector(Fleet& fleet, QWidget* window);

    /// Checks this node; several nodes may be checked at once. Does nothing while a check of this
    /// node runs or a dialog about it is open.
    void check(const QString& name);
    /// check(), after an edit of the node: one that runs is cancelled, as it asks what the node
    /// was.
    void checkAnew(const QString& name);
    /// Asks again what the last check of this node waits for; nothing if it waits for nothing, as
    /// with a changed key.
    void askAgain(const QString& name);
    void checkAll();
    void cancelAll(); ///< the checks that it has begun
    bool isChecking(const QString& name) const { return m_checking.contains(name); }
    /// Whether a check of this node runs with what a person has just entered.
    bool isLettingIn(const QString& name) const { return m_lettingIn.contains(name); }
    /// Forgets what was entered for a node that is off the list, in the keyring too.
    void forget(const Node& node);

Q_SIGNALS:
    void checkingChanged(const QString& name);
    void problem(const QString& message);     ///< a sentence to show, nothing more
    void leftUnanswered(const QString& name); ///< a question about it was closed

private:
    void start(const QString& name, const Credentials& credentials);
    void finish(const NodeCheck& answer);
    void askFor(const Node& node, const ConnectFailure& failure);
    void askForTrust(const Node& node, const ConnectFailure& failure);
    void trust(const std::vector<Node>& nodes, const std::string& fingerprint);
    void askForPassword(const Node& node, const ConnectFailure& failure);
    void askForPassphrase(const Node& node, const ConnectFailure& failure);
    void lookForPassword(const Node& node, const ConnectFailure& failure);
    void usePassword(const Node& node, const Secret& password);
    void ask(const Node& node, QDialog* dialog);
    void askNext();
    void hold(const Node& node, QDialog* dialog);

    Fleet& m_fleet;
    Keyring* m_keyring;
    QWidget* m_window;
    QSet<QString> m_checking;
    QSet<QString> m_lettingIn; ///< those of m_checking with what was entered
    QHash<QString, int>
        m_rounds;           ///< how many checks were begun: answers to earlier ones are dropped
    QSet<QString> m_asking; ///< a dialog about them is open, or will be
    QElapsedTimer m_sinceAnswer;                   ///< to the last question; invalid: none yet
    std::deque<QDialog*> m_questions;              ///< the first is open, or about to be
    QHash<QString, HostKeyDialog*> m_keyQuestions; ///< of m_questions, by fingerprint
    QSet<QString> m_lookedUp;                      ///< the keyring was already asked for these
};

} // namespace rm

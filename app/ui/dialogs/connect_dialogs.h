// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/node/node.h"
#include "app/core/remote/secret.h"
#include "app/ui/dialogs/sheet.h"

class QCheckBox;
class QLabel;
class QLineEdit;

namespace rm {

/// First contact: shows the fingerprint that the host gave; accepted() means "trust this key".
class HostKeyDialog : public Sheet {
    Q_OBJECT
public:
    HostKeyDialog(const Node& node, const QString& fingerprint, QWidget* parent);

    /// Another node that shows the same key, so that the answer is for it, too.
    void add(const Node& node);
    const std::vector<Node>& nodes() const { return m_nodes; }

private:
    std::vector<Node> m_nodes;
    QLabel* m_others; ///< names the nodes after the first, if there are any
};

/// Asks for a password, or for the passphrase of a key file, which is never stored in the keyring.
/// `problem`: why the attempt without it failed.
class PasswordDialog : public Sheet {
    Q_OBJECT
public:
    enum class Request { kPassword, kPassphrase };
    PasswordDialog(const Node& node, const QString& problem, QWidget* parent,
                   Request request = Request::kPassword);
    Secret password() const;
    bool keepInKeyring() const;

private:
    QLineEdit* m_password;
    QCheckBox* m_keep;
};

} // namespace rm

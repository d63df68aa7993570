// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/node/node.h"
#include "app/ui/dialogs/sheet.h"

class QCheckBox;
class QLineEdit;

namespace rm {

/// First contact: shows the fingerprint that the host gave; accepted() means "trust this key".
class HostKeyDialog : public Sheet {
    Q_OBJECT
public:
    HostKeyDialog(const Node& node, const QString& fingerprint, QWidget* parent);
};

/// Asks for a password, or for the passphrase of a key file, which is never stored in the keyring.
/// `problem`: why the attempt without it failed.
class PasswordDialog : public Sheet {
    Q_OBJECT
public:
    enum class Asked { kPassword, kPassphrase };
    PasswordDialog(const Node& node, const QString& problem, QWidget* parent,
                   Asked asked = Asked::kPassword);
    QString password() const;
    bool keepInKeyring() const;

private:
    QLineEdit* m_password;
    QCheckBox* m_keep;
};

} // namespace rm

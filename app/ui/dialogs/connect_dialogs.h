// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/fleet/node.h"
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

/// Asks for a password; `problem` is what the host said to the attempt without.
class PasswordDialog : public Sheet {
    Q_OBJECT
public:
    PasswordDialog(const Node& node, const QString& problem, QWidget* parent);
    QString password() const;
    bool keepInKeyring() const;

private:
    QLineEdit* m_password;
    QCheckBox* m_keep;
};

} // namespace rm

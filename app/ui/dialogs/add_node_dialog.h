// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/fleet/fleet.h"
#include "app/ui/dialogs/sheet.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QSpinBox;

namespace rm {

/// By a name of ~/.ssh/config, or by hand. What is given here only overrides ssh_config.
class AddNodeDialog : public Sheet {
    Q_OBJECT
public:
    AddNodeDialog(Fleet& fleet, QWidget* parent);

Q_SIGNALS:
    void added(const QString& name);

private:
    void buildUi();
    void wire();
    void restore();
    void useAlias(const QString& alias);
    void submit();
    Node node() const;

    Fleet& m_fleet;
    QComboBox* m_alias;
    QLineEdit* m_name;
    QLineEdit* m_host;
    QLineEdit* m_user;
    QSpinBox* m_port;
    QLineEdit* m_key;
    QLabel* m_problem;
    QPushButton* m_add;
};

} // namespace rm

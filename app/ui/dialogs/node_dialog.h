// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/fleet/fleet.h"
#include "app/ui/dialogs/sheet.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QSpinBox;

namespace rm {

/// Adds a node, by a name of ~/.ssh/config or by hand, or edits one. Its fields only override
/// ssh_config.
class NodeDialog : public Sheet {
    Q_OBJECT
public:
    NodeDialog(Fleet& fleet, QWidget* parent);
    NodeDialog(Fleet& fleet, const Node& edited, QWidget* parent);

Q_SIGNALS:
    void saved(const QString& name);

private:
    void buildUi();
    void wire();
    void restore();
    void fill(const Node& node);
    void useAlias(const QString& alias);
    void submit();
    Node node() const;

    Fleet& m_fleet;
    std::optional<Node> m_edited;
    QComboBox* m_alias;
    QLineEdit* m_name;
    QLineEdit* m_host;
    QLineEdit* m_user;
    QSpinBox* m_port;
    QLineEdit* m_key;
    QLabel* m_problem;
    QPushButton* m_confirm;
};

} // namespace rm

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/fleet/fleet.h"
#include "app/ui/dialogs/sheet.h"

class QCheckBox;
class QComboBox;
class QGridLayout;
class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QSpinBox;

namespace rm {

class EnvironmentList;
class Fold;
class GpuChoice;

/// Adds a node, by a name of ~/.ssh/config or by hand, or edits one. Its fields only override
/// ssh_config. Of this computer it asks only how it is to be used.
class NodeDialog : public Sheet {
    Q_OBJECT
public:
    NodeDialog(Fleet& fleet, QWidget* parent);
    NodeDialog(Fleet& fleet, const Node& edited, QWidget* parent);

Q_SIGNALS:
    void saved(const QString& name);

private:
    void buildUi();
    void addWay(QGridLayout* grid);
    void addUse();
    void wire();
    void restore();
    void fill(const Node& node);
    void useAlias(const QString& alias);
    void submit();
    void offerConfirm();
    void showSummary();
    /// kInvalid: a choice that is none.
    Result<Node> node() const;
    std::vector<std::string> sbatchOptions() const;

    Fleet& m_fleet;
    Node m_before; ///< what the fields do not show stays
    bool m_isNew;
    QComboBox* m_alias;
    QLineEdit* m_name;
    QLineEdit* m_host;
    QLineEdit* m_user;
    QSpinBox* m_port;
    QLineEdit* m_key;
    QLineEdit* m_jump;
    Fold* m_more;
    GpuChoice* m_gpus;
    EnvironmentList* m_environment;
    QLineEdit* m_groups;
    QLineEdit* m_price;
    QPlainTextEdit* m_notes;
    QCheckBox* m_slurm;
    QLineEdit* m_sbatch;
    QLabel* m_problem;
    QPushButton* m_confirm;
};

} // namespace rm

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/fleet/fleet.h"
#include "app/core/fleet/ssh_offers.h"
#include "app/ui/dialogs/sheet.h"

class QLabel;
class QStandardItemModel;

namespace rm {

class Table;

/// Adds nodes by their names in ~/.ssh/config, of which it shows where they lead.
class ImportNodesDialog : public Sheet {
    Q_OBJECT
public:
    ImportNodesDialog(Fleet& fleet, QWidget* parent);

Q_SIGNALS:
    void imported(const QStringList& names);

private:
    void show(const std::vector<SshOffer>& offers);
    void addOffer(const SshOffer& offer);
    std::vector<Node> chosen() const;
    void refresh();
    void submit();

    Fleet& m_fleet;
    std::vector<SshOffer> m_offers;
    QStandardItemModel* m_rows;
    Table* m_table;
    QLabel* m_text;
    QPushButton* m_confirm;
};

} // namespace rm

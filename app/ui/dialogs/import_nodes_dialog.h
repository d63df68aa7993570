// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/fleet/fleet.h"
#include "app/core/fleet/ssh_offers.h"
#include "app/ui/dialogs/sheet.h"

#include <QThreadPool>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

class QLabel;
class QStandardItem;
class QStandardItemModel;

namespace rm {

class Table;

/// Adds nodes by their names in ~/.ssh/config, of which it shows where they lead. The names are
/// there at once; where they lead is read one after another, first of those that are ticked.
class ImportNodesDialog : public Sheet {
    Q_OBJECT
public:
    ImportNodesDialog(Fleet& fleet, QWidget* parent);
    ~ImportNodesDialog() override;

Q_SIGNALS:
    void imported(const QStringList& names);

private:
    using Routes = std::map<std::string, std::string>;

    void showNames(const std::vector<std::string>& names);
    void readOffers();
    void readOffer(int row, bool isFirst);
    void showOffer(int row, const SshOffer& offer);
    void onItemChanged(const QStandardItem& item);
    bool isChosen(int row) const;
    std::vector<Node> chosen() const;
    void refresh();
    void submit();

    Fleet& m_fleet;
    const std::shared_ptr<const std::vector<Node>> m_nodes; ///< as they were when it was opened
    std::vector<std::string> m_names;
    std::vector<std::optional<SshOffer>> m_offers; ///< by row; nullopt: not read yet
    std::shared_ptr<const Routes> m_routes;        ///< to the nodes; null: not read yet
    QThreadPool m_pool;
    QStandardItemModel* m_rows;
    Table* m_table;
    QLabel* m_text;
    QPushButton* m_confirm;
};

} // namespace rm

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/runs/run_values.h"
#include "app/ui/data/app_context.h"
#include "app/ui/dialogs/sheet.h"

#include <memory>
#include <string>
#include <vector>

class QLineEdit;
class QListWidget;

namespace rm {

/// Which settings and metrics are columns of the table of runs, from all that there are.
class ColumnsDialog : public Sheet {
    Q_OBJECT
public:
    /// `runs`: those in sight. `values`: the store thread's. `keys`: the columns now.
    ColumnsDialog(const AppContext& context, std::vector<RunSummary> runs,
                  std::shared_ptr<RunValues> values, std::vector<std::string> keys,
                  QWidget* parent);

Q_SIGNALS:
    void chosen(const std::vector<std::string>& keys);
    void resetRequested(); ///< order and widths as they are at first

private:
    void buildUi();
    void pullKeys();
    void addKeys(const std::vector<std::string>& keys);
    void find(const QString& words);
    void tickDiffering();
    void choose();

    AppContext m_context;
    std::vector<RunSummary> m_runs;
    std::shared_ptr<RunValues> m_values;
    std::vector<std::string> m_keys;
    QLineEdit* m_find;
    QListWidget* m_list;
};

} // namespace rm

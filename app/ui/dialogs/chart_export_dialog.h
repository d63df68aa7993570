// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/runs/step_span.h"
#include "app/ui/dialogs/sheet.h"
#include "app/ui/plot/chart_panels.h"
#include "app/ui/plot/chart_picture.h"

#include <optional>
#include <set>

class QCheckBox;
class QComboBox;
class QLineEdit;

namespace rm {

/// What of a chart is written to a file, and how.
struct ChartExport {
    std::optional<PictureFormat> picture; ///< nullopt: numbers, as CSV
    std::set<std::string> metrics;        ///< by name
    std::optional<int64_t> first, last;   ///< steps; nullopt: to the end of the run
};

/// Asks for that. `shown`: the steps that are proposed.
class ChartExportDialog : public Sheet {
    Q_OBJECT
public:
    ChartExportDialog(const ChartPanel& panel, const StepSpan& shown, QWidget* parent);

Q_SIGNALS:
    void confirmed(const rm::ChartExport& chosen);

private:
    void buildUi(const ChartPanel& panel, const StepSpan& shown);
    std::set<std::string> chosenMetrics() const;
    void check();
    void submit();

    QComboBox* m_format;
    std::vector<std::pair<std::string, QCheckBox*>> m_metrics;
    QLineEdit* m_first;
    QLineEdit* m_last;
    QLabel* m_problem;
    QPushButton* m_confirm;
};

} // namespace rm

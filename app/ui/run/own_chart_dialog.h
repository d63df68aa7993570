// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/settings/chart_layout.h"
#include "app/ui/dialogs/sheet.h"
#include "shared/metrics/registry.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QListWidget;

namespace rm {

/// Puts a chart together: searches all that a run reports, takes one metric or several, of the
/// ranks that are wanted.
class OwnChartDialog : public Sheet {
    Q_OBJECT
public:
    /// `chart`: what is changed, with its key; without metrics it is a new one.
    OwnChartDialog(const std::vector<MetricDef>& metrics, int ranks, OwnChart chart,
                   QWidget* parent);

Q_SIGNALS:
    void confirmed(const rm::OwnChart& chart);

private:
    void buildUi(const std::vector<MetricDef>& metrics);
    void filter(const QString& words);
    void check();
    std::vector<std::string> chosen() const;
    /// nullopt: what stands in the field names no ranks of the run.
    std::optional<std::vector<int>> ranks() const;
    void submit();

    int m_ranks;
    OwnChart m_chart;
    QLineEdit* m_search;
    QListWidget* m_list;
    QComboBox* m_shape;
    QLineEdit* m_whichRanks;
    QLineEdit* m_title;
    QLabel* m_problem;
    QPushButton* m_confirm;
};

/// "0, 3-5" -> {0, 3, 4, 5}: ascending, each once; empty: {}. nullopt: it is no list of numbers
/// from 0 to `count` - 1.
std::optional<std::vector<int>> ranksFrom(const QString& text, int count);
QString ranksText(const std::vector<int>& ranks); ///< the reverse: "0, 3, 4, 5"

} // namespace rm

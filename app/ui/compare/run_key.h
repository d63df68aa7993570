// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/run_summary.h"
#include "app/ui/compare/comparison_table.h"

#include <QFrame>

class QPushButton;

namespace rm {

class ElidedLabel;

/// A run among those that are compared: its line's colour, name and state. A click hides its lines
/// or shows them again; its cross takes the run out.
class RunKey : public QFrame {
    Q_OBJECT
public:
    RunKey(const RunSummary& run, const RunStyle& style, QWidget* parent = nullptr);

    void show(const RunSummary& run, const RunStyle& style);
    using QFrame::show;
    QString run() const { return m_run; }
    bool isDrawn() const;
    void setDrawn(bool drawn);

Q_SIGNALS:
    void toggled();
    void opened();
    void removed();

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QString m_run;
    RunStyle m_style;
    QPushButton* m_name; ///< checked: its lines are drawn
    ElidedLabel* m_state;
};

} // namespace rm

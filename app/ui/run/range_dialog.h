// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/settings/chart_layout.h"
#include "app/ui/dialogs/sheet.h"

#include <utility>

class QLabel;
class QLineEdit;

namespace rm {

/// Asks what the vertical axis of a chart spans.
class RangeDialog : public Sheet {
    Q_OBJECT
public:
    /// `range`: what is set. `shown`: what the axis spans now.
    RangeDialog(const QString& chart, const AxisRange& range,
                const std::pair<double, double>& shown, QWidget* parent);

Q_SIGNALS:
    void confirmed(const rm::AxisRange& range);

private:
    void submit();

    QLineEdit* m_low;
    QLineEdit* m_high;
    QLabel* m_problem;
};

} // namespace rm

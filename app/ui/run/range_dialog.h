// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/ui/dialogs/sheet.h"

#include <optional>
#include <utility>

class QLabel;
class QLineEdit;

namespace rm {

/// Asks what the vertical axis of a chart spans.
class RangeDialog : public Sheet {
    Q_OBJECT
public:
    using Range = std::pair<double, double>;

    /// `range`: what is set; nullopt: nothing is. `shown`: what the axis spans now.
    RangeDialog(const QString& chart, const std::optional<Range>& range, const Range& shown,
                QWidget* parent);

Q_SIGNALS:
    void confirmed(const std::optional<std::pair<double, double>>& range); ///< nullopt: by itself

private:
    void submit();

    QLineEdit* m_low;
    QLineEdit* m_high;
    QLabel* m_problem;
};

} // namespace rm

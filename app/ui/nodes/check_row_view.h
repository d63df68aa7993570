// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/findings/check_row.h"

#include <QWidget>

namespace rm {

/// A row of a check: its state, what was found and, where that is no good, what it leads to, what
/// to do, and a button for it.
class CheckRowView : public QWidget {
    Q_OBJECT
public:
    explicit CheckRowView(const CheckRow& row, QWidget* parent = nullptr);

Q_SIGNALS:
    void acted(const rm::CheckAction& action); ///< the button was pressed
};

} // namespace rm

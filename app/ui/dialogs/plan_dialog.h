// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/ui/dialogs/sheet.h"

namespace rm {

/// What a launch would run: the ranks of each node, and the whole spec with every default.
class PlanDialog : public Sheet {
    Q_OBJECT
public:
    /// `mayForecast`: there are several nodes, so that forecastRequested() makes sense.
    PlanDialog(const QString& plan, const QString& toml, bool mayForecast, QWidget* parent);

Q_SIGNALS:
    void forecastRequested();
};

} // namespace rm

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/ui/plot/chart_data.h"

class QWidget;

namespace rm {

/// Opens what a plot shows as a table of figures, for those who read better than they see.
void showTableTwin(const QString& title, const std::vector<Curve>& curves, QWidget* parent);

} // namespace rm

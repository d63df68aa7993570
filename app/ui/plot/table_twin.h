// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/ui/plot/chart_data.h"

class QWidget;

namespace rm {

/// Opens the data of a plot as a table of numbers, which screen readers can read.
void showTableTwin(const QString& title, const std::vector<Curve>& curves, QWidget* parent);
/// Likewise those of a heat map: a line for each stretch of time, a column for each rank.
void showTableTwin(const QString& title, const HeatData& heat, QWidget* parent);

} // namespace rm

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/machines/machine_board.h"
#include "app/ui/plot/chart_data.h"

#include <QString>

#include <vector>

namespace rm {

/// A figure of a device or a machine that a chart can show.
struct MachineFigure {
    const char* id; ///< tells it from the others
    QString name;   ///< "Power (W)"
    MetricFormat format = MetricFormat::kNumber;
    bool isOfGpu = false;
    bool isFromZero = true;
};

/// Those of a GPU, or of a machine without one; the first two are shown first.
std::vector<MachineFigure> figuresFor(bool ofGpu);

/// The curves of the figure for the last five minutes, in seconds before now: that of the selected
/// device, and of a GPU the median of the others beside it.
std::vector<Curve> curvesOf(const MachineFigure& figure, const ShownMachine& machine, int gpu,
                            int64_t nowNs);

} // namespace rm

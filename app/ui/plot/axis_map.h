// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/compare/step_scale.h"

#include <cstdint>

namespace rm {

/// What a horizontal axis counts, in the order in which it is offered.
enum class XAxis { kStep, kWork, kEpoch, kRelative, kWall };

inline bool isTime(XAxis axis) {
    return axis == XAxis::kRelative || axis == XAxis::kWall;
}

/// Where the steps and moments of a run stand on a horizontal axis.
struct AxisMap {
    XAxis axis = XAxis::kStep;
    int64_t startNs = 0;  ///< where XAxis::kRelative is 0
    StepScale scale = {}; ///< of XAxis::kWork and kEpoch
    double origin = 0;    ///< what is shown as 0, in units of the axis

    bool operator==(const AxisMap&) const = default;
};

double xOf(const AxisMap& map, int64_t step, int64_t wallNs);
/// The step at x, where the axis is none of time.
double stepOf(const AxisMap& map, double x);

/// The moment at x, where the axis is one of time.
int64_t wallNsOf(const AxisMap& map, double x);

/// The axis for that run, with its scale. kNotFound: the run does not have what it counts, and why.
/// Worker thread.
Result<AxisMap> axisOf(StoreReader& reader, const RunSummary& run, XAxis axis, int64_t startNs);

} // namespace rm

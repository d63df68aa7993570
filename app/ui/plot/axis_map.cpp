// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/plot/axis_map.h"

#include "shared/return_if_error.h"

namespace rm {

double xOf(const AxisMap& map, int64_t step, int64_t wallNs) {
    switch (map.axis) {
    case XAxis::kStep:
        return static_cast<double>(step) - map.origin;
    case XAxis::kWork:
    case XAxis::kEpoch:
        return map.scale.at(static_cast<double>(step)) - map.origin;
    case XAxis::kRelative:
        return static_cast<double>(wallNs - map.startNs) / 1e9 - map.origin;
    case XAxis::kWall:
        return static_cast<double>(wallNs / 1000) / 1e6;
    }
    Q_UNREACHABLE();
}

double stepOf(const AxisMap& map, double x) {
    return map.axis == XAxis::kStep ? x + map.origin : map.scale.stepAt(x + map.origin);
}

int64_t wallNsOf(const AxisMap& map, double x) {
    if (map.axis == XAxis::kWall)
        return static_cast<int64_t>(x * 1e6) * 1000;
    return map.startNs + static_cast<int64_t>((x + map.origin) * 1e9);
}

Result<AxisMap> axisOf(StoreReader& reader, const RunSummary& run, XAxis axis, int64_t startNs) {
    AxisMap map{axis, startNs};
    if (axis == XAxis::kWork) {
        RM_ASSIGN_OR_RETURN(const WorkScale work, workScale(reader, run));
        map.scale = work.scale;
    }
    if (axis == XAxis::kEpoch) {
        RM_ASSIGN_OR_RETURN(map.scale, epochScale(reader, run));
    }
    return map;
}

} // namespace rm

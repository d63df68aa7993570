// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/run/same_name.h"

#include <algorithm>

namespace rm {

std::string sameNameWords(const std::vector<RunSummary>& runs, const RunSpec& spec) {
    const QString name = QString::fromStdString(spec.name);
    const auto count = std::ranges::count(runs, name, &RunSummary::name);
    if (count == 0 || spec.checkpoint.onExisting == "resume")
        return {};
    const std::string newest = std::ranges::find(runs, name, &RunSummary::name)->id.toStdString();
    return (count == 1 ? "a run is called " + spec.name + " already, " + newest
                       : std::to_string(count) + " runs are called " + spec.name +
                             " already, the newest is " + newest) +
           ": choose another name, or tell them apart by their ids";
}

} // namespace rm

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/runs/same_name.h"

#include "app/core/store/run_summary.h"

#include <utility>

namespace rm {

std::vector<RunSummary> calledSo(std::vector<RunSummary> runs, const QString& name) {
    std::erase_if(runs, [&name](const RunSummary& run) { return run.name != name; });
    return runs;
}

std::string sameNameWords(std::vector<RunSummary> runs, const std::string& name) {
    const auto same = calledSo(std::move(runs), QString::fromStdString(name));
    if (same.empty())
        return {};
    const std::string newest = same.front().id.toStdString();
    return (same.size() == 1 ? "a run is called " + name + " already, " + newest
                             : std::to_string(same.size()) + " runs are called " + name +
                                   " already, the newest is " + newest) +
           ": choose another name, or tell them apart by their ids";
}

} // namespace rm

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/runs/same_name.h"

#include "app/core/findings/text.h"
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
    const Value taken{"name", name}, newest{"newest", same.front().id.toStdString()};
    return same.size() == 1
               ? say("run.name-taken", {taken, newest})
               : say("run.name-taken-by", {{"runs", std::to_string(same.size())}, taken, newest});
}

} // namespace rm

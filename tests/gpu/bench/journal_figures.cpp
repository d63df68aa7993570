// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/bench/journal_figures.h"

#include "shared/journal/journal.h"
#include "shared/journal/segment.h"
#include "shared/metrics/registry.h"

#include <nlohmann/json.hpp>

namespace rm {

Result<std::string> journalFigures(const std::string& folder, int rank) {
    const auto records = readSegments(folder, rankName(rank));
    if (!records)
        return tl::unexpected(records.error());
    auto series = nlohmann::ordered_json::object();
    auto events = nlohmann::ordered_json::array();
    for (const Record& record : *records) {
        if (const auto* event = std::get_if<Event>(&record))
            events.push_back(event->message);
        const auto* samples = std::get_if<Samples>(&record);
        for (size_t i = 0; samples && i < samples->metric.size(); ++i)
            if (const MetricDef* metric = findBuiltinMetric(samples->metric[i]))
                series[metric->name].push_back({samples->step, samples->value[i]});
    }
    return nlohmann::ordered_json{{"series", series}, {"events", events}}.dump();
}

} // namespace rm

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/compare/compared_curves.h"

#include "app/core/store/store_reader.h"
#include "shared/return_if_error.h"

#include <algorithm>
#include <map>

namespace rm {

namespace {

/// When the run had done that step; before its first one: when it began.
int64_t momentOf(StoreReader& reader, const QString& run, int64_t step, int64_t startNs) {
    const auto before = reader.buckets(run, {metricName(metric::kTrainLoss), 0}, 0, step, 1);
    return before.empty() ? startNs : before.back().wallNs;
}

/// Where the run stands on the axis, with what the alignment makes its 0.
Result<AxisMap> alignedAxis(StoreReader& reader, const RunSummary& run, const CurvesQuery& query) {
    const auto attempts = reader.attempts(run.id);
    const int64_t startNs = attempts.empty() ? 0 : attempts.front().startedNs;
    RM_ASSIGN_OR_RETURN(AxisMap map, axisOf(reader, run, query.axis, startNs));
    if (query.alignment.at == Alignment::At::kStart || query.axis == XAxis::kWall)
        return map;
    RM_ASSIGN_OR_RETURN(const int64_t step, alignedStep(reader, run, query.all, query.alignment));
    map.origin = xOf(map, step, momentOf(reader, run.id, step, startNs));
    return map;
}

} // namespace

std::vector<MissingReason> reasonsOf(const std::vector<MissingCurve>& missing) {
    std::vector<MissingReason> reasons;
    std::map<QString, size_t> places; // by the reason without the run
    for (const auto& [run, why] : missing) {
        const QString rest = why.startsWith(run) ? why.mid(run.size()) : why;
        const auto [place, isNew] = places.emplace(rest, reasons.size());
        if (isNew)
            reasons.push_back({why});
        else
            ++reasons[place->second].others;
    }
    return reasons;
}

ComparedCurves readCurves(StoreReader& reader, const CurvesQuery& query) {
    ComparedCurves answer;
    for (const MetricDef& metric : query.metrics)
        answer.charts.push_back({metric.name, {}});
    for (const auto& [run, style] : query.runs) {
        answer.units.push_back(workUnit(reader, run.id));
        const auto map = alignedAxis(reader, run, query);
        if (!map) {
            answer.missing.push_back({run.name, QString::fromStdString(map.error().message)});
            continue;
        }
        ChartQuery chart = queryOf(run);
        chart.map = *map;
        chart.range = query.range;
        chart.maxPoints = query.maxPoints;
        chart.smoothing = query.smoothing;
        chart.abandoned = false;
        for (size_t at = 0; at < query.metrics.size(); ++at) {
            Curve curve = readLine(reader, chart, query.metrics[at]);
            curve.brief = run.name;
            curve.isRawNamed = false; // names of runs need the room
            curve.colour = style.colour;
            curve.dash = style.dash;
            answer.charts[at].curves.push_back(std::move(curve));
        }
    }
    return answer;
}

} // namespace rm

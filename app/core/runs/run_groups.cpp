// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/runs/run_groups.h"

#include "app/core/runs/run_filter.h"
#include "app/core/runs/run_values.h"
#include "shared/return_if_error.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace rm {

namespace {

constexpr const char* kModelType = "model.type";

std::string sortedList(std::vector<std::string> words) {
    std::ranges::sort(words);
    std::string text;
    for (const std::string& word : words)
        text += (text.empty() ? "" : ", ") + word;
    return text;
}

std::string tagsOf(const RunSummary& run) {
    std::vector<std::string> tags;
    for (const QString& tag : run.tags)
        tags.push_back(tag.toStdString());
    return sortedList(std::move(tags));
}

std::string nodesOf(const RunSummary& run) {
    std::vector<std::string> names;
    for (const RunNode& node : run.nodes)
        names.push_back(node.nodeName);
    return sortedList(std::move(names));
}

std::string parentOf(const RunSummary& run) {
    return (run.parentName.isEmpty() ? run.parentRun : run.parentName).toStdString();
}

std::string groupOf(const RunSummary& run, const std::string& key, const ValueOfRun& valueOf) {
    if (key == "state")
        return runStateName(run);
    if (key == "tag")
        return tagsOf(run);
    if (key == "node")
        return nodesOf(run);
    if (key == "branch")
        return parentOf(run);
    if (key == "sweep")
        return run.sweep.toStdString();
    return valueOf(run, keyToRead(key).value_or(key)).value_or(std::string());
}

/// Numbers by number, before texts; what has none last.
bool isBefore(const std::string& left, const std::string& right) {
    const auto place = [](const std::string& value) {
        const auto number = numberIn(value);
        return std::tuple(value.empty() ? 2 : number ? 0 : 1, number.value_or(0), value);
    };
    return place(left) < place(right);
}

std::optional<double> figureOf(const RunSummary& run, const std::string& key,
                               const ValueOfRun& valueOf) {
    if (const auto own = summaryNumber(run, key))
        return *own;
    const auto value = valueOf(run, key);
    return value ? numberIn(*value) : std::nullopt;
}

std::map<std::string, Aggregate> figuresOf(const std::vector<const RunSummary*>& runs,
                                           const std::vector<size_t>& places,
                                           const std::vector<std::string>& keys,
                                           const ValueOfRun& valueOf) {
    std::map<std::string, Aggregate> figures;
    for (const std::string& key : keys) {
        std::vector<double> values;
        for (const size_t place : places)
            if (const auto value = figureOf(*runs[place], key, valueOf))
                values.push_back(*value);
        if (const auto aggregate = aggregateOf(values))
            figures[key] = *aggregate;
    }
    return figures;
}

} // namespace

std::optional<Aggregate> aggregateOf(const std::vector<double>& values) {
    Aggregate all;
    double squares = 0; // of the distances from the mean, by Welford
    for (const double value : values) {
        if (!std::isfinite(value))
            continue;
        all.least = all.count == 0 ? value : std::min(all.least, value);
        all.most = all.count == 0 ? value : std::max(all.most, value);
        ++all.count;
        const double before = value - all.mean;
        all.mean += before / static_cast<double>(all.count);
        squares += before * (value - all.mean);
    }
    if (all.count == 0)
        return std::nullopt;
    if (all.count > 1)
        all.spread = std::sqrt(squares / static_cast<double>(all.count - 1));
    return all;
}

const std::vector<std::string>& summaryFigures() {
    static const std::vector<std::string> keys{"step", "loss", "best", "ranks"};
    return keys;
}

const std::vector<std::string>& summaryGroupKeys() {
    static const std::vector<std::string> keys{"state", "tag", "node", "branch", "sweep", "model"};
    return keys;
}

Result<void> checkGroupKey(const std::string& key) {
    if (std::ranges::find(summaryGroupKeys(), key) == summaryGroupKeys().end())
        RM_RETURN_IF_ERROR(parseValueKey(key));
    return {};
}

std::optional<std::string> keyToRead(const std::string& key) {
    if (key == "model")
        return kModelType;
    const bool isOfSummary = std::ranges::find(summaryGroupKeys(), key) != summaryGroupKeys().end();
    return isOfSummary ? std::nullopt : std::optional(key);
}

std::vector<RunGroup> groupRuns(const std::vector<const RunSummary*>& runs, const std::string& key,
                                const std::vector<std::string>& columns,
                                const ValueOfRun& valueOf) {
    std::map<std::string, std::vector<size_t>> byValue;
    for (size_t place = 0; place < runs.size(); ++place)
        byValue[groupOf(*runs[place], key, valueOf)].push_back(place);
    std::vector<std::string> keys = summaryFigures();
    keys.insert(keys.end(), columns.begin(), columns.end());
    std::vector<RunGroup> groups;
    for (auto& [value, places] : byValue) {
        auto figures = figuresOf(runs, places, keys, valueOf);
        groups.push_back({value, std::move(places), std::move(figures)});
    }
    std::ranges::sort(groups, isBefore, &RunGroup::value);
    return groups;
}

} // namespace rm

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/access.h"
#include "app/cli/command_context.h"
#include "app/cli/commands.h"
#include "app/cli/json_view.h"
#include "app/cli/terminal.h"
#include "app/core/compare/comparison.h"

#include <QtConcurrent>

#include <iostream>

namespace rm::cli {

namespace {

struct CompareOptions {
    std::vector<std::string> runs;
    bool all = false; ///< also what is alike
};

using Row = std::vector<std::string>;

/// The ids of the runs, brought up to date; of a branch that is named alone, behind its parent.
Result<std::vector<QString>> idsOf(CommandContext& context, const std::vector<std::string>& names) {
    std::vector<QString> ids;
    for (const std::string& name : names) {
        const auto run = context.caughtUp(name);
        if (!run)
            return tl::unexpected(run.error());
        if (names.size() == 1 && run->parentRun.isEmpty())
            return fail(ErrorCode::kInvalid, "compare " + name +
                                                 ": it is no branch, so name another run to "
                                                 "compare it with (`ringmaster runs` lists them)");
        if (names.size() == 1)
            ids.push_back(run->parentRun);
        if (std::ranges::find(ids, run->id) != ids.end())
            return fail(ErrorCode::kInvalid, "compare " + name + ": " + run->id.toStdString() +
                                                 " is named twice; name two runs");
        ids.push_back(run->id);
    }
    return ids;
}

/// The head of a table with a column for each run: their names, or ids where names are alike.
Row headOf(const std::string& title, const std::vector<RunSummary>& runs) {
    Row head{title};
    for (const RunSummary& run : runs) {
        const bool isAlone = std::ranges::count(runs, run.name, &RunSummary::name) == 1;
        head.push_back(oneLine((isAlone ? run.name : run.id).toStdString()));
    }
    return head;
}

Row rowOf(const std::string& title, const std::vector<std::string>& values) {
    Row row{title};
    for (const std::string& value : values)
        row.push_back(value.empty() ? "-" : oneLine(value));
    return row;
}

std::vector<Row> factRows(const Comparison& comparison) {
    std::vector<Row> rows{headOf("", comparison.runs)};
    Row ids{"Id"}, seconds{"Time in steps"};
    for (const RunSummary& run : comparison.runs)
        ids.push_back(run.id.toStdString());
    for (const double each : comparison.secondsTrained)
        seconds.push_back(each > 0 ? formatDuration(each) : "-");
    rows.push_back(std::move(ids));
    for (const ComparedValue& fact : comparison.facts)
        if (std::ranges::any_of(fact.values, std::not_fn(&std::string::empty)))
            rows.push_back(rowOf(fact.label, fact.values));
    rows.push_back(std::move(seconds));
    return rows;
}

std::vector<Row> settingRows(const Comparison& comparison, bool all) {
    std::vector<Row> rows;
    for (const ComparedValue& setting : comparison.settings)
        if (setting.key != "name" && (all || setting.differs()))
            rows.push_back(rowOf(setting.key, setting.values));
    return rows;
}

/// "2.31, best 2.30 at 990"; the best of the row has a star.
std::string extentText(const ComparedMetric& metric, size_t run) {
    const auto& extent = metric.extents[run];
    if (!extent)
        return "-";
    std::string text = formatNumber(extent->last) + (metric.bestLast == run ? "*" : "");
    if (const auto best = bestOf(metric.def, *extent))
        text += ", best " + formatNumber(*best) + (metric.best == run ? "*" : "") + " at " +
                std::to_string(bestStepOf(metric.def, *extent));
    return text;
}

std::vector<Row> metricRows(const Comparison& comparison, bool all) {
    std::vector<Row> rows;
    for (const ComparedMetric& metric : comparison.metrics) {
        if (!all && metric.def.direction == MetricDirection::kNeither)
            continue;
        Row row{metric.def.name + (metric.def.unit.empty() ? "" : " (" + metric.def.unit + ")")};
        for (size_t run = 0; run < comparison.runs.size(); ++run)
            row.push_back(extentText(metric, run));
        rows.push_back(std::move(row));
    }
    return rows;
}

nlohmann::ordered_json extentJson(const ComparedMetric& metric, size_t run) {
    const auto& extent = metric.extents[run];
    if (!extent)
        return nullptr;
    nlohmann::ordered_json json{{"last", extent->last}, {"last_step", extent->lastStep},
                                {"min", extent->least}, {"min_step", extent->leastStep},
                                {"max", extent->most},  {"max_step", extent->mostStep}};
    if (const auto best = bestOf(metric.def, *extent)) {
        json["best"] = *best;
        json["best_step"] = bestStepOf(metric.def, *extent);
    }
    return json;
}

nlohmann::ordered_json valuesJson(const std::vector<ComparedValue>& all) {
    auto list = nlohmann::ordered_json::array();
    for (const ComparedValue& each : all)
        list.push_back({{"key", each.key}, {"differs", each.differs()}, {"values", each.values}});
    return list;
}

void printAsJson(const Comparison& comparison) {
    auto runs = nlohmann::ordered_json::array();
    for (size_t run = 0; run < comparison.runs.size(); ++run) {
        runs.push_back(toJson(comparison.runs[run]));
        runs.back()["seconds_in_steps"] = comparison.secondsTrained[run];
    }
    auto metrics = nlohmann::ordered_json::array();
    for (const ComparedMetric& metric : comparison.metrics) {
        auto extents = nlohmann::ordered_json::array();
        for (size_t run = 0; run < comparison.runs.size(); ++run)
            extents.push_back(extentJson(metric, run));
        metrics.push_back(
            {{"name", metric.def.name}, {"unit", metric.def.unit}, {"values", std::move(extents)}});
        const auto winner = [&](const char* key, std::optional<size_t> run) {
            metrics.back()[key] =
                run ? nlohmann::ordered_json(comparison.runs[*run].id.toStdString())
                    : nlohmann::ordered_json(nullptr);
        };
        winner("best_run", metric.best);
        winner("best_last_run", metric.bestLast);
    }
    printJson({{"runs", std::move(runs)},
               {"facts", valuesJson(comparison.facts)},
               {"settings", valuesJson(comparison.settings)},
               {"metrics", std::move(metrics)}});
}

void printTable(const std::string& title, const Row& head, std::vector<Row> rows) {
    std::cout << '\n' << title << '\n';
    rows.insert(rows.begin(), head);
    std::cout << formatTable(rows);
}

void print(const Comparison& comparison, bool all) {
    std::cout << formatTable(factRows(comparison));
    const auto settings = settingRows(comparison, all);
    const Row head = headOf("", comparison.runs);
    if (settings.empty())
        std::cout << "\nAll settings are alike.\n";
    else
        printTable(all ? "Settings" : "Settings that differ", head, settings);
    if (const auto metrics = metricRows(comparison, all); !metrics.empty())
        printTable("The last value of rank 0, and its best one (* is the best of its row)", head,
                   metrics);
    std::cout << std::flush;
}

int runCompare(CommandContext& context, const CompareOptions& options) {
    const auto ids = idsOf(context, options.runs);
    if (!ids)
        return printError(context, ids.error());
    const auto reader = context.reader();
    if (!reader)
        return printError(context, reader.error());
    // Not in this thread, which may be serving other terminals.
    const auto comparison = await(QtConcurrent::run([&] { return compareRuns(**reader, *ids); }));
    if (!comparison)
        return printError(context, comparison.error());
    if (context.json())
        printAsJson(*comparison);
    else
        print(*comparison, options.all);
    return 0;
}

} // namespace

void addComparing(CommandLine& line) {
    auto& o = line.keep<CompareOptions>();
    auto* compare = line.add("compare", "Show what differs between runs, and which one is better",
                             [&o](CommandContext& context) { return runCompare(context, o); });
    line.mayOnlyRead(*compare);
    compare
        ->add_option("RUN", o.runs,
                     "Ids, starts of ids, or names of two runs or more; or one that is a branch, "
                     "for it and its parent")
        ->required();
    compare->add_flag("--all", o.all, "Also the settings that are alike, and every metric");
}

} // namespace rm::cli

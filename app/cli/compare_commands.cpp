// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/access.h"
#include "app/cli/command_context.h"
#include "app/cli/commands.h"
#include "app/cli/json_view.h"
#include "app/cli/terminal.h"
#include "app/core/compare/comparison.h"
#include "app/core/compare/lineage.h"
#include "app/core/compare/run_table.h"
#include "shared/return_if_error.h"

#include <QtConcurrent>

#include <iostream>

namespace rm::cli {

namespace {

struct CompareOptions {
    std::vector<std::string> runs;
    bool all = false;              ///< also what is alike
    std::vector<std::string> keys; ///< of parseValueKey(): a table of these in place of all else
    std::string filter;
    bool lineage = false; ///< the runs that hang together, in place of all else
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

/// Those that are named, brought up to date, or all for which the filter holds.
Result<std::vector<RunSummary>> runsOf(CommandContext& context, const CompareOptions& options) {
    std::vector<RunSummary> runs;
    for (const std::string& name : options.runs) {
        RM_ASSIGN_OR_RETURN(auto run, context.caughtUp(name));
        runs.push_back(std::move(run));
    }
    if (!options.runs.empty())
        return runs;
    RM_ASSIGN_OR_RETURN(const RunFilter filter,
                        filterTyped(context.paths(), QString::fromStdString(options.filter)));
    context.catchUp();
    RM_ASSIGN_OR_RETURN(const auto reader, context.reader());
    return await(QtConcurrent::run([&] {
        RunValues values;
        return filtered(filter, reader->runs(), *reader, values);
    }));
}

nlohmann::ordered_json tableJson(const RunTable& table) {
    auto runs = nlohmann::ordered_json::array();
    for (size_t run = 0; run < table.runs.size(); ++run) {
        auto values = nlohmann::ordered_json::object();
        for (size_t key = 0; key < table.keys.size(); ++key)
            if (!table.values[run][key].empty())
                values[table.keys[key]] = table.values[run][key];
        runs.push_back({{"id", table.runs[run].id.toStdString()},
                        {"name", table.runs[run].name.toStdString()},
                        {"values", std::move(values)}});
    }
    return {{"keys", table.keys}, {"runs", std::move(runs)}};
}

/// What scatter plot and parallel coordinates of the window show.
int printValues(CommandContext& context, const CompareOptions& options) {
    auto runs = runsOf(context, options);
    if (!runs)
        return printError(context, runs.error());
    const auto reader = context.reader();
    if (!reader)
        return printError(context, reader.error());
    const auto table = await(QtConcurrent::run([&] {
        RunValues values;
        return readRunTable(**reader, values, std::move(*runs), options.keys);
    }));
    if (!table)
        return printError(context, table.error());
    if (context.json()) {
        printJson(tableJson(*table));
        return 0;
    }
    std::vector<Row> rows{{"RUN", "NAME"}};
    for (const std::string& key : table->keys)
        rows.front().push_back(oneLine(key));
    for (size_t run = 0; run < table->runs.size(); ++run) {
        Row row{table->runs[run].id.toStdString(), oneLine(table->runs[run].name.toStdString())};
        for (const std::string& value : table->values[run])
            row.push_back(value.empty() ? "-" : oneLine(value));
        rows.push_back(std::move(row));
    }
    std::cout << formatTable(rows) << std::flush;
    return 0;
}

nlohmann::ordered_json changesJson(const std::vector<SettingChange>& changes) {
    auto list = nlohmann::ordered_json::array();
    for (const SettingChange& change : changes) {
        list.push_back({{"key", change.key}, {"from", change.from}, {"to", change.to}});
        if (change.afterStep > 0)
            list.back()["after_step"] = change.afterStep;
    }
    return list;
}

nlohmann::ordered_json lineageJson(const std::vector<LineageRun>& lineage) {
    auto runs = nlohmann::ordered_json::array();
    for (const LineageRun& each : lineage) {
        auto attempts = nlohmann::ordered_json::array();
        for (const LineageAttempt& attempt : each.attempts) {
            auto lines = nlohmann::ordered_json::array();
            for (const StoredLine& line : attempt.lines)
                lines.push_back(toJson(line));
            attempts.push_back({{"attempt", attempt.attempt},
                                {"lines", std::move(lines)},
                                {"changes", changesJson(attempt.changes)}});
        }
        runs.push_back({{"id", each.run.id.toStdString()},
                        {"name", each.run.name.toStdString()},
                        {"parent", each.run.parentRun.toStdString()},
                        {"parent_step", each.run.parentStep},
                        {"steps", each.run.step},
                        {"changes", changesJson(each.changes)},
                        {"attempts", std::move(attempts)}});
    }
    return runs;
}

std::string changesText(const std::vector<SettingChange>& changes) {
    std::string text;
    for (const SettingChange& change : changes)
        text += (text.empty() ? "" : ", ") + changeWords(change);
    return text;
}

/// A line a run under its parent, further in, and one for each of several attempts.
void printLineage(const std::vector<LineageRun>& lineage) {
    for (const LineageRun& each : lineage) {
        const std::string indent(2 * static_cast<size_t>(each.depth), ' ');
        std::string line = indent + oneLine(each.run.name.toStdString());
        if (!each.run.parentRun.isEmpty())
            line += ", from " + std::to_string(each.run.parentStep);
        line += ", to " + std::to_string(each.run.step);
        if (const std::string changes = changesText(each.changes); !changes.empty())
            line += ": " + changes;
        std::cout << line << '\n';
        for (const LineageAttempt& attempt : each.attempts)
            if (each.attempts.size() > 1 || !attempt.changes.empty())
                std::cout << indent << "    attempt " << attempt.attempt
                          << (attempt.changes.empty() ? "" : ": ") << changesText(attempt.changes)
                          << '\n';
    }
    std::cout << std::flush;
}

int showLineage(CommandContext& context, const CompareOptions& options) {
    const auto runs = runsOf(context, options);
    if (!runs)
        return printError(context, runs.error());
    const auto reader = context.reader();
    if (!reader)
        return printError(context, reader.error());
    std::vector<QString> ids;
    for (const RunSummary& run : *runs)
        ids.push_back(run.id);
    const auto lineage = await(QtConcurrent::run([&] { return readLineage(**reader, ids); }));
    if (context.json())
        printJson(lineageJson(lineage));
    else
        printLineage(lineage);
    return 0;
}

/// What is asked for together.
Result<void> checkOptions(const CompareOptions& options) {
    const bool takesAny = options.lineage || !options.keys.empty();
    if (options.runs.empty() && !takesAny && options.filter.empty())
        return fail(ErrorCode::kInvalid, "compare: name two runs or more (`ringmaster runs` lists "
                                         "them), or what to show of all with --keys");
    if (!options.runs.empty() && !options.filter.empty())
        return fail(ErrorCode::kInvalid,
                    "compare: --filter takes the place of RUN; leave one of them out");
    if (!takesAny && !options.filter.empty())
        return fail(ErrorCode::kInvalid, "compare: --filter needs --keys or --lineage, such as "
                                         "--keys lr,best:validation/loss");
    if (options.lineage && !options.keys.empty())
        return fail(ErrorCode::kInvalid, "compare: leave out --keys or --lineage");
    return {};
}

int runCompare(CommandContext& context, const CompareOptions& options) {
    if (const auto checked = checkOptions(options); !checked)
        return printError(context, checked.error());
    if (options.lineage)
        return showLineage(context, options);
    if (!options.keys.empty())
        return printValues(context, options);
    const auto ids = idsOf(context, options.runs);
    if (!ids)
        return printError(context, ids.error());
    const auto reader = context.reader();
    if (!reader)
        return printError(context, reader.error());
    // Not in this thread, which may be serving other terminals.
    const auto comparison = await(QtConcurrent::run(
        [&, nodes = context.fleet().nodes()] { return compareRuns(**reader, *ids, nodes); }));
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
    compare->add_option(
        "RUN", o.runs,
        "Ids, starts of ids, or names of two runs or more; or one that is a branch, "
        "for it and its parent; with --keys or --lineage any number, none being all");
    compare->add_flag("--all", o.all, "Also the settings that are alike, and every metric");
    compare
        ->add_option("--keys", o.keys,
                     "A table of these settings and metrics alone, a line a run: "
                     "lr,best:validation/loss")
        ->delimiter(',');
    compare->add_option("--filter", o.filter,
                        "With --keys or --lineage: the runs for which this holds, as for `runs`");
    compare->add_flag("--lineage", o.lineage,
                      "The runs that hang together by branches, and what each changed");
}

} // namespace rm::cli

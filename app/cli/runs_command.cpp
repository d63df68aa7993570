// SPDX-License-Identifier: GPL-3.0-or-later
// `runs`: the list of runs, filtered, with further columns, or in groups; and the filters that are
// kept under names.
#include "app/cli/command_context.h"
#include "app/cli/commands.h"
#include "app/cli/json_view.h"
#include "app/cli/run_text.h"
#include "app/cli/terminal.h"
#include "app/core/runs/run_groups.h"
#include "app/core/runs/run_values.h"
#include "app/core/settings/saved_filters.h"
#include "shared/return_if_error.h"

#include <QtConcurrent>

#include <algorithm>
#include <iostream>

namespace rm::cli {

namespace {

using Json = nlohmann::ordered_json;
using Rows = std::vector<std::vector<std::string>>;

struct RunsOptions {
    std::string filter;               ///< or "@NAME"
    std::vector<std::string> columns; ///< keys of parseValueKey()
    std::string group;                ///< of checkGroupKey(); empty: none
    bool archived = false;
    bool listFilters = false;
    std::string savedAs; ///< keep `filter` under this name
    std::string removed; ///< the name of a filter
};

/// The runs that are wanted, and what they have for the columns.
struct WantedRuns {
    std::vector<RunSummary> runs;
    RunValues::Table values;
    bool areThereAny = false; ///< also such as are not wanted
};

WantedRuns wantedRuns(StoreReader& reader, const RunFilter& filter,
                      const std::vector<std::string>& keys) {
    WantedRuns wanted{reader.runs(), {}, false};
    wanted.areThereAny = !wanted.runs.empty();
    RunValues values;
    wanted.runs = filtered(filter, std::move(wanted.runs), reader, values);
    wanted.values = values.valuesOf(reader, wanted.runs, keys);
    return wanted;
}

/// Also keeps the filter, where that is wanted and it is one.
Result<RunFilter> readFilter(const CommandContext& context, const RunsOptions& options) {
    const QString typed = QString::fromStdString(options.filter);
    RM_ASSIGN_OR_RETURN(auto filter, filterTyped(context.paths(), typed));
    RM_ASSIGN_OR_RETURN(const QString meant, filterMeant(context.paths(), typed));
    if (!options.savedAs.empty())
        RM_RETURN_IF_ERROR(
            saveFilter(context.paths(), {QString::fromStdString(options.savedAs), meant}));
    for (const std::string& column : options.columns)
        RM_RETURN_IF_ERROR(parseValueKey(column));
    if (!options.group.empty())
        RM_RETURN_IF_ERROR(checkGroupKey(options.group));
    return options.archived ? ofArchive(std::move(filter)) : filter;
}

/// Those of the columns, and what the runs are grouped by.
std::vector<std::string> keysToRead(const RunsOptions& options) {
    std::vector<std::string> keys = options.columns;
    if (const auto key = options.group.empty() ? std::nullopt : keyToRead(options.group))
        keys.push_back(*key);
    return keys;
}

std::vector<RunGroup> groupsOf(const WantedRuns& wanted, const RunsOptions& options) {
    std::vector<const RunSummary*> runs;
    for (const RunSummary& run : wanted.runs)
        runs.push_back(&run);
    return groupRuns(runs, options.group, options.columns,
                     [&](const RunSummary& run, const std::string& key) {
                         return valueIn(wanted.values, run.id, key);
                     });
}

Json jsonOf(const WantedRuns& wanted, const RunsOptions& options) {
    Json runs = arrayOf(wanted.runs);
    for (size_t at = 0; at < wanted.runs.size(); ++at)
        for (const std::string& column : options.columns)
            if (const auto value = valueIn(wanted.values, wanted.runs[at].id, column))
                runs[at]["values"][column] = *value;
    return runs;
}

Json jsonOf(const Aggregate& figure) {
    return {{"count", figure.count},
            {"mean", figure.mean},
            {"spread", figure.spread},
            {"least", figure.least},
            {"most", figure.most}};
}

Json jsonOf(const std::vector<RunGroup>& groups, const WantedRuns& wanted, const std::string& key) {
    Json out = Json::array();
    for (const RunGroup& group : groups) {
        Json runs = Json::array(), figures = Json::object();
        for (const size_t run : group.runs)
            runs.push_back(wanted.runs[run].id.toStdString());
        for (const auto& [name, figure] : group.figures)
            figures[name] = jsonOf(figure);
        out.push_back({{"value", group.value.empty() ? Json(nullptr) : Json(group.value)},
                       {"runs", runs},
                       {"figures", figures}});
    }
    return {{"group", key}, {"groups", out}};
}

std::vector<std::string> row(const RunSummary& run) {
    return {run.id.toStdString(), oneLine(run.name.toStdString()),
            stateText(run),       stepsText(run),
            lossText(run.loss),   lossText(run.validationLoss),
            nodesText(run),       formatAgo(run.createdNs)};
}

/// Adds a last column, if any run has something for it.
void addColumn(Rows& rows, const char* title, const std::vector<RunSummary>& runs,
               std::string (*textOf)(const RunSummary&)) {
    if (std::ranges::all_of(runs, [&](const RunSummary& run) { return textOf(run).empty(); }))
        return;
    rows.front().push_back(title);
    for (size_t at = 0; at < runs.size(); ++at)
        rows[at + 1].push_back(textOf(runs[at]));
}

Rows tableOf(const WantedRuns& wanted, const RunsOptions& options) {
    Rows rows = {{"RUN", "NAME", "STATE", "STEP", "LOSS", "VALIDATION", "NODES", "CREATED"}};
    for (const RunSummary& run : wanted.runs)
        rows.push_back(row(run));
    for (const std::string& column : options.columns) {
        rows.front().push_back(oneLine(column));
        for (size_t at = 0; at < wanted.runs.size(); ++at)
            rows[at + 1].push_back(
                oneLine(valueIn(wanted.values, wanted.runs[at].id, column).value_or("-")));
    }
    addColumn(rows, "BRANCH OF", wanted.runs, &parentText);
    addColumn(rows, "MARKS", wanted.runs, &marksText);
    return rows;
}

/// "2.31 ± 0.12, 2.1 to 2.5": mean, spread, least and most; of one value that.
std::string figureText(const std::map<std::string, Aggregate>& figures, const std::string& key) {
    const auto it = figures.find(key);
    if (it == figures.end())
        return "-";
    const Aggregate& figure = it->second;
    if (figure.least == figure.most)
        return formatNumber(figure.mean);
    return formatNumber(figure.mean) + " ± " + formatNumber(figure.spread) + ", " +
           formatNumber(figure.least) + " to " + formatNumber(figure.most);
}

Rows tableOf(const std::vector<RunGroup>& groups, const RunsOptions& options) {
    Rows rows = {{oneLine(options.group), "RUNS", "STEP", "LOSS", "VALIDATION", "RANKS"}};
    for (const std::string& column : options.columns)
        rows.front().push_back(oneLine(column));
    for (const RunGroup& group : groups) {
        rows.push_back(
            {group.value.empty() ? "-" : oneLine(group.value), std::to_string(group.runs.size())});
        for (const std::string& key : summaryFigures())
            rows.back().push_back(figureText(group.figures, key));
        for (const std::string& column : options.columns)
            rows.back().push_back(figureText(group.figures, column));
    }
    return rows;
}

int printWanted(CommandContext& context, const WantedRuns& wanted, const RunsOptions& options) {
    const bool areGrouped = !options.group.empty();
    const auto groups = areGrouped ? groupsOf(wanted, options) : std::vector<RunGroup>();
    if (context.json())
        printJson(areGrouped ? jsonOf(groups, wanted, options.group) : jsonOf(wanted, options));
    else if (wanted.runs.empty() && wanted.areThereAny)
        std::cout << "No run matches." << std::endl;
    else if (wanted.runs.empty())
        std::cout << "No runs yet. Try: ringmaster run gpt-tiny --node this-computer:2 --wait"
                  << std::endl;
    else
        std::cout << formatTable(areGrouped ? tableOf(groups, options) : tableOf(wanted, options))
                  << std::flush;
    return 0;
}

int printFilters(const CommandContext& context) {
    const auto filters = savedFilters(context.paths());
    Json list = Json::array();
    Rows rows = {{"NAME", "FILTER"}};
    for (const SavedFilter& filter : filters) {
        list.push_back(
            {{"name", filter.name.toStdString()}, {"filter", filter.text.toStdString()}});
        rows.push_back({oneLine(filter.name.toStdString()), oneLine(filter.text.toStdString())});
    }
    if (context.json())
        printJson(list);
    else if (filters.empty())
        std::cout << "No filter is kept. Keep one: ringmaster runs --filter \"loss < 3\" "
                     "--save-filter good"
                  << std::endl;
    else
        std::cout << formatTable(rows) << std::flush;
    return 0;
}

int runRemoveFilter(const CommandContext& context, const std::string& name) {
    if (const auto removed = removeFilter(context.paths(), QString::fromStdString(name)); !removed)
        return printError(context, removed.error());
    return printFilters(context);
}

int runRuns(CommandContext& context, const RunsOptions& options) {
    if (options.listFilters)
        return printFilters(context);
    if (!options.removed.empty())
        return runRemoveFilter(context, options.removed);
    const auto filter = readFilter(context, options);
    if (!filter)
        return printError(context, filter.error());
    context.catchUp();
    const auto reader = context.reader();
    if (!reader)
        return printError(context, reader.error());
    // Not in this thread, which may be serving other terminals.
    WantedRuns wanted = await(
        QtConcurrent::run([&] { return wantedRuns(**reader, *filter, keysToRead(options)); }));
    for (RunSummary& run : wanted.runs)
        context.noteLinks(run);
    return printWanted(context, wanted, options);
}

} // namespace

void addRuns(CommandLine& line) {
    auto& o = line.keep<RunsOptions>();
    auto* runs = line.add("runs", "List the runs, newest first",
                          [&o](CommandContext& context) { return runRuns(context, o); });
    line.mayOnlyRead(*runs);
    auto* filter = runs->add_option(
        "--filter", o.filter,
        "Words and conditions: \"baseline loss<3 lr>=1e-3 tag:wmt state:failed\"; or @NAME");
    runs->add_option("--columns", o.columns,
                     "Settings and metrics as further columns: lr,best:validation/loss")
        ->delimiter(',')
        ->allow_extra_args(false);
    runs->add_option("--group", o.group,
                     "Groups with the mean ± spread, least and most of numbers: by state, tag, "
                     "node, branch, sweep, model, or a setting such as lr");
    runs->add_flag("--archived", o.archived, "Those in the archive, which are not listed else");
    runs->add_flag("--filters", o.listFilters, "List the filters that are kept");
    runs->add_option("--save-filter", o.savedAs, "Keep this filter under a name, for @NAME")
        ->needs(filter);
    runs->add_option("--remove-filter", o.removed, "Forget the filter of that name");
}

} // namespace rm::cli

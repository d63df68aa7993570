// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/access.h"
#include "app/cli/command_context.h"
#include "app/cli/commands.h"
#include "app/cli/interruption.h"
#include "app/cli/json_view.h"
#include "app/cli/launch_lines.h"
#include "app/cli/named_nodes.h"
#include "app/cli/terminal.h"
#include "app/core/network/network_file.h"
#include "app/core/network/network_words.h"
#include "shared/return_if_error.h"

#include <algorithm>
#include <iostream>

namespace rm::cli {

namespace {

using OrderedJson = nlohmann::ordered_json;

/// Up to so many nodes each way is listed; beyond that only those that do not work.
constexpr size_t kFewNodes = 4;

std::vector<std::vector<std::string>> tableOf(const NetworkMatrix& matrix) {
    std::vector<std::vector<std::string>> rows = {{"FROM / TO"}};
    const int count = static_cast<int>(matrix.nodes.size());
    const NetworkWays ways(matrix);
    for (const NetworkNode& node : matrix.nodes)
        rows.front().push_back(oneLine(node.name));
    for (int from = 0; from < count; ++from) {
        rows.push_back({oneLine(matrix.nodes[static_cast<size_t>(from)].name)});
        for (int to = 0; to < count; ++to) {
            const auto way = from == to ? std::nullopt : ways.best(from, to);
            const bool works = way && way->way == Way::kWorks;
            rows.back().push_back(!way ? "-" : cellWords(*way) + (works ? " " + way->at.name : ""));
        }
    }
    return rows;
}

void printWays(const NetworkMatrix& matrix) {
    const int count = static_cast<int>(matrix.nodes.size());
    const bool all = matrix.nodes.size() <= kFewNodes;
    const NetworkWays ways(matrix);
    for (int from = 0; from < count; ++from)
        for (int to = 0; to < count; ++to)
            for (const WayThere& way : ways.between(from, to))
                if (all || way.way != Way::kWorks)
                    std::cout << "  " << oneLine(matrix.nodes[static_cast<size_t>(from)].name)
                              << " to " << oneLine(matrix.nodes[static_cast<size_t>(to)].name)
                              << ", " << oneLine(wayInWords(way)) << "\n";
}

OrderedJson choiceJson(const NetworkMatrix& matrix) {
    const auto choice = chooseNetwork(matrix);
    if (!choice)
        return nullptr;
    OrderedJson nodes = OrderedJson::object();
    for (size_t i = 0; i < matrix.nodes.size(); ++i)
        if (const InterfaceReport& at = choice->addresses[i]; !at.name.empty())
            nodes[matrix.nodes[i].name] = {{"interface", at.name}, {"address", at.address}};
    return nodes;
}

OrderedJson findingsJson(const std::vector<CheckRow>& findings) {
    OrderedJson rows = OrderedJson::array();
    for (const CheckRow& row : findings)
        rows.push_back(toJson(row));
    return rows;
}

void print(const CommandContext& context, const NetworkMatrix& matrix,
           const std::vector<CheckRow>& findings) {
    const std::vector<std::string> sentences = networkSentences(findings);
    if (context.json())
        return printJson({{"blocked", countBlocked(matrix)},
                          {"chosen", choiceJson(matrix)},
                          {"sentences", sentences},
                          {"findings", findingsJson(findings)},
                          {"matrix", OrderedJson::parse(toJson(matrix))}});
    std::cout << "Measured " << formatAgo(matrix.measuredNs)
              << "; each cell says the time to connect and the interface that is reached.\n"
              << formatTable(tableOf(matrix));
    printWays(matrix);
    for (const std::string& sentence : sentences)
        std::cout << oneLine(sentence) << "\n";
    std::cout << std::flush;
}

std::vector<std::string> problemNodes(const NetworkMatrix& matrix) {
    std::vector<std::string> names;
    for (const NetworkNode& node : matrix.nodes)
        if (!node.problem.empty())
            names.push_back(node.name);
    return names;
}

Result<NetworkMatrix> measuredOnce(CommandContext& context, const QStringList& names,
                                   const Interruption& interruption) {
    return awaitShown(context, kNetworkMeasurement,
                      context.engine().ask(MeasureNetworkRequest{names}), interruption,
                      [&] { context.engine().ask(StopNetworkRequest{}); })
        .and_then([&context] { return keptNetwork(context.paths().state.toStdString()); });
}

/// Measures, after logins were asked for if that is needed.
Result<NetworkMatrix> measured(CommandContext& context, const QStringList& names,
                               const Interruption& interruption) {
    auto matrix = measuredOnce(context, names, interruption);
    if (matrix && !interruption.isRequested() && openAsking(context, problemNodes(*matrix)))
        matrix = measuredOnce(context, names, interruption);
    return matrix;
}

/// The last measurement, without nodes that are off the list by now.
Result<NetworkMatrix> measuredLast(CommandContext& context) {
    RM_ASSIGN_OR_RETURN(const auto kept, keptNetwork(context.paths().state.toStdString()));
    auto found = measuredBetween(kept, [&context](const std::string& name) {
        return context.fleet().find(QString::fromStdString(name)).has_value();
    });
    if (!found)
        return fail(ErrorCode::kNotFound,
                    "read what was found last: it is of nodes that are not in "
                    "the list any more; measure again");
    return std::move(*found);
}

int runNodesNetwork(CommandContext& context, const std::vector<std::string>& names, bool last) {
    const auto named = namedNodes(context.fleet().nodes(), names);
    if (!named)
        return printError(context, named.error());
    QStringList wanted;
    for (const std::string& name : *named)
        wanted << QString::fromStdString(name);
    const Interruption interruption;
    const auto matrix = last ? measuredLast(context) : measured(context, wanted, interruption);
    if (!matrix) {
        const int code = printError(context, matrix.error());
        return interruption.isRequested() ? interruption.exitCode() : code;
    }
    const std::vector<CheckRow> findings = networkFindings(*matrix);
    print(context, *matrix, findings);
    const bool isBad = std::ranges::count(findings, CheckRow::State::kBad, &CheckRow::state) > 0;
    return static_cast<int>(isBad ? ExitCode::kUnavailable : ExitCode::kOk);
}

} // namespace

void addNetwork(CommandLine& line, CLI::App& nodes) {
    struct Options {
        std::vector<std::string> names;
        bool last = false;
    };
    auto& o = line.keep<Options>();
    auto* network = line.add(
        nodes, "network", "Measure how machines reach each other, and by which interface",
        [&o](CommandContext& context) { return runNodesNetwork(context, o.names, o.last); });
    network->add_option("NAME", o.names,
                        "Names or @GROUPs; default: all that are no Slurm cluster, without this "
                        "computer where there are two others");
    network->add_flag("--last", o.last, "Show what was found last, without measuring");
}

} // namespace rm::cli

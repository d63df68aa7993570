// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command_context.h"
#include "app/cli/commands.h"
#include "app/cli/json_view.h"
#include "app/cli/run_text.h"
#include "app/cli/terminal.h"
#include "app/core/await.h"
#include "app/core/findings/log_errors.h"
#include "app/core/runs/log_fold.h"
#include "app/core/runs/log_time.h"
#include "app/core/store/export.h"
#include "app/core/store/log_choice.h"
#include "app/core/store/store_reader.h"
#include "shared/io/clock.h"
#include "shared/return_if_error.h"

#include <QtConcurrent>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <functional>
#include <iostream>
#include <limits>
#include <map>
#include <set>

namespace rm::cli {

namespace {

struct LogOptions {
    std::string run;
    int rank = -1;        ///< -1: all
    std::string contains; ///< empty: all
    std::string search;   ///< LogSearch; empty: all
    std::string severity; ///< "warning", "error"; empty: all
    std::string since;    ///< logTime(); empty: from the begin
    std::string until;    ///< likewise; empty: to the end
    bool folds = false;
    bool explains = false;
    std::string output; ///< empty: standard output
};

/// A known error, and which lines it is in.
struct FoundError {
    LogLine first;
    int64_t lines = 0;
    std::set<int> ranks;
};

/// Checks that an attempt of the run had such a rank; -1: all of them. kInvalid: none had.
Result<void> hasRank(StoreReader& reader, const RunSummary& run, int rank) {
    int ranks = run.ranks;
    for (const RunNode& place : reader.places(run.id))
        ranks = std::max(ranks, place.firstRank + place.ranks);
    // A line may be all that is left of an attempt on more ranks.
    if (rank < ranks || !reader.log(run.id, rank, 0, 1).empty())
        return {};
    return fail(ErrorCode::kInvalid,
                "it has no rank " + std::to_string(rank) +
                    (ranks == 1 ? "; its only rank is 0"
                                : "; its ranks are 0 to " + std::to_string(ranks - 1)));
}

Result<LogChoice> choiceOf(StoreReader& reader, const RunSummary& run, const LogOptions& options) {
    RM_RETURN_IF_ERROR(hasRank(reader, run, options.rank));
    LogChoice choice{options.rank, QString::fromStdString(options.contains),
                     QString::fromStdString(options.search)};
    if (!options.severity.empty())
        choice.least = options.severity == "error" ? Severity::kError : Severity::kWarning;
    if (!options.since.empty()) {
        RM_ASSIGN_OR_RETURN(choice.sinceNs, logTime(reader, run.id, options.since, wallNowNs()));
    }
    if (!options.until.empty()) {
        RM_ASSIGN_OR_RETURN(choice.untilNs,
                            logTime(reader, run.id, options.until, wallNowNs(), LogEnd::kUntil));
    }
    if (choice.untilNs < choice.sinceNs)
        return fail(ErrorCode::kInvalid, "--until is before --since");
    return choice;
}

nlohmann::ordered_json errorJson(const KnownError& error) {
    return {{"id", error.id},
            {"area", error.area},
            {"meaning", meaningOf(error)},
            {"fix", fixOf(error)}};
}

nlohmann::ordered_json lineJson(const FoldedLine& folded) {
    const LogLine& line = folded.line;
    const KnownError* known = knownErrorIn(line.text);
    return {{"time", static_cast<double>(line.wallNs) / 1e9},
            {"stamped", line.isStamped},
            {"node", line.node},
            {"rank", line.rank},
            {"ranks", folded.ranks()},
            {"severity", severityName(line.severity)},
            {"text", line.text},
            {"known", known ? nlohmann::ordered_json(known->id) : nlohmann::ordered_json()}};
}

std::string plainLine(const FoldedLine& folded) {
    return folded.others.empty() ? logLineText(folded.line)
                                 : logLineText(folded.line, placeText(folded));
}

/// Writes the lines, one after another, as text or as an array. The number of lines.
Result<int64_t> writeLines(StoreReader& reader, const QString& run, const LogChoice& choice,
                           const LogOptions& options, bool isJson, std::ostream& out) {
    int64_t count = 0;
    const auto write = [&](const FoldedLine& folded) {
        if (isJson)
            out << (count == 0 ? "[\n" : ",\n")
                << lineJson(folded).dump(-1, ' ', false,
                                         nlohmann::ordered_json::error_handler_t::replace);
        else
            out << plainLine(folded) << '\n';
        ++count;
        return !out.fail();
    };
    LogFolder folder(write);
    const bool isRead = reader.visitLog(run, choice, [&](const LogLine& line) {
        return options.folds ? folder.add(line) : write({line});
    });
    folder.finish();
    if (isJson)
        out << (count == 0 ? "[]\n" : "\n]\n");
    out.flush();
    const std::string attempt = "export the log of " + run.toStdString();
    if (!out)
        return failErrno(attempt + ": write", errno);
    if (!isRead)
        return fail(ErrorCode::kCorrupt, attempt + ": stored lines cannot be read");
    return count;
}

Result<int64_t> writeLog(StoreReader& reader, const QString& run, const LogChoice& choice,
                         const LogOptions& options, bool isJson) {
    if (options.output.empty())
        return writeLines(reader, run, choice, options, isJson, std::cout);
    std::ofstream file(options.output, std::ios::binary | std::ios::trunc);
    if (!file)
        return failErrno("write " + options.output, errno);
    return writeLines(reader, run, choice, options, false, file);
}

using FoundErrors = std::vector<std::pair<const KnownError*, FoundError>>;

Result<FoundErrors> findErrors(StoreReader& reader, const QString& run, const LogChoice& choice) {
    FoundErrors found;
    const bool isRead = reader.visitLog(run, choice, [&](const LogLine& line) {
        const KnownError* known = knownErrorIn(line.text);
        if (!known)
            return true;
        auto at = std::ranges::find(found, known, &std::pair<const KnownError*, FoundError>::first);
        if (at == found.end())
            at = found.insert(at, {known, {line, 0, {}}});
        ++at->second.lines;
        at->second.ranks.insert(line.rank);
        return true;
    });
    if (!isRead)
        return fail(ErrorCode::kCorrupt,
                    "explain the log of " + run.toStdString() + ": stored lines cannot be read");
    return found;
}

void printErrors(const FoundErrors& found) {
    for (const auto& [error, where] : found)
        std::cout << oneLine(logLineText(where.first)) << "\n  " << areaOf(*error) << ", "
                  << (where.lines == 1 ? std::string("1 line")
                                       : std::to_string(where.lines) + " lines")
                  << ' ' << rankRangesText({where.ranks.begin(), where.ranks.end()}) << "\n  "
                  << meaningOf(*error) << "\n  " << fixOf(*error) << "\n";
    if (found.empty())
        std::cout << "No line of it is a known error.\n";
    std::cout << std::flush;
}

int explainLog(CommandContext& context, StoreReader& reader, const QString& run,
               const LogChoice& choice) {
    const auto found = await(QtConcurrent::run([&] { return findErrors(reader, run, choice); }));
    if (!found)
        return printError(context, found.error());
    if (!context.json()) {
        printErrors(*found);
        return 0;
    }
    auto out = nlohmann::ordered_json::array();
    for (const auto& [error, where] : *found) {
        auto json = errorJson(*error);
        json["lines"] = where.lines;
        json["ranks"] = where.ranks;
        json["first"] = lineJson({where.first});
        out.push_back(std::move(json));
    }
    printJson(out);
    return 0;
}

int runLogs(CommandContext& context, const LogOptions& options) {
    const auto summary = context.caughtUp(options.run);
    if (!summary)
        return printError(context, summary.error());
    const auto reader = context.reader();
    if (!reader)
        return printError(context, reader.error());
    const auto choice = choiceOf(**reader, *summary, options);
    if (!choice)
        return printError(context, failAs("logs " + options.run, choice.error()).value());
    if (options.explains)
        return explainLog(context, **reader, summary->id, *choice);
    // Not in this thread, which may be serving other terminals.
    const bool isJson = context.json();
    const auto lines = await(QtConcurrent::run(
        [&] { return writeLog(**reader, summary->id, *choice, options, isJson); }));
    if (!lines)
        return printError(context, lines.error());
    if (options.output.empty())
        return 0;
    if (isJson)
        printJson(
            {{"run", summary->id.toStdString()}, {"lines", *lines}, {"output", options.output}});
    else
        std::cerr << *lines << " lines written to " << options.output << std::endl;
    return 0;
}

} // namespace

void addLogs(CommandLine& line) {
    auto& wanted = line.keep<LogOptions>();
    auto* logs =
        line.addOfRun("logs", "Print what the ranks wrote, by time", wanted.run,
                      [&wanted](CommandContext& context) { return runLogs(context, wanted); });
    line.mayOnlyRead(*logs);
    logs->add_option("--rank", wanted.rank, "Only of this rank")
        ->check(wholeNumber("a rank", 0, std::numeric_limits<int>::max()));
    logs->add_option("--search", wanted.search,
                     "Lines that have all of these words, the last one as a beginning; what is in "
                     "\"quotes\" stands as it is");
    logs->add_option("--filter", wanted.contains, "Lines that contain these characters");
    logs->add_option("--severity", wanted.severity, "warning: warnings and errors; error: errors")
        ->check(CLI::IsMember({"warning", "error"}));
    logs->add_option("--since", wanted.since,
                     "From a step (1200), a while ago (15m) or a time (14:30) on");
    logs->add_option("--until", wanted.until, "Up to a step, a while ago or a time");
    logs->add_flag("--fold", wanted.folds, "The same line of several ranks once");
    auto* explain = logs->add_flag("--explain", wanted.explains,
                                   "Print the known errors in it: what they mean, what to do");
    logs->add_option("--output", wanted.output, "A file; default: standard output")
        ->excludes(explain);
}

} // namespace rm::cli

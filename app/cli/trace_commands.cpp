// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command_context.h"
#include "app/cli/commands.h"
#include "app/cli/control.h"
#include "app/cli/interruption.h"
#include "app/cli/json_view.h"
#include "app/cli/terminal.h"
#include "app/core/runs/run_trace.h"
#include "app/core/runs/trace_file.h"

#include <algorithm>
#include <cstdio>
#include <iostream>

namespace rm::cli {

namespace {

using TraceJson = nlohmann::ordered_json;
using TraceTable = std::vector<std::vector<std::string>>;

constexpr const char* kStoredHelp =
    "Show a trace that was recorded before, by its first step as --list has it; 0: the newest";
/// For the last steps to come here once they are over, or the run has ended.
constexpr std::chrono::milliseconds kLateDeadline = std::chrono::seconds(20);

struct TraceOptions {
    std::string run;
    int64_t steps = kUsualTraceSteps;
    std::string file;
    bool list = false;
    int64_t stored = -1; ///< -1: record one
};

std::string milliseconds(double ns) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3f", ns / 1e6);
    return text;
}

std::string recordedText(const StoredTrace& trace) {
    const int64_t steps = std::max<int64_t>(0, trace.lastStep - trace.id.firstStep + 1);
    return std::to_string(steps) + " of " + std::to_string(trace.steps);
}

TraceJson traceJson(const StoredTrace& trace) {
    return {{"attempt", trace.id.attempt},
            {"first_step", trace.id.firstStep},
            {"steps", trace.steps},
            {"last_step", trace.lastStep},
            {"time", static_cast<double>(trace.wallNs) / 1e9},
            {"ranks", trace.ranks},
            {"done_ranks", trace.doneRanks},
            {"slices", trace.slices}};
}

int listTraces(CommandContext& context, const std::string& name) {
    const auto run = context.caughtUp(name);
    if (!run)
        return printError(context, run.error());
    const auto reader = context.reader();
    if (!reader)
        return printError(context, reader.error());
    const std::vector<StoredTrace> traces = (*reader)->traces(run->id);
    if (context.json()) {
        TraceJson all = TraceJson::array();
        for (const StoredTrace& trace : traces)
            all.push_back(traceJson(trace));
        printJson(all);
        return 0;
    }
    if (traces.empty()) {
        std::cout << run->id.toStdString() << " has no trace yet (`ringmaster trace "
                  << run->id.toStdString() << "` records one while it trains)" << std::endl;
        return 0;
    }
    TraceTable rows{{"First step", "Attempt", "Steps", "Ranks", "Slices", "Recorded"}};
    for (const StoredTrace& trace : traces)
        rows.push_back({std::to_string(trace.id.firstStep), std::to_string(trace.id.attempt),
                        recordedText(trace), std::to_string(trace.ranks),
                        std::to_string(trace.slices), formatAgo(trace.wallNs)});
    std::cout << formatTable(rows);
    return 0;
}

TraceTable phaseTable(const std::vector<RankPhases>& all) {
    TraceTable rows{{"ms a step", "Node", "Step"}};
    std::vector<size_t> shown;
    for (size_t i = 0; i < kTracePhases.size(); ++i)
        if (std::ranges::any_of(all, [i](const RankPhases& each) { return each.meanNs[i] > 0; })) {
            rows[0].push_back(traceKindName(kTracePhases[i]));
            shown.push_back(i);
        }
    for (const RankPhases& phases : all) {
        std::vector<std::string> row{"rank " + std::to_string(phases.rank),
                                     phases.node.empty() ? "-" : oneLine(phases.node),
                                     milliseconds(phases.stepNs)};
        for (const size_t i : shown)
            row.push_back(milliseconds(phases.meanNs[i]));
        rows.push_back(std::move(row));
    }
    return rows;
}

TraceJson summaryJson(const AlignedTrace& trace) {
    TraceJson ranks = TraceJson::array();
    const std::vector<RankPhases> all = phasesOf(trace);
    for (size_t at = 0; at < all.size(); ++at) {
        TraceJson phases = TraceJson::object();
        for (size_t i = 0; i < kTracePhases.size(); ++i)
            phases[traceKindName(kTracePhases[i])] = all[at].meanNs[i] / 1e6;
        const ClockFit& clock = trace.ranks[at].clock;
        ranks.push_back({{"rank", all[at].rank},
                         {"node", all[at].node},
                         {"steps", all[at].steps},
                         {"step_ms", all[at].stepNs / 1e6},
                         {"phase_ms", std::move(phases)},
                         {"clock",
                          {{"offset_ns", clock.offsetNs},
                           {"drift_ppm", clock.drift * 1e6},
                           {"collectives", clock.collectives},
                           {"estimated_error_ns", clock.errorNs},
                           {"largest_error_ns", clock.boundNs}}}});
    }
    TraceJson waits = TraceJson::array();
    for (const StepWait& wait : waitsOf(trace))
        waits.push_back({{"step", wait.step},
                         {"last_rank", wait.lastRank},
                         {"waiting_rank", wait.firstRank},
                         {"wait_ms", static_cast<double>(wait.waitNs) / 1e6}});
    return {{"ranks", std::move(ranks)}, {"waits", std::move(waits)}};
}

void printSummary(const StoredTrace& stored, const AlignedTrace& trace) {
    std::cout << "steps " << stored.id.firstStep << " to " << stored.lastStep << ", "
              << recordedText(stored) << " recorded by every rank; " << clockWords(trace) << '\n'
              << formatTable(phaseTable(phasesOf(trace)));
    if (const auto waited = waitedFor(waitsOf(trace)))
        std::cout << waitedForWords(*waited) << '\n';
    std::cout << std::flush;
}

/// Prints the trace and writes its file, if there shall be one.
int giveTrace(CommandContext& context, const RunSummary& run, const StoredTrace& stored,
              const std::string& file) {
    const auto reader = context.reader();
    if (!reader)
        return printError(context, reader.error());
    const AlignedTrace trace = alignTrace(stored.id, (*reader)->trace(run.id, stored.id));
    if (const auto failure = (*reader)->failure())
        return printError(context, *failure);
    if (!file.empty())
        if (const auto written = writeTrace(run, trace, QString::fromStdString(file)); !written)
            return printError(context, written.error());
    if (context.json()) {
        TraceJson json = traceJson(stored);
        json["run"] = run.id.toStdString();
        if (!file.empty())
            json["file"] = file;
        json.update(summaryJson(trace));
        printJson(json);
        return 0;
    }
    printSummary(stored, trace);
    if (!file.empty())
        std::cout << "written to " << oneLine(file) << "; open it at https://ui.perfetto.dev\n"
                  << std::flush;
    return 0;
}

std::optional<StoredTrace> findTrace(CommandContext& context, const QString& run,
                                     const std::function<bool(const StoredTrace&)>& isIt) {
    const auto reader = context.reader();
    if (!reader)
        return std::nullopt;
    const std::vector<StoredTrace> traces = (*reader)->traces(run);
    const auto found = std::ranges::find_if(traces, isIt);
    return found == traces.end() ? std::nullopt : std::optional(*found);
}

int showStored(CommandContext& context, const TraceOptions& options) {
    const auto run = context.caughtUp(options.run);
    if (!run)
        return printError(context, run.error());
    const auto stored = findTrace(context, run->id, [&](const StoredTrace& trace) {
        return options.stored == 0 || trace.id.firstStep == options.stored;
    });
    const std::string id = run->id.toStdString();
    if (!stored)
        return printError(
            context,
            {ErrorCode::kNotFound,
             "show a trace of " + id + ": " +
                 (options.stored == 0
                      ? "it has none; `ringmaster trace " + id + "` records one while it trains"
                      : "none began at step " + std::to_string(options.stored) +
                            "; `ringmaster trace " + id + " --list` lists them")});
    return giveTrace(context, *run, *stored, options.file);
}

int recordTrace(CommandContext& context, const TraceOptions& options) {
    const auto run = context.resolveOne(options.run, true);
    if (!run)
        return printError(context, run.error());
    CommandState answer;
    if (const int code = runControl(context, run->id.toStdString(), CommandKind::kTrace,
                                    {{"steps", std::to_string(options.steps)}}, &answer))
        return code;
    const Interruption interruption;
    std::optional<StoredTrace> stored;
    const int64_t first = answer.step + 1;
    const auto isWhole = [&] {
        stored = findTrace(context, run->id, [first](const StoredTrace& trace) {
            return trace.id.firstStep == first;
        });
        return stored && stored->ranks == run->ranks && stored->doneRanks == stored->ranks;
    };
    {
        StatusLine status;
        const auto isOver = [&] {
            if (isWhole() || interruption.isRequested())
                return true;
            status.update("recording, " + (stored ? recordedText(*stored) : std::string("0")) +
                          " steps");
            const auto now = context.resolve(run->id.toStdString());
            return !now || hasEnded(now->state);
        };
        awaitUntil(isOver);
        if (!interruption.isRequested())
            awaitUntil(isWhole, kLateDeadline); // of a run that has ended
    }
    const std::string id = run->id.toStdString();
    if (interruption.isRequested()) {
        std::cerr << "ringmaster: trace " << id << ": it goes on; `ringmaster trace " << id
                  << " --stored " << first << "` shows it" << std::endl;
        return interruption.exitCode();
    }
    if (!stored)
        return printError(context, {ErrorCode::kUnavailable,
                                    "trace " + id + ": the run ended before a rank told of it"});
    return giveTrace(context, *run, *stored, options.file);
}

int runTrace(CommandContext& context, const TraceOptions& options) {
    if (options.list)
        return listTraces(context, options.run);
    return options.stored >= 0 ? showStored(context, options) : recordTrace(context, options);
}

} // namespace

void addTracing(CommandLine& line) {
    auto& o = line.keep<TraceOptions>();
    auto* trace = line.addOfRun("trace", rowOf(CommandKind::kTrace).help, o.run,
                                [&o](CommandContext& context) { return runTrace(context, o); });
    trace->add_option("--steps", o.steps, "How many steps; default: 20")
        ->check(wholeNumber("steps", 1, kMostTraceSteps));
    trace->add_option("--out", o.file, "Write the trace to this file, for Perfetto");
    auto* list = trace->add_flag("--list", o.list, "List the traces that were recorded");
    auto* stored = trace->add_option("--stored", o.stored, kStoredHelp)
                       ->check(wholeNumber("step", 0, INT64_MAX));
    list->excludes(stored);
}

} // namespace rm::cli

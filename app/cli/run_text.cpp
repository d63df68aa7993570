// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/run_text.h"

#include "app/cli/terminal.h"
#include "app/core/store/store_reader.h"
#include "shared/amounts.h"
#include "shared/board/board.h"
#include "shared/journal/event_codes.h"

#include <algorithm>
#include <cctype>

namespace rm::cli {

std::string lossText(const std::optional<double>& loss) {
    return loss ? formatNumber(*loss) : "-";
}

std::string stateText(const RunSummary& run) {
    std::string text = runStateName(run);
    if (run.isPresumed)
        text += ", not confirmed";
    for (const LostNode& node : run.lostNodes)
        text += ", " + node.nodeName + " unreachable";
    return text;
}

std::string parentText(const RunSummary& run) {
    if (run.parentRun.isEmpty())
        return {};
    const QString& parent = run.parentName.isEmpty() ? run.parentRun : run.parentName;
    return oneLine(parent.toStdString()) + " at " + std::to_string(run.parentStep);
}

std::string marksText(const RunSummary& run) {
    return run.isStarred && run.isArchived ? "starred, archived"
           : run.isStarred                 ? "starred"
           : run.isArchived                ? "archived"
                                           : "";
}

std::string lastFigures(StoreReader& reader, const QString& run,
                        const std::vector<MetricDef>& metrics) {
    std::string text;
    for (const MetricDef& metric : metrics)
        if (const auto last = reader.lastPoint(run, {metric.name, 0}))
            text += "  " + oneLine(labelOf(metric)) + " " + formatNumber(last->value);
    return text;
}

namespace {

std::string amountText(const Progress& progress) {
    const double share = static_cast<double>(progress.done) / static_cast<double>(progress.total);
    const auto bytes = [](double count) {
        return QString::fromStdString(bytesWords(std::llround(count)));
    };
    const auto duration = [](double time) { return QString::fromStdString(formatDuration(time)); };
    return progressBar(share, kBarWidth) + "  " + bytesWords(progress.done) + " of " +
           bytesWords(progress.total) + ", " +
           amountParts(progress, bytes, duration).join(", ").toStdString();
}

std::string receiversText(const Progress& progress) {
    if (progress.nodes.empty())
        return {};
    return " to " + (progress.nodes.size() == 1 ? oneLine(progress.nodes[0].stage.toStdString())
                                                : std::to_string(progress.nodes.size()) + " nodes");
}

} // namespace

std::string progressText(const Progress& progress) {
    const std::string stage = oneLine(progress.stage.toStdString()) + receiversText(progress);
    return progress.total <= 0 ? stage : stage + "  " + amountText(progress);
}

std::vector<std::string> nodeProgressTexts(const Progress& progress) {
    size_t widest = 0;
    for (const Progress& node : progress.nodes)
        widest = std::max(widest, node.stage.toStdString().size());
    std::vector<std::string> lines;
    for (const Progress& node : progress.nodes)
        if (progress.nodes.size() > 1 && node.total > 0)
            lines.push_back(
                "  " + oneLine(node.stage.leftJustified(static_cast<int>(widest)).toStdString()) +
                "  " + amountText(node));
    return lines;
}

std::string sentText(const Progress& progress, double seconds) {
    const QString what = progress.stage.section(' ', 1);
    return "Sent " + what.toStdString() + receiversText(progress) + ": " +
           bytesWords(progress.done) + " as " + bytesWords(progress.sent) + " in " +
           formatDuration(seconds);
}

namespace {

bool hasBegun(const RankState& rank) {
    const auto phase = static_cast<Phase>(rank.phase);
    return rank.pid != 0 && phase != Phase::kStarting && phase != Phase::kRendezvous;
}

/// The state in words of a run of which no rank has told by its journal that it trains.
std::string unheardText(const LiveState& live) {
    bool isAnyHeard = false, isAnyAlive = false, isAnyAtWork = false;
    for (const LiveState::NodeLink& node : live.nodes) {
        isAnyHeard = isAnyHeard || node.state;
        isAnyAlive = isAnyAlive || (node.state && !node.state->ended);
        isAnyAtWork =
            isAnyAtWork || (node.state && std::ranges::any_of(node.state->ranks, hasBegun));
    }
    if (!isAnyHeard)
        return "Its ranks are started; nothing was heard of them yet";
    if (!isAnyAlive)
        return "Its ranks have ended already";
    return isAnyAtWork ? "It trains on its nodes now"
                       : "Its ranks are started, but do not train yet";
}

} // namespace

std::string startedText(const RunSummary& run, const LiveState& live) {
    if (run.state == RunStateKind::kRunning)
        return "It trains on its nodes now";
    if (hasEnded(run.state))
        return std::string("It is ") + runStateName(run) + " already";
    if (run.state == RunStateKind::kWaiting)
        return "It waits in the queue";
    if (isQueued(run) || isRestarting(run))
        return "It " + std::string(isQueued(run) ? "is " : "") + oneLine(run.message.toStdString());
    return unheardText(live);
}

std::vector<std::string> shortIds(const std::vector<RequestedCommand>& commands) {
    constexpr size_t kLeast = 8;
    std::vector<std::string> ids;
    for (const RequestedCommand& each : commands) {
        const auto isMeantToo = [&](const RequestedCommand& other) {
            return other.id != each.id && other.id.starts_with(ids.back());
        };
        ids.push_back(each.id.substr(0, kLeast));
        while (ids.back().size() < each.id.size() && std::ranges::any_of(commands, isMeantToo))
            ids.back() = each.id.substr(0, ids.back().size() + 1);
    }
    return ids;
}

namespace {

/// An error of ranks is told as the run's end, and unreachable nodes are told anyway.
bool isShownAsWarning(const Event& event) {
    return event.code == kJournalDamagedEvent ||
           (event.severity == Severity::kWarning && event.code != kNodeLostEvent);
}

/// Whether the words have that rank, and not only one whose number begins with it.
bool namesRank(const std::string& words, const std::string& rank) {
    size_t at = words.find(rank);
    while (at != std::string::npos && at + rank.size() < words.size() &&
           std::isdigit(static_cast<unsigned char>(words[at + rank.size()])))
        at = words.find(rank, at + 1);
    return at != std::string::npos;
}

} // namespace

std::vector<Warned> warningsOf(const std::vector<StoredEvent>& events, int attempt) {
    constexpr size_t kMost = 3;
    std::vector<Warned> kinds;
    for (const StoredEvent& event : events) {
        const bool isOfNow = event.attempt == attempt || event.event.code == kRestartsEvent;
        if (!isOfNow || !isShownAsWarning(event.event))
            continue;
        const auto known = std::ranges::find(
            kinds, event.event.code, [](const Warned& warned) { return warned.newest.event.code; });
        if (known == kinds.end())
            kinds.push_back({event, 1});
        else
            known->count++;
    }
    kinds.resize(std::min(kinds.size(), kMost));
    return kinds;
}

std::string warningText(const Warned& warned) {
    const Event& event = warned.newest.event;
    const std::string rank = "rank " + std::to_string(event.rank);
    const bool isNamed = event.rank < 0 || namesRank(event.message, rank);
    return formatAgo(event.wallNs) + ": " + (isNamed ? "" : rank + ": ") + oneLine(event.message) +
           (warned.count > 1 ? " (" + std::to_string(warned.count) + " times)" : "");
}

} // namespace rm::cli

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/attempt_outcome.h"

#include "shared/exit_code.h"
#include "shared/journal/first_cause.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>

namespace rm {

namespace {

auto orderOf(const NodeEnd& node) {
    const int64_t when = node.rankExitedNs ? node.rankExitedNs : node.end.wallNs;
    // A node that waited for a scheduler to start its ranks again has not said its last word.
    const bool isOutdated = node.end.resumes && node.end.outcome == Outcome::kPreempted;
    return std::tuple(isOutdated, distanceFromCause(node.end), when);
}

std::string failureText(const NodeEnd& node) {
    if (node.end.firstFailedRank < 0)
        return node.nodeName + ": " + (node.end.message.empty() ? "failed" : node.end.message);
    const std::string rank =
        "rank " + std::to_string(node.end.firstFailedRank) + " on " + node.nodeName;
    const std::string place = node.rankStep > 0 ? " at step " + std::to_string(node.rankStep) : "";
    if (!node.rankWords.empty())
        return rank + place + ": " + node.rankWords;
    if (!node.rankMessage.empty())
        return rank + ": " + node.rankMessage + place;
    if (!node.end.message.empty())
        return rank + ": " + node.end.message + place;
    return rank + ": " + exitCodeName(node.end.exitCode) + place;
}

std::string textOf(const NodeEnd& node) {
    switch (node.end.outcome) {
    case Outcome::kFailed:
        return failureText(node);
    case Outcome::kStopped:
    case Outcome::kPreempted:
        return node.end.message;
    case Outcome::kFinished:
    case Outcome::kPaused:
        return {};
    }
    return {};
}

const NodeEnd& firstCause(std::span<const NodeEnd> ends) {
    return *std::ranges::min_element(ends, {}, orderOf);
}

/// Of a run that a person ended after its ranks had failed: `by` tells it. What had failed is named
/// beside that, as the ranks of other nodes are that only lost their peers by it.
AttemptEnded requestedAfterFailure(const NodeEnd& by, std::span<const NodeEnd> ends) {
    std::vector<NodeEnd> failures(ends.begin(), ends.end());
    for (NodeEnd& node : failures)
        if (isRequestAfterFailure(node.end)) {
            node.end.outcome = Outcome::kFailed;
            node.end.message.clear(); // it says how the run was ended
        }
    const NodeEnd& cause = firstCause(failures);
    AttemptEnded whole = by.end;
    whole.firstFailedRank = cause.end.firstFailedRank;
    whole.exitCode = cause.end.exitCode;
    const bool isKnown = cause.end.outcome == Outcome::kFailed && distanceFromCause(cause.end) == 0;
    if (isKnown && cause.end.firstFailedRank >= 0)
        whole.message += "; " + failureText(cause);
    return whole;
}

} // namespace

AttemptEnded combined(std::span<const NodeEnd> ends) {
    const auto requested = std::ranges::find_if(
        ends, [](const NodeEnd& node) { return isRequestAfterFailure(node.end); });
    const NodeEnd& first = firstCause(ends);
    AttemptEnded whole = first.end;
    whole.message = textOf(first);
    if (requested != ends.end())
        whole = requestedAfterFailure(*requested, ends);
    for (const NodeEnd& node : ends) {
        whole.wallNs = std::max(whole.wallNs, node.end.wallNs);
    }
    whole.resumes = ends.front().end.resumes;
    return whole;
}

RunStateKind stateOf(Outcome outcome) {
    switch (outcome) {
    case Outcome::kFinished:
        return RunStateKind::kFinished;
    case Outcome::kPaused:
        return RunStateKind::kPaused;
    case Outcome::kStopped:
        return RunStateKind::kStopped;
    case Outcome::kPreempted:
        return RunStateKind::kPreempted;
    case Outcome::kFailed:
        return RunStateKind::kFailed;
    }
    return RunStateKind::kFailed;
}

std::string lastWords(const std::string& logTail) {
    static constexpr std::string_view kSign = "\nerror: ";
    const std::string lines = '\n' + logTail;
    const size_t at = lines.rfind(kSign);
    if (at == std::string::npos)
        return {};
    const size_t begin = at + kSign.size();
    return lines.substr(begin, lines.find('\n', begin) - begin);
}

namespace {

/// By the nodes that take part, in their order; nullopt: the node has told no end.
std::vector<std::optional<NodeEnd>> nodeEnds(Database& database, int64_t run, int attempt) {
    // An attempt without nodes of its own runs on those of the one before it.
    auto nodes = database.query(
        "SELECT node.name, node_end.outcome, node_end.first_failed_rank, node_end.exit_code, "
        "node_end.wall_ns, node_end.message, rank.message, rank.step, rank.exited_ns, "
        "CASE WHEN rank.signal = 0 THEN rank.log_tail ELSE '' END, node_end.goes_on "
        "FROM node LEFT JOIN node_end ON node_end.run = node.run AND node_end.attempt = ?2 "
        "AND node_end.node = node.node "
        "LEFT JOIN rank ON rank.run = node.run AND rank.attempt = ?2 "
        "AND rank.rank = node_end.first_failed_rank "
        "WHERE node.run = ?1 AND node.ranks > 0 AND node.attempt = "
        "(SELECT max(attempt) FROM node WHERE run = ?1 AND attempt <= ?2) ORDER BY node.node");
    nodes.with(run, attempt);
    std::vector<std::optional<NodeEnd>> ends;
    while (nodes.next()) {
        if (nodes.isNull(1)) {
            ends.emplace_back();
            continue;
        }
        AttemptEnded end{attempt,
                         static_cast<Outcome>(nodes.number(1)),
                         nodes.number(2),
                         nodes.number(3),
                         nodes.integer(4),
                         nodes.text(5),
                         nodes.number(10) != 0};
        ends.push_back(NodeEnd{nodes.text(0), std::move(end), nodes.isNull(6) ? "" : nodes.text(6),
                               nodes.isNull(9) ? "" : lastWords(nodes.text(9)), nodes.integer(7),
                               nodes.integer(8)});
    }
    return ends;
}

/// combined() of those that are known.
AttemptEnded combinedKnown(const std::vector<std::optional<NodeEnd>>& ends) {
    std::vector<NodeEnd> known;
    for (const auto& end : ends)
        if (end)
            known.push_back(*end);
    return combined(known);
}

} // namespace

std::optional<AttemptEnded> attemptEnd(Database& database, int64_t run, int attempt) {
    const auto ends = nodeEnds(database, run, attempt);
    const bool isWhole = std::ranges::all_of(ends, [](const auto& end) { return end.has_value(); });
    return isWhole && !ends.empty() ? std::optional(combinedKnown(ends)) : std::nullopt;
}

std::optional<AttemptEnded> presumedEnd(Database& database, int64_t run, int attempt) {
    const auto ends = nodeEnds(database, run, attempt);
    if (std::ranges::none_of(ends, [](const auto& end) { return end.has_value(); }))
        return std::nullopt;
    // Ranks finish, pause and stop together; the cause of a failure may be on the silent node.
    const AttemptEnded known = combinedKnown(ends);
    const bool isOfAll = known.outcome != Outcome::kFailed || ends.front().has_value();
    return isOfAll && !known.resumes ? std::optional(known) : std::nullopt;
}

} // namespace rm

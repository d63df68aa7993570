// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/checkpoints/checkpoint_words.h"

#include "app/core/checkpoints/checkpoint_choice.h"
#include "app/core/findings/text.h"
#include "app/core/runs/requested_words.h"
#include "app/core/store/attempts.h"
#include "app/core/store/requested_command.h"
#include "app/core/store/run_summary.h"
#include "app/core/store/stored_checkpoint.h"
#include "shared/checkpoint/reasons.h"
#include "shared/counted.h"

#include <QDateTime>

#include <algorithm>
#include <optional>

namespace rm {

std::string checkpointNameOf(const StoredCheckpoint& checkpoint) {
    return checkpoint.saved.path.substr(checkpoint.saved.path.rfind('/') + 1);
}

std::string reasonWords(const std::string& reason) {
    if (reason == "command")
        return say("checkpoint.by-hand");
    if (reason == "rule")
        return say("checkpoint.by-rule");
    if (reason == kBeforeSetReason) // as release 0.1.0 wrote it
        return say("checkpoint.before-set");
    if (reason.starts_with(kBeforeSetReason))
        return say("checkpoint.before-set-of",
                   {{"settings", reason.substr(kBeforeSetReason.size() + 1)}});
    return reason;
}

std::string whySaved(const StoredCheckpoint& checkpoint) {
    const std::string& reason = checkpoint.saved.reason;
    const bool isBest = checkpoint.isBest;
    std::string text =
        !isBest && reason == "best" ? say("checkpoint.was-best") : reasonWords(reason);
    if (isBest || checkpoint.isPinned)
        append(text, say(!isBest               ? "checkpoint.kept-as-pinned"
                         : checkpoint.isPinned ? "checkpoint.kept-as-both"
                                               : "checkpoint.kept-as-best"));
    if (checkpoint.isDamaged)
        append(text, say("checkpoint.damaged"));
    if (checkpoint.retiredBy != 0)
        append(text,
               say("checkpoint.set-aside", {{"attempt", std::to_string(checkpoint.retiredBy)}}));
    return text;
}

Result<void> verdictOf(const std::vector<VerifiedPlace>& places) {
    std::string damaged, unread, whole;
    std::optional<ErrorCode> code;
    for (const VerifiedPlace& place : places) {
        const std::string named = say(
            place.isCopy ? "checkpoint.its-copy-on" : "checkpoint.on-node", {{"node", place.node}});
        if (place.found) {
            append(whole, named, ", ");
            continue;
        }
        const Error& error = place.found.error();
        const bool isDamaged = error.code == ErrorCode::kCorrupt;
        if (isDamaged || !code)
            code = error.code;
        if (places.size() == 1)
            return place.found;
        append(isDamaged ? damaged : unread,
               say("run.reported-at", {{"place", named}, {"what", error.message}}));
    }
    if (!code)
        return {};
    std::string all = damaged.empty() ? unread : damaged;
    if (!damaged.empty() && !unread.empty())
        append(all, say("checkpoint.not-verified", {{"why", unread}}));
    if (!whole.empty())
        append(all, say("checkpoint.whole-in", {{"places", whole}}));
    return fail(*code, all);
}

std::string verdictText(const Result<void>& verified) {
    if (verified)
        return say("checkpoint.whole");
    const Error& error = verified.error();
    return say(error.code == ErrorCode::kCorrupt ? "checkpoint.damaged-as"
                                                 : "checkpoint.not-verified",
               {{"why", error.message}});
}

std::string whereWords(const StoredCheckpoint& checkpoint) {
    std::vector<std::string> copies;
    for (const CheckpointCopy& copy : checkpoint.copies)
        copies.push_back(copy.node);
    const Value nodes{"nodes", listed(copies)};
    if (checkpoint.removed)
        return say("checkpoint.copied-to", {nodes});
    return copies.empty() ? checkpoint.node
                          : say("checkpoint.and-copied-to", {{"node", checkpoint.node}, nodes});
}

std::string unsavedWords(const RunSummary& run, const std::vector<StoredCheckpoint>& newestFirst) {
    const StoredCheckpoint* newest = newestLiving(newestFirst);
    const int64_t saved = newest ? newest->saved.step : 0;
    if (run.state != RunStateKind::kPaused || saved >= run.step)
        return {};
    const Value last{"last", std::to_string(run.step)};
    return newest
               ? say("checkpoint.unsaved",
                     {{"saved", std::to_string(saved)}, {"first", std::to_string(saved + 1)}, last})
               : say("checkpoint.none-saved", {last});
}

std::string whyNoneIsKnown(const RunSummary& run) {
    const bool isLost =
        !run.nodes.empty() && std::ranges::find(run.lostNodes, run.nodes.front().nodeName,
                                                &LostNode::nodeName) != run.lostNodes.end();
    return isLost ? say("checkpoint.none-known-yet", {{"node", run.nodes.front().nodeName}})
                  : std::string();
}

std::string whyNoCheckpoint(const RunSummary& run, const std::vector<StoredCheckpoint>& all,
                            const std::vector<RequestedCommand>& newestFirst) {
    int64_t savedNs = 0, cleanedNs = 0;
    for (const StoredCheckpoint& each : all)
        savedNs = std::max(savedNs, each.saved.wallNs);
    // The first one after it, as a later one found nothing.
    for (const RequestedCommand& each : newestFirst)
        if (each.kind == kClean && each.requestedNs > savedNs)
            cleanedNs = each.requestedNs;
    if (cleanedNs != 0 && !all.empty())
        return say("checkpoint.cleaned",
                   {{"when", QDateTime::fromMSecsSinceEpoch(cleanedNs / 1'000'000)
                                 .toString("yyyy-MM-dd HH:mm")
                                 .toStdString()}});
    if (!all.empty())
        return say("checkpoint.not-there-any-more");
    if (!run.unreadNodes.empty())
        return say("checkpoint.none-known", {{"nodes", listed(run.unreadNodes)}});
    const bool isByItself =
        run.state == RunStateKind::kFailed || run.state == RunStateKind::kFinished;
    return say(isByItself ? "checkpoint.ended-before" : "checkpoint.was-ended-before",
               {{"state", runStateName(run)}});
}

std::string retirementText(const Retirement& retired) {
    std::vector<std::string> parts;
    const std::string last = std::to_string(retired.lastStep);
    if (retired.firstStep < retired.lastStep)
        parts.push_back(say("checkpoint.steps",
                            {{"first", std::to_string(retired.firstStep)}, {"last", last}}));
    else if (retired.firstStep == retired.lastStep)
        parts.push_back(say("checkpoint.step", {{"step", last}}));
    if (retired.checkpoints != 0)
        parts.push_back(counted(retired.checkpoints, "checkpoint"));
    return listed(parts);
}

} // namespace rm

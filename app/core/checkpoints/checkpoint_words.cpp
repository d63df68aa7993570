// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/checkpoints/checkpoint_words.h"

#include "app/core/runs/asked_words.h"
#include "app/core/store/asked_command.h"
#include "app/core/store/attempts.h"
#include "app/core/store/run_summary.h"
#include "app/core/store/stored_checkpoint.h"
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
        return "asked for by hand";
    if (reason == "rule")
        return "asked for by a rule";
    return reason == "before set" ? "before a change of settings" : reason;
}

std::string whySaved(const StoredCheckpoint& checkpoint) {
    std::string text = reasonWords(checkpoint.saved.reason);
    if (!checkpoint.isBest && text == "best")
        text = "was the best";
    if (checkpoint.isBest || checkpoint.isPinned)
        text += checkpoint.isBest ? "; kept as best" : "; kept as it is pinned";
    if (checkpoint.isBest && checkpoint.isPinned)
        text += " and pinned";
    if (checkpoint.isDamaged)
        text += "; damaged";
    if (checkpoint.retiredBy == 0)
        return text;
    return text + "; set aside by attempt " + std::to_string(checkpoint.retiredBy);
}

Result<void> verdictOf(const std::vector<VerifiedPlace>& places) {
    std::string damaged, unread, whole;
    std::optional<ErrorCode> code;
    for (const VerifiedPlace& place : places) {
        const std::string named = (place.isCopy ? "its copy on " : "on ") + place.node;
        if (place.found) {
            whole += (whole.empty() ? "whole: " : ", ") + named;
            continue;
        }
        const Error& error = place.found.error();
        const bool isDamaged = error.code == ErrorCode::kCorrupt;
        if (isDamaged || !code)
            code = error.code;
        if (places.size() == 1)
            return place.found;
        std::string& words = isDamaged ? damaged : unread;
        words += (words.empty() ? "" : "; ") + named + ": " + error.message;
    }
    if (!code)
        return {};
    std::string all = damaged;
    if (!unread.empty())
        all += (all.empty() ? "" : "; not verified: ") + unread;
    return fail(*code, all + (whole.empty() ? "" : "; " + whole));
}

std::string verdictText(const Result<void>& verified) {
    if (verified)
        return "whole";
    const bool isDamaged = verified.error().code == ErrorCode::kCorrupt;
    return (isDamaged ? "damaged: " : "not verified: ") + verified.error().message;
}

std::string whereWords(const StoredCheckpoint& checkpoint) {
    std::string copies;
    for (size_t at = 0; at < checkpoint.copies.size(); ++at) {
        const bool isLast = at + 1 == checkpoint.copies.size();
        copies += (at == 0 ? "" : isLast ? " and " : ", ") + checkpoint.copies[at].node;
    }
    if (checkpoint.removed)
        return "copied to " + copies;
    return checkpoint.node + (copies.empty() ? "" : ", copied to " + copies);
}

std::string whyNoCheckpoint(const RunSummary& run, const std::vector<StoredCheckpoint>& all,
                            const std::vector<AskedCommand>& newestFirst) {
    int64_t savedNs = 0, cleanedNs = 0;
    for (const StoredCheckpoint& each : all)
        savedNs = std::max(savedNs, each.saved.wallNs);
    // The first one after it, as a later one found nothing.
    for (const AskedCommand& each : newestFirst)
        if (each.kind == kClean && each.askedNs > savedNs)
            cleanedNs = each.askedNs;
    if (!all.empty())
        return cleanedNs == 0 ? "its checkpoints are not on the nodes any more"
                              : "its checkpoints were cleaned from the nodes on " +
                                    QDateTime::fromMSecsSinceEpoch(cleanedNs / 1'000'000)
                                        .toString("yyyy-MM-dd HH:mm")
                                        .toStdString();
    const bool isByItself =
        run.state == RunStateKind::kFailed || run.state == RunStateKind::kFinished;
    return std::string(isByItself ? "it " : "it was ") + runStateName(run) +
           " before its first checkpoint";
}

std::string retirementText(const Retirement& retired) {
    std::string text;
    if (retired.firstStep < retired.lastStep)
        text = "steps " + std::to_string(retired.firstStep) + " to " +
               std::to_string(retired.lastStep);
    else if (retired.firstStep == retired.lastStep)
        text = "step " + std::to_string(retired.lastStep);
    if (retired.checkpoints == 0)
        return text;
    return text + (text.empty() ? "" : " and ") + counted(retired.checkpoints, "checkpoint");
}

} // namespace rm

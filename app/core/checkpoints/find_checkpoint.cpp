// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/checkpoints/find_checkpoint.h"

#include "app/core/checkpoints/checkpoint_choice.h"
#include "app/core/checkpoints/checkpoint_words.h"
#include "app/core/findings/text.h"
#include "app/core/store/store_reader.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>
#include <vector>

namespace rm {

namespace {

std::string stepsOf(const std::vector<StoredCheckpoint>& checkpoints, bool isRetired) {
    std::string steps;
    for (const StoredCheckpoint& checkpoint : checkpoints)
        if (isSomewhere(checkpoint) && (checkpoint.retiredBy != 0) == isRetired)
            append(steps, std::to_string(checkpoint.saved.step), ", ");
    return steps;
}

std::string whatThereIs(StoreReader& reader, const QString& run,
                        const std::vector<StoredCheckpoint>& checkpoints) {
    const Value anew{"command", "ringmaster run --like " + run.toStdString()};
    const auto summary = reader.run(run);
    if (checkpoints.empty() && summary && !summary->unreadNodes.empty())
        return say("checkpoint.none-known-begin-anew",
                   {{"none-known",
                     say("checkpoint.none-known", {{"nodes", listed(summary->unreadNodes)}})},
                    anew});
    if (checkpoints.empty())
        return say("checkpoint.none", {anew});
    const std::string living = stepsOf(checkpoints, false);
    const std::string retired = stepsOf(checkpoints, true);
    std::string text = living.empty() ? say("checkpoint.none-living")
                                      : say("checkpoint.at-steps", {{"steps", living}});
    if (!retired.empty())
        append(text, say("checkpoint.aside-at-steps", {{"steps", retired}}));
    return text;
}

/// The step that the text names; nullopt: it is no number.
std::optional<int64_t> stepIn(const std::string& text) {
    int64_t step = 0;
    const auto end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, step);
    return read.ec == std::errc() && read.ptr == end && step >= 0 ? std::optional(step)
                                                                  : std::nullopt;
}

/// The checkpoint of the living line at this step, else the one of the only abandoned line that has
/// one.
Result<StoredCheckpoint> findByStep(StoreReader& reader, const QString& run,
                                    const std::vector<StoredCheckpoint>& there, int64_t step,
                                    const std::string& attempt) {
    std::vector<StoredCheckpoint> found;
    for (const StoredCheckpoint& each : there)
        if (each.saved.step == step) {
            if (each.retiredBy == 0)
                return each;
            found.push_back(each);
        }
    if (found.size() == 1)
        return found.front();
    if (found.empty())
        return failAs(attempt, {ErrorCode::kNotFound, whatThereIs(reader, run, there)});
    std::string names;
    for (const StoredCheckpoint& each : found)
        append(names, checkpointNameOf(each), ", ");
    return failAs(attempt,
                  {ErrorCode::kInvalid, say("checkpoint.several-at-step", {{"names", names}})});
}

} // namespace

Result<StoredCheckpoint> findCheckpoint(StoreReader& reader, const QString& run,
                                        const std::string& which) {
    auto there = reader.checkpoints(run); // newest first
    std::erase_if(there, std::not_fn(isSomewhere));
    const auto step = stepIn(which);
    const Value of{"run", run.toStdString()};
    const std::string attempt =
        which.empty() ? say("checkpoint.find-any", {of})
        : step        ? say("checkpoint.find-step", {{"step", std::to_string(*step)}, of})
                      : say("checkpoint.find", {{"checkpoint", which}, of});
    if (step)
        return findByStep(reader, run, there, *step, attempt);
    if (which.empty()) {
        if (const StoredCheckpoint* newest = newestLiving(there))
            return *newest;
    } else if (const auto found = std::ranges::find(there, which, checkpointNameOf);
               found != there.end()) {
        return *found;
    }
    return failAs(attempt, {ErrorCode::kNotFound, whatThereIs(reader, run, there)});
}

} // namespace rm

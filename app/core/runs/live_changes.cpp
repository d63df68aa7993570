// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/runs/live_changes.h"

#include "app/core/findings/text.h"
#include "app/core/runs/live_spec.h"
#include "shared/checkpoint/reasons.h"
#include "shared/spec/toml_fields.h"
#include "shared/wire/command_kind.h"

#include <algorithm>
#include <climits>
#include <functional>
#include <map>
#include <set>
#include <tuple>

namespace rm {

namespace {

/// What is read of a run to find its changes.
struct ChangeSources {
    RunSpec spec;
    std::vector<StoredSettings> settings;
    std::vector<StoredLine> lines;
    std::vector<StoredCheckpoint> checkpoints;
    std::map<std::string, std::vector<std::string>> keys; ///< by the command's id
};

std::string shortKey(const std::string& key) {
    return key.substr(key.find('.') + 1);
}

/// The settings that the attempt trained with up to that step, or after it.
LiveSettings settingsAround(const ChangeSources& from, int attempt, int64_t step, bool isAfter) {
    LiveSettings found;
    for (const StoredSettings& each : from.settings)
        if (each.attempt < attempt ||
            (each.attempt == attempt && (isAfter ? each.step <= step : each.step < step)))
            found = each.values;
    return found;
}

std::optional<double> valueIn(const ChangeSources& from, const LiveSettings& settings,
                              const std::string& key) {
    if (!std::ranges::count(liveKeys(), key))
        return std::nullopt; // of another release
    const auto set = settings.find(key);
    return set != settings.end() ? set->second : liveValue(from.spec, key);
}

/// Whether what the attempt trained after that step is of the living line.
bool isLiving(const ChangeSources& from, const RunSummary& run, int attempt, int64_t step) {
    if (attempt == run.attempt)
        return true;
    return std::ranges::any_of(from.lines, [&](const StoredLine& line) {
        return line.attempt == attempt && line.retiredBy == 0 && line.lastStep > step;
    });
}

/// "before set lr, clip" of that key. A later checkpoint of the same step may have replaced it.
bool isFromBefore(const StoredCheckpoint& checkpoint, const LiveChange& change) {
    if (checkpoint.removed || checkpoint.attempt != change.attempt ||
        checkpoint.saved.step != change.step || !isBeforeSet(checkpoint.saved.reason))
        return false;
    const QString names =
        QString::fromStdString(checkpoint.saved.reason.substr(kBeforeSetReason.size()));
    const auto isIt = [&](const QString& name) {
        return name.trimmed().toStdString() == shortKey(change.key);
    };
    return names.isEmpty() || std::ranges::any_of(names.split(','), isIt);
}

/// The keys that the command named; of one that was asked for elsewhere those that differ.
std::set<std::string> keysOf(const ChangeSources& from, const std::string& command,
                             const LiveSettings& before, const LiveSettings& after) {
    if (const auto asked = from.keys.find(command); asked != from.keys.end())
        return {asked->second.begin(), asked->second.end()};
    std::set<std::string> keys;
    for (const LiveSettings* side : {&before, &after})
        for (const auto& [key, value] : *side)
            if (valueIn(from, before, key) != valueIn(from, after, key))
                keys.insert(key);
    return keys;
}

void addChanges(const ChangeSources& from, const StoredCommand& command,
                std::vector<LiveChange>& changes) {
    const CommandApplied& applied = command.applied;
    const LiveSettings before = settingsAround(from, command.attempt, applied.step, false);
    const LiveSettings after = settingsAround(from, command.attempt, applied.step, true);
    for (const std::string& key : keysOf(from, applied.id, before, after)) {
        const auto old = valueIn(from, before, key), now = valueIn(from, after, key);
        if (!old || !now || *old == *now)
            continue;
        LiveChange change{applied.id,      key,          *old,          *now,
                          command.attempt, applied.step, applied.wallNs};
        const auto saved = std::ranges::find_if(
            from.checkpoints, [&](const auto& each) { return isFromBefore(each, change); });
        if (saved != from.checkpoints.end())
            change.checkpoint = *saved;
        changes.push_back(std::move(change));
    }
}

} // namespace

std::vector<LiveChange> liveChanges(StoreReader& reader, const RunSummary& run) {
    const auto snapshot = reader.snapshot();
    auto spec = parseRunSpec(reader.specToml(run.id), run.id.toStdString());
    if (!spec)
        return {};
    ChangeSources from{std::move(*spec),
                       reader.settings(run.id),
                       reader.lines(run.id),
                       reader.checkpoints(run.id),
                       {}};
    for (const RequestedCommand& command : reader.requestedCommands(run.id, INT_MAX))
        for (const auto& [key, value] : command.args)
            from.keys[command.id].push_back(key);
    std::vector<LiveChange> changes;
    for (const StoredCommand& command : reader.commands(run.id))
        if (command.applied.ok && command.applied.kind == commandKindName(CommandKind::kSet))
            addChanges(from, command, changes);
    std::ranges::stable_sort(changes, std::greater(), [](const LiveChange& change) {
        return std::tuple(change.attempt, change.step, change.wallNs);
    });
    std::set<std::string> changedLater;
    for (LiveChange& change : changes)
        if (isLiving(from, run, change.attempt, change.step))
            change.isInForce = changedLater.insert(change.key).second;
    return changes;
}

Result<LiveChange> findChange(const std::vector<LiveChange>& newestFirst, const std::string& which,
                              const std::string& attempt) {
    const auto isIdOf = [&](const LiveChange& change) {
        return !which.empty() && change.command.starts_with(which);
    };
    const auto isMeant = [&](const LiveChange& change) {
        return which.empty() ? change.isInForce
                             : change.key == which || shortKey(change.key) == which;
    };
    auto found = std::ranges::find_if(newestFirst, isMeant);
    if (found == newestFirst.end()) {
        found = std::ranges::find_if(newestFirst, isIdOf);
        const auto isOther = [&](const LiveChange& change) {
            return isIdOf(change) && change.command != found->command;
        };
        if (found != newestFirst.end() && std::ranges::any_of(newestFirst, isOther))
            return failAs(attempt, {ErrorCode::kInvalid, say("revert.ambiguous")});
    }
    if (found != newestFirst.end())
        return *found;
    return failAs(attempt, {ErrorCode::kNotFound,
                            which.empty() ? say("revert.nothing")
                                          : say("revert.no-such-change", {{"change", which}})});
}

std::string changeWords(const LiveChange& change) {
    return change.key + ' ' + plainNumber(change.before) + " -> " + plainNumber(change.after);
}

std::vector<std::pair<std::string, std::string>> settingsBefore(const LiveChange& change) {
    return {{change.key, plainNumber(change.before)}};
}

Result<void> checkSetBack(const RunSummary& run, const LiveChange& change) {
    if (!change.isInForce)
        return fail(ErrorCode::kInvalid, say("revert.not-in-force", {{"key", change.key}}));
    if (hasEnded(run.state))
        return fail(ErrorCode::kInvalid, say("revert.has-ended", {{"state", runStateName(run)}}));
    return {};
}

Result<void> checkGoBack(const LiveChange& change) {
    if (change.checkpoint)
        return {};
    return fail(ErrorCode::kNotFound,
                say("revert.no-checkpoint", {{"step", std::to_string(change.step)}}));
}

} // namespace rm

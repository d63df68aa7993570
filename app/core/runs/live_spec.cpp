// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/runs/live_spec.h"

#include "app/core/findings/text.h"
#include "app/core/store/store_reader.h"
#include "shared/checkpoint/reasons.h"
#include "shared/return_if_error.h"
#include "shared/spec/toml_fields.h"

namespace rm {

LiveSettings settingsNow(const std::vector<StoredSettings>& settings) {
    return settings.empty() ? LiveSettings() : settings.back().values;
}

LiveSettings settingsAt(const std::vector<StoredSettings>& settings,
                        const StoredCheckpoint& checkpoint) {
    // A change is told of at the step of the checkpoint that is saved before it.
    const bool isBefore = checkpoint.saved.reason.starts_with(kBeforeSetReason);
    const int64_t last = checkpoint.saved.step - (isBefore ? 1 : 0);
    LiveSettings found;
    for (const StoredSettings& each : settings) {
        const bool isEarlier = each.attempt == checkpoint.attempt && each.step <= last;
        if (each.attempt < checkpoint.attempt || isEarlier)
            found = each.values;
    }
    return found;
}

RunSpec liveSpec(RunSpec spec, const LiveSettings& settings) {
    for (const auto& [key, value] : settings)
        if (const auto number = parseLiveSetting(key, plainNumber(value)))
            apply({{key, *number}}, spec);
    return spec;
}

std::string settingsWords(const LiveSettings& settings) {
    std::string words;
    for (const auto& [key, value] : settings)
        append(words, key + " = " + plainNumber(value), ", ");
    return words;
}

Result<RunSpec> specOfBranch(StoreReader& reader, const QString& run,
                             const StoredCheckpoint& checkpoint) {
    return parseRunSpec(reader.specToml(run), run.toStdString()).map([&](RunSpec spec) {
        return liveSpec(std::move(spec), settingsAt(reader.settings(run), checkpoint));
    });
}

Result<void> checkSettings(StoreReader& reader, const QString& run,
                           const std::vector<std::pair<std::string, std::string>>& args) {
    auto spec = parseRunSpec(reader.specToml(run), run.toStdString());
    if (!spec)
        return {}; // of another release; rank 0 knows its own keys and bounds
    RunSpec now = liveSpec(std::move(*spec), settingsNow(reader.settings(run)));
    for (const auto& [key, value] : args)
        RM_RETURN_IF_ERROR(changeSetting(now, key, value));
    return {};
}

} // namespace rm

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/run/live_spec.h"

#include "shared/return_if_error.h"
#include "shared/spec/toml_fields.h"

namespace rm {

RunSpec liveSpec(RunSpec spec, const LiveSettings& settings) {
    for (const auto& [key, value] : settings)
        if (const auto number = parseLiveSetting(key, plainNumber(value)))
            apply({{key, *number}}, spec);
    return spec;
}

std::string settingsWords(const LiveSettings& settings) {
    std::string words;
    for (const auto& [key, value] : settings)
        words += (words.empty() ? "" : ", ") + key + " = " + plainNumber(value);
    return words;
}

Result<RunSpec> readLiveSpec(StoreReader& reader, const QString& run) {
    return parseRunSpec(reader.specToml(run), run.toStdString()).map([&](RunSpec spec) {
        return liveSpec(std::move(spec), reader.settings(run));
    });
}

Result<void> checkSettings(StoreReader& reader, const QString& run,
                           const std::vector<std::pair<std::string, std::string>>& args) {
    auto now = readLiveSpec(reader, run);
    if (!now)
        return {}; // of another release; rank 0 knows its own keys and bounds
    for (const auto& [key, value] : args)
        RM_RETURN_IF_ERROR(changeSetting(*now, key, value));
    return {};
}

} // namespace rm

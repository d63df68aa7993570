// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/run/live_spec.h"

#include "shared/return_if_error.h"
#include "shared/spec/live_settings.h"

namespace rm {

RunSpec liveSpec(RunSpec spec, const std::vector<AskedCommand>& newestFirst) {
    for (auto asked = newestFirst.rbegin(); asked != newestFirst.rend(); ++asked)
        if (asked->kind == "set" && asked->state == AskedState::kApplied)
            for (const auto& [key, value] : asked->args)
                if (const auto number = parseLiveSetting(key, value))
                    apply({{key, *number}}, spec);
    return spec;
}

Result<void> checkSettings(StoreReader& reader, const QString& run,
                           const std::vector<std::pair<std::string, std::string>>& args) {
    auto spec = parseRunSpec(reader.specToml(run), run.toStdString());
    if (!spec)
        return {}; // of another release; rank 0 knows its own keys and bounds
    RunSpec now = liveSpec(std::move(*spec), reader.askedCommands(run));
    for (const auto& [key, value] : args)
        RM_RETURN_IF_ERROR(changeSetting(now, key, value));
    return {};
}

} // namespace rm

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/store.h"
#include "shared/spec/live_settings.h"

#include <string>
#include <utility>
#include <vector>

namespace rm {

/// The spec with what is set otherwise now (StoreReader::settings()), by a person or by the run
/// itself. Keys and values that this release cannot set are left out.
RunSpec liveSpec(RunSpec spec, const LiveSettings& settings);

/// "optimizer.lr = 0.001, train.log_every = 5". As a node wrote it: not safe for a terminal.
std::string settingsWords(const LiveSettings& settings);

/// That of a run. A branch of it begins with these values, as it takes over no setting.
Result<RunSpec> readLiveSpec(StoreReader& reader, const QString& run);

/// Whether a run can be given these arguments of the command `set`. kInvalid: a launch of the spec
/// with them would be refused.
Result<void> checkSettings(StoreReader& reader, const QString& run,
                           const std::vector<std::pair<std::string, std::string>>& args);

} // namespace rm

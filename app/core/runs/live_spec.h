// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/store_reader.h"
#include "shared/spec/live_settings.h"

#include <string>
#include <utility>
#include <vector>

namespace rm {

/// The settings in force now, from StoreReader::settings(), whoever set them.
LiveSettings settingsNow(const std::vector<StoredSettings>& settings);
/// The settings that a checkpoint was trained with last, and that its restore brings back.
LiveSettings settingsAt(const std::vector<StoredSettings>& settings,
                        const StoredCheckpoint& checkpoint);

/// The spec with these settings. Keys and values that this release cannot set are left out.
RunSpec liveSpec(RunSpec spec, const LiveSettings& settings);

/// "optimizer.lr = 0.001, train.log_every = 5". As a node wrote it: not safe for a terminal.
std::string settingsWords(const LiveSettings& settings);

/// The spec of a branch from that checkpoint, if nothing is changed: a branch takes over no setting
/// (its ranks train as its spec says), so that these are in its spec.
Result<RunSpec> specOfBranch(StoreReader& reader, const QString& run,
                             const StoredCheckpoint& checkpoint);

/// Whether a run can be given these arguments of the command `set`. kInvalid: a launch of the spec
/// with them would be refused.
Result<void> checkSettings(StoreReader& reader, const QString& run,
                           const std::vector<std::pair<std::string, std::string>>& args);

} // namespace rm

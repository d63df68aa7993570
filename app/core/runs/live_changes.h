// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/store_reader.h"
#include "shared/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rm {

/// A setting that a command `set` changed while the run trained.
struct LiveChange {
    std::string command; ///< its id
    std::string key;
    double before = 0, after = 0;
    int attempt = 0;
    int64_t step = 0; ///< after which all ranks train with it
    int64_t wallNs = 0;
    /// It is of the living line, and the setting was not changed after it.
    bool isInForce = false;
    /// The one that was saved before it, if it is still there.
    std::optional<StoredCheckpoint> checkpoint = {};
};

/// Newest first. Empty also where the run's spec cannot be read, as of a later release.
std::vector<LiveChange> liveChanges(StoreReader& reader, const RunSummary& run);

/// The change that is meant: empty: the newest in force; a key or the end of one ("lr"): the newest
/// of it; else the beginning of a command's id. `attempt`: how an error begins.
Result<LiveChange> findChange(const std::vector<LiveChange>& newestFirst, const std::string& which,
                              const std::string& attempt);

/// "optimizer.lr 0.0005 -> 0.0003"
std::string changeWords(const LiveChange& change);
/// What sets it back, as the arguments of a command `set`.
std::vector<std::pair<std::string, std::string>> settingsBefore(const LiveChange& change);

/// kInvalid: the change cannot be set back, and what to do instead.
Result<void> checkSetBack(const RunSummary& run, const LiveChange& change);
/// kNotFound: there is no checkpoint from before it any more.
Result<void> checkGoBack(const LiveChange& change);

} // namespace rm

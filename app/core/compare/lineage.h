// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/store_reader.h"

#include <optional>
#include <string>
#include <vector>

namespace rm {

/// A setting that a branch or an attempt has otherwise than what it comes from.
struct SettingChange {
    std::string key;
    std::string from, to;  ///< empty: it does not use that setting
    int64_t afterStep = 0; ///< the step after which an attempt changed it
    bool operator==(const SettingChange&) const = default;
};

/// What one attempt made, and what was set while it trained.
struct LineageAttempt {
    int attempt = 1;
    std::vector<StoredLine> lines = {}; ///< ordered by step; living or set aside
    std::vector<SettingChange> changes = {};
    bool operator==(const LineageAttempt&) const = default;
};

/// A run among all that hang together by branches.
struct LineageRun {
    RunSummary run;
    std::optional<size_t> parent = {};       ///< its place among them
    int depth = 0;                           ///< 0: it is no branch, or its parent is not stored
    std::vector<SettingChange> changes = {}; ///< what a branch has otherwise than its parent's spec
    std::vector<LineageAttempt> attempts = {};
    bool operator==(const LineageRun&) const = default;
};

/// The runs that are branches of one another with those of `chosen`: their ancestors and all that
/// come from these. A run stands before its branches, which are by the step that they left it at.
/// Worker thread.
std::vector<LineageRun> readLineage(StoreReader& reader, const std::vector<QString>& chosen);

/// "optimizer.lr 0.001 → 0.0005", of an attempt "optimizer.lr 0.001 → 0.0005 after step 300"
std::string changeWords(const SettingChange& change);

} // namespace rm

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/database.h"
#include "shared/result.h"

#include <span>
#include <string>
#include <vector>

namespace rm {

/// `PRAGMA application_id` of our databases: "RMST".
inline constexpr int kApplicationId = 0x524d5354;

/// One numbered file of resources/schema. Released files are never changed.
struct SchemaStep {
    int version = 0;
    std::string sql;
};

/// All steps, by version, as compiled in.
std::vector<SchemaStep> schemaSteps();

/// Brings the database at `path` to the last of `steps`, each in a transaction of its own; before
/// the first one an existing database is copied to `path`.vN.backup. kTooNew: written by a later
/// release, which the message names; kInvalid: a database, but not ours.
Result<void> upgradeSchema(Database& database, const std::string& path,
                           std::span<const SchemaStep> steps);

/// The check for readers: kTooNew and kInvalid as above; kNotFound while no writer has made the
/// tables.
Result<void> checkSchema(Database& database, const std::string& path, int newest);

} // namespace rm

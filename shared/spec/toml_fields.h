// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"
#include "shared/spec/run_spec.h"

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rm {

/// A key of a TOML text and the value behind it. Keys are "field" or "section.field"; those of
/// one section lie together, and those without a section come first.
struct TomlField {
    std::string_view key;
    SpecFieldRef ref;
    std::span<const std::string_view> aliases = {}; ///< its names elsewhere, in lower case
};

/// Sets the fields that `toml` names. kInvalid with every mistake, one per line, each with
/// `source`, line, key, value and what is allowed; an unknown key with the likeliest known one.
Result<void> readTomlFields(std::string_view toml, std::string_view source,
                            std::span<const TomlField> fields);

/// "train.steps" -> {"train", "steps"}, "name" -> {"", "name"}.
std::pair<std::string_view, std::string_view> splitKey(std::string_view key);

std::string writeTomlFields(std::span<const TomlField> fields);

/// The shortest text that reads back as `number`, as people write it: "0.0003", "1000", "1e-08".
std::string plainNumber(double number);
/// The same of what was measured and is stored as a float: "0.7", not "0.699999988".
std::string plainFloat(float number);

/// The line with more dots between separators than any key or number has; 0: none. toml++ limits
/// how deeply lists and inline tables are nested, but not the tables of a dotted key, and overflows
/// the stack when it destroys them.
int lineOfDeepKey(std::string_view toml);

/// "NAME=value" with a name of [A-Za-z_][A-Za-z0-9_]* and a value without line breaks or NUL.
bool isEnvironmentEntry(std::string_view entry);

/// Why a person may not add an option for sbatch(1), as scripts have them ("--time=4:00:00"), to a
/// job of Ringmaster: what it must be or must not. Empty: they may.
std::string sbatchMistake(std::string_view entry);

/// The same of an option for the srun(1) in that job: "--mpi=none".
std::string srunMistake(std::string_view entry);

/// The same of a line of bash that a person adds to the script of such a job.
std::string jobSetupMistake(std::string_view line);

/// Valid UTF-8 without control characters but line breaks and tabs: what TOML can carry.
bool isPlainText(std::string_view text);

/// The same text with blanks for line breaks and control characters, for tables and labels. "?": it
/// is no UTF-8.
std::string plainLine(std::string_view text);

/// The mistakes joined to one kInvalid, or nothing when there are none.
Result<void> failWithAll(const std::vector<std::string>& mistakes);

/// "a, b, c"
std::string listed(const std::vector<std::string_view>& words);

} // namespace rm

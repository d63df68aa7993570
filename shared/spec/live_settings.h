// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/spec/run_spec.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace rm {

/// The settings that the command `set` changed in a run that trains, by key of the spec. Each is a
/// number; whole ones up to 2^53 are exact.
using LiveSettings = std::map<std::string, double, std::less<>>;

/// The keys that can be set, in the order of the schema: its rows that are live().
std::vector<std::string_view> liveKeys();

/// Reads the value of a key. kInvalid: the key is not live, or the value is not a number (for
/// integer fields a whole one) within the field's bounds.
Result<double> parseLiveSetting(const std::string& key, const std::string& value);

/// The value of a live key in the spec; aborts for any other key.
double liveValue(const RunSpec& spec, std::string_view key);
bool isWhole(std::string_view key);

/// Applies the settings, all of live keys, to the spec.
void apply(const LiveSettings& settings, RunSpec& spec);

/// Gives the spec that value, as the command `set` would. kInvalid: as parseLiveSetting(), or a
/// launch would refuse the spec with it (see check()); the spec is then as it was.
Result<void> changeSetting(RunSpec& spec, const std::string& key, const std::string& value);

} // namespace rm

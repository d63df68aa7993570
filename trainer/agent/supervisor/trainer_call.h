// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <string>
#include <vector>

namespace rm {

/// `trainer WORD...`: this process becomes the trainer of the plan's bundle, with these words, in
/// nodeEnvironment(), so that a trial or an estimate finds what the plan's ranks will find. `order`
/// is the JSON of stdin: {"plan": TOML, "input": what the trainer gets as its stdin}. Returns only
/// if it could not be started; kNotFound: it is not there.
Result<void> becomeTrainer(std::vector<std::string> words, const std::string& order);

} // namespace rm

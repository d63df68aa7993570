// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace rm {

/// (name, content) of the small files of a checkpoint: config.json, spec.toml, tokenizer files.
using TextFiles = std::vector<std::pair<std::string, std::string>>;

} // namespace rm

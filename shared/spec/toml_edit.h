// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"
#include "shared/spec/toml_fields.h"

#include <string>
#include <string_view>

namespace rm {

/// `toml` with the value of one key as `field` has it and all else as a person wrote it: comments,
/// order, blank lines, and the column of a comment behind the value where that can be kept. A key
/// that is not there is added behind the others of its section, a section at the end.
/// kInvalid: `toml` is none (with `source`, line and column), or holds the key in a form that is
/// not a value.
Result<std::string> setTomlField(std::string_view toml, std::string_view source,
                                 const TomlField& field);

} // namespace rm

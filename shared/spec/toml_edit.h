// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"
#include "shared/spec/toml_fields.h"

#include <string>
#include <string_view>

namespace rm {

/// Sets one key of `toml` to the value of `field` and keeps everything else: comments, order, blank
/// lines and, if possible, the column of a comment after the value. A missing key is added at the
/// end of its section, a missing section at the end. kInvalid: `toml` cannot be parsed (with
/// `source`, line and column), or has the key in a form that is not a value.
Result<std::string> setTomlField(std::string_view toml, std::string_view source,
                                 const TomlField& field);

} // namespace rm

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/io/json.h"

#include <initializer_list>
#include <string>
#include <string_view>

namespace rm {

/// The value of `key` in a tokenizer.json; null if there is none.
const Json& fieldOf(const Json& object, const char* key);

/// kInvalid: "read tokenizer.json: PATH is VALUE; supported is SUPPORTED".
tl::unexpected<Error> unsupported(const std::string& path, const Json& value,
                                  const std::string& supported);

/// Checks that `object`, called `path`, has no other keys than these.
Result<void> demandKeys(const Json& object, const std::string& path,
                        std::initializer_list<std::string_view> keys);

/// A boolean; `ifAbsent` if it is missing.
Result<bool> switchOf(const Json& object, const std::string& path, const char* key, bool ifAbsent);

} // namespace rm

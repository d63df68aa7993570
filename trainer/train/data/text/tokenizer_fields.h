// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/io/json.h"

#include <initializer_list>
#include <string>
#include <string_view>

namespace rm {

/// What a tokenizer.json holds under `key`; null where it holds nothing.
const Json& fieldOf(const Json& object, const char* key);

/// kInvalid: "read tokenizer.json: PATH is VALUE; supported is SUPPORTED".
tl::unexpected<Error> unsupported(const std::string& path, const Json& value,
                                  const std::string& supported);

/// `object`, called `path`, is an object without other keys than these.
Result<void> demandKeys(const Json& object, const std::string& path,
                        std::initializer_list<std::string_view> keys);

/// A switch; `ifAbsent` where it is not there.
Result<bool> switchOf(const Json& object, const std::string& path, const char* key, bool ifAbsent);

} // namespace rm

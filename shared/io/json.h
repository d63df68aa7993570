// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Compiled once, in json.cpp, instead of in each source that has JSON.
extern template class nlohmann::basic_json<>;

namespace rm {

using Json = nlohmann::json;

/// kCorrupt naming `source` when `text` is not JSON. Never throws.
Result<Json> parseJson(std::string_view text, const std::string& source);

/// Compact, keys sorted; bytes that are not UTF-8 become U+FFFD.
std::string dumpJson(const Json& json);

/// The value of `key` in `object` if it has that type; `object` may be any JSON value.
std::optional<int64_t> intAt(const Json& object, const char* key);
std::optional<std::string> textAt(const Json& object, const char* key);
std::optional<bool> boolAt(const Json& object, const char* key);
const Json* arrayAt(const Json& object, const char* key); ///< nullptr: none

bool isUtf8(std::string_view text);

/// Whether `text` is a SHA-256 as written everywhere: 64 lower-case hex digits.
bool isSha256(std::string_view text);

} // namespace rm

// SPDX-License-Identifier: Apache-2.0
#include "shared/io/json.h"

#include <algorithm>

template class nlohmann::basic_json<>;

namespace rm {

namespace {

const Json* memberOf(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() ? &*found : nullptr;
}

/// Whether objects and lists are nested so deeply that nlohmann's recursion over them could
/// overflow the stack.
bool isTooDeep(std::string_view text) {
    constexpr int kMostDeep = 200;
    int depth = 0;
    bool isInText = false;
    for (size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (isInText && c == '\\')
            ++i;
        else if (c == '"')
            isInText = !isInText;
        else if (!isInText && (c == '[' || c == '{') && ++depth > kMostDeep)
            return true;
        else if (!isInText && (c == ']' || c == '}'))
            --depth;
    }
    return false;
}

} // namespace

Result<Json> parseJson(std::string_view text, const std::string& source) {
    if (isTooDeep(text))
        return fail(ErrorCode::kCorrupt, "read " + source + ": JSON more than 200 levels deep");
    Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded())
        return fail(ErrorCode::kCorrupt, "read " + source + ": not JSON");
    return json;
}

std::string dumpJson(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<int64_t> intAt(const Json& object, const char* key) {
    const Json* value = memberOf(object, key);
    if (!value || !value->is_number_integer())
        return std::nullopt;
    if (value->is_number_unsigned() && value->get<uint64_t>() > uint64_t(INT64_MAX))
        return std::nullopt;
    return value->get<int64_t>();
}

std::optional<std::string> textAt(const Json& object, const char* key) {
    const Json* value = memberOf(object, key);
    return value && value->is_string() ? std::optional(value->get<std::string>()) : std::nullopt;
}

std::optional<bool> boolAt(const Json& object, const char* key) {
    const Json* value = memberOf(object, key);
    return value && value->is_boolean() ? std::optional(value->get<bool>()) : std::nullopt;
}

const Json* arrayAt(const Json& object, const char* key) {
    const Json* value = memberOf(object, key);
    return value && value->is_array() ? value : nullptr;
}

bool isUtf8(std::string_view text) {
    return Json::parse(dumpJson(std::string(text))).get<std::string>() == text;
}

bool isSha256(std::string_view text) {
    return text.size() == 64 && std::ranges::all_of(text, [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
           });
}

} // namespace rm

// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/data/text/tokenizer_fields.h"

#include <algorithm>

namespace rm {
namespace {

constexpr size_t kShown = 80; ///< bytes of a value in an error

std::string shown(const Json& value) {
    std::string text = dumpJson(value);
    if (text.size() <= kShown)
        return text;
    size_t cut = kShown;
    while ((static_cast<uint8_t>(text[cut]) & 0xc0) == 0x80) // within a character
        --cut;
    text.resize(cut);
    return text.append(" (cut)");
}

} // namespace

const Json& fieldOf(const Json& object, const char* key) {
    static const Json absent;
    const auto at = object.find(key);
    return at == object.end() ? absent : *at;
}

tl::unexpected<Error> unsupported(const std::string& path, const Json& value,
                                  const std::string& supported) {
    return fail(ErrorCode::kInvalid, "read tokenizer.json: " + path + " is " + shown(value) +
                                         "; supported is " + supported);
}

Result<void> demandKeys(const Json& object, const std::string& path,
                        std::initializer_list<std::string_view> keys) {
    if (!object.is_object())
        return unsupported(path, object, "an object");
    for (const auto& [key, value] : object.items())
        if (std::ranges::find(keys, std::string_view(key)) == keys.end())
            return unsupported(path + "." + key, value, "no field of this name");
    return {};
}

Result<bool> switchOf(const Json& object, const std::string& path, const char* key, bool ifAbsent) {
    const Json& value = fieldOf(object, key);
    if (value.is_null())
        return ifAbsent;
    if (!value.is_boolean())
        return unsupported(path + "." + key, value, "true or false");
    return value.get<bool>();
}

} // namespace rm

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/io/json.h"
#include "shared/return_if_error.h"

#include <cmath>
#include <concepts>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

// Structs as JSON objects, from one list of their members beside each struct:
//
//     template <Either<Blob> T, class Visit>
//     void fields(T& blob, Visit&& visit) {
//         visit("sha256", blob.sha256, fitting(isSha256));
//         visit("size", blob.size, atLeast(0));
//     }
//
// `fields` is found by argument-dependent lookup, so it stands in the namespace of its struct.
// Members are numbers, flags, texts, enum values, such structs, and optionals and vectors of these.
// An enum is its number, or the word that jsonWord(value) has for it (also found by that lookup).

namespace rm {

/// T is Struct, or const Struct while it is written.
template <class T, class Struct>
concept Either = std::same_as<std::remove_const_t<T>, Struct>;

/// What the value of a key must be, besides its type. It is checked when it is read alone.
struct FieldRule {
    bool mayBeMissing = false;                           ///< then the member keeps its value
    bool mayBeNull = false;                              ///< a figure that is not known: NaN
    int64_t least = std::numeric_limits<int64_t>::min(); ///< of a number, or each in a list
    int64_t most = std::numeric_limits<int64_t>::max();
    size_t longest = std::numeric_limits<size_t>::max(); ///< bytes of a text, items of a list
    bool (*fits)(std::string_view) = nullptr;            ///< a text
    bool isLeftOutIfEmpty = false;                       ///< a text is not written then
    size_t cut = std::numeric_limits<size_t>::max();     ///< a longer text is written up to there

    // A number without limits may be larger than any integer.
    constexpr bool hasLeast() const { return least != std::numeric_limits<int64_t>::min(); }
    constexpr bool hasMost() const { return most != std::numeric_limits<int64_t>::max(); }

    constexpr FieldRule optional() const {
        FieldRule rule = *this;
        rule.mayBeMissing = true;
        return rule;
    }
    /// A text that is not there if it is empty.
    constexpr FieldRule unlessEmpty() const {
        FieldRule rule = optional();
        rule.isLeftOutIfEmpty = true;
        return rule;
    }
};

constexpr FieldRule within(int64_t least, int64_t most) {
    return {.least = least, .most = most};
}
constexpr FieldRule atLeast(int64_t least) {
    return {.least = least};
}
constexpr FieldRule upTo(size_t longest) {
    return {.longest = longest};
}
constexpr FieldRule fitting(bool (*fits)(std::string_view)) {
    return {.fits = fits};
}
constexpr FieldRule cutAt(size_t bytes) {
    return {.cut = bytes};
}
inline constexpr FieldRule kOptional{.mayBeMissing = true};
/// A figure that is null where it is not finite.
inline constexpr FieldRule kMaybeUnknown{.mayBeNull = true};

/// `visit` for members of which each may be missing.
template <class Visit>
auto optionally(Visit& visit) {
    return [&visit](const char* key, auto&& member, const FieldRule& rule = {}) {
        visit(key, member, rule.optional());
    };
}

/// Two members that are stored as a list of two.
template <class T>
struct Both {
    T& first;
    T& second;
};
template <class T>
Both(T&, T&) -> Both<T>;

template <class T>
Json writeFields(const T& value);

/// Fills `out` from an object, whose further keys are skipped. Returns the first key, such as
/// "blobs[3].size", whose value is missing or is not what it must be; empty: none.
template <class T>
std::string readFields(const Json& object, T& out);

namespace json_fields {

template <class T>
inline constexpr bool isVector = false;
template <class T>
inline constexpr bool isVector<std::vector<T>> = true;
template <class T>
inline constexpr bool isOptionalOf = false;
template <class T>
inline constexpr bool isOptionalOf<std::optional<T>> = true;
template <class T>
inline constexpr bool isBoth = false;
template <class T>
inline constexpr bool isBoth<Both<T>> = true;

template <class T>
concept HasWord = std::is_enum_v<T> && requires(T value) {
    { jsonWord(value) } -> std::convertible_to<const char*>;
};

template <class T>
Json write(const T& value) {
    if constexpr (HasWord<T>) {
        return jsonWord(value);
    } else if constexpr (std::is_enum_v<T>) {
        return static_cast<std::underlying_type_t<T>>(value);
    } else if constexpr (std::is_floating_point_v<T>) {
        return std::isfinite(value) ? Json(value) : Json();
    } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
        return value;
    } else if constexpr (isVector<T>) {
        Json list = Json::array();
        for (const auto& each : value)
            list.push_back(write(each));
        return list;
    } else if constexpr (isBoth<T>) {
        return Json::array({write(value.first), write(value.second)});
    } else {
        return writeFields(value);
    }
}

inline constexpr const char* kHere = ""; ///< the fault is in the value itself, not in a part of it

template <class T>
std::optional<std::string> faultIn(const Json& json, T& out, const FieldRule& rule);

template <class T>
bool readNumber(const Json& json, T& out, const FieldRule& rule) {
    if constexpr (std::is_floating_point_v<T>) {
        out = json.is_null() ? std::numeric_limits<T>::quiet_NaN() : T{};
        if (json.is_null()) // a figure that is not known
            return rule.mayBeNull;
        if (!json.is_number())
            return false;
        out = json.get<T>();
        return std::isfinite(out) && (!rule.hasLeast() || out >= static_cast<T>(rule.least)) &&
               (!rule.hasMost() || out <= static_cast<T>(rule.most));
    } else {
        if (!json.is_number_integer() ||
            (json.is_number_unsigned() && !std::in_range<T>(json.get<uint64_t>())) ||
            (!json.is_number_unsigned() && !std::in_range<T>(json.get<int64_t>())))
            return false;
        out = json.is_number_unsigned() ? static_cast<T>(json.get<uint64_t>())
                                        : static_cast<T>(json.get<int64_t>());
        return !std::cmp_less(out, rule.least) && !std::cmp_greater(out, rule.most);
    }
}

/// A word that is not known leaves `out` as it is: a later release may have written it.
template <class T>
bool readWord(const Json& json, T& out, const FieldRule& rule) {
    if (!json.is_string())
        return false;
    const std::string word = json.get<std::string>();
    for (int value = 0; const char* each = jsonWord(static_cast<T>(value)); ++value) {
        if (word != each)
            continue;
        out = static_cast<T>(value);
        return true;
    }
    return rule.mayBeMissing;
}

template <class T>
std::optional<std::string> faultInList(const Json& json, std::vector<T>& out,
                                       const FieldRule& rule) {
    if (!json.is_array() || json.size() > rule.longest)
        return kHere;
    FieldRule ofEach = rule;
    ofEach.longest = std::numeric_limits<size_t>::max();
    out.clear();
    for (const Json& each : json) {
        T item{};
        if (const auto fault = faultIn(each, item, ofEach))
            return '[' + std::to_string(out.size()) + ']' + (fault->empty() ? "" : '.' + *fault);
        out.push_back(std::move(item));
    }
    return std::nullopt;
}

/// nullopt: none; a key, or kHere.
template <class T>
std::optional<std::string> faultIn(const Json& json, T& out, const FieldRule& rule) {
    const auto here = [](bool good) {
        return good ? std::nullopt : std::optional<std::string>(kHere);
    };
    if constexpr (std::is_same_v<T, bool>) {
        if (json.is_boolean())
            out = json.get<bool>();
        return here(json.is_boolean());
    } else if constexpr (std::is_same_v<T, std::string>) {
        if (!json.is_string())
            return kHere;
        out = json.get<std::string>();
        return here(out.size() <= rule.longest && (!rule.fits || rule.fits(out)));
    } else if constexpr (HasWord<T>) {
        return here(readWord(json, out, rule));
    } else if constexpr (std::is_enum_v<T>) {
        std::underlying_type_t<T> number{};
        const bool good = readNumber(json, number, rule);
        out = static_cast<T>(number);
        return here(good);
    } else if constexpr (std::is_arithmetic_v<T>) {
        return here(readNumber(json, out, rule));
    } else if constexpr (isVector<T>) {
        return faultInList(json, out, rule);
    } else if constexpr (isOptionalOf<T>) {
        return faultIn(json, out.emplace(), rule);
    } else if constexpr (isBoth<T>) {
        if (!json.is_array() || json.size() != 2)
            return kHere;
        auto fault = faultIn(json[0], out.first, rule);
        return fault ? fault : faultIn(json[1], out.second, rule);
    } else {
        if (!json.is_object())
            return kHere;
        const std::string key = readFields(json, out);
        return key.empty() ? std::nullopt : std::optional(key);
    }
}

struct Writer {
    Json& object;

    template <class T>
    void operator()(const char* key, const T& member, const FieldRule& rule = {}) const {
        if constexpr (isOptionalOf<T>) {
            if (member)
                object[key] = write(*member);
        } else if constexpr (std::is_same_v<T, std::string>) {
            if (!rule.isLeftOutIfEmpty || !member.empty())
                object[key] = member.substr(0, rule.cut);
        } else {
            object[key] = write(member);
        }
    }
};

struct Reader {
    const Json& object;
    std::string& fault;

    template <class T>
    void operator()(const char* key, T&& member, const FieldRule& rule = {}) const {
        if (!fault.empty())
            return;
        using Member = std::remove_reference_t<T>;
        const auto found = object.find(key);
        if (found == object.end()) {
            if (!rule.mayBeMissing && !isOptionalOf<Member>)
                fault = key;
        } else if (const auto part = faultIn(*found, member, rule)) {
            fault = part->empty() || part->front() == '[' ? key + *part : key + ('.' + *part);
        }
    }
};

} // namespace json_fields

template <class T>
Json writeFields(const T& value) {
    Json object = Json::object();
    fields(value, json_fields::Writer{object});
    return object;
}

template <class T>
std::string readFields(const Json& object, T& out) {
    std::string fault;
    fields(out, json_fields::Reader{object, fault});
    return fault;
}

/// kCorrupt names `source`, and the key.
template <class T>
Result<T> fromJson(const Json& json, const std::string& source) {
    if (!json.is_object())
        return fail(ErrorCode::kCorrupt, "read " + source + ": it is no JSON object");
    T value{};
    if (const std::string key = readFields(json, value); !key.empty())
        return fail(ErrorCode::kCorrupt,
                    "read " + source + ": \"" + key + "\" is missing or makes no sense");
    return value;
}

/// The same from text.
template <class T>
Result<T> parseFields(std::string_view text, const std::string& source) {
    RM_ASSIGN_OR_RETURN(const auto json, parseJson(text, source));
    return fromJson<T>(json, source);
}

// Messages: an object whose "type" is the kType of its struct.

template <class Struct>
Json writeMessage(const Struct& message) {
    Json object = writeFields(message);
    object["type"] = Struct::kType;
    return object;
}

/// One of the structs of `Variant` that have a kType. kTooNew: none has that type.
template <class Variant>
Result<Variant> messageFrom(const Json& json, const std::string& source) {
    const auto type = textAt(json, "type");
    if (!type)
        return fail(ErrorCode::kCorrupt, "read " + source + ": no type");
    std::optional<Result<Variant>> found;
    const auto tryType = [&]<size_t which>(std::integral_constant<size_t, which>) {
        using Struct = std::variant_alternative_t<which, Variant>;
        if constexpr (requires { Struct::kType; })
            if (!found && *type == Struct::kType)
                found = fromJson<Struct>(json, source).map([](auto message) {
                    return Variant(std::move(message));
                });
    };
    [&]<size_t... which>(std::index_sequence<which...>) {
        (tryType(std::integral_constant<size_t, which>()), ...);
    }
    (std::make_index_sequence<std::variant_size_v<Variant>>());
    if (found)
        return *std::move(found);
    return fail(ErrorCode::kTooNew, "read " + source + ": its type \"" + type->substr(0, 32) +
                                        "\" is of a newer release");
}

} // namespace rm

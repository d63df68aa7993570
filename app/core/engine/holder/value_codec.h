// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/remote/secret.h"
#include "shared/spec/run_spec.h"

#include <QByteArray>
#include <QCborArray>
#include <QCborValue>
#include <QList>
#include <QString>

#include <boost/pfr/core.hpp>
#include <tl/expected.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace rm::codec {

// Encodes values as CBOR (RFC 8949) and decodes them. A struct, which must be an aggregate, becomes
// the array of its members in their order (Boost.PFR lists them), a spec its TOML; enum values are
// checked by a function `isKnown(value)`, found by argument-dependent lookup. Anything that does
// not have exactly the expected shape is refused.

template <class T>
QCborValue pack(const T& value);
template <class T>
bool unpack(const QCborValue& in, T& out);

namespace detail {

template <class T>
inline constexpr bool isOptional = false;
template <class T>
inline constexpr bool isOptional<std::optional<T>> = true;
template <class T>
inline constexpr bool isList = false;
template <class T>
inline constexpr bool isList<std::vector<T>> = true;
template <class T>
inline constexpr bool isList<QList<T>> = true;
template <class T>
inline constexpr bool isPair = false;
template <class A, class B>
inline constexpr bool isPair<std::pair<A, B>> = true;
template <class T>
inline constexpr bool isVariant = false;
template <class... T>
inline constexpr bool isVariant<std::variant<T...>> = true;
template <class T>
inline constexpr bool isExpected = false;
template <class T, class E>
inline constexpr bool isExpected<tl::expected<T, E>> = true;

template <class... T>
QCborArray packTied(const std::tuple<T&...>& members) {
    QCborArray array;
    std::apply([&](const auto&... member) { (array.append(pack(member)), ...); }, members);
    return array;
}

template <class... T>
bool unpackTied(const QCborValue& in, const std::tuple<T&...>& members) {
    const QCborArray array = in.toArray();
    if (!in.isArray() || array.size() != static_cast<qsizetype>(sizeof...(T)))
        return false;
    qsizetype next = 0;
    return std::apply([&](auto&... member) { return (unpack(array.at(next++), member) && ...); },
                      members);
}

/// [which alternative, its value]
template <class Variant, size_t... I>
bool unpackAlternative(size_t which, const QCborValue& in, Variant& out,
                       std::index_sequence<I...>) {
    const auto as = [&]<size_t J>(std::integral_constant<size_t, J>) {
        std::variant_alternative_t<J, Variant> value{};
        const bool good = unpack(in, value);
        out.template emplace<J>(std::move(value));
        return good;
    };
    bool good = false;
    ((which == I && (good = as(std::integral_constant<size_t, I>{}), true)) || ...);
    return good;
}

/// Inline, or in a JSON-like pair: [true, value] or [false, error].
template <class Expected>
bool unpackExpected(const QCborValue& in, Expected& out) {
    const QCborArray array = in.toArray();
    if (!in.isArray() || array.size() != 2 || !array.at(0).isBool())
        return false;
    if (!array.at(0).toBool()) {
        typename Expected::error_type error;
        const bool good = unpack(array.at(1), error);
        out = tl::unexpected(std::move(error));
        return good;
    }
    if constexpr (std::is_void_v<typename Expected::value_type>) {
        out = {};
        return array.at(1).isNull();
    } else {
        typename Expected::value_type value{};
        const bool good = unpack(array.at(1), value);
        out = std::move(value);
        return good;
    }
}

template <class Expected>
QCborValue packExpected(const Expected& value) {
    if (!value)
        return QCborArray{false, pack(value.error())};
    if constexpr (std::is_void_v<typename Expected::value_type>)
        return QCborArray{true, nullptr};
    else
        return QCborArray{true, pack(*value)};
}

template <class T>
bool unpackInteger(const QCborValue& in, T& out) {
    // toInteger() would cast any double, such as an integer that is too large for one.
    if (!in.isInteger() || !std::in_range<T>(in.toInteger()))
        return false;
    out = static_cast<T>(in.toInteger());
    return true;
}

template <class List>
bool unpackList(const QCborValue& in, List& out) {
    if (!in.isArray())
        return false;
    out.clear();
    for (const QCborValue& item : in.toArray()) {
        typename List::value_type value{};
        if (!unpack(item, value))
            return false;
        out.push_back(std::move(value));
    }
    return true;
}

} // namespace detail

template <class T>
QCborValue pack(const T& value) {
    using namespace detail;
    if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, double> ||
                  std::is_same_v<T, QString> || std::is_same_v<T, QByteArray>) {
        return QCborValue(value);
    } else if constexpr (std::is_enum_v<T> || std::is_integral_v<T>) {
        static_assert(sizeof(T) < sizeof(qint64) || std::is_same_v<T, int64_t>);
        return QCborValue(static_cast<qint64>(value));
    } else if constexpr (std::is_same_v<T, std::string>) {
        return QCborValue(QByteArray::fromStdString(value));
    } else if constexpr (std::is_same_v<T, Secret>) {
        auto bytes = QByteArray::fromStdString(value.text());
        const QCborValue packed(bytes);
        cleanse(bytes);
        return packed;
    } else if constexpr (std::is_same_v<T, RunSpec>) {
        return pack(toToml(value));
    } else if constexpr (isOptional<T>) {
        return value ? QCborValue(QCborArray{pack(*value)}) : QCborValue(nullptr);
    } else if constexpr (isList<T>) {
        QCborArray array;
        for (const auto& item : value)
            array.append(pack(item));
        return array;
    } else if constexpr (isPair<T>) {
        return packTied(std::tie(value.first, value.second));
    } else if constexpr (isVariant<T>) {
        return QCborArray{static_cast<qint64>(value.index()),
                          std::visit([](const auto& held) { return pack(held); }, value)};
    } else if constexpr (isExpected<T>) {
        return packExpected(value);
    } else {
        return packTied(boost::pfr::structure_tie(value));
    }
}

template <class T>
bool unpack(const QCborValue& in, T& out) {
    using namespace detail;
    if constexpr (std::is_same_v<T, bool>) {
        out = in.toBool();
        return in.isBool();
    } else if constexpr (std::is_same_v<T, double>) {
        out = in.toDouble();
        return in.isDouble();
    } else if constexpr (std::is_same_v<T, QString>) {
        out = in.toString();
        return in.isString();
    } else if constexpr (std::is_same_v<T, QByteArray>) {
        out = in.toByteArray();
        return in.isByteArray();
    } else if constexpr (std::is_enum_v<T>) {
        std::underlying_type_t<T> number{};
        const bool good = unpackInteger(in, number);
        out = static_cast<T>(number);
        return good && isKnown(out);
    } else if constexpr (std::is_integral_v<T>) {
        return unpackInteger(in, out);
    } else if constexpr (std::is_same_v<T, std::string>) {
        out = in.toByteArray().toStdString();
        return in.isByteArray();
    } else if constexpr (std::is_same_v<T, Secret>) {
        QByteArray bytes = in.toByteArray();
        out = bytes.toStdString();
        cleanse(bytes);
        return in.isByteArray();
    } else if constexpr (std::is_same_v<T, RunSpec>) {
        auto spec = parseRunSpec(in.toByteArray().toStdString(), "a request");
        out = std::move(spec).value_or(RunSpec());
        return in.isByteArray() && spec;
    } else if constexpr (isOptional<T>) {
        out.reset();
        return in.isNull() || unpackTied(in, std::tie(out.emplace()));
    } else if constexpr (isList<T>) {
        return unpackList(in, out);
    } else if constexpr (isPair<T>) {
        return unpackTied(in, std::tie(out.first, out.second));
    } else if constexpr (isVariant<T>) {
        const QCborArray array = in.toArray();
        return in.isArray() && array.size() == 2 && array.at(0).isInteger() &&
               unpackAlternative(static_cast<size_t>(array.at(0).toInteger()), array.at(1), out,
                                 std::make_index_sequence<std::variant_size_v<T>>());
    } else if constexpr (isExpected<T>) {
        return unpackExpected(in, out);
    } else {
        return unpackTied(in, boost::pfr::structure_tie(out));
    }
}

} // namespace rm::codec

// SPDX-License-Identifier: Apache-2.0
#include "shared/checkpoint/compare.h"

#include "shared/io/json_fields.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

namespace rm {

namespace {

template <class T>
T valueAt(const std::byte* data) {
    T value;
    std::memcpy(&value, data, sizeof value);
    return value;
}

double fromHalf(uint16_t bits) {
    constexpr int kFractionBits = 10, kBias = 15, kMostExponent = 31;
    const int exponent = bits >> kFractionBits & kMostExponent;
    const double fraction = bits & 0x3ff;
    const double sign = bits >> 15 ? -1 : 1;
    if (exponent == kMostExponent)
        return fraction == 0 ? sign * INFINITY : NAN;
    if (exponent == 0)
        return sign * std::ldexp(fraction, 1 - kBias - kFractionBits);
    return sign * std::ldexp(1024 + fraction, exponent - kBias - kFractionBits);
}

using Read = double (*)(const std::byte*);

Read readerOf(const std::string& dtype) {
    if (dtype == "F32")
        return [](const std::byte* at) -> double { return valueAt<float>(at); };
    if (dtype == "F64")
        return [](const std::byte* at) { return valueAt<double>(at); };
    if (dtype == "F16")
        return [](const std::byte* at) { return fromHalf(valueAt<uint16_t>(at)); };
    if (dtype == "BF16")
        return [](const std::byte* at) -> double {
            const uint32_t bits = uint32_t{valueAt<uint16_t>(at)} << 16;
            float value;
            std::memcpy(&value, &bits, sizeof value);
            return value;
        };
    if (dtype == "I64")
        return [](const std::byte* at) { return static_cast<double>(valueAt<int64_t>(at)); };
    if (dtype == "I32")
        return [](const std::byte* at) -> double { return valueAt<int32_t>(at); };
    return [](const std::byte* at) -> double { return valueAt<uint8_t>(at); }; // U8, BOOL
}

/// Sums of squares, of which the norms are made at the end.
struct Sums {
    double a = 0, b = 0, difference = 0;
};

void add(const TensorView& a, const TensorView& b, LayerDifference& layer, Sums& sums) {
    const Read readA = readerOf(a.dtype), readB = readerOf(b.dtype);
    const size_t sizeA = safetensorsItemSize(a.dtype), sizeB = safetensorsItemSize(b.dtype);
    const size_t count = a.data.size() / sizeA;
    for (size_t at = 0; at < count; ++at) {
        const double left = readA(a.data.data() + at * sizeA);
        const double right = readB(b.data.data() + at * sizeB);
        const bool isSame = left == right || (std::isnan(left) && std::isnan(right));
        const double difference = isSame ? 0 : left - right;
        sums.a += left * left;
        sums.b += right * right;
        sums.difference += difference * difference;
        if (!(std::abs(difference) <= layer.largest)) // also NaN, which then stays
            layer.largest = std::abs(difference);
    }
    layer.values += static_cast<int64_t>(count);
}

void missingIn(const SafetensorsFile& other, const SafetensorsFile& file,
               std::vector<std::string>& names) {
    for (const TensorView& tensor : file.tensors()) {
        const TensorView* there = other.find(tensor.name);
        if (!there || there->shape != tensor.shape)
            names.push_back(tensor.name);
    }
}

} // namespace

std::string layerOf(const std::string& tensor) {
    for (size_t begin = 0; begin < tensor.size();) {
        const size_t end = std::min(tensor.find('.', begin), tensor.size());
        const std::string_view part(tensor.data() + begin, end - begin);
        if (!part.empty() && part.find_first_not_of("0123456789") == part.npos)
            return tensor.substr(0, end);
        begin = end + 1;
    }
    const size_t last = tensor.rfind('.');
    return last == tensor.npos ? tensor : tensor.substr(0, last);
}

TensorComparison compareTensors(const SafetensorsFile& a, const SafetensorsFile& b) {
    TensorComparison comparison;
    std::vector<Sums> sums;
    for (const TensorView& tensor : a.tensors()) {
        const TensorView* other = b.find(tensor.name);
        if (!other || other->shape != tensor.shape)
            continue;
        const std::string name = layerOf(tensor.name);
        auto layer = std::ranges::find(comparison.layers, name, &LayerDifference::layer);
        if (layer == comparison.layers.end()) {
            comparison.layers.push_back({name});
            sums.emplace_back();
            layer = comparison.layers.end() - 1;
        }
        add(tensor, *other, *layer, sums[static_cast<size_t>(layer - comparison.layers.begin())]);
    }
    for (size_t at = 0; at < sums.size(); ++at) {
        comparison.layers[at].normA = std::sqrt(sums[at].a);
        comparison.layers[at].normB = std::sqrt(sums[at].b);
        comparison.layers[at].normOfDifference = std::sqrt(sums[at].difference);
    }
    missingIn(b, a, comparison.onlyInA);
    missingIn(a, b, comparison.onlyInB);
    return comparison;
}

template <Either<LayerDifference> T, class Visit>
void fields(T& layer, Visit&& visit) {
    visit("layer", layer.layer);
    visit("values", layer.values);
    visit("norm_a", layer.normA, kMaybeUnknown);
    visit("norm_b", layer.normB, kMaybeUnknown);
    visit("difference", layer.normOfDifference, kMaybeUnknown);
    visit("largest", layer.largest, kMaybeUnknown);
}

template <Either<TensorComparison> T, class Visit>
void fields(T& comparison, Visit&& visit) {
    visit("layers", comparison.layers);
    visit("only_a", comparison.onlyInA);
    visit("only_b", comparison.onlyInB);
}

std::string toJson(const TensorComparison& comparison) {
    return dumpJson(writeFields(comparison));
}

Result<TensorComparison> parseComparison(const std::string& text, const std::string& source) {
    return parseFields<TensorComparison>(text, source);
}

} // namespace rm

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rm {

/// One column of a chunk as bytes: a byte of method, then zstd of the column's byte planes
/// (resources/schema/SCHEMA.md). Lossless bit for bit, NaN payloads included.
std::vector<std::byte> encodeColumn(std::span<const int64_t> values);
std::vector<std::byte> encodeColumn(std::span<const float> values);

/// `count` values; kCorrupt when the bytes are not exactly that.
Result<std::vector<int64_t>> decodeIntegers(std::span<const std::byte> bytes, size_t count);
Result<std::vector<float>> decodeFloats(std::span<const std::byte> bytes, size_t count);

} // namespace rm

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace rm {

static_assert(std::endian::native == std::endian::little, "formats are little-endian");

/// An integer at the front of `bytes`, which holds enough.
template <class T>
T loadInt(std::span<const std::byte> bytes) {
    T value;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
}

template <class T>
void appendInt(std::vector<std::byte>& out, T value) {
    const auto bytes = std::as_bytes(std::span(&value, 1));
    out.insert(out.end(), bytes.begin(), bytes.end());
}

} // namespace rm

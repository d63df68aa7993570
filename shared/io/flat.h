// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <flatbuffers/flatbuffers.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rm {

/// Texts in records and messages are cut here when written, so that all fit into a frame.
inline constexpr size_t kMaxText = 64 * 1024;

/// `text` cut to `limit` bytes between UTF-8 characters.
inline std::string_view clipText(std::string_view text, size_t limit = kMaxText) {
    if (text.size() <= limit)
        return text;
    while (limit > 0 && (static_cast<unsigned char>(text[limit]) & 0xc0) == 0x80)
        --limit;
    return text.substr(0, limit);
}

inline flatbuffers::Offset<flatbuffers::String> flatText(flatbuffers::FlatBufferBuilder& builder,
                                                         std::string_view text) {
    const std::string_view clipped = clipText(text);
    return builder.CreateString(clipped.data(), clipped.size());
}

inline std::string textOf(const flatbuffers::String* text) {
    return text ? std::string(text->c_str(), text->size()) : std::string();
}

inline std::vector<std::byte> bytesOf(const flatbuffers::FlatBufferBuilder& builder) {
    const auto bytes = std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()));
    return {bytes.begin(), bytes.end()};
}

/// A payload in memory aligned as FlatBuffers' accessors need it.
class AlignedPayload {
public:
    explicit AlignedPayload(std::span<const std::byte> payload)
        : m_bytes(payload) {
        if (reinterpret_cast<uintptr_t>(payload.data()) % alignof(std::max_align_t) != 0) {
            m_copy.assign(payload.begin(), payload.end());
            m_bytes = m_copy;
        }
    }
    AlignedPayload(const AlignedPayload&) = delete;
    AlignedPayload& operator=(const AlignedPayload&) = delete;

    /// nullptr when the verifier refuses it.
    template <class Root>
    const Root* root() const {
        flatbuffers::Verifier::Options limits;
        limits.max_depth = 8;
        limits.max_tables = 8192;
        const auto* data = reinterpret_cast<const uint8_t*>(m_bytes.data());
        flatbuffers::Verifier verifier(data, m_bytes.size(), limits);
        return verifier.VerifyBuffer<Root>(nullptr) ? flatbuffers::GetRoot<Root>(data) : nullptr;
    }

private:
    std::vector<std::byte> m_copy;
    std::span<const std::byte> m_bytes;
};

} // namespace rm

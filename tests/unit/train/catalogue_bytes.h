// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace rm::test {

/// Writes gettext catalogues (.mo) as msgfmt does, less the hash table.
class CatalogueBytes {
public:
    /// "" is the header; contexts end with \4, plural forms have \0 between.
    CatalogueBytes& add(const std::string& id, const std::string& text) {
        m_messages.emplace_back(id, text);
        return *this;
    }

    std::string bytes(bool bigEndian = false) const {
        const auto count = static_cast<uint32_t>(m_messages.size());
        std::string head;
        std::string strings;
        const uint32_t texts = kHeader + 8 * count;
        const uint32_t begin = texts + 8 * count;
        for (const uint32_t word : {0x950412deu, 0u, count, kHeader, texts, 0u, begin})
            put(head, word, bigEndian);
        for (const bool id : {true, false})
            for (const auto& message : m_messages) {
                const std::string& text = id ? message.first : message.second;
                put(head, static_cast<uint32_t>(text.size()), bigEndian);
                put(head, begin + static_cast<uint32_t>(strings.size()), bigEndian);
                strings.append(text).push_back('\0');
            }
        return head + strings;
    }

private:
    static constexpr uint32_t kHeader = 28;

    static void put(std::string& out, uint32_t word, bool bigEndian) {
        for (int i = 0; i < 4; ++i)
            out.push_back(static_cast<char>(word >> 8 * (bigEndian ? 3 - i : i)));
    }

    std::vector<std::pair<std::string, std::string>> m_messages;
};

} // namespace rm::test

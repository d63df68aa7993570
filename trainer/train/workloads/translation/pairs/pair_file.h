// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rm {

/// The kind of items, the vocabularies and the languages of a shard of pairs.
struct PairFileInfo {
    int64_t itemBytes = 1;   ///< 1: texts in UTF-8; 2 or 4: token ids
    int64_t sourceVocab = 0; ///< ids only
    int64_t targetVocab = 0;
    std::string sourceLanguage; ///< "en"; at most 16 bytes, may be empty
    std::string targetLanguage;
    bool operator==(const PairFileInfo&) const = default;

    bool isText() const { return itemBytes == 1; }
};

/// A shard of pairs (`.rmpairs`, PAIRS.md beside this), mapped read-only. Cheap to copy; all calls
/// may come from any thread. A side of pair i is 2 i (source) or 2 i + 1 (target).
class PairFile {
public:
    /// Checks everything but the ids. kCorrupt / kTooNew / kNotFound name the path.
    static Result<PairFile> open(const std::string& path);

    /// Reads only the header, which is cheap.
    static Result<PairFileInfo> peek(const std::string& path);

    const PairFileInfo& info() const;
    int64_t count() const; ///< pairs
    int64_t length(int64_t side) const;
    /// The text of a side, in a shard of texts.
    std::string_view text(int64_t side) const;
    /// Writes the length(side) ids of a side to `out`, in a shard of ids; kCorrupt for one that is
    /// beyond its vocabulary.
    Result<void> ids(int64_t side, int64_t* out) const;

private:
    struct Impl;
    std::shared_ptr<const Impl> m_impl;
};

/// The parts of a shard within its bytes.
struct PairFileView {
    PairFileInfo info;
    int64_t count = 0;
    std::span<const std::byte> items;
    std::span<const std::byte> offsets; ///< u64 each, not aligned
};

/// Parses and checks a shard, for open() and the fuzzer.
Result<PairFileView> parsePairFile(std::span<const std::byte> file, const std::string& source);

/// Writes a shard pair by pair; it appears under its name only with finish().
class PairFileWriter {
public:
    static Result<PairFileWriter> create(const std::string& path, const PairFileInfo& info);
    PairFileWriter(PairFileWriter&&) noexcept;
    PairFileWriter& operator=(PairFileWriter&&) noexcept;
    ~PairFileWriter(); ///< removes a shard that was not finished

    /// Adds a pair to a shard of texts.
    Result<void> append(std::string_view source, std::string_view target);
    /// Adds a pair to a shard of ids, which must be below the sizes of the vocabularies.
    Result<void> append(std::span<const int32_t> source, std::span<const int32_t> target);
    int64_t count() const; ///< pairs so far
    Result<void> finish();

private:
    PairFileWriter();
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

} // namespace rm

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rm {

/// The parts of a shard within its bytes.
struct TokenFileView {
    int64_t vocabSize = 0;
    int64_t bytesPerToken = 0; ///< 2 or 4
    std::span<const std::byte> tokens;

    int64_t count() const { return static_cast<int64_t>(tokens.size()) / bytesPerToken; }
    /// Copies tokens [first, first + count) to `out`; the range must lie in the shard.
    void read(int64_t first, int64_t count, int64_t* out) const;
    /// Position of the first token that is not below vocabSize. Reads the whole shard, in several
    /// threads.
    std::optional<int64_t> findBad() const;
};

/// Parses and checks everything except the values of the tokens; for TokenFile and the fuzzer.
/// kCorrupt / kTooNew name `source`.
Result<TokenFileView> parseTokenFile(std::span<const std::byte> file, const std::string& source);

/// A shard of tokens (`.rmtok`, FORMAT.md beside this), mapped read-only. Cheap to copy.
class TokenFile {
public:
    /// kCorrupt / kTooNew / kNotFound name the path.
    static Result<TokenFile> open(const std::string& path);

    const TokenFileView& view() const;
    int64_t count() const { return view().count(); }
    int64_t vocabSize() const { return view().vocabSize; }
    /// As TokenFileView::read().
    void read(int64_t first, int64_t count, int64_t* out) const { view().read(first, count, out); }

private:
    struct Mapping;
    std::shared_ptr<const Mapping> m_mapping;
};

/// Reads a whole shard: kCorrupt names file, position and value of the first token that is not
/// below the vocabulary's size.
Result<void> checkTokens(const std::string& path);

/// Writes a shard piece by piece; it appears under its name only with finish().
class TokenFileWriter {
public:
    static Result<TokenFileWriter> create(const std::string& path, int64_t vocabSize);
    TokenFileWriter(TokenFileWriter&&) noexcept;
    TokenFileWriter& operator=(TokenFileWriter&&) noexcept;
    ~TokenFileWriter(); ///< removes a shard that was not finished

    Result<void> append(const int32_t* tokens, size_t count);
    Result<void> finish();

private:
    TokenFileWriter();
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

/// Shards one behind the other, as one stream of tokens.
class TokenStream {
public:
    TokenStream() = default;
    explicit TokenStream(std::vector<TokenFile> files);

    int64_t count() const { return m_count; }
    /// As TokenFile::read().
    void read(int64_t first, int64_t count, int64_t* out) const;

private:
    std::vector<TokenFile> m_files;
    int64_t m_count = 0;
};

} // namespace rm

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace rm {

/// A shard of tokens (`.rmtok`, FORMAT.md beside this), mapped read-only. Cheap to copy.
class TokenFile {
public:
    /// kCorrupt / kTooNew / kNotFound name the path.
    static Result<TokenFile> open(const std::string& path);

    int64_t count() const;
    int64_t vocabSize() const;
    /// Copies tokens [first, first + count) to `out`; the range must lie in the file.
    void read(int64_t first, int64_t count, int64_t* out) const;

private:
    struct Mapping;
    std::shared_ptr<const Mapping> m_mapping;
};

/// Writes a shard piece by piece; it appears under its name only with finish().
class TokenFileWriter {
public:
    static Result<TokenFileWriter> create(const std::string& path, int64_t vocabSize);
    TokenFileWriter(TokenFileWriter&&) noexcept;
    TokenFileWriter& operator=(TokenFileWriter&&) noexcept;
    ~TokenFileWriter(); ///< removes what was not finished

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

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/result.h"

#include <streambuf>
#include <string>

namespace rm::cli {

/// Stands behind std::cout while a command answers. What is printed goes out when it is flushed or
/// grows large, and not at all once something stored could not be read: an answer that was made
/// without it would be false. A failure to write is kept. One thread.
class AnswerStream : public std::streambuf {
public:
    AnswerStream();
    ~AnswerStream() override;
    AnswerStream(const AnswerStream&) = delete;
    AnswerStream& operator=(const AnswerStream&) = delete;

    /// Whether all of the answer went out. kCorrupt and others: the first thing that could not be
    /// read; kExhausted, kUnavailable: standard output did not take it.
    Result<void> finish();

private:
    int overflow(int character) override;
    std::streamsize xsputn(const char* text, std::streamsize count) override;
    int sync() override;

    std::streambuf* m_before;
    std::string m_pending;
    Result<void> m_written;
    bool m_isClosed = false; ///< nobody reads on
};

} // namespace rm::cli

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/answer_stream.h"

#include "app/core/store/read_failures.h"

#include <unistd.h>

#include <cerrno>
#include <iostream>
#include <utility>

namespace rm::cli {

namespace {

constexpr size_t kMostPending = 64 << 10;

} // namespace

AnswerStream::AnswerStream()
    : m_before(std::cout.rdbuf(this)) {}

AnswerStream::~AnswerStream() {
    sync();
    std::cout.rdbuf(m_before);
}

Result<void> AnswerStream::finish() {
    sync();
    if (const auto failure = readFailure())
        return tl::unexpected(*failure);
    return m_written;
}

int AnswerStream::overflow(int character) {
    if (traits_type::eq_int_type(character, traits_type::eof()))
        return traits_type::not_eof(character);
    const char one = traits_type::to_char_type(character);
    return xsputn(&one, 1) == 1 ? character : traits_type::eof();
}

std::streamsize AnswerStream::xsputn(const char* text, std::streamsize count) {
    m_pending.append(text, static_cast<size_t>(count));
    return m_pending.size() < kMostPending || sync() == 0 ? count : 0;
}

int AnswerStream::sync() {
    const std::string text = std::exchange(m_pending, {});
    if (readFailure())
        return 0;
    for (size_t at = 0; at < text.size() && m_written && !m_isClosed;) {
        const ssize_t count = ::write(STDOUT_FILENO, text.data() + at, text.size() - at);
        at += count > 0 ? static_cast<size_t>(count) : 0;
        m_isClosed = count < 0 && errno == EPIPE; // as by `| head`
        if (count < 0 && errno != EINTR && !m_isClosed)
            m_written = failErrno("print the answer", errno);
    }
    return m_written && !m_isClosed ? 0 : -1;
}

} // namespace rm::cli

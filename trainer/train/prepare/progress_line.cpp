// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/prepare/progress_line.h"

#include "shared/io/clock.h"

#include <unistd.h>

#include <cstdio>

namespace rm {
namespace {

constexpr int64_t kNsBetweenTerminal = 100'000'000;
constexpr int64_t kNsBetweenLines = 5'000'000'000;

} // namespace

ProgressLine::ProgressLine()
    : m_terminal(isatty(STDERR_FILENO) != 0)
    , m_began(monotonicNowNs())
    , m_shown(m_began) {}

ProgressLine::~ProgressLine() {
    if (m_dirty)
        std::fputs("\r\033[K", stderr);
}

void ProgressLine::show(const std::string& text) {
    const int64_t now = monotonicNowNs();
    if (now - m_shown < (m_terminal ? kNsBetweenTerminal : kNsBetweenLines))
        return;
    m_shown = now;
    m_dirty = m_terminal;
    std::fprintf(stderr, m_terminal ? "\r\033[K%s" : "%s\n", text.c_str());
    std::fflush(stderr);
}

double ProgressLine::seconds() const {
    return static_cast<double>(monotonicNowNs() - m_began) / 1e9;
}

} // namespace rm

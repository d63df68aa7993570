// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/remote/sign_of_life.h"

namespace rm {

using std::chrono::milliseconds;

namespace {

/// The question waits behind what was sent before it, which a slow link of 64 kbit/s carries so.
constexpr uint64_t kSlowBytesPerMs = 8;

} // namespace

SignOfLife::Verdict SignOfLife::look(Clock::time_point now, uint64_t in, uint64_t out) {
    m_out = out;
    if (in != m_in) {
        m_in = in;
        m_outAtHeard = out;
        m_heard = now;
        m_requested.reset();
        return Verdict::kFine;
    }
    if (now < nextLook())
        return Verdict::kFine;
    if (m_requested)
        return Verdict::kGone;
    m_requested = now;
    return Verdict::kAsk;
}

SignOfLife::Clock::time_point SignOfLife::nextLook() const {
    return m_requested ? answerDue() : m_heard + kQuiet;
}

SignOfLife::Clock::time_point SignOfLife::answerDue() const {
    return *m_requested + kPatience + milliseconds((m_out - m_outAtHeard) / kSlowBytesPerMs);
}

} // namespace rm

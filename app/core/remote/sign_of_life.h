// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace rm {

/// Tells a link that was cut from a peer that has nothing to say: after some silence the peer is to
/// be asked for an answer, which its SSH server gives whatever its programs do. A link that nobody
/// looked at for a while is asked first, too.
class SignOfLife {
public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::seconds kQuiet{5};
    static constexpr std::chrono::seconds kPatience{10};

    enum class Verdict { kFine, kAsk, kGone };
    /// `in` and `out` are the bytes that the link has carried so far.
    Verdict look(Clock::time_point now, uint64_t in, uint64_t out);

    /// When to look again if nothing arrives.
    Clock::time_point nextLook() const;

private:
    Clock::time_point answerDue() const;

    Clock::time_point m_heard = Clock::now();
    std::optional<Clock::time_point> m_requested; ///< and nothing came since
    uint64_t m_in = 0;
    uint64_t m_outAtHeard = 0;
    uint64_t m_out = 0;
};

} // namespace rm

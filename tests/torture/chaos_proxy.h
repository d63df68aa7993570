// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

namespace rm::torture {

/// A TCP proxy that mistreats connections: all are delayed and cut into other pieces, and each ends
/// after a random number of bytes in one of the ways of `End`. It is calm until it is told
/// otherwise. One thread of its own.
class ChaosProxy {
public:
    enum class End { kClosed, kReset, kSilent }; ///< kSilent: it stays open, and nothing comes
    struct Place {
        std::string address;
        int port = 0;
    };

    /// Listens on `here` in that network namespace, and connects to `there` from it.
    static Result<std::unique_ptr<ChaosProxy>> start(const std::string& space, const Place& here,
                                                     const Place& there, uint32_t seed);
    ~ChaosProxy();

    /// Of those that are open, too. What was silenced stays so.
    void setHostile(bool isHostile) { m_isHostile = isHostile; }
    /// Connections that ended so.
    int ended(End how) const { return m_ended[static_cast<size_t>(how)]; }

private:
    ChaosProxy() = default;
    class Loop;

    std::atomic<bool> m_isHostile = false;
    std::array<std::atomic<int>, 3> m_ended{};
    std::jthread m_thread;
};

} // namespace rm::torture

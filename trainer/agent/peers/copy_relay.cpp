// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/peers/copy_relay.h"

#include "shared/io/clock.h"
#include "shared/return_if_error.h"

#include <asio/buffer.hpp>

#include <algorithm>
#include <span>

namespace rm {

namespace {

constexpr int64_t kLongestRestNs = 1'000'000'000;
constexpr int64_t kShortestLookNs = 1'000'000;

} // namespace

CopyRelay::CopyRelay(asio::io_context& io, std::shared_ptr<PeerLink> link)
    : m_link(std::move(link))
    , m_output(io)
    , m_rest(io) {}

CopyRelay::~CopyRelay() {
    m_link->drop();
    endChild(m_child);
}

Result<void> CopyRelay::begin(const std::string& path, int64_t nowNs) {
    RM_ASSIGN_OR_RETURN(auto child, startSelf({"send-checkpoint"}, path));
    m_child = child.pid;
    m_output.assign(child.output.release());
    m_movedNs = nowNs;
    read();
    return {};
}

void CopyRelay::read() {
    m_beganNs = monotonicNowNs();
    const std::weak_ptr<int> alive = m_alive;
    m_output.async_read_some(asio::buffer(m_piece),
                             [this, alive](asio::error_code error, size_t size) {
                                 if (alive.expired())
                                     return;
                                 m_hasEnded = static_cast<bool>(error);
                                 m_movedNs = monotonicNowNs();
                                 if (size > 0)
                                     m_link->sendFrames(std::span(m_piece).first(size));
                             });
}

void CopyRelay::rest(int64_t ns, void (CopyRelay::*then)()) {
    m_rest.expires_after(std::chrono::nanoseconds(ns));
    const std::weak_ptr<int> alive = m_alive;
    m_rest.async_wait([this, alive, then](asio::error_code error) {
        if (!error && !alive.expired())
            (this->*then)();
    });
}

void CopyRelay::onDrained(int64_t nowNs) {
    m_movedNs = nowNs;
    if (!m_hasEnded)
        awaitSent();
}

/// Rests only once the kernel has sent all: what it holds goes out in front of what ranks send.
void CopyRelay::awaitSent() {
    const int64_t tookNs = monotonicNowNs() - m_beganNs;
    const int64_t left = m_link->unsentBytes();
    if (left < m_leftBefore)
        m_movedNs = monotonicNowNs();
    m_leftBefore = left;
    if (left > 0)
        return rest(std::clamp(tookNs / 4, kShortestLookNs, kLongestRestNs), &CopyRelay::awaitSent);
    if (!m_rests)
        return read();
    rest(std::min(kLongestRestNs, kRest * tookNs), &CopyRelay::read);
}

bool CopyRelay::isOver(int64_t nowNs) const {
    return nowNs - m_movedNs >= kStallNs;
}

} // namespace rm

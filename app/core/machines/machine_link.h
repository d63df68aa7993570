// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/launch/node_login.h"
#include "app/core/machines/machine_news.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace rm {

/// What is known of a node that is looked at. Outlives its links for a while. Thread-safe.
class MachineRecord {
public:
    explicit MachineRecord(std::string node);

    void report(MachineState state, std::string why = {}, std::string fix = {});
    /// kConnecting where a person was needed: it is tried again.
    void reportRetry();
    void take(MachineFacts facts);
    void take(MachineSample sample);

    /// With points of about `bytes` at most as a message.
    MachineNews newsFor(const MachineQuestion& question, size_t bytes) const;
    int64_t newestNs() const; ///< of its points; 0: there is none

private:
    mutable std::mutex m_mutex;
    MachineNews m_news; ///< without points
    std::deque<MachinePoint> m_points;
};

/// The link to one node's agent while somebody looks: a thread that connects by the login that
/// launches and followers share, reads samples and connects again. Never asks a person anything.
class MachineLink {
public:
    MachineLink(std::shared_ptr<NodeLogin> login, std::shared_ptr<MachineRecord> record,
                int intervalMs);
    ~MachineLink(); ///< hangUp(), then waits for the end of the thread

    /// The agent ends, and this soon too. Does not block.
    void hangUp();
    bool isOver() const { return m_isOver; }

    void setInterval(int ms);
    /// Tries again at once where a person had to do something first.
    void retry();

    const Node& node() const { return m_login->node(); }

private:
    struct Ending; ///< why a link ended, and what follows
    void loop(std::stop_token stop);
    Ending follow(std::stop_token stop);
    Result<void> readAll(HostProcess& process, std::stop_token stop);
    Result<void> takeLines(std::string& text);
    bool awaitRetry(std::stop_token stop, std::optional<std::chrono::milliseconds> pause);

    std::shared_ptr<NodeLogin> m_login;
    std::shared_ptr<MachineRecord> m_record;
    std::atomic<int> m_intervalMs;
    std::atomic<bool> m_isOver = false;
    Waker m_waker; ///< out of read(): the interval is another, or it is over
    std::mutex m_mutex;
    std::condition_variable_any m_retried;
    bool m_mayRetry = false;
    bool m_wasLive = false; ///< the link that ended last
    std::jthread m_thread;  ///< last: starts when all the rest exists
};

} // namespace rm

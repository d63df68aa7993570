// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/launch/host_worker.h"

#include "app/core/deploy/deploy.h"

namespace rm {

namespace {
/// After the laptop slept or a router dropped the connection, a dead session still looks open.
constexpr auto kMaxIdle = std::chrono::seconds(30);
} // namespace

HostWorker::HostWorker(Node node, CredentialSource credentials)
    : m_node(std::move(node))
    , m_credentials(std::move(credentials))
    , m_thread([this](std::stop_token stop) { loop(stop); }) {}

HostWorker::~HostWorker() {
    m_thread.request_stop();
    m_wake.notify_all();
}

void HostWorker::enqueue(Job job) {
    {
        const std::lock_guard lock(m_mutex);
        m_jobs.push_back(std::move(job));
    }
    m_wake.notify_one();
}

void HostWorker::loop(std::stop_token stop) {
    for (;;) {
        std::unique_lock lock(m_mutex);
        if (!m_wake.wait(lock, stop, [this] { return !m_jobs.empty(); }))
            break;
        Job job = std::move(m_jobs.front());
        m_jobs.pop_front();
        lock.unlock();
        serve(job, stop);
    }
    for (Job& job : m_jobs)
        job.refuse({ErrorCode::kUnavailable, "work on " + m_node.name + ": Ringmaster is closing"});
    m_session.reset();
}

void HostWorker::serve(Job& job, std::stop_token stop) {
    std::stop_source either;
    const auto request = [&either] { either.request_stop(); };
    const std::stop_callback onEnd(stop, request);
    const std::stop_callback onUnwanted(job.unwanted, request);
    if (either.stop_requested())
        return job.refuse({ErrorCode::kUnavailable, "work on " + m_node.name + ": cancelled"});
    if (const auto ready = ensureSession(either.get_token(), job.onPause); !ready)
        job.refuse(ready.error());
    else if (job.run(*m_session, m_agent, either.get_token()))
        m_session.reset();
    m_lastUse = std::chrono::steady_clock::now();
}

Result<void> HostWorker::ensureSession(std::stop_token stop, const OnConnectPause& onPause) {
    if (m_session && std::chrono::steady_clock::now() - m_lastUse < kMaxIdle)
        return {};
    m_session.reset();
    auto opened = openSessionPatiently(m_node, m_credentials(m_node), stop, onPause);
    if (!opened)
        return tl::unexpected(opened.error().error);
    m_session = std::move(*opened);
    auto agent = deployAgent(*m_session, m_node, stop);
    if (!agent) {
        m_session.reset();
        return tl::unexpected(agent.error());
    }
    m_agent = std::move(*agent);
    return {};
}

std::shared_ptr<HostWorker> HostPool::worker(const Node& node) {
    const std::lock_guard lock(m_mutex);
    std::shared_ptr<HostWorker>& worker = m_workers[node.name];
    if (!worker || worker->node() != node)
        worker = std::make_shared<HostWorker>(node, m_credentials);
    return worker;
}

std::unique_ptr<HostWorker> HostPool::ownWorker(const Node& node) const {
    return std::make_unique<HostWorker>(node, m_credentials);
}

} // namespace rm

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/launch/host_worker.h"

#include "app/core/findings/text.h"

#include <algorithm>
#include <utility>

namespace rm {

HostWorker::HostWorker(std::shared_ptr<NodeLogin> login)
    : m_login(std::move(login))
    , m_thread([this](std::stop_token stop) { loop(stop); }) {}

HostWorker::HostWorker(Node node, CredentialSource credentials)
    : HostWorker(std::make_shared<NodeLogin>(std::move(node), std::move(credentials))) {}

HostWorker::~HostWorker() {
    close();
}

void HostWorker::close() {
    m_thread.request_stop();
    m_wake.notify_all();
}

void HostWorker::enqueue(Job job) {
    std::unique_lock lock(m_mutex);
    if (m_isOver) {
        lock.unlock();
        return refuse(job);
    }
    const int64_t id = ++m_lastId;
    lock.unlock();
    // A stop that is requested before the job is in the queue is seen below.
    const std::stop_token unwanted = job.unwanted;
    job.onUnwanted = std::make_unique<std::stop_callback<std::function<void()>>>(
        unwanted, [this, id] { withdraw(id); });
    lock.lock();
    const std::string behind = busyWith();
    const auto onWait = job.queue.onWait;
    job.id = id;
    job.wasWaitReported = !behind.empty() && onWait;
    const bool isWaitReported = job.wasWaitReported;
    m_jobs.push_back(std::move(job));
    lock.unlock();
    if (isWaitReported)
        onWait(behind);
    m_wake.notify_one();
    if (unwanted.stop_requested())
        withdraw(id);
}

/// The purpose of what a task that is posted now waits for; empty: nothing that tells its purpose.
std::string HostWorker::busyWith() const {
    if (!m_purpose.empty())
        return m_purpose;
    const auto first =
        std::ranges::find_if(m_jobs, [](const Job& job) { return !job.queue.purpose.empty(); });
    return first == m_jobs.end() ? std::string() : first->queue.purpose;
}

/// Refuses the job with that id, if it still waits.
void HostWorker::withdraw(int64_t id) {
    std::unique_lock lock(m_mutex);
    const auto at = std::ranges::find(m_jobs, id, &Job::id);
    if (at == m_jobs.end())
        return;
    Job job = std::move(*at);
    m_jobs.erase(at);
    lock.unlock();
    cancel(job);
}

void HostWorker::cancel(Job& job) const {
    job.refuse(failCancelled(say("launch.work-on", {{"node", node().name}})).value());
}

void HostWorker::refuse(Job& job) const {
    job.refuse({ErrorCode::kUnavailable, say("launch.closing", {{"node", node().name}})});
}

void HostWorker::loop(std::stop_token stop) {
    for (;;) {
        std::unique_lock lock(m_mutex);
        if (!m_wake.wait(lock, stop, [this] { return !m_jobs.empty(); }))
            break;
        Job job = std::move(m_jobs.front());
        m_jobs.pop_front();
        m_purpose = job.queue.purpose;
        lock.unlock();
        job.onUnwanted.reset(); // which may wait for withdraw(), and that for the lock
        if (job.wasWaitReported)
            job.queue.onWait({});
        serve(job, stop);
        lock.lock();
        m_purpose.clear();
    }
    std::unique_lock lock(m_mutex);
    m_isOver = true;
    auto left = std::exchange(m_jobs, {});
    lock.unlock();
    for (Job& job : left)
        refuse(job);
    m_session.reset();
}

void HostWorker::serve(Job& job, std::stop_token stop) {
    std::stop_source either;
    const auto request = [&either] { either.request_stop(); };
    const std::stop_callback onEnd(stop, request);
    const std::stop_callback onUnwanted(job.unwanted, request);
    if (either.stop_requested())
        return cancel(job);
    if (auto open = m_login->get(m_session, either.get_token(), job.patience, job.onPause); !open)
        return job.refuse(std::move(open.error().error));
    if (job.run(*m_session->session, m_session->agent, either.get_token()))
        m_login->drop(std::exchange(m_session, nullptr));
}

/// Call it with the lock held, and destroy `before` without it: its worker may have to end a task.
HostPool::Host& HostPool::host(const Node& node, Host& before) {
    Host& host = m_hosts[node.name];
    if (!host.login || !areReachedAlike(host.login->node(), node))
        before = std::exchange(host, {std::make_shared<NodeLogin>(node, m_credentials), nullptr});
    return host;
}

std::shared_ptr<HostWorker> HostPool::worker(const Node& node) {
    Host before;
    const std::lock_guard lock(m_mutex);
    Host& known = host(node, before);
    if (!known.worker)
        known.worker = std::make_shared<HostWorker>(known.login);
    if (m_isClosed)
        known.worker->close();
    return known.worker;
}

std::shared_ptr<NodeLogin> HostPool::login(const Node& node) {
    Host before;
    const std::lock_guard lock(m_mutex);
    return host(node, before).login;
}

void HostPool::renew(const Node& node) {
    const std::lock_guard lock(m_mutex);
    if (const auto known = m_hosts.find(node.name); known != m_hosts.end())
        known->second.login->drop();
}

void HostPool::close() {
    const std::lock_guard lock(m_mutex);
    m_isClosed = true;
    for (const auto& [node, host] : m_hosts)
        if (host.worker)
            host.worker->close();
}

bool HostPool::isClosed() const {
    const std::lock_guard lock(m_mutex);
    return m_isClosed;
}

std::unique_ptr<HostWorker> HostPool::ownWorker(const Node& node) const {
    return std::make_unique<HostWorker>(node, m_credentials);
}

Result<NodeSession> HostPool::open(const Node& node, std::stop_token stop,
                                   const OnConnectPause& onPause) const {
    return openNode(node, m_credentials(node), std::move(stop), onPause)
        .map_error([](const ConnectFailure& failure) { return failure.error; });
}

} // namespace rm

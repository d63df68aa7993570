// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/machines/machine_link.h"

#include "app/core/findings/text.h"
#include "app/core/fleet/check_rows.h"
#include "app/core/remote/back_off.h"
#include "shared/io/clock.h"
#include "shared/return_if_error.h"

#include <algorithm>
#include <utility>

namespace rm {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr ConnectPatience kAtOnce{0ms, 0ms}; ///< as it comes again by itself
constexpr auto kLongestPauseToMachine = 15000ms;
constexpr auto kPauseAfterFault = 30000ms; ///< of an agent that does not do what it should
constexpr auto kBetweenOrders = 2000ms;    ///< see MACHINE.md
constexpr auto kLeastPatience = 10000ms;   ///< for the next line
constexpr auto kMachineExit = 5000ms;

/// The bytes that a point takes in a message, about.
size_t weightOf(const MachinePoint& point) {
    constexpr size_t kPoint = 100, kGpu = 120, kInterface = 40;
    return kPoint + kGpu * point.sample.gpus.size() + kInterface * point.sample.interfaces.size();
}

std::span<const std::byte> bytesOf(const std::string& text) {
    return std::as_bytes(std::span(text));
}

} // namespace

MachineRecord::MachineRecord(std::string node) {
    m_news.node = std::move(node);
}

void MachineRecord::report(MachineState state, std::string why, std::string fix) {
    const std::lock_guard lock(m_mutex);
    m_news.state = state;
    m_news.why = std::move(why);
    m_news.fix = std::move(fix);
}

void MachineRecord::reportRetry() {
    const std::lock_guard lock(m_mutex);
    if (m_news.state != MachineState::kRefused)
        return;
    m_news.state = MachineState::kConnecting;
    m_news.why.clear();
    m_news.fix.clear();
}

/// Points of other GPUs would be shown as those of these.
void MachineRecord::take(MachineFacts facts) {
    const std::lock_guard lock(m_mutex);
    if (m_news.facts && m_news.facts->gpus.size() != facts.gpus.size())
        m_points.clear();
    m_news.facts = std::move(facts);
}

void MachineRecord::take(MachineSample sample) {
    const std::lock_guard lock(m_mutex);
    m_news.state = MachineState::kLive;
    m_news.why.clear();
    m_news.fix.clear();
    if (sample.processes)
        m_news.processes = std::move(*sample.processes);
    sample.processes.reset();
    int64_t now = wallNowNs();
    if (!m_points.empty())
        now = std::max(now, m_points.back().atNs + 1);
    m_points.push_back({now, std::move(sample)});
    while (m_points.front().atNs < now - kMachineHistoryNs)
        m_points.pop_front();
}

MachineNews MachineRecord::newsFor(const MachineQuestion& question, size_t bytes) const {
    const std::lock_guard lock(m_mutex);
    MachineNews news = m_news;
    if (!question.allProcesses && !news.processes.empty()) {
        const auto cpu = [](const ProcessFigures& process) { return process.cpu.value_or(0); };
        const int64_t busiest = std::ranges::max_element(news.processes, {}, cpu)->pid;
        std::erase_if(news.processes, [busiest](const ProcessFigures& process) {
            return process.gpus.empty() && process.rank < 0 && process.pid != busiest;
        });
    }
    const int64_t oldest = wallNowNs() - kMachineHistoryNs;
    for (const MachinePoint& point : m_points) {
        if (point.atNs <= question.after || point.atNs < oldest)
            continue;
        const size_t weight = weightOf(point);
        if (weight > bytes && !news.points.empty())
            break;
        bytes -= std::min(bytes, weight);
        news.points.push_back(point);
    }
    return news;
}

int64_t MachineRecord::newestNs() const {
    const std::lock_guard lock(m_mutex);
    return m_points.empty() ? 0 : m_points.back().atNs;
}

struct MachineLink::Ending {
    MachineState state = MachineState::kLost;
    std::string why;
    std::string fix;
};

MachineLink::MachineLink(std::shared_ptr<NodeLogin> login, std::shared_ptr<MachineRecord> record,
                         int intervalMs)
    : m_login(std::move(login))
    , m_record(std::move(record))
    , m_intervalMs(intervalMs)
    , m_thread([this](std::stop_token stop) { loop(stop); }) {}

MachineLink::~MachineLink() {
    hangUp();
}

void MachineLink::hangUp() {
    m_thread.request_stop();
    m_waker.wake();
}

void MachineLink::setInterval(int ms) {
    if (m_intervalMs.exchange(ms) != ms)
        m_waker.wake();
}

void MachineLink::retry() {
    m_record->reportRetry(); // at once: who asks next must not be told the refusal again
    {
        const std::lock_guard lock(m_mutex);
        m_mayRetry = true;
    }
    m_retried.notify_all();
}

/// Whether it was asked for; else the pause is over, if there is one.
bool MachineLink::awaitRetry(std::stop_token stop, std::optional<std::chrono::milliseconds> pause) {
    std::unique_lock lock(m_mutex);
    const auto isAskedFor = [this] { return std::exchange(m_mayRetry, false); };
    return pause ? m_retried.wait_for(lock, stop, *pause, isAskedFor)
                 : m_retried.wait(lock, stop, isAskedFor);
}

/// Gives the record each whole line of the text, and leaves the rest.
Result<void> MachineLink::takeLines(std::string& text) {
    size_t begin = 0;
    for (size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
        RM_ASSIGN_OR_RETURN(auto line, parseMachineLine(text.substr(begin, end - begin)));
        std::visit([this](auto& what) { m_record->take(std::move(what)); }, line);
        m_wasLive = true;
        begin = end + 1;
    }
    text.erase(0, begin);
    if (text.size() > kMaxMachineLine)
        return fail(ErrorCode::kCorrupt, say("ssh.no-lines"));
    return {};
}

/// Until the end of the stream, which is an error unless it was asked for.
Result<void> MachineLink::readAll(HostProcess& process, std::stop_token stop) {
    std::string text;
    auto heard = Clock::now();
    auto ordered = heard - kBetweenOrders;
    int interval = 0;
    while (!stop.stop_requested()) {
        const auto now = Clock::now();
        if (interval != m_intervalMs || now - ordered >= kBetweenOrders) {
            interval = m_intervalMs;
            ordered = now;
            const std::string order = std::to_string(interval) + '\n';
            // An agent that does not know this subcommand has ended already and says so.
            if (!process.write(bytesOf(order)) && text.empty() && !m_wasLive)
                return {};
        }
        const auto due =
            std::chrono::ceil<std::chrono::milliseconds>(ordered + kBetweenOrders - now);
        RM_ASSIGN_OR_RETURN(const auto bytes, process.read(std::max(due, 1ms), &m_waker));
        m_waker.clear();
        text.append(reinterpret_cast<const char*>(bytes.data.data()), bytes.data.size());
        RM_RETURN_IF_ERROR(takeLines(text));
        if (bytes.ended)
            return {};
        if (!bytes.data.empty())
            heard = Clock::now();
        const auto patience = std::max<std::chrono::milliseconds>(
            kLeastPatience, 3 * std::chrono::milliseconds(interval));
        if (Clock::now() - heard > patience)
            return fail(ErrorCode::kUnavailable, say("ssh.program-silent"));
    }
    return {};
}

/// One connection, from the login to its end.
MachineLink::Ending MachineLink::follow(std::stop_token stop) {
    const std::string node = m_login->node().name;
    NodeLogin::Shared session;
    if (auto got = m_login->get(session, stop, kAtOnce); !got) {
        const ConnectFailure& failure = got.error();
        const CheckRow row = refusedRow(failure, node);
        if (!failure.isRefusal())
            return {MachineState::kLost, row.evidence, row.fix};
        const bool isForAPerson = failure.need != ConnectFailure::Need::kNothing;
        return {MachineState::kRefused, row.evidence,
                isForAPerson ? say("machine.answer-there", {{"node", node}}) : row.fix};
    }
    const std::string attempt = say("launch.look-at", {{"node", node}});
    auto process = session->session->start(session->agent, {"machine"}, stop);
    const auto read = process ? readAll(**process, stop) : tl::unexpected(process.error());
    if (stop.stop_requested())
        return {};
    Error error{ErrorCode::kUnavailable, say("run.stream-ended")};
    if (!read)
        error = read.error();
    else if (const auto end = checkEnd(**process, attempt, kMachineExit); !end)
        error = end.error();
    if (error.code == ErrorCode::kInvalid && !m_wasLive)
        return {MachineState::kFailed, say("machine.older-agent", {{"node", node}}),
                say("machine.renew-agent")};
    if (error.code == ErrorCode::kCorrupt || error.code == ErrorCode::kTooNew)
        return {MachineState::kFailed, error.message, {}};
    m_login->drop(session);
    return {MachineState::kLost, error.message, {}};
}

/// A refused login waits for a person, as accounts may be locked after a few failures.
void MachineLink::loop(std::stop_token stop) {
    BackOff backOff(kLongestPauseToMachine);
    m_record->report(MachineState::kConnecting);
    while (!stop.stop_requested()) {
        m_wasLive = false;
        Ending ending = follow(stop);
        if (stop.stop_requested())
            break;
        if (m_wasLive)
            backOff.reset();
        m_record->report(ending.state, std::move(ending.why), std::move(ending.fix));
        std::optional<std::chrono::milliseconds> pause = backOff.next();
        if (ending.state == MachineState::kRefused)
            pause.reset();
        else if (ending.state == MachineState::kFailed)
            pause = kPauseAfterFault;
        if (awaitRetry(stop, pause))
            m_record->report(MachineState::kConnecting);
    }
    m_isOver = true;
}

} // namespace rm

// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/control/control.h"

#include "shared/io/clock.h"

#include <ATen/ops/zeros.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <thread>
#include <utility>

namespace rm {
namespace {

volatile std::sig_atomic_t preempted = 0;

void notePreemption(int) {
    preempted = 1;
}

} // namespace

void catchPreemption() {
    struct sigaction action {};
    action.sa_handler = notePreemption;
    action.sa_flags = SA_RESTART;
    sigaction(SIGTERM, &action, nullptr);
    sigaction(SIGUSR1, &action, nullptr);
}

Control::Control(const World& world, Board& board, Telemetry& telemetry)
    : m_world(world)
    , m_board(board)
    , m_telemetry(telemetry)
    , m_words(at::zeros({static_cast<int64_t>(OrderWords{}.size())}, at::kLong)) {}

Order Control::nextOrder() {
    Order order;
    if (m_world.isFirst() && !m_current)
        m_current = m_board.pendingCommand();
    if (m_current && m_done.contains(m_current->id)) {
        m_board.commandDone();
        m_current.reset();
    }
    if (m_current) {
        const auto parsed = parseOrder(*m_current);
        if (parsed)
            order = *parsed;
        else
            report(m_step, false, parsed.error().message);
    }
    order.preempt = preempted != 0;
    return order;
}

void Control::begin(bool shut) {
    Order order = nextOrder();
    order.shut = shut;
    const OrderWords words = packOrder(order);
    std::copy(words.begin(), words.end(), m_words.mutable_data_ptr<int64_t>());
    m_work = m_world.sumAside(m_words);
}

Order Control::end() {
    if (m_work)
        m_work->wait();
    m_work.reset();
    OrderWords words;
    std::copy_n(m_words.const_data_ptr<int64_t>(), words.size(), words.begin());
    return unpackOrder(words);
}

Order Control::endHeld() {
    if (m_world.isFirst())
        waitForCommand();
    begin();
    return end();
}

void Control::waitForCommand() {
    constexpr int64_t kPollMs = 2;
    const int64_t deadline = monotonicNowNs() + kHeldPollMs * 1'000'000;
    while (monotonicNowNs() < deadline && !m_board.pendingCommand() && preempted == 0)
        std::this_thread::sleep_for(std::chrono::milliseconds(kPollMs));
}

void Control::report(int64_t step, bool ok, const std::string& message) {
    if (!m_current)
        return;
    m_telemetry.append(CommandApplied{m_current->id, commandKindName(m_current->kind), step,
                                      wallNowNs(), ok, message});
    static_cast<void>(defer());
}

std::optional<Command> Control::defer() {
    if (!m_current)
        return std::nullopt;
    m_done.insert(m_current->id);
    m_board.commandDone();
    return std::exchange(m_current, std::nullopt);
}

} // namespace rm

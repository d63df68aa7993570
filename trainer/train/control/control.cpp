// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/control/control.h"

#include "shared/enforce.h"
#include "shared/io/clock.h"

#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <thread>
#include <utility>

namespace rm {
namespace {

enum Flag : size_t { kPreempts, kShut, kSize, kLoss, kLosses, kFlagCount };
/// Of each rank's times; a step of 0: it has none, a kSendNs of 0: not known.
enum Time : size_t { kStep, kDataNs, kComputeNs, kExposedNs, kSendNs, kNode, kTimeCount };

/// The unit in which losses are summed: whole multiples of it add up exactly, in any order.
constexpr double kLossUnit = 1.0 / (1 << 20);
constexpr double kMostLoss = 1e6;

int64_t inNs(double ms) {
    constexpr double kMostMs = 1e9;
    return std::llround(std::clamp(ms, 0.0, kMostMs) * 1e6);
}

double inMs(int64_t ns) {
    return static_cast<double>(ns) * 1e-6;
}

void write(const StepTimes& from, int64_t* to) {
    to[kStep] = from.step;
    to[kDataNs] = inNs(from.times.dataMs);
    to[kComputeNs] = inNs(from.times.computeMs);
    to[kExposedNs] = inNs(from.times.exposedMs);
    to[kSendNs] = from.times.sendMs < 0 ? 0 : 1 + inNs(from.times.sendMs);
    to[kNode] = from.times.firstOfNode;
}

std::optional<StepTimes> read(const int64_t* from) {
    if (from[kStep] == 0)
        return std::nullopt;
    const double sendMs = from[kSendNs] == 0 ? -1 : inMs(from[kSendNs] - 1);
    return StepTimes{from[kStep],
                     {inMs(from[kDataNs]), inMs(from[kComputeNs]), inMs(from[kExposedNs]), sendMs,
                      static_cast<int>(from[kNode])}};
}

/// How many numbers the times of all ranks take; with one rank nothing is compared.
size_t timesOf(const World& world) {
    return world.isAlone() ? 0 : static_cast<size_t>(world.size()) * kTimeCount;
}

/// Parses the command of a message. Rank 0 has parsed the same command before sending it.
Order orderIn(const std::string& encoded) {
    const auto message = decodeMessage(std::as_bytes(std::span(encoded)));
    const auto* command = message ? std::get_if<Command>(&*message) : nullptr;
    RM_ENFORCE(command);
    const auto order = parseOrder(*command);
    RM_ENFORCE(order);
    return *order;
}

} // namespace

Control::Control(const World& world, Board& board, Telemetry& telemetry)
    : m_world(world)
    , m_board(board)
    , m_telemetry(telemetry)
    , m_flags(at::zeros({static_cast<int64_t>(kFlagCount + timesOf(world))}, at::kLong)) {}

/// Rank 0: takes the next command; an invalid one is refused.
void Control::takeCommand() {
    m_encoded.clear();
    if (!m_current)
        m_current = m_board.pendingCommand();
    if (m_current && m_done.contains(m_current->id)) {
        m_board.commandDone();
        m_current.reset();
    }
    if (!m_current && !m_own.empty()) {
        m_currentOwn = std::move(m_own.front());
        m_own.pop_front();
        m_current = m_currentOwn->make();
    }
    if (!m_current)
        return;
    if (const auto order = parseOrder(*m_current); !order)
        return report(m_step, false, order.error().message);
    const std::vector<std::byte> message = encodeMessage(*m_current);
    m_encoded.assign(reinterpret_cast<const char*>(message.data()), message.size());
}

void Control::begin(bool shut, std::optional<double> loss, const std::optional<StepTimes>& times) {
    if (m_world.isFirst())
        takeCommand();
    auto* flags = m_flags.mutable_data_ptr<int64_t>();
    flags[kPreempts] = isPreempted() ? 1 : 0;
    flags[kShut] = shut ? 1 : 0;
    flags[kSize] = static_cast<int64_t>(m_encoded.size());
    const bool hasLoss = loss && std::isfinite(*loss);
    flags[kLoss] = hasLoss ? std::llround(std::clamp(*loss, -kMostLoss, kMostLoss) / kLossUnit) : 0;
    flags[kLosses] = hasLoss ? 1 : 0;
    int64_t* all = flags + kFlagCount;
    std::fill_n(all, timesOf(m_world), 0);
    if (times && !m_world.isAlone())
        write(*times, all + static_cast<size_t>(m_world.rank()) * kTimeCount);
    m_work = m_world.sumAside(m_flags);
}

Order Control::end() {
    if (m_work)
        m_work->wait();
    m_work.reset();
    const auto* flags = m_flags.const_data_ptr<int64_t>();
    m_times.clear();
    for (size_t at = 0; at < timesOf(m_world); at += kTimeCount)
        m_times.push_back(read(flags + kFlagCount + at));
    Order order;
    if (flags[kSize] > 0)
        order = orderIn(m_world.broadcastAside(m_encoded, flags[kSize]));
    order.preempt = flags[kPreempts] > 0;
    order.shut = flags[kShut] > 0;
    if (flags[kLosses] == m_world.size())
        order.meanLoss = static_cast<double>(flags[kLoss]) * kLossUnit / m_world.size();
    return order;
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
    while (monotonicNowNs() < deadline && !m_board.pendingCommand() && !isPreempted())
        std::this_thread::sleep_for(std::chrono::milliseconds(kPollMs));
}

std::vector<Control::Own> Control::own() const {
    std::vector<Own> all;
    if (m_currentOwn)
        all.push_back(*m_currentOwn);
    all.insert(all.end(), m_own.begin(), m_own.end());
    return all;
}

void Control::report(int64_t step, bool ok, const std::string& message) {
    if (!m_current)
        return;
    m_telemetry.append(CommandApplied{
        m_current->id, commandKindName(m_current->kind), step, wallNowNs(), ok,
        m_currentOwn ? message + (message.empty() ? "" : ", ") + m_currentOwn->by : message});
    static_cast<void>(defer());
}

std::optional<Command> Control::defer() {
    if (!m_current)
        return std::nullopt;
    m_done.insert(m_current->id);
    if (!m_currentOwn)
        m_board.commandDone();
    m_currentOwn.reset();
    return std::exchange(m_current, std::nullopt);
}

} // namespace rm

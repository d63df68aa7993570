// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/loop/order_handler.h"

#include "trainer/train/loop/checkpointer.h"
#include "trainer/train/loop/non_finite_guard.h"
#include "trainer/train/loop/validator.h"

#include <cstdio>

namespace rm {
namespace {

/// "lr 0.0005 -> 0.0003"
std::string change(const std::string& key, double from, double to) {
    char text[96];
    std::snprintf(text, sizeof text, " %g -> %g", from, to);
    return key.substr(key.find('.') + 1) + text;
}

} // namespace

OrderHandler::OrderHandler(Training& training, Validator& validator, Checkpointer& checkpointer,
                           NonFiniteGuard& guard)
    : m_training(training)
    , m_validator(validator)
    , m_checkpointer(checkpointer)
    , m_guard(guard)
    , m_control(training.world, training.board, *training.session.telemetry) {}

void OrderHandler::listen() {
    m_control.setStep(m_training.step);
    m_control.begin(m_training.scaler.seenShut());
}

Result<std::optional<Ending>> OrderHandler::obey() {
    m_control.setStep(m_training.step);
    auto ending = obey(m_control.end());
    while (ending && !*ending && isHeld()) {
        m_training.board.setPhase(Phase::kHeld);
        ending = obey(m_control.endHeld());
    }
    return ending;
}

Result<std::optional<Ending>> OrderHandler::obey(const Order& order) {
    const int64_t step = m_training.step;
    if (order.shut && !m_guard.hasRecovered()) // else this was reported before recovering
        if (auto ending = m_guard.recover(); !ending || *ending)
            return ending;
    if (order.preempt) {
        m_control.report(step, false, "the run was preempted before");
        return saveAndEnd("preempted", ExitCode::kPreempted);
    }
    if (!order.kind)
        return std::nullopt;
    switch (*order.kind) {
    case CommandKind::kPause:
        return saveAndEnd("pause", ExitCode::kPaused);
    case CommandKind::kStop:
        m_control.report(step, true, "");
        m_training.world.barrier();
        return Ending{ExitCode::kStopped, "stopped by command at step " + std::to_string(step)};
    default:
        apply(order);
        return std::nullopt;
    }
}

/// A checkpoint that cannot be written refuses a pause, but not a preemption: the node goes away.
Result<std::optional<Ending>> OrderHandler::saveAndEnd(const char* reason, ExitCode code) {
    const auto saved = m_checkpointer.saveAndWait(reason);
    m_control.report(m_training.step, saved.has_value(), saved ? "" : saved.error().message);
    if (!saved && code == ExitCode::kPaused) {
        m_training.event(Severity::kWarning, "pause-failed", saved.error().message);
        return std::nullopt;
    }
    if (!saved)
        return tl::unexpected(saved.error());
    m_training.board.setPhase(Phase::kEnding);
    m_training.world.barrier();
    return Ending{code, std::string(reason) + " at step " + std::to_string(m_training.step)};
}

void OrderHandler::apply(const Order& order) {
    std::string message;
    Result<void> done;
    switch (*order.kind) {
    case CommandKind::kHold:
        m_holdAt = m_training.step;
        break;
    case CommandKind::kContinue:
        m_holdAt.reset();
        break;
    case CommandKind::kStep:
        m_holdAt = m_training.step + order.steps;
        break;
    case CommandKind::kCheckpoint:
        return m_checkpointer.save("command", m_control.defer());
    case CommandKind::kValidate:
        validate();
        break;
    case CommandKind::kSample:
        m_validator.sample();
        break;
    case CommandKind::kSet:
        done = m_checkpointer.saveAndWait("before set");
        if (done)
            message = set(order.set);
        break;
    default:
        break; // pause and stop ended the loop, kill never gets here
    }
    if (!done)
        message = done.error().message;
    m_control.report(m_training.step, done.has_value(), message);
}

void OrderHandler::validate() {
    if (m_validator.validateByCommand() && m_training.spec.checkpoint.keepBest)
        m_checkpointer.save("best");
}

/// Returns what changed, for the audit log.
std::string OrderHandler::set(const LiveSettings& settings) {
    std::string message;
    for (const std::string_view key : liveKeys())
        if (const auto set = settings.find(key); set != settings.end())
            message += (message.empty() ? "" : ", ") +
                       change(set->first, liveValue(m_training.live, key), set->second);
    m_training.set(settings);
    return message;
}

} // namespace rm

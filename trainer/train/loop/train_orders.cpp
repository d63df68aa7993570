// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/loop/train_loop.h"

#include <cstdio>

namespace rm {
namespace {

std::string change(const char* name, double from, double to) {
    char text[96];
    std::snprintf(text, sizeof text, "%s %g -> %g", name, from, to);
    return text;
}

void addLine(std::string& text, const std::string& line) {
    text += (text.empty() ? "" : ", ") + line;
}

} // namespace

/// At a step's boundary: does what was ordered; returns when training shall go on, or how it ends.
Result<std::optional<Ending>> TrainLoop::obeyOrders() {
    auto ending = obey(m_control->end());
    while (ending && !*ending && isHeld()) {
        m_board.setPhase(Phase::kHeld);
        ending = obey(m_control->endHeld());
    }
    return ending;
}

Result<std::optional<Ending>> TrainLoop::obey(const Order& order) {
    if (order.shut && m_recoveredAt != m_step) // else it was said before this rank looked
        if (auto ending = recover(); !ending || *ending)
            return ending;
    if (order.preempt) {
        m_control->report(m_step, false, "the run was preempted before");
        return saveAndEnd("preempted", ExitCode::kPreempted);
    }
    if (!order.kind)
        return std::nullopt;
    switch (*order.kind) {
    case CommandKind::kPause:
        return saveAndEnd("pause", ExitCode::kPaused);
    case CommandKind::kStop:
        m_control->report(m_step, true, "");
        m_world.barrier();
        return Ending{ExitCode::kStopped, "stopped by command at step " + std::to_string(m_step)};
    default:
        apply(order);
        return std::nullopt;
    }
}

/// A checkpoint that cannot be written refuses a pause, but not a preemption: the node goes away.
Result<std::optional<Ending>> TrainLoop::saveAndEnd(const char* reason, ExitCode code) {
    const auto saved = saveAndWait(reason);
    m_control->report(m_step, saved.has_value(), saved ? "" : saved.error().message);
    if (!saved && code == ExitCode::kPaused) {
        if (m_world.isFirst())
            m_session.event(Severity::kWarning, "pause-failed", saved.error().message, m_step);
        return std::nullopt;
    }
    if (!saved)
        return tl::unexpected(saved.error());
    m_board.setPhase(Phase::kEnding);
    m_world.barrier();
    return Ending{code, std::string(reason) + " at step " + std::to_string(m_step)};
}

void TrainLoop::apply(const Order& order) {
    std::string message;
    Result<void> done;
    switch (*order.kind) {
    case CommandKind::kHold:
        m_holdAt = m_step;
        break;
    case CommandKind::kContinue:
        m_holdAt.reset();
        break;
    case CommandKind::kStep:
        m_holdAt = m_step + order.steps;
        break;
    case CommandKind::kCheckpoint:
        return save("command", m_control->defer());
    case CommandKind::kValidate:
        validateByCommand();
        break;
    case CommandKind::kSample:
        sample();
        break;
    case CommandKind::kSet:
        done = saveAndWait("before set");
        if (done)
            message = set(order);
        break;
    default:
        break; // pause and stop ended the loop, kill never gets here
    }
    if (!done)
        message = done.error().message;
    m_control->report(m_step, done.has_value(), message);
}

/// Returns what changed, for the audit log.
std::string TrainLoop::set(const Order& order) {
    std::string message;
    if (order.lr) {
        addLine(message, change("lr", lr(), *order.lr));
        m_overrides.lr = order.lr;
    }
    if (order.clip) {
        addLine(message, change("clip", clip(), *order.clip));
        m_overrides.clip = order.clip;
    }
    if (order.logEvery) {
        addLine(message, change("log_every", static_cast<double>(logEvery()),
                                static_cast<double>(*order.logEvery)));
        m_overrides.logEvery = order.logEvery;
    }
    return message;
}

} // namespace rm

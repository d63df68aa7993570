// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/loop/order_handler.h"

#include "shared/checkpoint/reasons.h"
#include "shared/metrics/registry.h"
#include "shared/return_if_error.h"
#include "shared/spec/schema.h"
#include "shared/spec/toml_fields.h"
#include "trainer/train/loop/checkpointer.h"
#include "trainer/train/loop/non_finite_guard.h"
#include "trainer/train/loop/spike_guard.h"
#include "trainer/train/loop/validator.h"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace rm {
namespace {

std::string shortName(const std::string& key) {
    return key.substr(key.find('.') + 1);
}

/// "lr 0.0005 -> 0.0003"
std::string change(const std::string& key, double from, double to) {
    char text[96];
    std::snprintf(text, sizeof text, " %g -> %g", from, to);
    return shortName(key) + text;
}

/// "before set lr, clip"
std::string reasonOf(const LiveSettings& settings) {
    std::string names;
    for (const auto& [key, value] : settings)
        names += (names.empty() ? " " : ", ") + shortName(key);
    return kBeforeSetReason + names;
}

std::string byRule(const Rule& rule) {
    return "by the rule \"" + rule.text + "\"";
}

} // namespace

OrderHandler::OrderHandler(Training& training, Validator& validator, Checkpointer& checkpointer,
                           NonFiniteGuard& guard, SpikeGuard& spikes)
    : m_training(training)
    , m_validator(validator)
    , m_checkpointer(checkpointer)
    , m_guard(guard)
    , m_spikes(spikes)
    , m_control(training.world, training.board, *training.session.telemetry)
    , m_stragglers(training)
    , m_rules(training.spec.rules) {}

void OrderHandler::listen() {
    m_control.setStep(m_training.step);
    m_control.begin(m_training.scaler.seenShut(), m_spikes.reportLoss(),
                    m_training.report.takeTimes());
}

Result<std::optional<Ending>> OrderHandler::obey() {
    m_control.setStep(m_training.step);
    const Order order = m_control.end();
    m_stragglers.note(m_control.times());
    RM_ASSIGN_OR_RETURN(const auto spiked, m_spikes.judge(order.meanLoss));
    if (spiked)
        return spiked;
    if (order.meanLoss)
        note(metric::kTrainLoss, *order.meanLoss);
    auto ending = obey(order);
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

Result<std::optional<Ending>> OrderHandler::pauseAsPlanned() {
    m_training.event(Severity::kInfo, "planned-pause",
                     "pauses after step " + std::to_string(m_training.step) +
                         ", as train.pause_at says; resume goes on");
    return saveAndEnd("planned pause", ExitCode::kPaused);
}

/// A checkpoint that cannot be written refuses a pause, but not a preemption: the node goes away.
Result<std::optional<Ending>> OrderHandler::saveAndEnd(const char* reason, ExitCode code) {
    const auto saved = m_checkpointer.saveAndWait(reason);
    const std::string why = saved ? "" : saved.error().message;
    const bool continues = !saved && code == ExitCode::kPaused;
    m_control.report(m_training.step, saved.has_value(),
                     continues ? why + (isHeld() ? "; it stays held" : "; it trains on") : why);
    if (continues) {
        m_training.event(Severity::kWarning, "pause-failed", why);
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
        if (!m_holdAt)
            message = "it was not held";
        m_holdAt.reset();
        break;
    case CommandKind::kStep:
        m_holdAt = m_training.step + order.steps;
        break;
    case CommandKind::kCheckpoint:
        return checkpoint();
    case CommandKind::kValidate:
        validate();
        break;
    case CommandKind::kSample:
        done = refuseWithoutSamples();
        m_validator.sample();
        break;
    case CommandKind::kTrace:
        if (const auto begun = trace(order.steps))
            message = *begun;
        else
            done = tl::unexpected(begun.error());
        break;
    case CommandKind::kSet:
        done = m_checkpointer.saveAndWait(reasonOf(order.set));
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

Result<void> OrderHandler::refuseWithoutSamples() const {
    const RunSpec& spec = m_training.spec;
    if (writesSamples(spec))
        return {};
    return fail(ErrorCode::kInvalid,
                spec.validation.sampleTokens == 0
                    ? "validation.sample_tokens is 0, so no sample is written"
                    : "a model of the type " + spec.model.type + " writes no samples");
}

/// All ranks record the same steps, and say so alike.
Result<std::string> OrderHandler::trace(int64_t steps) {
    TraceRecorder& recorder = m_training.report.trace();
    const auto words = [](int64_t first, int64_t count) {
        return "steps " + std::to_string(first) + " to " + std::to_string(first + count - 1);
    };
    if (recorder.isBusy())
        return fail(ErrorCode::kInvalid, "a trace of " +
                                             words(recorder.firstStep(), recorder.steps()) +
                                             " is being recorded; ask again when it is done");
    const int64_t left = m_training.lastStep - m_training.step;
    if (left <= 0)
        return fail(ErrorCode::kInvalid, "the run's last step is done");
    steps = std::min(steps, left);
    recorder.begin(m_training.step + 1, steps);
    return words(m_training.step + 1, steps) + " are recorded";
}

void OrderHandler::checkpoint() {
    // A checkpoint that a person asked for is removed by a person alone.
    const char* reason = m_control.isOwn() ? "rule" : "command";
    m_checkpointer.save(reason, m_control.defer());
}

void OrderHandler::validate() {
    if (m_validator.validateByCommand() && m_training.spec.checkpoint.keepBest)
        m_checkpointer.save("best");
}

void OrderHandler::note(MetricId metric, double value) {
    if (m_rules.isEmpty() || !m_training.world.isFirst())
        return;
    for (const RuleBook::Fired& fired : m_rules.note(metricName(metric), value)) {
        m_training.event(Severity::kWarning, "rule",
                         fired.why + ": the rule \"" + fired.rule->text + "\" acts");
        const std::string id = "rule-" + std::to_string(m_training.session.environment.attempt) +
                               "-" + std::to_string(++m_fired);
        for (size_t i = 0; i < fired.rule->actions.size(); ++i)
            addAction(*fired.rule, fired.rule->actions[i], id + "-" + std::to_string(i));
    }
}

void OrderHandler::addAction(const Rule& rule, const Rule::Action& action, const std::string& id) {
    const auto add = [&](CommandKind kind) {
        m_control.add({[id, kind] { return Command{id, kind, {}}; }, byRule(rule), 1});
    };
    switch (action.kind) {
    case Rule::Action::Kind::kLr:
        return addLr(rule, action.factor, id);
    case Rule::Action::Kind::kCheckpoint:
        return add(CommandKind::kCheckpoint);
    case Rule::Action::Kind::kHold:
        return add(CommandKind::kHold);
    case Rule::Action::Kind::kPause:
        return add(CommandKind::kPause);
    case Rule::Action::Kind::kStop:
        return add(CommandKind::kStop);
    }
}

/// The rate is read when the command is taken: another one may be under way.
void OrderHandler::addLr(const Rule& rule, double factor, const std::string& id) {
    if (m_training.scaledLr(factor) == m_training.live.optimizer.lr) {
        m_training.event(Severity::kInfo, "rule",
                         "the learning rate stays at schedule.min_lr, " + byRule(rule));
        return;
    }
    m_control.add({[this, id, factor] {
                       const double lr = m_training.scaledLr(factor);
                       return Command{id, CommandKind::kSet, {{"optimizer.lr", plainNumber(lr)}}};
                   },
                   byRule(rule), factor});
}

void OrderHandler::store(TrainState& state) const {
    state.rules = m_rules.states();
    for (const Control::Own& own : m_control.own())
        for (RuleState& rule : state.rules)
            if (own.by == byRule(*m_rules.find(rule.text)))
                rule.owedLrFactor *= own.lrFactor;
}

void OrderHandler::restore(const TrainState& from) {
    std::vector<RuleState> states = from.rules;
    for (RuleState& state : states)
        if (const double owed = std::exchange(state.owedLrFactor, 1); owed != 1)
            if (const Rule* rule = m_rules.find(state.text))
                addLr(*rule, owed,
                      "rule-" + std::to_string(m_training.session.environment.attempt) + "-" +
                          std::to_string(++m_fired));
    m_rules.restore(states);
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

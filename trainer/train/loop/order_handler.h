// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/control/control.h"
#include "trainer/train/loop/rule_book.h"
#include "trainer/train/loop/straggler_report.h"
#include "trainer/train/loop/training.h"
#include "trainer/train/session/ending.h"

#include <optional>
#include <string>

namespace rm {

class Checkpointer;
class NonFiniteGuard;
class SpikeGuard;
class Validator;

/// Carries out the commands of people and of the spec's rules at a step boundary: hold, pause,
/// validate, set a learning rate. All ranks call its methods together.
class OrderHandler {
public:
    OrderHandler(Training& training, Validator& validator, Checkpointer& checkpointer,
                 NonFiniteGuard& guard, SpikeGuard& spikes);

    /// At the start of a step: exchanges the commands given so far while the step computes.
    void listen();
    /// At the step's boundary: obeys the commands. Returns how the run ends, or nullopt once
    /// training continues.
    Result<std::optional<Ending>> obey();
    /// Pauses without a command, as train.pause_at says; nullopt: no checkpoint could be written.
    Result<std::optional<Ending>> pauseAsPlanned();

    /// A value for the rules, which may become commands of the next steps. Only rank 0's counts.
    void note(MetricId metric, double value);

    // For checkpoints.
    void store(TrainState& state) const;
    void restore(const TrainState& from);

private:
    Result<std::optional<Ending>> obey(const Order& order);
    void addAction(const Rule& rule, const Rule::Action& action, const std::string& id);
    void addLr(const Rule& rule, double factor, const std::string& id);
    Result<std::optional<Ending>> saveAndEnd(const char* reason, ExitCode code);
    void apply(const Order& order);
    std::string set(const LiveSettings& settings);
    Result<void> refuseWithoutSamples() const;
    Result<std::string> trace(int64_t steps);
    void checkpoint();
    void validate();
    bool isHeld() const { return m_holdAt && *m_holdAt <= m_training.step; }

    Training& m_training;
    Validator& m_validator;
    Checkpointer& m_checkpointer;
    NonFiniteGuard& m_guard;
    SpikeGuard& m_spikes;
    Control m_control;
    StragglerReport m_stragglers;
    RuleBook m_rules;
    std::optional<int64_t> m_holdAt; ///< hold at the boundary after this step
    int64_t m_fired = 0;             ///< rules that acted in this attempt, for ids
};

} // namespace rm

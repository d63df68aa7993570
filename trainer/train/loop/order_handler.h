// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/control/control.h"
#include "trainer/train/loop/training.h"
#include "trainer/train/session/ending.h"

#include <optional>
#include <string>

namespace rm {

class Checkpointer;
class NonFiniteGuard;
class Validator;

/// Carries out a person's commands at a step boundary: hold, pause, validate, set a learning rate.
/// All ranks call its methods together.
class OrderHandler {
public:
    OrderHandler(Training& training, Validator& validator, Checkpointer& checkpointer,
                 NonFiniteGuard& guard);

    /// At the start of a step: exchanges the commands given so far while the step computes.
    void listen();
    /// At the step's boundary: obeys them. Returns how the run ends, or nullopt once training
    /// continues.
    Result<std::optional<Ending>> obey();

private:
    Result<std::optional<Ending>> obey(const Order& order);
    Result<std::optional<Ending>> saveAndEnd(const char* reason, ExitCode code);
    void apply(const Order& order);
    std::string set(const LiveSettings& settings);
    void validate();
    bool isHeld() const { return m_holdAt && *m_holdAt <= m_training.step; }

    Training& m_training;
    Validator& m_validator;
    Checkpointer& m_checkpointer;
    NonFiniteGuard& m_guard;
    Control m_control;
    std::optional<int64_t> m_holdAt; ///< hold at the boundary after this step
};

} // namespace rm

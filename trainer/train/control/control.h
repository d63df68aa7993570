// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/board/board.h"
#include "trainer/train/control/order.h"
#include "trainer/train/dist/world.h"
#include "trainer/train/telemetry/telemetry.h"

#include <set>
#include <string>

namespace rm {

/// Makes SIGTERM and SIGUSR1 a wish to end that the next exchange carries to all ranks. They stay
/// pending and interrupt nothing. Call before there are threads: those made later block them, too.
void catchPreemption();

/// Carries commands from rank 0's board to all ranks, so that all act at the same boundary. One
/// small sum a step, which overlaps it: begin() as the step starts, end() at its boundary. Where
/// it says that there is a command, the command itself follows in a broadcast. The training thread
/// alone.
class Control {
public:
    Control(const World& world, Board& board, Telemetry& telemetry);

    /// `shut`: this rank saw that updates are held back.
    void begin(bool shut = false);
    /// What to do now; the same on every rank.
    Order end();
    /// begin() and end() for a held run: takes at most kHeldPollMs longer than the slowest rank.
    Order endHeld();

    /// Rank 0: journals how the command of the last order went and frees the slot.
    void report(int64_t step, bool ok, const std::string& message);

    /// Rank 0: the command of the last order, which is no longer under way for the board and is
    /// journaled by the caller when it is done. nullopt: there is none.
    std::optional<Command> defer();

    /// Refusals are journaled with it.
    void setStep(int64_t step) { m_step = step; }

private:
    static constexpr int64_t kHeldPollMs = 20;

    void takeCommand();
    void waitForCommand();

    const World& m_world;
    Board& m_board;
    Telemetry& m_telemetry;
    int64_t m_step = 0;
    at::Tensor m_flags; ///< preempt, shut, and the size of what m_current is as a message
    c10::intrusive_ptr<c10d::Work> m_work;
    std::optional<Command> m_current; ///< rank 0: the command under way
    std::string m_encoded;            ///< rank 0: the same as a message, checked
    std::set<std::string> m_done;     ///< ids: the same id twice is one command
};

} // namespace rm

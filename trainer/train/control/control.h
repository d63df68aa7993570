// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/board/board.h"
#include "shared/metrics/straggler_watch.h"
#include "trainer/train/control/order.h"
#include "trainer/train/dist/preemption.h"
#include "trainer/train/dist/world.h"
#include "trainer/train/telemetry/telemetry.h"

#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace rm {

/// What a rank did in a step.
struct StepTimes {
    int64_t step = 0;
    RankTimes times;
    bool operator==(const StepTimes&) const = default;
};

/// Carries commands from rank 0's board to all ranks, so that all act at the same step boundary. It
/// costs one small all-reduce per step, which overlaps the step: begin() at the start of the step,
/// end() at its boundary. If there is a command, it follows in a broadcast. Training thread only.
class Control {
public:
    Control(const World& world, Board& board, Telemetry& telemetry);

    /// `shut`: this rank saw that the scaler holds updates back. `loss`: to be averaged over the
    /// ranks; all give one, or none does. `times`: a step of this rank, for times().
    void begin(bool shut = false, std::optional<double> loss = {},
               const std::optional<StepTimes>& times = {});
    /// The order to obey now; the same on every rank.
    Order end();
    /// What each rank gave to the begin() before the last end(), on every rank alike. Empty with
    /// one rank.
    const std::vector<std::optional<StepTimes>>& times() const { return m_times; }
    /// begin() and end() for a held run: returns at most kHeldPollMs after the slowest rank.
    Order endHeld();

    /// Rank 0: journals the result of the last order's command and frees the slot.
    void report(int64_t step, bool ok, const std::string& message);

    /// Rank 0: takes the last order's command and frees the slot; the caller journals it when done.
    /// nullopt: there is none.
    std::optional<Command> defer();

    /// A command of the run itself. It is taken when no person's command waits, and goes the same
    /// way; `by` is added to its result.
    struct Own {
        std::function<Command()> make; ///< called when the command is taken
        std::string by;
        double lrFactor = 1; ///< the factor by which it will multiply the learning rate
    };
    void add(Own own) { m_own.push_back(std::move(own)); }
    /// The run's own commands that have no effect yet, including the one under way.
    std::vector<Own> own() const;
    bool isOwn() const { return m_currentOwn.has_value(); } ///< the last order's command

    /// Sets the step with which refusals are journaled.
    void setStep(int64_t step) { m_step = step; }

private:
    static constexpr int64_t kHeldPollMs = 20;

    void takeCommand();
    void waitForCommand();

    const World& m_world;
    Board& m_board;
    Telemetry& m_telemetry;
    int64_t m_step = 0;
    /// Preempt, shut, the size of m_current as a message, losses; then each rank's StepTimes, of
    /// which the others sum zeros.
    at::Tensor m_flags;
    std::vector<std::optional<StepTimes>> m_times;
    c10::intrusive_ptr<c10d::Work> m_work;
    std::optional<Command> m_current; ///< rank 0: the command under way
    std::optional<Own> m_currentOwn;  ///< set: m_current is a command of the run itself
    std::deque<Own> m_own;            ///< rank 0: the run's own commands that wait
    std::string m_encoded;            ///< rank 0: m_current as a message, checked
    std::set<std::string> m_done;     ///< ids: the same id twice is one command
};

} // namespace rm

// SPDX-License-Identifier: Apache-2.0
// telemetry_tax ROUNDS STEPS: steps of about 1 ms of one thread's arithmetic. In each round a block
// of STEPS with all that the trainer's loop does to be watched (phases on the board and by the
// clock, ten scalars, the record's end), one without, and for control one more without. One line of
// JSON with the blocks' milliseconds.
#include "shared/io/clock.h"
#include "tests/bench/journal_rows.h"
#include "trainer/train/loop/step_report.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/rand.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>

namespace {

constexpr double kStepMs = 1.0;
constexpr int64_t kWidth = 96;

double millisecondsSince(int64_t beginNs) {
    return static_cast<double>(rm::monotonicNowNs() - beginNs) * 1e-6;
}

/// Arithmetic that always takes the same time: products of one small matrix with another.
class Work {
public:
    Work()
        : m_left(at::rand({kWidth, kWidth}))
        , m_right(at::rand({kWidth, kWidth}))
        , m_out(at::rand({kWidth, kWidth})) {
        constexpr int kTrial = 2000;
        doSome(kTrial); // warms caches and the frequency up
        const int64_t begin = rm::monotonicNowNs();
        doSome(kTrial);
        m_perPhase = static_cast<int>(kTrial * kStepMs / millisecondsSince(begin) / kPhases);
    }

    static constexpr int kPhases = 5;
    void doPhase() { doSome(m_perPhase); }

private:
    void doSome(int products) {
        for (int i = 0; i < products; ++i)
            at::mm_out(m_out, m_left, m_right);
    }

    at::Tensor m_left, m_right, m_out;
    int m_perPhase = 1;
};

struct LoopPhase {
    rm::Phase phase;
    rm::MetricId metric;
};
constexpr LoopPhase kPhases[Work::kPhases] = {
    {rm::Phase::kData, rm::metric::kPhaseDataMs},
    {rm::Phase::kForward, rm::metric::kPhaseForwardMs},
    {rm::Phase::kBackward, rm::metric::kPhaseBackwardMs},
    {rm::Phase::kAllreduce, rm::metric::kPhaseAllreduceMs},
    {rm::Phase::kOptimizer, rm::metric::kPhaseOptimizerMs}};

/// One loop for all blocks: code that lies elsewhere can be faster for that alone.
class Loop {
public:
    explicit Loop(const rm::Session& session)
        : m_session(session)
        , m_report(session) {}

    double block(bool isWatched, int64_t steps) {
        const int64_t begin = rm::monotonicNowNs();
        for (int64_t i = 0; i < steps; ++i)
            step(isWatched);
        const double milliseconds = millisecondsSince(begin);
        // No step waits for this, but no other block shall share its core with what is left to
        // write; all blocks wait, as a core that has slept begins slowly.
        m_session.telemetry->flush();
        return milliseconds;
    }

private:
    void step(bool isWatched) {
        if (isWatched)
            m_report.beginStep(++m_step, true);
        for (const LoopPhase& phase : kPhases) {
            if (isWatched)
                m_session.board->setPhase(phase.phase);
            m_work.doPhase();
            if (isWatched)
                m_report.lap(phase.metric);
        }
        if (!isWatched)
            return;
        m_report.endStep();
        m_report.publish({1.0, 1.0, 1.0, {}, {}}, {1, 1e9}, rm::metric::kTrainTokensPerS);
        m_session.board->setStep(m_step);
    }

    const rm::Session& m_session;
    rm::StepReport m_report;
    Work m_work;
    int64_t m_step = 0;
};

rm::Session openSession(const rm::ScratchJournal& scratch) {
    rm::Session session;
    auto board = rm::Board::create(scratch.folder() + "/" + rm::rankName(0), 0, 1);
    if (!board)
        rm::giveUp(board.error().message);
    session.board = std::make_unique<rm::Board>(std::move(*board));
    session.device = rm::useCpu(1);
    session.telemetry = std::make_unique<rm::Telemetry>(scratch.open(), 0);
    return session;
}

struct Block {
    const char* name;
    bool isWatched;
};
constexpr std::array<Block, 3> kBlocks = {
    {{"watchedMs", true}, {"plainMs", false}, {"controlMs", false}}};
/// Each follows each other as often: neither drift nor what went before favours one.
constexpr size_t kOrders[6][3] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}, {0, 2, 1}, {2, 0, 1}, {1, 0, 2}};

nlohmann::json measure(const rm::ScratchJournal& scratch, int64_t rounds, int64_t steps) {
    const at::NoGradGuard noGrad;
    const rm::Session session = openSession(scratch);
    Loop loop(session);
    nlohmann::json result;
    for (int64_t round = 0; round < rounds; ++round)
        for (const size_t which : kOrders[round % 6])
            result[kBlocks[which].name].push_back(loop.block(kBlocks[which].isWatched, steps));
    return result;
}

} // namespace

int main(int argc, char** argv) {
    const int64_t rounds = argc == 3 ? std::atoll(argv[1]) : 0;
    const int64_t steps = argc == 3 ? std::atoll(argv[2]) : 0;
    if (rounds < 1 || steps < 1) {
        std::fputs("usage: telemetry_tax ROUNDS STEPS\n", stderr);
        return 2;
    }
    const rm::ScratchJournal scratch;
    nlohmann::json result = measure(scratch, rounds, steps);
    result["rows"] = scratch.rows();
    std::printf("%s\n", result.dump().c_str());
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
// One rank of a GPT's run, as ringmaster-trainer, whose loss is NaN on the last rank in its
// training steps FAULTY_FROM to FAULTY_TO, counted from this process' first, or FAULTY_FACTOR times
// as large, but for each FAULTY_SPARE-th step, and whose last rank stops in the backward pass of
// step STOPPED_AT.
#include "tests/unit/train/trainer_program.h"
#include "trainer/train/data/text/text_data.h"
#include "trainer/train/workloads/gpt/gpt.h"

#include <ATen/TensorOperators.h>
#include <unistd.h>

#include <csignal>
#include <limits>

namespace {

using namespace rm;

int64_t numberOf(const char* name) {
    const char* text = std::getenv(name);
    return text ? std::atoll(text) : 0;
}

class FaultyGpt final : public Gpt {
public:
    FaultyGpt(const Session& session, int64_t vocabSize)
        : Gpt(session.spec.model, vocabSize, session.spec.train)
        , m_isOnLast(session.world.rank() + 1 == session.world.size()) {}

    at::Tensor loss(const Batch& batch, bool training) override {
        const at::Tensor loss = Gpt::loss(batch, training);
        const bool isFaulty = training && isInFaultyStep() && m_isOnLast;
        if (training && m_step == m_stoppedAt && m_isOnLast)
            loss.register_hook([](const at::Tensor& gradient) {
                std::raise(SIGSTOP);
                return gradient;
            });
        return isFaulty ? loss * m_factor : loss;
    }

private:
    bool isInFaultyStep() {
        ++m_step;
        const bool isSpared = m_spare > 0 && m_step % m_spare == 0;
        return m_step >= m_from && m_step <= m_to && !isSpared;
    }

    const bool m_isOnLast;
    const int64_t m_from = numberOf("FAULTY_FROM");
    const int64_t m_to = numberOf("FAULTY_TO");
    const int64_t m_spare = numberOf("FAULTY_SPARE"); ///< 0: none
    const double m_factor = std::getenv("FAULTY_FACTOR")
                                ? static_cast<double>(numberOf("FAULTY_FACTOR"))
                                : std::numeric_limits<double>::quiet_NaN();
    const int64_t m_stoppedAt = numberOf("STOPPED_AT");
    int64_t m_step = 0;
};

class FaultyTask final : public Task {
public:
    FaultyTask(const Session& session, TextData data)
        : Task(session)
        , m_data(std::move(data))
        , m_batches(m_data.train, session.spec.model.context,
                    static_cast<uint64_t>(session.spec.seed))
        , m_model(session, m_data.vocabSize) {}

    static Result<std::unique_ptr<Task>> create(const Session& session) {
        auto data = prepareTextData(session.spec, session.runDir + "/data", session.world, {});
        if (!data)
            return tl::unexpected(data.error());
        return std::unique_ptr<Task>(new FaultyTask(session, std::move(*data)));
    }

    Model& model() override { return m_model; }
    BatchSource& training() override { return m_batches; }
    std::vector<Figure> validate() override { return {}; }
    std::vector<SampleText> samples(int64_t) override { return {}; }
    std::string summary() const override { return "faults on demand"; }
    TextFiles files() const override { return {}; }

private:
    TextData m_data;
    TextBatches m_batches;
    FaultyGpt m_model;
};

} // namespace

int main(int argc, char** argv) {
    const ExitCode code = test::trainAs(argc, argv, FaultyTask::create);
    std::fflush(nullptr);
    _exit(static_cast<int>(code)); // as the trainer does
}

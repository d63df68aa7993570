// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/bench/fixed_task.h"

#include "trainer/train/formats/weights.h"
#include "trainer/train/workloads/gpt/gpt.h"
#include "trainer/train/workloads/resnet/resnet.h"
#include "trainer/train/workloads/translation/pairs/pair_shape.h"
#include "trainer/train/workloads/translation/translation.h"

#include <ATen/ops/empty.h>

#include <map>

namespace rm {
namespace {

bool isTranslation(const RunSpec& spec) {
    return spec.model.type == "translation";
}

std::unique_ptr<Model> makeModel(const Session& session) {
    const RunSpec& spec = session.spec;
    const int64_t vocab = spec.data.vocabSize;
    if (isTranslation(spec))
        return std::make_unique<Translation>(spec, TranslationVocab{vocab, vocab});
    if (spec.model.type == "gpt")
        return std::make_unique<Gpt>(spec.model, vocab, spec.train);
    ResNet::Settings settings;
    settings.type = spec.model.type;
    settings.classes = spec.model.classes;
    settings.imageSize = spec.model.imageSize;
    return std::make_unique<ResNet>(settings, session.world);
}

/// The batches of a file as tensors by name, laid out as the readers of real data do.
class Batches {
public:
    Batches(const Weights& weights, bool translates)
        : m_tensorsPerBatch(translates ? 5 : 2)
        , m_targets(translates ? 3 : 1) {
        for (const Weight& weight : weights)
            m_byName[weight.name] = weight.tensor;
    }

    bool has(int64_t number) const { return m_byName.contains(name(number, 0)); }

    Batch at(int64_t number) const {
        Batch batch;
        for (int64_t i = 0; i < m_tensorsPerBatch; ++i)
            batch.tensors.push_back(tensor(number, i));
        const at::Tensor& targets = batch.tensors[static_cast<size_t>(m_targets)];
        batch.targets = targets.numel();
        return batch;
    }

private:
    static std::string name(int64_t number, int64_t index) {
        return std::to_string(number) + "." + std::to_string(index);
    }

    at::Tensor tensor(int64_t number, int64_t index) const {
        const auto found = m_byName.find(name(number, index));
        if (found == m_byName.end())
            return at::empty({0}, at::kLong);
        const at::Tensor& stored = found->second;
        return stored.dim() == 4 && stored.scalar_type() == at::kByte
                   ? stored.contiguous(at::MemoryFormat::ChannelsLast)
                   : stored.clone();
    }

    std::map<std::string, at::Tensor> m_byName;
    int64_t m_tensorsPerBatch, m_targets;
};

/// A position is a whole batch; each lies ready in pinned memory.
class FixedBatches final : public BatchSource {
public:
    FixedBatches(const Batches& from, at::Device device) {
        for (int64_t number = 0; from.has(number); ++number)
            m_batches.push_back(pinned(from.at(number), device));
    }

    int64_t epochSize() const override { return static_cast<int64_t>(m_batches.size()); }
    Result<Batch> read(int64_t first, int64_t) override { return batchAt(first); }
    int64_t targets(int64_t first, int64_t) const override { return batchAt(first).targets; }

private:
    const Batch& batchAt(int64_t position) const {
        return m_batches[static_cast<size_t>(position % epochSize())];
    }

    std::vector<Batch> m_batches;
};

class FixedTask final : public Task {
public:
    FixedTask(const Session& session, const Batches& batches)
        : Task(session)
        , m_batches(batches, session.device.at)
        , m_model(makeModel(session)) {}

    Model& model() override { return *m_model; }
    BatchSource& training() override { return m_batches; }
    std::vector<int64_t> batchSizes() const override { return {1}; }
    Batch padded(const Batch& batch) const override {
        const RunSpec& spec = m_session.spec;
        if (!isTranslation(spec))
            return batch;
        return paddedTo(recordedShape(shapeOf(batch), spec.train.batchTokens, spec.model.context),
                        batch);
    }
    std::vector<Figure> validate() override { return {}; }
    std::vector<SampleText> samples(int64_t) override { return {}; }
    std::string summary() const override {
        return std::to_string(m_batches.epochSize()) + " fixed batches";
    }
    TextFiles files() const override { return {{"config.json", m_model->configJson()}}; }

private:
    FixedBatches m_batches;
    std::unique_ptr<Model> m_model;
};

} // namespace

Result<std::unique_ptr<Task>> makeFixedTask(const Session& session) {
    const std::string& path = session.spec.data.train.front();
    const auto weights = readSafetensors(path);
    if (!weights)
        return tl::unexpected(weights.error());
    const Batches batches(*weights, isTranslation(session.spec));
    if (!batches.has(0))
        return fail(ErrorCode::kInvalid, "read batches of " + path + ": it has no tensor \"0.0\"");
    return std::unique_ptr<Task>(new FixedTask(session, batches));
}

} // namespace rm

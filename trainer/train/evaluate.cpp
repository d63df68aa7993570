// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/evaluate.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>

namespace rm {
namespace {

constexpr uint64_t kSampleStream = 0x73616d70; // keeps samples apart from other seeds

/// This rank's share, in batches of the training size.
std::vector<std::vector<int64_t>> myBatches(const std::vector<int64_t>& starts,
                                            const Session& session) {
    std::vector<std::vector<int64_t>> batches;
    const auto batchSize = static_cast<size_t>(session.spec.train.batchSize);
    const auto stride = static_cast<size_t>(session.world.size());
    for (auto i = static_cast<size_t>(session.world.rank()); i < starts.size(); i += stride) {
        if (batches.empty() || batches.back().size() == batchSize)
            batches.emplace_back();
        batches.back().push_back(starts[i]);
    }
    return batches;
}

} // namespace

Autocast::Autocast(const std::string& precision, const Device& device)
    : m_on(precision == "bfloat16")
    , m_device(device.at.type()) {
    if (!m_on)
        return;
    at::autocast::set_autocast_dtype(m_device, at::kBFloat16);
    at::autocast::set_autocast_enabled(m_device, true);
    at::autocast::increment_nesting();
}

Autocast::~Autocast() {
    if (!m_on)
        return;
    if (at::autocast::decrement_nesting() == 0)
        at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(m_device, false);
}

std::optional<double> validationLoss(Model& model, const TextData& data, const Session& session) {
    const RunSpec& spec = session.spec;
    const ValidationWindows windows = validationWindows(
        data.validation, spec.model.context, spec.validation.batches * spec.train.batchSize);
    if (windows.starts.empty())
        return std::nullopt;
    const at::NoGradGuard noGrad;
    at::Tensor total = at::zeros({2}, at::kDouble); // loss times tokens, tokens
    for (const auto& starts : myBatches(windows.starts, session)) {
        const Batch batch =
            toDevice(readWindows(data.validation, starts, windows.context), session.device.at);
        const Autocast autocast(spec.train.precision, session.device);
        const auto tokens = static_cast<double>(batch.tokens);
        total[0] += model.loss(batch, false).item<double>() * tokens;
        total[1] += tokens;
    }
    session.world.sum(total);
    return total[0].item<double>() / total[1].item<double>();
}

std::string writeSample(Model& model, const TextData& data, const RunSpec& spec, int64_t step) {
    if (!data.tokenizer)
        return {};
    std::vector<int32_t> prompt;
    data.tokenizer->encode(spec.validation.prompt.empty() ? "\n" : spec.validation.prompt, prompt);
    const auto seed =
        mixSeed(static_cast<uint64_t>(spec.seed), static_cast<uint64_t>(step), kSampleStream);
    const auto ids = model.generate(std::move(prompt), spec.validation.sampleTokens,
                                    at::detail::createCPUGenerator(seed));
    return toValidUtf8(data.tokenizer->decode(ids));
}

} // namespace rm

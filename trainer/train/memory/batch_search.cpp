// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/memory/batch_search.h"

#include "shared/amounts.h"
#include "shared/io/free_memory.h"
#include "trainer/train/workloads/registry.h"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace rm {
namespace {

MicroBatch microBatchOf(const RunSpec& spec) {
    return workloadOf(spec).microBatch(spec);
}

/// The schema's bound, in samples.
int64_t mostSamples(const RunSpec& spec) {
    const MicroBatch batch = microBatchOf(spec);
    for (const SpecField& field : specSchema())
        if (field.key == batch.key)
            return static_cast<int64_t>(field.max) / batch.valueOfOne;
    return 1;
}

std::string advise(const RunSpec& spec, const DataSizes& sizes, int ranks, const Device& device,
                   int64_t freeBytes) {
    const int64_t samples = microBatchOf(spec).samples;
    const auto forecast = MemoryForecast::make(spec, sizes, ranks, device, samples);
    const std::string text = "; this run needs about " + memoryWords(forecast.at(samples).total()) +
                             " a rank, " + memoryWords(freeBytes) + " are free";
    return text + "; " + whatWouldFit(spec, sizes, ranks, device, forecast, safeShare(freeBytes));
}

/// The accumulation with which micro-batches of `samples` make about the requested step.
int64_t accumulationFor(const RunSpec& spec, int64_t samples) {
    const int64_t whole = microBatchOf(spec).samples * spec.train.accumulation;
    return (whole + samples - 1) / samples;
}

} // namespace

Result<FoundBatch> findBatch(const RunSpec& spec, const DataSizes& sizes, int ranks,
                             const Device& device, MemoryForecast forecast, int64_t bytes) {
    constexpr int kRounds = 2; // a rehearsal closer to the answer is more accurate
    const MicroBatch requested = microBatchOf(spec);
    int64_t samples = 0;
    for (int round = 0; round <= kRounds; ++round) {
        const int64_t before = std::exchange(samples, forecast.greatest(bytes, mostSamples(spec)));
        if (samples == 0)
            return fail(ErrorCode::kExhausted, "find a batch for " + memoryWords(bytes) +
                                                   ": a micro-batch of " + requested.oneSample +
                                                   " alone needs " +
                                                   memoryWords(forecast.at(1).total()) + "; " +
                                                   whatNeedsLess(spec, ranks));
        if (samples == before || round == kRounds)
            break;
        forecast = MemoryForecast::make(spec, sizes, ranks, device, samples, &forecast);
    }
    return FoundBatch{std::string(requested.key), samples * requested.valueOfOne, bytes,
                      forecast.at(samples)};
}

std::string whatNeedsLess(const RunSpec& spec, int ranks, bool isModel) {
    std::string text = "a smaller model";
    if (!isModel && !spec.train.activationCheckpointing)
        text += ", train.activation_checkpointing = true";
    if (!spec.optimizer.sharded && ranks > 1)
        text += ", optimizer.sharded = true";
    return text + " or fewer ranks on a machine need less";
}

std::string whatWouldFit(const RunSpec& spec, const DataSizes& sizes, int ranks,
                         const Device& device, MemoryForecast forecast, int64_t bytes) {
    const auto found = findBatch(spec, sizes, ranks, device, std::move(forecast), bytes);
    if (!found)
        return "not even a micro-batch of one would fit; " + whatNeedsLess(spec, ranks);
    std::string text = found->key + " = " + std::to_string(found->value) + " would fit";
    const int64_t samples = found->value / microBatchOf(spec).valueOfOne;
    const int64_t accumulation = accumulationFor(spec, samples);
    if (accumulation > spec.train.accumulation && spec.train.globalBatch == 0)
        text +=
            ", with train.accumulation = " + std::to_string(accumulation) + " for a step as large";
    if (!spec.train.activationCheckpointing)
        text += "; train.activation_checkpointing = true needs less, too";
    return text;
}

int64_t safeShare(int64_t freeBytes) {
    return freeBytes / 10 * 9;
}

RunSpec withAccumulation(RunSpec spec, int ranks) {
    if (spec.train.globalBatch > 0)
        spec.train.accumulation =
            std::max<int64_t>(1, spec.train.globalBatch / (microBatchOf(spec).samples * ranks));
    return spec;
}

std::string memoryAdvice(const RunSpec& spec, int ranks, int localRanks, const Device& device) {
    try {
        const auto sizes = workloadOf(spec).dataSizes(spec);
        const int64_t all = device.plugin->memory().free;
        // The heap that this process has grown stays available to it.
        const int64_t free = device.isCpu() ? all / localRanks + heapBytes() : all;
        return sizes ? advise(withAccumulation(spec, ranks), *sizes, ranks, device, free)
                     : std::string();
    } catch (const std::exception&) { // no room for a rehearsal either
        return {};
    }
}

} // namespace rm

// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/memory/estimate.h"

#include "shared/io/free_memory.h"
#include "trainer/train/data/batch_feed.h"
#include "trainer/train/device/host_heap.h"
#include "trainer/train/memory/model_size.h"
#include "trainer/train/memory/rehearsal.h"
#include "trainer/train/optim/update_rule.h"
#include "trainer/train/workloads/registry.h"

#include <algorithm>
#include <cmath>

namespace rm {
namespace {

/// Limit of multiplications in a rehearsed step that computes, to measure the memory of libraries.
constexpr double kWorkOnCpu = 3e10;
constexpr double kWorkOnGpu = 1e14;
constexpr double kPasses = 3; ///< forward, and backward for inputs and for weights
/// Limit of tokens (or the like) in a rehearsed batch, as small models need much memory for little
/// work.
constexpr int64_t kMostUses = 32768;
/// Limit of multiplications for micro-batches of other shapes, and the largest number of these.
constexpr double kWorkForShapes = 6e10;
constexpr int64_t kMostShapes = 24;
/// Bytes of weights in a rehearsal that computes.
constexpr int64_t kMostWeights = int64_t{128} << 20;
constexpr int64_t kLeast = 4; ///< samples: with one, some operations use other code

int64_t bytesOf(const Batch& batch) {
    int64_t bytes = 0;
    for (const at::Tensor& tensor : batch.tensors)
        bytes += static_cast<int64_t>(tensor.nbytes());
    return bytes;
}

/// How many multiplications of 32 bits take as long as one of the spec's: on a CPU without
/// instructions for it ATen multiplies numbers of 16 bits one by one.
double workPerProduct(const RunSpec& spec, const Device& device) {
    constexpr double kOneByOne = 30; // measured: 3 to 4 against 100 GFLOP/s a core
    const std::string& precision = spec.train.precision;
    const bool isFast = !device.isCpu() || precision == "float32" ||
                        (precision == "bfloat16" && __builtin_cpu_supports("avx512bf16"));
    return isFast ? 1 : kOneByOne;
}

/// Multiplications of 32 bits that take as long as a step with one sample.
double workOfOne(int64_t parameters, const RunSpec& spec, const Device& device) {
    return kPasses * static_cast<double>(parameters) *
           static_cast<double>(workloadOf(spec).usesPerSample(spec)) * workPerProduct(spec, device);
}

/// As many of the `samples` as the device computes quickly.
int64_t affordable(int64_t samples, double workOfOne, const RunSpec& spec, const Device& device) {
    const double work = device.isCpu() ? kWorkOnCpu : kWorkOnGpu;
    const auto most = std::max<int64_t>(kLeast, kMostUses / workloadOf(spec).usesPerSample(spec));
    return std::clamp<int64_t>(samples, 2,
                               std::clamp(static_cast<int64_t>(work / workOfOne), kLeast, most));
}

/// A smaller version of the spec, with fewer layers, shorter texts and smaller pictures. Its steps
/// are fast and call the same library operations.
RunSpec smallTwin(RunSpec spec, const DataSizes& sizes, const Device& device) {
    constexpr int64_t kFewLayers = 2, kShort = 16, kSmall = 64;
    const auto parameters = [&] {
        return modelSizeOf(spec, sizes, device).parameters / static_cast<int64_t>(sizeof(float));
    };
    const auto isLarge = [&] {
        return workOfOne(parameters(), spec, device) * kLeast > kWorkOnCpu;
    };
    if (parameters() * static_cast<int64_t>(sizeof(float)) > kMostWeights)
        spec.model.layers = std::min(spec.model.layers, kFewLayers);
    spec.train.accumulation = 1;
    while (isLarge() && spec.model.context / 2 >= kShort)
        spec.model.context /= 2;
    while (isLarge() && spec.model.imageSize / 2 >= kSmall)
        spec.model.imageSize /= 2;
    return spec;
}

/// The copies of weights, state and averages until they are written.
int64_t checkpointBytes(const RunSpec& spec, const MemoryEstimate& fixed, int64_t stateBytes) {
    const int64_t copies = fixed.weights + stateBytes + fixed.average;
    const bool copiesForFiles = workloadOf(spec).hostExtras().copiesForFiles;
    return copies + (copiesForFiles ? std::max(fixed.weights, stateBytes) : 0);
}

int64_t statesOf(const RunSpec& spec) {
    return static_cast<int64_t>(makeUpdateRule(spec.optimizer)->stateNames().size());
}

PeakLine peakNear(Rehearsal& rehearsal, int64_t more) {
    const int64_t few = more / 2;
    const MemoryTrace first = rehearsal.step(few);
    return {first, few, rehearsal.step(more), more};
}

int64_t peakOf(const MemoryTrace& trace) {
    int64_t level = 0, peak = 0;
    for (const int64_t change : trace)
        peak = std::max(peak, level += change);
    return peak;
}

/// How much a CPU's heap of `before` bytes grows in steps in addition to their tensors, by what
/// libraries allocate and by gaps. The heap keeps what is freed (see keepFreedMemory()), so its
/// size after the steps is its peak.
int64_t growthBeside(const RunSpec& spec, const DataSizes& sizes, int ranks, const Device& device,
                     int64_t samples, int64_t before) {
    const RunSpec twin = smallTwin(spec, sizes, device);
    Rehearsal rehearsal(twin, sizes, ranks, device, RehearsedWork::kDone);
    const double work = workOfOne(parameterCount(rehearsal.model()), twin, device);
    const int64_t rehearsed = affordable(samples, work, twin, device);
    const int64_t peak = peakOf(rehearsal.step(rehearsed));
    const auto shapes =
        static_cast<int64_t>(kWorkForShapes / (work * static_cast<double>(rehearsed)));
    rehearsal.varyShapes(rehearsed, std::min(shapes, kMostShapes));
    return std::max<int64_t>(0, heapBytes() - before - rehearsal.restBytes() - peak);
}

/// The number of samples to rehearse for this many.
int64_t rehearsedOf(int64_t samples, const Rehearsal& rehearsal, const RunSpec& spec,
                    const Device& device) {
    if (device.isCpu())
        return std::max<int64_t>(2, samples);
    return affordable(samples, workOfOne(parameterCount(rehearsal.model()), spec, device), spec,
                      device);
}

} // namespace

MemoryEstimate leastMemory(const RunSpec& spec, const DataSizes& sizes, int ranks,
                           const Device& device) {
    const ModelSize size = modelSizeOf(spec, sizes, device);
    const int64_t mine = spec.optimizer.sharded ? size.parameters / ranks : size.parameters;
    MemoryEstimate least;
    least.weights = size.parameters + size.buffers;
    least.gradients = mine;
    least.optimizer = statesOf(spec) * mine;
    least.average = spec.train.ema > 0 ? size.parameters : 0;
    least.program = device.isCpu() ? programBytes() : 0;
    return least;
}

MemoryForecast MemoryForecast::make(const RunSpec& spec, const DataSizes& sizes, int ranks,
                                    const Device& device, int64_t samples,
                                    const MemoryForecast* earlier) {
    if (device.isCpu() && !earlier)
        giveFreedMemoryBack(); // so that the growth is only the rehearsal's
    const int64_t heap = earlier ? earlier->m_heapBefore : heapBytes();
    const int64_t growth = !device.isCpu() ? 0
                           : earlier       ? earlier->m_heapGrowth
                                     : growthBeside(spec, sizes, ranks, device, samples, heap);
    Rehearsal rehearsal(spec, sizes, ranks, device,
                        device.isCpu() ? RehearsedWork::kSkipped : RehearsedWork::kDone);
    MemoryForecast forecast(peakNear(rehearsal, rehearsedOf(samples, rehearsal, spec, device)));
    MemoryEstimate& fixed = forecast.m_fixed;
    if (device.isCpu()) {
        forecast.m_heapBefore = heap;
        forecast.m_heapGrowth = growth;
        const HostExtras extras = workloadOf(spec).hostExtras();
        fixed.program =
            programBytes() + forecast.m_heapBefore + forecast.m_heapGrowth + extras.bytes;
        forecast.m_gaps = extras.gapsPerActivation;
    }
    fixed.weights = rehearsal.weightBytes();
    const int64_t states = statesOf(spec);
    fixed.optimizer = states * rehearsal.stateBytes();
    const int64_t parameters = rehearsal.parameterBytes();
    fixed.average = spec.train.ema > 0 ? parameters : 0;
    fixed.gradients = ranks == 1 ? parameters : rehearsal.restBytes() - fixed.weights;
    fixed.checkpoint = device.isCpu() ? checkpointBytes(spec, fixed, states * parameters) : 0;
    forecast.m_savesBeside = spec.checkpoint.every > 0 || spec.checkpoint.everyEpochs > 0 ||
                             (spec.checkpoint.keepBest && validates(spec));
    forecast.m_rest = rehearsal.restBytes() + fixed.optimizer + fixed.average;
    forecast.m_batchBytes = bytesOf(workloadOf(spec).imagineBatch(spec, 1));
    forecast.m_batchesHeld = device.isCpu() ? 1 + BatchFeed::heldBy(readersOf(spec, device, 1)) : 1;
    return forecast;
}

MemoryEstimate MemoryForecast::at(int64_t samples) const {
    MemoryEstimate estimate = m_fixed;
    estimate.data = m_batchesHeld * m_batchBytes * samples;
    const int64_t tensors = m_rest + m_peak.at(samples);
    const int64_t idle = m_fixed.step();
    estimate.activations = tensors - idle;
    estimate.program += static_cast<int64_t>(m_gaps * static_cast<double>(estimate.activations));
    // The only checkpoint is then written after the last step.
    if (!m_savesBeside)
        estimate.checkpoint = std::max<int64_t>(0, idle + m_fixed.checkpoint - estimate.step());
    return estimate;
}

int64_t MemoryForecast::greatest(int64_t bytes, int64_t most) const {
    int64_t fits = 0;
    int64_t tooMany = most + 1;
    while (tooMany - fits > 1) {
        const int64_t middle = fits + (tooMany - fits) / 2;
        (at(middle).total() <= bytes ? fits : tooMany) = middle;
    }
    return fits;
}

} // namespace rm

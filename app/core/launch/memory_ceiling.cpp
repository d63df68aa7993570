// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/launch/memory_ceiling.h"

#include <algorithm>

namespace rm {

namespace {

constexpr double kFloat = 4;
/// Weights, gradients, their buckets, Adam's two, an average, and a checkpoint's copies of them.
constexpr double kCopies = 14;
constexpr double kProgram = 600.0 * (1 << 20); ///< of a process: libraries, heap, scratch
/// Of data that was not read yet.
constexpr double kMostVocab = 1 << 18;
constexpr double kMostClasses = 1 << 14;

/// Floats.
struct Size {
    double parameters = 0;
    double perSample = 0; ///< kept for the backward pass, and what it makes at once
    double samples = 1;
};

double vocabOf(const RunSpec& spec) {
    const auto& train = spec.data.train;
    if (!train.empty() && train.front().ends_with(".rmtok"))
        return kMostVocab;
    return std::max(256.0, static_cast<double>(spec.data.vocabSize));
}

/// Of a language model; the translation's decoder has half as much again, and its encoder.
Size sizeOfText(const RunSpec& spec) {
    const bool translates = spec.model.type == "translation";
    const auto width = static_cast<double>(spec.model.width);
    const auto layers = static_cast<double>(spec.model.layers) * (translates ? 3 : 1);
    const auto context = static_cast<double>(spec.model.context);
    const double inner =
        spec.model.feedForward > 0 ? static_cast<double>(spec.model.feedForward) : 4 * width;
    const double vocab = vocabOf(spec) * (translates ? 2 : 1);
    const double attention = static_cast<double>(spec.model.heads) * context;
    Size size;
    size.parameters =
        (vocab + context) * width + layers * width * (4 * width + 2 * inner + inner / width + 16);
    size.perSample = context * (layers * (40 * width + 10 * inner + 6 * attention) + 16 * vocab);
    size.samples = translates ? static_cast<double>(spec.train.batchTokens) / context + 1
                              : static_cast<double>(spec.train.batchSize);
    return size;
}

Size sizeOfPictures(const RunSpec& spec) {
    const bool is50 = spec.model.type == "resnet50";
    const double classes =
        spec.model.classes > 0 ? static_cast<double>(spec.model.classes) : kMostClasses;
    const auto side = static_cast<double>(spec.model.imageSize) + 32; // rounded up at each halving
    return {is50 ? 24e6 + 2049 * classes : 12e6 + 513 * classes, side * side * (is50 ? 2500 : 700),
            static_cast<double>(spec.train.batchSize)};
}

int64_t leastFreeOf(const NodeReport& report, const std::string& device) {
    if (device == "cpu" || report.gpus.empty())
        return report.freeMemoryBytes;
    return std::ranges::min_element(report.gpus, {}, &GpuReport::freeBytes)->freeBytes;
}

} // namespace

int64_t memoryCeiling(const RunSpec& spec) {
    Size size = spec.model.type.starts_with("resnet") ? sizeOfPictures(spec) : sizeOfText(spec);
    for (const int64_t samples : spec.train.rankBatchSizes)
        size.samples = std::max(size.samples, static_cast<double>(samples));
    const double bytes =
        kProgram + kFloat * (kCopies * size.parameters + size.samples * size.perSample);
    return static_cast<int64_t>(std::min(bytes, 1e18));
}

bool mayBeTooLarge(const RunSpec& spec, const std::vector<PlacedNode>& nodes,
                   const std::vector<int>& ranks, const std::string& device) {
    const auto each = static_cast<double>(memoryCeiling(spec));
    for (size_t i = 0; i < nodes.size(); ++i) {
        const int64_t free = leastFreeOf(nodes[i].report, device);
        const double needed = device == "cpu" ? each * ranks[i] : each;
        if (free > 0 && needed > static_cast<double>(free))
            return true;
    }
    return false;
}

} // namespace rm

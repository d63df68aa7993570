// SPDX-License-Identifier: Apache-2.0
#include "shared/spec/model_family.h"

#include "shared/enforce.h"
#include "shared/spec/families.h"

#include <algorithm>

namespace rm {
namespace {

/// Weights, gradients, their buckets, Adam's two, an average, and a checkpoint's copies of them.
constexpr double kCopies = 14;
constexpr double kProgram = 600.0 * (1 << 20); ///< bytes of a process: libraries, heap, workspaces

} // namespace

std::span<const std::string_view> endingsOf(DataKind kind) {
    static constexpr std::string_view kPairs[] = {".tsv", ".rmpairs", ".mo"};
    static constexpr std::string_view kPictures[] = {".jpg", ".jpeg", ".png", ".webp", ".bmp"};
    switch (kind) {
    case DataKind::kPairs:
        return kPairs;
    case DataKind::kPictures:
        return kPictures;
    case DataKind::kText:
        break;
    }
    return {};
}

std::span<const ModelFamily> modelFamilies() {
    static const std::vector<ModelFamily> families = {gptFamily(), llamaFamily(),
                                                      translationFamily(), resnetFamily()};
    return families;
}

const ModelFamily* findFamily(std::string_view type) {
    for (const ModelFamily& family : modelFamilies())
        if (std::ranges::find(family.types, type) != family.types.end())
            return &family;
    return nullptr;
}

const ModelFamily& familyOf(const RunSpec& spec) {
    const ModelFamily* family = findFamily(spec.model.type);
    RM_ENFORCE(family);
    return *family;
}

std::string_view watchNameOf(MetricId figure) {
    const MetricDef* metric = findBuiltinMetric(figure);
    RM_ENFORCE(metric);
    const std::string_view name = metric->name;
    return name.substr(name.find('/') + 1);
}

int64_t memoryBound(const RunSpec& spec) {
    ModelBound bound = familyOf(spec).bound(spec);
    for (const int64_t samples : spec.train.rankBatchSizes)
        bound.samples = std::max(bound.samples, static_cast<double>(samples));
    const double floats = kCopies * bound.parameters + bound.samples * bound.perSample;
    return static_cast<int64_t>(std::min(kProgram + sizeof(float) * floats, 1e18));
}

int64_t checkpointBound(const RunSpec& spec) {
    const double kept = spec.optimizer.type == "sgd" ? 1 : 2;
    const double copies = 1 + kept + (spec.train.ema > 0 ? 1 : 0);
    const double bytes = sizeof(float) * copies * familyOf(spec).bound(spec).parameters;
    return static_cast<int64_t>(std::min(bytes, 1e18));
}

} // namespace rm

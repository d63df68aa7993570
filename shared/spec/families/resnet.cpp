// SPDX-License-Identifier: Apache-2.0
#include "shared/spec/families.h"
#include "shared/spec/schema_rows.h"

namespace rm {
namespace {

constexpr std::string_view kResNet50 = "resnet50";

std::vector<FamilyRow> resnetRows() {
    return {
        {number("model.classes", "Classes", "",
                "Kinds of pictures; 0: as many as the training folder has.", {0, 1048576},
                RM_FIELD(model.classes))
             .alsoCalled({"num_classes", "n_classes", "num_labels"})},
        {number("model.image_size", "Image size", "pixels",
                "Height and width of the crop that the model sees.", {8, 4096},
                RM_FIELD(model.imageSize))
             .alsoCalled({"resolution", "img_size", "crop_size", "input_size"})},
        {plain("model.sync_batch_norm", "Synchronized batch norm",
               "Batch statistics over all ranks, not over each alone.",
               RM_FIELD(model.syncBatchNorm))
             .alsoCalled({"sync_bn", "syncbn"})},
        {number("validation.pictures", "Pictures kept", "pictures",
                "Pictures: how many of a validation are kept as samples, misclassified ones first, "
                "beside a table of which classes were confused; 0: neither.",
                {0, 64}, RM_FIELD(validation.pictures))},
    };
}

ModelBound resnetBound(const RunSpec& spec) {
    constexpr double kMostClasses = 1 << 14; // the folders were not read yet
    const bool is50 = spec.model.type == kResNet50;
    const double classes =
        spec.model.classes > 0 ? static_cast<double>(spec.model.classes) : kMostClasses;
    const auto side = static_cast<double>(spec.model.imageSize) + 32; // rounded up at each halving
    return {is50 ? 24e6 + 2049 * classes : 12e6 + 513 * classes, side * side * (is50 ? 2500 : 700),
            static_cast<double>(spec.train.batchSize)};
}

} // namespace

ModelFamily resnetFamily() {
    return {.name = "resnet",
            .types = {"resnet18", kResNet50},
            .data = DataKind::kPictures,
            .rows = resnetRows(),
            .uses = {"train.batch_size", "train.rank_batch_sizes", "data.max_bad"},
            .figures = {metric::kValidationLoss, metric::kValidationTop1, metric::kValidationTop5},
            .check = [](const RunSpec&, std::vector<std::string>&) {},
            .bound = resnetBound};
}

} // namespace rm

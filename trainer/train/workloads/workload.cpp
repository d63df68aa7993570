// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/workloads/workload.h"

#include <algorithm>

namespace rm {

int64_t Workload::readers(const Device&, int) const {
    return 0;
}

std::vector<Batch> Workload::imagineOtherShapes(const RunSpec&, int64_t, int64_t) const {
    return {};
}

MicroBatch Workload::microBatch(const RunSpec& spec) const {
    const auto& sizes = spec.train.rankBatchSizes;
    return {"train.batch_size",
            sizes.empty() ? spec.train.batchSize : *std::ranges::max_element(sizes)};
}

RunSpec::Model Workload::spelledOut(RunSpec::Model model) const {
    if (model.feedForward == 0)
        model.feedForward = 4 * model.width;
    return model;
}

Result<Weights> Workload::withOurNames(const RunSpec&, Weights weights, const std::string&) const {
    return weights;
}

void Workload::readConfig(ForeignConfig&, RunSpec::Model&) const {}

Result<void> checkTextInput(const RunSpec& spec, const TryInput& input, const char* use) {
    const std::string attempt = "try a checkpoint of " + spec.model.type;
    if (!input.picture.empty())
        return fail(ErrorCode::kInvalid, attempt + ": the input is a picture, but this model " +
                                             use + "; give it a text");
    if (input.text.find('\0') != input.text.npos)
        return fail(ErrorCode::kInvalid, attempt + ": the input is no text, as it has a zero byte");
    return {};
}

DataSizes learntVocabulary(const RunSpec& spec) {
    DataSizes sizes;
    sizes.vocab = spec.data.vocabSize;
    sizes.assumed = "a vocabulary of data.vocab_size = " + std::to_string(sizes.vocab) +
                    "; a small text gets fewer";
    return sizes;
}

} // namespace rm

// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/memory/imagined_data.h"

#include "trainer/train/data/text/token_file.h"
#include "trainer/train/workloads/gpt/gpt.h"
#include "trainer/train/workloads/resnet/image_folder.h"
#include "trainer/train/workloads/resnet/resnet.h"
#include "trainer/train/workloads/translation/pairs/pair_batches.h"
#include "trainer/train/workloads/translation/translation.h"

#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

namespace rm {
namespace {

constexpr int64_t kBytes = 256; ///< the vocabulary of data.tokenizer = "bytes"

bool isPictures(const RunSpec& spec) {
    return spec.model.type.starts_with("resnet");
}

bool isTranslation(const RunSpec& spec) {
    return spec.model.type == "translation";
}

Result<DataSizes> sizesOfPictures(const RunSpec& spec) {
    DataSizes sizes;
    sizes.classes = spec.model.classes;
    if (sizes.classes > 0)
        return sizes;
    const auto folder = ImageFolder::scan(spec.data.train);
    if (!folder)
        return fail(folder.error().code,
                    "count the classes: " + folder.error().message +
                        "; where the pictures are not at hand, set model.classes");
    sizes.classes = static_cast<int64_t>(folder->classes().size());
    return sizes;
}

Result<DataSizes> sizesOfText(const RunSpec& spec) {
    DataSizes sizes;
    const auto& train = spec.data.train;
    if (!isTranslation(spec) && !train.empty() && train.front().ends_with(".rmtok")) {
        const auto shard = TokenFile::open(train.front());
        if (!shard)
            return fail(shard.error().code, "read the vocabulary's size: " + shard.error().message);
        sizes.vocab = shard->vocabSize();
    } else if (!isTranslation(spec) && spec.data.tokenizer == "bytes") {
        sizes.vocab = kBytes;
    } else {
        sizes.vocab = spec.data.vocabSize;
        sizes.assumed = "a vocabulary of data.vocab_size = " + std::to_string(sizes.vocab) +
                        "; a small text gets fewer";
    }
    return sizes;
}

Batch imagineTokens(int64_t samples, int64_t tokens) {
    const at::Tensor ids = at::ones({samples, tokens}, at::kLong);
    return {{ids, ids.clone()}, samples * tokens};
}

Batch imaginePairs(int64_t samples, int64_t tokens) {
    const std::vector<int64_t> side(static_cast<size_t>(tokens), 1);
    std::vector<EncodedPair> pairs(static_cast<size_t>(samples), EncodedPair{side, side});
    if (tokens > 1 && samples > 1) {
        pairs.back().source.pop_back();
        pairs.back().target.pop_back();
    }
    return makePairBatch(pairs);
}

Batch imaginePictures(int64_t samples, int64_t size) {
    const at::Tensor pixels =
        at::ones({samples, 3, size, size}, at::kByte).contiguous(at::MemoryFormat::ChannelsLast);
    return {{pixels, at::zeros({samples}, at::kLong)}, samples};
}

} // namespace

Result<DataSizes> dataSizesOf(const RunSpec& spec) {
    return isPictures(spec) ? sizesOfPictures(spec) : sizesOfText(spec);
}

std::unique_ptr<Model> makeModel(const RunSpec& spec, const DataSizes& sizes, const World& world) {
    if (isPictures(spec))
        return std::make_unique<ResNet>(ResNet::Settings{spec.model.type,
                                                         sizes.classes,
                                                         {},
                                                         spec.model.imageSize,
                                                         spec.train.labelSmoothing,
                                                         spec.model.syncBatchNorm,
                                                         spec.train.activationCheckpointing},
                                        world);
    if (isTranslation(spec))
        return std::make_unique<Translation>(spec, TranslationVocab{sizes.vocab, sizes.vocab});
    return std::make_unique<Gpt>(spec.model, sizes.vocab, spec.train);
}

Batch imagineBatch(const RunSpec& spec, int64_t samples) {
    if (isPictures(spec))
        return imaginePictures(samples, spec.model.imageSize);
    return isTranslation(spec) ? imaginePairs(samples, spec.model.context)
                               : imagineTokens(samples, spec.model.context);
}

std::vector<Batch> imagineOtherShapes(const RunSpec& spec, int64_t samples, int64_t count) {
    std::vector<Batch> batches;
    const int64_t tokens = samples * spec.model.context;
    for (int64_t i = 0; isTranslation(spec) && i < count; ++i) {
        const int64_t part = i % 2 == 0 ? 1 + i / 2 : count - i / 2; // short and long by turns
        const int64_t length = std::max<int64_t>(2, spec.model.context * part / (count + 1));
        batches.push_back(imaginePairs(tokens / length, length));
    }
    return batches;
}

int64_t samplesOf(const RunSpec& spec) {
    if (isTranslation(spec))
        return std::max<int64_t>(1, spec.train.batchTokens / spec.model.context);
    const auto& sizes = spec.train.rankBatchSizes;
    return sizes.empty() ? spec.train.batchSize : *std::ranges::max_element(sizes);
}

int64_t usesPerSample(const RunSpec& spec) {
    // A ResNet's convolutions slide over pictures: 4.1e9 products for 25.6e6 weights at 224 pixels.
    constexpr int64_t kUsesPerPicture = 160;
    constexpr int64_t kUsual = 224 * 224;
    if (isPictures(spec))
        return std::max<int64_t>(1, kUsesPerPicture * spec.model.imageSize * spec.model.imageSize /
                                        kUsual);
    return spec.model.context;
}

} // namespace rm

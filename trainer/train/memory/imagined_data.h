// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/spec/run_spec.h"
#include "trainer/train/data/batch.h"
#include "trainer/train/dist/world.h"
#include "trainer/train/model/model.h"

#include <memory>
#include <string>

namespace rm {

/// What a model's size takes from the data, found out without reading it: from the spec, the header
/// of a shard, or the names of folders.
struct DataSizes {
    int64_t vocab = 0;   ///< gpt: tokens; translation: of each language
    int64_t classes = 0; ///< resnet
    std::string assumed; ///< what was not known, in words; empty: nothing
    bool operator==(const DataSizes&) const = default;
};

/// kNotFound and the like name the path that would have told, and the key that tells instead.
Result<DataSizes> dataSizesOf(const RunSpec& spec);

/// The model that training would make, uninitialised. `world` must outlive it.
std::unique_ptr<Model> makeModel(const RunSpec& spec, const DataSizes& sizes, const World& world);

/// A micro-batch of so many samples that nobody wrote, on the host, as large as they can be:
/// sequences and pairs of model.context tokens (one pair has a token less, as padding costs a
/// little), pictures of model.image_size.
Batch imagineBatch(const RunSpec& spec, int64_t samples);

/// `count` micro-batches of about as many tokens in other shapes, where training has such: of
/// pairs. None for other workloads.
std::vector<Batch> imagineOtherShapes(const RunSpec& spec, int64_t samples, int64_t count);

/// Samples of one micro-batch: train.batch_size (the largest of train.rank_batch_sizes), or as many
/// of the longest pairs as train.batch_tokens hold.
int64_t samplesOf(const RunSpec& spec);

/// How often a sample makes use of each weight, roughly.
int64_t usesPerSample(const RunSpec& spec);

} // namespace rm

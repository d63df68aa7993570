// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/data/batch_source.h"
#include "trainer/train/data/sample_order.h"
#include "trainer/train/workloads/resnet/image_folder.h"

namespace rm {

/// Random views of the pictures of a folder, in the run's order. Batches are (B, 3, size, size)
/// uint8, channels-last, and (B) classes. What a sample shows follows from seed, epoch and picture;
/// a picture that cannot be read is named in Batch::bad and the next one in the folder that can be
/// stands in for it.
class TrainingImages final : public BatchSource {
public:
    TrainingImages(ImageFolder folder, int64_t size, uint64_t seed);

    int64_t epochSize() const override { return m_folder.count(); }
    Result<Batch> read(int64_t first, int64_t count) override;
    int64_t targets(int64_t, int64_t count) const override { return count; }

    const ImageFolder& folder() const { return m_folder; }

private:
    ImageFolder m_folder;
    int64_t m_size;
    uint64_t m_seed;
    SampleOrder m_order;
};

/// The middle of pictures, each once: `limit` of them at most, spread evenly over the folder.
/// Positions beyond give nothing, nor do pictures that cannot be read: batches may be smaller than
/// asked for, or empty.
class ValidationImages final : public BatchSource {
public:
    ValidationImages(ImageFolder folder, int64_t size, int64_t limit);

    int64_t epochSize() const override { return m_count; }
    Result<Batch> read(int64_t first, int64_t count) override;
    int64_t targets(int64_t first, int64_t count) const override;

    const ImageFolder& folder() const { return m_folder; }

private:
    ImageFolder m_folder;
    int64_t m_size;
    int64_t m_count;
};

} // namespace rm

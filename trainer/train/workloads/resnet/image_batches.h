// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/data/batch_source.h"
#include "trainer/train/data/sample_order.h"
#include "trainer/train/workloads/resnet/image_folder.h"

namespace rm {

/// Random views of the pictures of a folder, in the run's order. Batches are (B, 3, size, size)
/// uint8, channels-last, and (B) classes. A view depends only on seed, epoch and picture. A picture
/// that cannot be read is named in Batch::bad and replaced by the next readable one in the folder.
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

/// Center crops of at most `limit` pictures, each once, spread evenly over the folder; a batch has
/// as third tensor their indices in the folder, int64 (B). Positions beyond them and unreadable
/// pictures give no sample, so batches may be smaller than requested, or empty.
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

// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/workloads/resnet/image_batches.h"

#include "shared/io/file.h"
#include "shared/return_if_error.h"
#include "trainer/train/workloads/resnet/image_view.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <span>

namespace rm {
namespace {

constexpr size_t kMaxFileBytes = 256u << 20;
constexpr int64_t kMostStandIns = 100;

/// Calls `use` with the picture, opened. The error does not name the path.
template <class Use>
Result<void> withReader(const std::string& path, const Use& use) {
    RM_ASSIGN_OR_RETURN(const auto bytes, readFile(path, kMaxFileBytes));
    RM_ASSIGN_OR_RETURN(const auto reader,
                        ImageReader::open(std::as_bytes(std::span<const char>(bytes))));
    return use(*reader);
}

Batch emptyBatch(int64_t count, int64_t size) {
    const at::TensorOptions pixels(at::kByte);
    return {{at::empty({count, 3, size, size}, pixels, at::MemoryFormat::ChannelsLast),
             at::empty({count}, at::kLong)},
            count,
            {}};
}

} // namespace

TrainingImages::TrainingImages(ImageFolder folder, int64_t size, uint64_t seed)
    : m_folder(std::move(folder))
    , m_size(size)
    , m_seed(seed)
    , m_order(seed, m_folder.count()) {}

Result<Batch> TrainingImages::read(int64_t first, int64_t count) {
    Batch batch = emptyBatch(count, m_size);
    auto* labels = batch.tensors[1].mutable_data_ptr<int64_t>();
    for (int64_t row = 0; row < count; ++row) {
        const SampleOrder::Place place = m_order.at(first + row);
        const at::Tensor out = batch.tensors[0][row];
        for (int64_t standIn = 0;; ++standIn) {
            if (standIn == std::min(kMostStandIns, m_folder.count()))
                return fail(ErrorCode::kCorrupt,
                            "read pictures: " + std::to_string(standIn) +
                                " one after the other cannot be read, the first being " +
                                m_folder.path(place.sample) + ": " +
                                batch.bad[batch.bad.size() - static_cast<size_t>(standIn)].cause);
            const int64_t picture = (place.sample + standIn) % m_folder.count();
            std::mt19937_64 engine(mixSeed(m_seed, static_cast<uint64_t>(place.epoch),
                                           static_cast<uint64_t>(picture)));
            const auto read = withReader(m_folder.path(picture), [&](ImageReader& reader) {
                return readView(reader, drawView(reader, m_size, engine), out);
            });
            labels[row] = m_folder.label(picture);
            if (read)
                break;
            batch.bad.push_back({m_folder.path(picture), read.error().message});
        }
    }
    return batch;
}

ValidationImages::ValidationImages(ImageFolder folder, int64_t size, int64_t limit)
    : m_folder(std::move(folder))
    , m_size(size)
    , m_count(std::min(limit, m_folder.count())) {}

int64_t ValidationImages::targets(int64_t first, int64_t count) const {
    return std::clamp<int64_t>(m_count - first, 0, count);
}

Result<Batch> ValidationImages::read(int64_t first, int64_t count) {
    count = targets(first, count);
    Batch batch = emptyBatch(count, m_size);
    batch.tensors.push_back(at::empty({count}, at::kLong));
    auto* labels = batch.tensors[1].mutable_data_ptr<int64_t>();
    auto* indices = batch.tensors[2].mutable_data_ptr<int64_t>();
    int64_t rows = 0;
    for (int64_t i = first; i < first + count; ++i) {
        const int64_t picture = i * m_folder.count() / m_count;
        const auto read = withReader(m_folder.path(picture), [&](ImageReader& reader) {
            return readCentre(reader, batch.tensors[0][rows]);
        });
        if (read) {
            labels[rows] = m_folder.label(picture);
            indices[rows++] = picture;
        } else
            batch.bad.push_back({m_folder.path(picture), read.error().message});
    }
    for (at::Tensor& tensor : batch.tensors)
        tensor = tensor.narrow(0, 0, rows);
    batch.targets = rows;
    return batch;
}

} // namespace rm

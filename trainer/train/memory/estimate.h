// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/spec/run_spec.h"
#include "trainer/train/device/device.h"
#include "trainer/train/memory/peak_line.h"
#include "trainer/train/workloads/workload.h"

#include <optional>

namespace rm {

/// The peak memory of one rank on its device during a step, in bytes; tensors as ATen's allocator
/// counts them. On a CPU total() is about VmHWM of rank 0's process: 0.92 to 1.08 of it for the
/// small recipes and for models of 0.2 to 1.1 GiB with 1 and 2 ranks. Translations are at the lower
/// end, as not all shapes of their batches are rehearsed. Other ranks need no `checkpoint`. It is
/// too high if a checkpoint is written before the next step reaches its peak (1.14 was seen,
/// ResNet-18 with 64 pictures of 128 pixels). On a GPU the memory of libraries is not included.
struct MemoryEstimate {
    int64_t weights = 0;     ///< parameters and buffers
    int64_t gradients = 0;   ///< with the Reducer's buckets
    int64_t optimizer = 0;   ///< Adam's or SGD's state, this rank's shard of it with ZeRO-1
    int64_t average = 0;     ///< train.ema
    int64_t activations = 0; ///< everything else that a micro-batch needs at once
    int64_t data = 0;        ///< its samples; on the CPU also those that are read ahead
    int64_t checkpoint = 0;  ///< rank 0's copies while it writes; 0 for a GPU
    int64_t program = 0;     ///< on the CPU: the trainer, its libraries, and gaps in the heap
    bool operator==(const MemoryEstimate&) const = default;

    int64_t step() const { return weights + gradients + optimizer + average + activations + data; }
    int64_t total() const { return step() + checkpoint + program; }
};

/// A lower bound without a rehearsal: weights, gradients, optimizer and average, without the memory
/// of a micro-batch. Passes on LibTorch's exceptions.
MemoryEstimate leastMemory(const RunSpec& spec, const DataSizes& sizes, int ranks,
                           const Device& device);

/// The memory that a run would need, by a rehearsal (rehearsal.h) and arithmetic: optimizer state,
/// averages and copies for checkpoints follow from the size of the weights.
class MemoryForecast {
public:
    /// `samples`: about how many a micro-batch will have. On a CPU the rehearsal uses that number,
    /// as it computes nothing; the memory of libraries and gaps is measured with a model so small
    /// that a slow core runs its steps in seconds. On a GPU it uses as many of `samples` as
    /// possible in such a time. `earlier`: a forecast of this process, whose measurements are
    /// reused. Passes on LibTorch's exceptions.
    static MemoryForecast make(const RunSpec& spec, const DataSizes& sizes, int ranks,
                               const Device& device, int64_t samples,
                               const MemoryForecast* earlier = nullptr);

    MemoryEstimate at(int64_t samples) const;

    /// The largest number of samples, up to `most`, for which total() is at most `bytes`; 0: none.
    int64_t greatest(int64_t bytes, int64_t most) const;

private:
    explicit MemoryForecast(PeakLine peak)
        : m_peak(std::move(peak)) {}

    PeakLine m_peak;
    MemoryEstimate m_fixed;     ///< all but activations and data, with the whole checkpoint
    bool m_savesBeside = false; ///< checkpoints are written while training goes on
    int64_t m_heapBefore = 0;   ///< a CPU's, before a rehearsal
    int64_t m_heapGrowth = 0;   ///< by a rehearsal, without tensors
    double m_gaps = 0;          ///< for each byte of activations
    int64_t m_rest = 0;         ///< tensors between two steps
    int64_t m_batchBytes = 0;   ///< bytes of one sample
    int64_t m_batchesHeld = 0;
};

} // namespace rm

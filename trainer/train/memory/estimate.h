// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/spec/run_spec.h"
#include "trainer/train/device/device.h"
#include "trainer/train/memory/peak_line.h"
#include "trainer/train/workloads/workload.h"

#include <optional>

namespace rm {

/// What one rank needs on its device at the worst moment of a step, in bytes. Tensors as ATen's
/// allocator counts them. On a CPU total() is about VmHWM of rank 0's process: 0.92 to 1.08 of it
/// for the small recipes and for models of 0.2 to 1.1 GiB with 1 and 2 ranks, translations at the
/// lower end, as not all shapes of their batches are rehearsed. Other ranks need no `checkpoint`.
/// It is more than what is used where a checkpoint is written before the next step is at its worst
/// moment (1.14 was seen, ResNet-18 with 64 pictures of 128 pixels). On a GPU what libraries take
/// for themselves comes on top.
struct MemoryEstimate {
    int64_t weights = 0;     ///< parameters and buffers
    int64_t gradients = 0;   ///< with the Reducer's buckets
    int64_t optimizer = 0;   ///< Adam's or SGD's state, this rank's shard of it with ZeRO-1
    int64_t average = 0;     ///< train.ema
    int64_t activations = 0; ///< all else that a micro-batch needs at once
    int64_t data = 0;        ///< its samples; on the CPU also those that are read ahead
    int64_t checkpoint = 0;  ///< what rank 0's copy adds while it writes; a GPU's is the host's
    int64_t program = 0;     ///< on the CPU: the trainer, its libraries, and gaps in the heap
    bool operator==(const MemoryEstimate&) const = default;

    int64_t step() const { return weights + gradients + optimizer + average + activations + data; }
    int64_t total() const { return step() + checkpoint + program; }
};

/// What a rank needs for certain, found out without a rehearsal: weights, gradients, optimizer and
/// average, nothing of what a micro-batch takes. LibTorch's exceptions come through.
MemoryEstimate leastMemory(const RunSpec& spec, const DataSizes& sizes, int ranks,
                           const Device& device);

/// What a run would need, found out by a rehearsal (rehearsal.h) and arithmetic:
/// optimizer state, averages and copies for checkpoints are as large as the weights, exactly.
class MemoryForecast {
public:
    /// `samples`: how many a micro-batch will have, about. On a CPU the rehearsal has as many, as
    /// it computes nothing; what libraries and gaps take beside the tensors is measured on a model
    /// so small that a slow core does its few steps in seconds. On a GPU it goes as near to
    /// `samples` as such a time allows. `earlier`: another one of this process, which has measured
    /// that. LibTorch's exceptions come through.
    static MemoryForecast make(const RunSpec& spec, const DataSizes& sizes, int ranks,
                               const Device& device, int64_t samples,
                               const MemoryForecast* earlier = nullptr);

    MemoryEstimate at(int64_t samples) const;

    /// The most samples, `most` at most, for which total() is no more than `bytes`; 0: not even
    /// one.
    int64_t greatest(int64_t bytes, int64_t most) const;

private:
    explicit MemoryForecast(PeakLine peak)
        : m_peak(std::move(peak)) {}

    PeakLine m_peak;
    MemoryEstimate m_fixed;     ///< all but activations and data, with the whole checkpoint
    bool m_savesBeside = false; ///< checkpoints are written while training goes on
    int64_t m_heapBefore = 0;   ///< a CPU's, before a rehearsal
    int64_t m_heapGrowth = 0;   ///< of it by a rehearsal, beside tensors
    double m_gaps = 0;          ///< for each byte of activations
    int64_t m_rest = 0;         ///< tensors between two steps
    int64_t m_batchBytes = 0;   ///< of one sample
    int64_t m_batchesHeld = 0;
};

} // namespace rm

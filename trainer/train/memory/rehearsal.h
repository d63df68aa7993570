// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/spec/run_spec.h"
#include "trainer/train/device/device.h"
#include "trainer/train/dist/gradient_sync.h"
#include "trainer/train/memory/allocation_trace.h"
#include "trainer/train/workloads/workload.h"

#include <memory>

namespace rm {

/// Whether a rehearsal really computes its steps, or only allocates their tensors. The latter, on a
/// CPU, takes milliseconds and hardly any memory for any model and number of samples.
enum class RehearsedWork { kDone, kSkipped };

/// Runs steps to find out what training will allocate: with the model, GradientSync and loss of
/// training, as one of its ranks, on the device itself, with made-up data; of the update only the
/// communication. If the work is done, it needs memory for weights, gradients and the given
/// samples.
///
/// Passes on LibTorch's exceptions, also when memory runs out. One thread. While a rehearsal that
/// skips its work lives, this thread must not compute anything else. Changes the default
/// generators.
class Rehearsal {
public:
    Rehearsal(const RunSpec& spec, const DataSizes& sizes, int ranks, const Device& device,
              RehearsedWork work);
    ~Rehearsal();
    Rehearsal(const Rehearsal&) = delete;
    Rehearsal& operator=(const Rehearsal&) = delete;

    /// Traces the gradients of one step with micro-batches of `samples`.
    MemoryTrace step(int64_t samples);

    /// Runs steps with Workload::imagineOtherShapes(), as heap and libraries keep memory for each
    /// shape.
    void varyShapes(int64_t samples, int64_t count);

    const Model& model() const { return *m_model; }
    int64_t parameterBytes() const;
    int64_t weightBytes() const; ///< parameters and buffers
    /// The bytes that are allocated between two steps.
    int64_t restBytes() const { return m_trace.level(); }
    /// Bytes of one optimizer state tensor for all weights that this rank updates.
    int64_t stateBytes() const;

private:
    void run(const Batch& onHost, MemoryTrace* trace);

    RunSpec m_spec;
    Device m_device;
    struct Skipping;
    std::unique_ptr<Skipping> m_skipping; ///< null: the work is done
    AllocationTrace m_trace;              ///< before all that it counts
    World m_world;
    std::unique_ptr<Model> m_model;
    std::unique_ptr<GradientSync> m_sync;
};

} // namespace rm

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/spec/run_spec.h"
#include "trainer/train/device/device.h"
#include "trainer/train/dist/gradient_sync.h"
#include "trainer/train/memory/allocation_trace.h"
#include "trainer/train/workloads/workload.h"

#include <memory>

namespace rm {

/// Whether a rehearsal computes what its steps ask for, or only allocates for it: on a CPU, where
/// that takes milliseconds and next to no memory however large model and samples are.
enum class RehearsedWork { kDone, kSkipped };

/// Steps of a run that never takes place: the model, GradientSync and the losses that training
/// would have, one rank of as many, on the device itself, with data that nobody wrote; of the
/// update only what travels for it. What they allocate is what training will. Where the work is
/// done it needs memory for the weights, the gradients and the samples that it is asked for.
///
/// LibTorch's exceptions come through, when memory runs out among them. One thread, which has
/// nothing else computed while a rehearsal lives that skips its work. Changes the default
/// generators.
class Rehearsal {
public:
    Rehearsal(const RunSpec& spec, const DataSizes& sizes, int ranks, const Device& device,
              RehearsedWork work);
    ~Rehearsal();
    Rehearsal(const Rehearsal&) = delete;
    Rehearsal& operator=(const Rehearsal&) = delete;

    /// The gradients of one step with `samples` a micro-batch.
    MemoryTrace step(int64_t samples);

    /// Steps with Workload::imagineOtherShapes(): heap and libraries keep something for each.
    void varyShapes(int64_t samples, int64_t count);

    const Model& model() const { return *m_model; }
    int64_t parameterBytes() const;
    int64_t weightBytes() const; ///< parameters and buffers
    /// All that is there between two steps.
    int64_t restBytes() const { return m_trace.level(); }
    /// Of what an optimizer keeps one of for every weight that is this rank's to update.
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

// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/memory/rehearsal.h"

#include "trainer/train/device/autocast.h"
#include "trainer/train/device/skipped_work.h"
#include "trainer/train/dist/parameter_shards.h"
#include "trainer/train/memory/address_memory.h"
#include "trainer/train/workloads/registry.h"

#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/ones.h>

#include <algorithm>

namespace rm {
namespace {

constexpr double kAnyWeight = 0.01;

int64_t bytesOf(const std::vector<at::Tensor>& tensors) {
    int64_t bytes = 0;
    for (const at::Tensor& tensor : tensors)
        bytes += static_cast<int64_t>(tensor.nbytes());
    return bytes;
}

void fill(const Model& model) {
    const at::NoGradGuard noGrad;
    for (const Parameter& parameter : model.parameters())
        at::Tensor(parameter.value).fill_(kAnyWeight);
}

} // namespace

struct Rehearsal::Skipping {
    AddressMemory memory;
    SkippedWork work;
};

Rehearsal::Rehearsal(const RunSpec& spec, const DataSizes& sizes, int ranks, const Device& device,
                     RehearsedWork work)
    : m_spec(spec)
    , m_device(device)
    , m_skipping(work == RehearsedWork::kSkipped ? std::make_unique<Skipping>() : nullptr)
    , m_trace(device.at.type())
    , m_world(World::imagined(ranks, device))
    , m_model(workloadOf(spec).makeModel(spec, sizes, m_world)) {
    // Their gradients would become denormal, with which processors are many times slower.
    at::globalContext().setFlushDenormal(true);
    fill(*m_model);
    m_model->moveTo(device.at);
    m_sync = std::make_unique<GradientSync>(m_world, *m_model, spec.distribution,
                                            spec.optimizer.sharded, [](MetricId) {});
    // Creates what is only created once: the Reducer's buckets, tables, kernels.
    run(workloadOf(m_spec).imagineBatch(spec, 1), nullptr);
}

Rehearsal::~Rehearsal() {
    at::globalContext().setFlushDenormal(false);
}

void Rehearsal::run(const Batch& onHost, MemoryTrace* trace) {
    const Batch batch = toDevice(onHost, m_device);
    const at::Tensor seed = at::ones({}, at::TensorOptions(at::kFloat).device(m_device.at));
    m_sync->beginStep();
    m_trace.take();
    // The second micro-batch adds to the gradients of the first; further ones are the same.
    const bool accumulates = m_spec.train.accumulation > 1;
    for (const bool last : {false, true}) {
        if (!last && !accumulates)
            continue;
        const auto forward = [&] {
            const Autocast autocast(m_spec.train.precision, m_device);
            return m_model->loss(batch, true);
        };
        m_sync->backward(forward(), seed, last);
    }
    if (m_sync->buckets() && !m_sync->shards())
        m_sync->buckets()->gather(*m_sync->pending(), [](size_t) {});
    if (trace)
        *trace = m_trace.take();
    m_sync->settle();
    m_sync->beginStep();
}

MemoryTrace Rehearsal::step(int64_t samples) {
    MemoryTrace trace;
    if (!m_device.isCpu()) // its libraries benchmark algorithms for each new size
        run(workloadOf(m_spec).imagineBatch(m_spec, samples), nullptr);
    run(workloadOf(m_spec).imagineBatch(m_spec, samples), &trace);
    return trace;
}

void Rehearsal::varyShapes(int64_t samples, int64_t count) {
    for (const Batch& batch : workloadOf(m_spec).imagineOtherShapes(m_spec, samples, count))
        run(batch, nullptr);
}

int64_t Rehearsal::parameterBytes() const {
    return bytesOf(parameterValues(*m_model));
}

int64_t Rehearsal::weightBytes() const {
    int64_t bytes = parameterBytes();
    for (const Buffer& buffer : m_model->buffers())
        bytes += static_cast<int64_t>(buffer.value.nbytes());
    return bytes;
}

int64_t Rehearsal::stateBytes() const {
    if (!m_sync->shards())
        return parameterBytes();
    int64_t bytes = 0;
    for (const ParameterShards::Bucket& bucket : m_sync->shards()->buckets())
        bytes += static_cast<int64_t>(bucket.mine.nbytes());
    return bytes;
}

} // namespace rm

// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/dist/gradient_sync.h"

#include "trainer/train/dist/bucket_hook.h"
#include "trainer/train/dist/torch_versions.h"
#include "trainer/train/model/gradients.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_zero.h>
#include <ATen/ops/zeros_like.h>

namespace rm {
namespace {

constexpr int64_t kMiB = 1 << 20;

std::optional<at::ScalarType> transferFormat(const std::string& compression) {
    if (compression == "bfloat16")
        return at::kBFloat16;
    if (compression == "float16")
        return at::kHalf;
    return std::nullopt;
}

} // namespace

GradientSync::GradientSync(const World& world, Model& model, const RunSpec::Distribution& settings,
                           bool sharded, PhaseEnd onPhase, TraceRecorder* trace)
    : m_world(world)
    , m_model(model)
    , m_settings(settings)
    , m_onPhase(std::move(onPhase))
    , m_values(parameterValues(model)) {
    if (m_world.isAlone())
        return;
    m_layout = gradientBuckets(m_values, settings.bucketMb * kMiB);
    const BucketCollectives collectives(world, transferFormat(settings.compression), trace);
    m_buckets = std::make_unique<GradientBuckets>(collectives, m_values, m_layout, sharded);
    m_pending = std::make_unique<PendingBuckets>(m_values.size(), m_layout, m_onPhase);
    if (sharded)
        m_shards = std::make_unique<ParameterShards>(world, model, m_layout, trace);
    model.setBeforeUse([this](size_t parameter) { m_pending->await(parameter); });
}

GradientSync::~GradientSync() {
    m_model.setBeforeUse({});
}

void GradientSync::makeReducer() {
    m_reducer = makeDdpReducer(m_values, m_layout, m_world.group(), m_settings.bucketMb * kMiB);
    if (m_settings.staticGraph)
        m_reducer->set_static_graph();
    auto hook = std::make_unique<BucketHook>(m_world, *m_buckets, m_values,
                                             [this] { m_onPhase(metric::kPhaseBackwardMs); });
    m_hook = hook.get();
    m_reducer->register_comm_hook(std::move(hook));
}

void GradientSync::beginStep() {
    for (at::Tensor& value : m_values)
        value.mutable_grad().reset();
    if (m_reducer && !m_settled)
        settleBuckets();
}

void GradientSync::beginStepInPlace() {
    const at::NoGradGuard noGrad;
    for (at::Tensor& value : m_values)
        if (!value.grad().defined())
            value.mutable_grad() = at::zeros_like(value);
    at::_foreach_zero_(gradientsOf(m_values));
}

// The Reducer records the order in which gradients arrive until it has rebuilt its buckets. So let
// it rebuild them, then restore our layout: a resumed run must sum in the same order.
void GradientSync::settleBuckets() {
    settle();
    for (GradientBucket& bucket : m_buckets->all()) // or the first step's buckets stay allocated
        bucket.sum = bucket.mine = at::Tensor();
    m_reducer->rebuild_buckets();
    m_reducer->initialize_buckets(m_layout);
    m_settled = true;
}

void GradientSync::backward(const at::Tensor& loss, const at::Tensor& seed, bool last) {
    if (!last || m_world.isAlone()) {
        loss.backward(seed);
        if (last)
            m_onPhase(metric::kPhaseBackwardMs);
        return;
    }
    settle(); // buckets that no forward pass has awaited
    // Made here, not earlier: with a static graph the first step must have exactly one reducing
    // pass.
    const bool isFirst = !m_reducer;
    if (isFirst)
        makeReducer();
    m_reducer->prepare_for_forward();
    m_reducer->prepare_for_backward({loss});
    loss.backward(seed);
    if (isFirst && m_settings.staticGraph)
        m_reducer->delay_all_reduce(); // not done by the first pass of a static graph
    m_hook->finish();
}

void GradientSync::settle() {
    if (m_pending)
        m_pending->awaitAll();
}

} // namespace rm

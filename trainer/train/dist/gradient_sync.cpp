// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/dist/gradient_sync.h"

#include "trainer/train/dist/bucket_hooks.h"

#include <torch/csrc/distributed/c10d/reducer.hpp>

namespace rm {
namespace {

constexpr int64_t kMiB = 1 << 20;

std::optional<at::ScalarType> travelFormat(const std::string& compression) {
    if (compression == "bfloat16")
        return at::kBFloat16;
    if (compression == "float16")
        return at::kHalf;
    return std::nullopt;
}

} // namespace

GradientSync::GradientSync(const World& world, const Model& model,
                           const RunSpec::Distribution& settings, bool sharded,
                           std::function<void()> onComputed)
    : m_onComputed(std::move(onComputed))
    , m_values(parameterValues(model)) {
    if (world.isAlone())
        return;
    m_buckets = gradientBuckets(m_values, settings.bucketMb * kMiB);
    if (sharded)
        m_shards = std::make_unique<ParameterShards>(world, model, m_buckets);
    makeReducer(world, settings);
}

GradientSync::~GradientSync() = default;

void GradientSync::makeReducer(const World& world, const RunSpec::Distribution& settings) {
    m_reducer = std::make_shared<c10d::Reducer>(
        m_values, m_buckets, world.group(), std::vector<bool>(m_values.size(), false),
        settings.bucketMb * kMiB, /*find_unused_parameters=*/false,
        /*gradient_as_bucket_view=*/true, std::unordered_map<size_t, std::string>{},
        c10d::kDefaultFirstBucketBytes, /*skip_all_reduce_unused_params=*/false,
        /*use_python_reducer=*/false, std::vector<int64_t>{});
    if (settings.staticGraph)
        m_reducer->set_static_graph();
    const BucketTravel travel{world.group(), travelFormat(settings.compression), m_onComputed};
    if (!m_shards)
        return m_reducer->register_comm_hook(makeAllreduceHook(travel));
    auto scatter = std::make_unique<ScatterHook>(travel, *m_shards);
    m_scatter = scatter.get();
    m_reducer->register_comm_hook(std::move(scatter));
}

void GradientSync::beginStep() {
    for (at::Tensor& value : m_values)
        value.mutable_grad().reset();
    if (m_reduced && !m_settled)
        settleBuckets();
}

// The Reducer notes every step's arrival order until it was asked to rebuild its buckets. We go
// back to the first layout at once: a resumed run must sum in the same order.
void GradientSync::settleBuckets() {
    m_reducer->rebuild_buckets();
    m_reducer->initialize_buckets(m_buckets);
    m_settled = true;
}

void GradientSync::backward(const at::Tensor& loss, const at::Tensor& seed, bool last) {
    const bool reduces = last && m_reducer;
    if (reduces) {
        m_reducer->prepare_for_forward();
        m_reducer->prepare_for_backward({loss});
    }
    loss.backward(seed);
    if (m_scatter && last)
        m_scatter->finish();
    m_reduced = m_reduced || reduces;
    if (last && !m_reducer)
        m_onComputed();
}

} // namespace rm

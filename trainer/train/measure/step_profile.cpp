// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/measure/step_profile.h"

#include "trainer/train/device/autocast.h"
#include "trainer/train/dist/gradient_buckets.h"
#include "trainer/train/model/gradients.h"
#include "trainer/train/optim/grad_scaler.h"
#include "trainer/train/optim/optimizer.h"
#include "trainer/train/workloads/registry.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/ones.h>

#include <algorithm>
#include <limits>

namespace rm {
namespace {

constexpr int64_t kMiB = 1 << 20;

double nowMs() {
    return std::chrono::duration<double, std::milli>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

double middleOf(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    return *middle;
}

/// The moments of one step, in milliseconds; the lists are by parameter.
struct Moments {
    double forward = 0, backward = 0, update = 0;
    std::vector<double> needed, ready;
};

/// One rank that trains alone and notes when it reads each weight and when it has each gradient. On
/// an accelerator these are the moments at which the work is queued, shifted by a wait at each
/// phase's end, so that they are in proportion.
class ProfiledRank {
public:
    ProfiledRank(const RunSpec& spec, const DataSizes& sizes, const Device& device)
        : m_spec(spec)
        , m_device(device)
        , m_model(workloadOf(spec).makeModel(spec, sizes, m_alone))
        , m_scaler(device.at, false, GradScaler::Mode::kStaysShut) {
        m_model->initialize(at::detail::createCPUGenerator(1));
        m_model->moveTo(device.at);
        m_values = parameterValues(*m_model);
        m_optimizer = makeOptimizer(*m_model, spec.optimizer, m_alone, nullptr);
        m_scaler.setLr(spec.optimizer.lr);
        m_model->setBeforeUse([this](size_t parameter) { note(m_now.needed[parameter]); });
        for (size_t i = 0; i < m_values.size(); ++i)
            m_values[i].register_hook([this, i](const at::Tensor&) { m_now.ready[i] = passed(); });
    }
    ~ProfiledRank() { m_model->setBeforeUse({}); }
    ProfiledRank(const ProfiledRank&) = delete;
    ProfiledRank& operator=(const ProfiledRank&) = delete;

    const std::vector<at::Tensor>& values() const { return m_values; }

    Moments step(const Batch& batch) {
        m_now = Moments();
        m_now.needed.assign(m_values.size(), std::numeric_limits<double>::infinity());
        m_now.ready.assign(m_values.size(), 0);
        for (at::Tensor& value : m_values)
            value.mutable_grad().reset();
        m_began = nowMs();
        const at::Tensor loss = forward(batch);
        m_now.forward = finish();
        loss.backward(m_scaler.seed(loss, 1.0));
        m_now.backward = finish();
        m_scaler.update(*m_optimizer, m_spec.optimizer.lr, m_spec.optimizer.clip, 0);
        m_now.update = finish();
        return m_now;
    }

private:
    at::Tensor forward(const Batch& batch) {
        const Autocast autocast(m_spec.train.precision, m_device);
        return m_model->loss(batch, true);
    }

    double passed() const { return nowMs() - m_began; }
    void note(double& moment) const { moment = std::min(moment, passed()); }

    /// Ends a phase and begins the next. Returns how long it took.
    double finish() {
        m_device.plugin->synchronize();
        const double took = passed();
        m_began = nowMs();
        return took;
    }

    const RunSpec& m_spec;
    const Device& m_device;
    const World m_alone;
    std::unique_ptr<Model> m_model;
    GradScaler m_scaler;
    std::vector<at::Tensor> m_values;
    std::unique_ptr<Optimizer> m_optimizer;
    Moments m_now;
    double m_began = 0;
};

double middleOf(const std::vector<Moments>& steps, double Moments::*moment) {
    std::vector<double> values;
    for (const Moments& step : steps)
        values.push_back(step.*moment);
    return middleOf(std::move(values));
}

std::vector<double> middlesOf(const std::vector<Moments>& steps,
                              std::vector<double> Moments::*moments) {
    std::vector<double> middles;
    for (size_t i = 0; i < (steps.front().*moments).size(); ++i) {
        std::vector<double> values;
        for (const Moments& step : steps)
            values.push_back((step.*moments)[i]);
        middles.push_back(middleOf(std::move(values)));
    }
    return middles;
}

std::vector<BucketTimes> bucketsOf(const RunSpec& spec, const std::vector<at::Tensor>& values,
                                   const std::vector<Moments>& steps, double forwardMs) {
    const auto needed = middlesOf(steps, &Moments::needed);
    const auto ready = middlesOf(steps, &Moments::ready);
    std::vector<BucketTimes> buckets;
    for (const auto& indices : gradientBuckets(values, spec.distribution.bucketMb * kMiB)) {
        BucketTimes bucket{0, 0, forwardMs};
        for (const size_t i : indices) {
            bucket.bytes += static_cast<int64_t>(values[i].nbytes());
            bucket.readyMs = std::max(bucket.readyMs, ready[i]);
            bucket.neededMs = std::min(bucket.neededMs, needed[i]);
        }
        buckets.push_back(bucket);
    }
    return buckets;
}

} // namespace

StepProfile profileStep(const RunSpec& spec, const DataSizes& sizes, const Device& device,
                        std::chrono::duration<double> budget) {
    constexpr size_t kWarmUps = 2;
    constexpr size_t kLeast = 3;
    constexpr size_t kMost = 200;
    ProfiledRank rank(spec, sizes, device);
    const int64_t samples = workloadOf(spec).microBatch(spec).samples;
    const Batch batch = toDevice(workloadOf(spec).imagineBatch(spec, samples), device);
    for (size_t i = 0; i < kWarmUps; ++i)
        rank.step(batch);
    const double until = nowMs() + budget.count() * 1e3;
    std::vector<Moments> steps;
    while (steps.size() < kLeast || (nowMs() < until && steps.size() < kMost))
        steps.push_back(rank.step(batch));
    StepProfile profile;
    profile.device = device.plugin->deviceName();
    profile.samples = samples;
    profile.forwardMs = middleOf(steps, &Moments::forward);
    profile.backwardMs = middleOf(steps, &Moments::backward);
    profile.updateMs = middleOf(steps, &Moments::update);
    profile.accumulation = spec.train.accumulation;
    profile.sharded = spec.optimizer.sharded;
    profile.bytesOnWire = spec.distribution.compression == "none" ? 4 : 2;
    profile.buckets = bucketsOf(spec, rank.values(), steps, profile.forwardMs);
    return profile;
}

} // namespace rm

// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/optim/grad_scaler.h"

#include "trainer/train/model/gradients.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_amp_foreach_non_finite_check_and_unscale.h>
#include <ATen/ops/_amp_update_scale.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/full.h>
#include <ATen/ops/gt.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/zeros.h>

#include <atomic>

namespace rm {
namespace {

constexpr double kGrowth = 2.0;
constexpr double kBackoff = 0.5;
constexpr int64_t kGrowthSteps = 2000;

} // namespace

GradScaler::GradScaler(at::Device device, bool scalesLoss, Mode mode)
    : m_scalesLoss(scalesLoss)
    , m_mode(mode) {
    const auto options = at::TensorOptions(at::kFloat).device(device);
    m_scale = at::full({}, scalesLoss ? kFirstScale : 1.0, options);
    m_inverse = m_scale.reciprocal();
    m_finiteSteps = at::zeros({}, options.dtype(at::kInt));
    m_foundInf = at::zeros({}, options);
    m_skipped = at::zeros({}, options);
    m_seen = device.is_cpu() ? m_foundInf : at::zeros({}, at::kFloat).pin_memory();
}

at::Tensor GradScaler::seed(const at::Tensor& loss, double weight) const {
    const at::NoGradGuard noGrad;
    return at::sub(loss, loss).add_(m_scale, weight); // 0, or NaN if `loss` is not finite
}

at::Tensor GradScaler::seed(const at::Tensor& loss, const at::Tensor& weight) const {
    const at::NoGradGuard noGrad;
    return at::sub(loss, loss).addcmul_(m_scale, weight);
}

void GradScaler::setLr(double lr) {
    const at::NoGradGuard noGrad;
    if (!m_lr.defined())
        m_lr = at::zeros({}, m_scale.options());
    m_lr.fill_(lr);
}

void GradScaler::setNormLimit(double limit) {
    const at::NoGradGuard noGrad;
    if (!m_normLimit.defined())
        m_normLimit = at::zeros({}, m_scale.options());
    m_normLimit.fill_(limit);
}

/// Unscales the norm and finds out whether it is finite.
void GradScaler::judge(at::Tensor& norm) {
    if (m_mode == Mode::kSkips)
        m_foundInf.zero_();
    at::_amp_foreach_non_finite_check_and_unscale_({norm}, m_foundInf, m_inverse);
    m_skipped.add_(m_foundInf);
    if (!m_seen.is_same(m_foundInf))
        m_seen.copy_(m_foundInf, /*non_blocking=*/true);
}

at::Tensor GradScaler::skipFor(const at::Tensor& norm) const {
    if (!m_normLimit.defined())
        return m_foundInf;
    return at::maximum(m_foundInf, at::gt(norm, m_normLimit).to(m_foundInf.scalar_type()));
}

at::Tensor GradScaler::divisorFor(const at::Tensor& norm, double clip) const {
    if (clip == 0)
        return m_scalesLoss ? m_scale : at::Tensor();
    at::Tensor divisor = clippingDivisor(norm, clip);
    return m_scalesLoss ? divisor.mul_(m_scale) : divisor;
}

at::Tensor GradScaler::update(Optimizer& optimizer, double lr, double clip, double clipValue) {
    const at::NoGradGuard noGrad;
    at::Tensor norm = optimizer.gradientNorm();
    judge(norm);
    UpdateGate gate;
    if (clipValue > 0) {
        if (m_scalesLoss)
            at::_foreach_mul_(optimizer.gradients(), m_inverse);
        clampGradients(optimizer.gradients(), clipValue);
        if (clip > 0)
            gate.divisor = clippingDivisor(optimizer.gradientNorm(), clip);
    } else {
        gate.divisor = divisorFor(norm, clip);
    }
    gate.skip = skipFor(norm);
    gate.lr = m_lr;
    optimizer.step(lr, gate);
    if (!m_scalesLoss)
        return norm;
    at::_amp_update_scale_(m_scale, m_finiteSteps, m_foundInf, kGrowth, kBackoff, kGrowthSteps);
    at::reciprocal_out(m_inverse, m_scale);
    return norm;
}

bool GradScaler::seenShut() const {
    // Atomic, as the device may be writing it.
    auto* seen = static_cast<float*>(m_seen.data_ptr());
    return m_mode == Mode::kStaysShut && std::atomic_ref(*seen).load() != 0;
}

bool GradScaler::isShut() const {
    return m_mode == Mode::kStaysShut && m_foundInf.item<float>() != 0;
}

void GradScaler::open() {
    const at::NoGradGuard noGrad;
    m_skippedAtOpen = skipped(); // waits, as queued work may still write m_seen
    m_foundInf.zero_();
    m_seen.zero_();
}

int64_t GradScaler::heldSinceOpen() const {
    return skipped() - m_skippedAtOpen;
}

int64_t GradScaler::skipped() const {
    return static_cast<int64_t>(m_skipped.item<float>());
}

double GradScaler::lossScale() const {
    return m_scale.item<float>();
}

GradScaler::State GradScaler::state() const {
    return {lossScale(), m_finiteSteps.item<int32_t>(), skipped()};
}

void GradScaler::restore(const State& state) {
    const at::NoGradGuard noGrad;
    m_skipped.fill_(static_cast<double>(state.skipped));
    open();
    if (!m_scalesLoss)
        return;
    m_scale.fill_(state.lossScale);
    at::reciprocal_out(m_inverse, m_scale);
    m_finiteSteps.fill_(state.finiteSteps);
}

} // namespace rm

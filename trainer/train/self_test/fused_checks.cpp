// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/self_test/fused_checks.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/autocast_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>

#include <utility>

namespace rm {
namespace {

constexpr double kEps = 1e-5;

/// Autocast to the narrow type while one fused operation runs, as in a model.
class NarrowProducts {
public:
    explicit NarrowProducts(const FusedCase& at)
        : m_device(at.device.type())
        , m_on(at.type != at::kFloat && at.type != at::kDouble) {
        if (!m_on)
            return;
        at::autocast::set_autocast_dtype(m_device, at.type);
        at::autocast::set_autocast_enabled(m_device, true);
    }
    ~NarrowProducts() {
        if (m_on)
            at::autocast::set_autocast_enabled(m_device, false);
    }
    NarrowProducts(const NarrowProducts&) = delete;
    NarrowProducts& operator=(const NarrowProducts&) = delete;

private:
    at::DeviceType m_device;
    bool m_on;
};

at::ScalarType wideType(const FusedCase& at) {
    return at.type == at::kDouble ? at::kDouble : at::kFloat;
}

/// Numbers of `type`, and the same numbers as a leaf in float64.
struct Pair {
    at::Tensor mine;
    at::Tensor exact;
};

class Source {
public:
    explicit Source(const FusedCase& at)
        : m_at(at)
        , m_generator(
              at::detail::createCPUGenerator(static_cast<uint64_t>(at.rows * 7919 + at.columns))) {}

    Pair leaf(at::IntArrayRef shape, at::ScalarType type, double scale = 1.0, double shift = 0.0) {
        const at::Tensor values =
            (at::randn(shape, m_generator, at::kDouble) * scale + shift).to(type);
        Pair pair{values.to(m_at.device).clone(), values.to(m_at.device, at::kDouble).clone()};
        pair.mine.requires_grad_(true);
        pair.exact.requires_grad_(true);
        return pair;
    }

    at::Tensor classes(int64_t rows, int64_t classes) {
        return at::randint(0, classes, {rows}, m_generator, at::kLong);
    }

private:
    FusedCase m_at;
    at::Generator m_generator;
};

double limitOf(at::ScalarType type) {
    switch (type) {
    case at::kDouble:
        return 1e-12;
    case at::kFloat:
        return 1e-5;
    case at::kHalf:
        return 1.0 / 512;
    default: // bfloat16: 8 bits
        return 1.0 / 128;
    }
}

Deviation compare(std::string what, const at::Tensor& mine, const at::Tensor& exact,
                  at::ScalarType type) {
    Deviation deviation{std::move(what), 0, limitOf(type)};
    if (!mine.defined() || mine.sizes() != exact.sizes()) {
        deviation.error = std::numeric_limits<double>::quiet_NaN();
        return deviation;
    }
    const at::Tensor wanted = exact.detach();
    const at::Tensor difference = (mine.detach().to(at::kDouble) - wanted).abs();
    const double largest = std::max(wanted.abs().max().item<double>(), 0.01);
    deviation.error = difference.max().item<double>() / largest;
    return deviation;
}

/// Backward through the sum of squares of both, which gives each value its own gradient.
void differentiate(const at::Tensor& mine, const at::Tensor& exact, at::ScalarType type) {
    const at::Tensor weights =
        at::arange(1, exact.numel() + 1, exact.options()).sin().view_as(exact);
    const at::Tensor rounded = weights.to(type);
    mine.backward(rounded, /*retain_graph=*/true);
    exact.backward(rounded.to(at::kDouble), /*retain_graph=*/true);
}

} // namespace

std::string nameOf(const FusedCase& at) {
    return std::string(c10::toString(at.type)) + " " + std::to_string(at.rows) + " x " +
           std::to_string(at.columns);
}

std::vector<Deviation> checkAddLayerNorm(const FusedOps& ops, const FusedCase& at, NormedFor use,
                                         bool normedOnly) {
    Source source(at);
    const at::ScalarType wide = wideType(at);
    const Pair residual = source.leaf({at.rows, at.columns}, wide, 2.0, 0.5);
    const Pair delta = source.leaf({at.rows, at.columns}, at.type);
    const Pair weight = source.leaf({at.columns}, wide, 0.5, 1.0);
    const Pair bias = source.leaf({at.columns}, wide);
    NormedSum mine;
    {
        const NarrowProducts autocast(at);
        mine = ops.addLayerNorm(residual.mine, delta.mine, weight.mine, bias.mine, kEps, use);
    }
    if (!mine.sum.defined())
        return {{"not covered", std::numeric_limits<double>::quiet_NaN(), 0}};
    const at::Tensor sum = residual.exact + delta.exact;
    const at::Tensor normed = at::layer_norm(sum, {at.columns}, weight.exact, bias.exact, kEps);
    const at::ScalarType normedType = use == NormedFor::kProducts ? at.type : wide;
    std::vector<Deviation> found;
    if (mine.normed.scalar_type() != normedType)
        found.push_back({"type of normed", 1, 0});
    differentiate(mine.normed, normed, normedType);
    if (!normedOnly)
        differentiate(mine.sum, sum, wide);
    found.push_back(compare("sum", mine.sum, sum, wide));
    found.push_back(compare("normed", mine.normed, normed, normedType));
    found.push_back(compare("d residual", residual.mine.grad(), residual.exact.grad(), wide));
    found.push_back(compare("d delta", delta.mine.grad(), delta.exact.grad(), at.type));
    found.push_back(compare("d weight", weight.mine.grad(), weight.exact.grad(), wide));
    found.push_back(compare("d bias", bias.mine.grad(), bias.exact.grad(), wide));
    return found;
}

std::vector<Deviation> checkBiasGelu(const FusedOps& ops, const FusedCase& at) {
    Source source(at);
    const Pair x = source.leaf({at.rows, at.columns}, at.type, 2.0);
    const Pair bias = source.leaf({at.columns}, wideType(at));
    const at::Tensor mine = ops.biasGelu(x.mine, bias.mine);
    if (!mine.defined())
        return {{"not covered", std::numeric_limits<double>::quiet_NaN(), 0}};
    const at::Tensor exact = at::gelu(x.exact + bias.exact, "tanh");
    differentiate(mine, exact, at.type);
    return {compare("value", mine, exact, at.type),
            compare("d x", x.mine.grad(), x.exact.grad(), at.type),
            compare("d bias", bias.mine.grad(), bias.exact.grad(), wideType(at))};
}

std::vector<Deviation> checkClassifierLoss(const FusedOps& ops, const FusedCase& at,
                                           int64_t classes, double labelSmoothing, bool withBias) {
    Source source(at);
    const Pair hidden = source.leaf({at.rows, at.columns}, at.type);
    // Rounded first: the product reads the weights in the narrow type.
    Pair weight = source.leaf({classes, at.columns}, at.type, 0.3);
    weight.mine = weight.mine.detach().to(wideType(at)).requires_grad_(true);
    Pair bias;
    if (withBias) {
        bias = source.leaf({classes}, wideType(at));
        bias.mine.requires_grad_(false);
    }
    at::Tensor targets = source.classes(at.rows, classes);
    const LossRule rule{-1, labelSmoothing};
    targets.masked_fill_(at::arange(at.rows, at::kLong).remainder(5).eq(4), rule.ignoreIndex);
    targets = targets.to(at.device);
    at::Tensor mine;
    {
        const NarrowProducts autocast(at);
        mine = ops.classifierLoss(hidden.mine, {weight.mine, bias.mine}, targets, rule);
    }
    if (!mine.defined())
        return {{"not covered", std::numeric_limits<double>::quiet_NaN(), 0}};
    at::Tensor logits = at::matmul(hidden.exact, weight.exact.t());
    if (withBias)
        logits = logits + bias.exact.detach();
    const at::Tensor exact = at::cross_entropy_loss(logits, targets, {}, at::Reduction::Mean,
                                                    rule.ignoreIndex, labelSmoothing);
    (mine * 3).backward(); // a weighted loss, as with gradient accumulation
    (exact * 3).backward();
    // The loss is a mean over rows in float32: it has more digits than its logits.
    return {compare("loss", mine, exact, at.type),
            compare("d hidden", hidden.mine.grad(), hidden.exact.grad(), at.type),
            compare("d weight", weight.mine.grad(), weight.exact.grad(), at.type)};
}

std::vector<FusedCase> awkwardCases(at::Device device, at::ScalarType type, int64_t longestRow) {
    static constexpr std::pair<int64_t, int64_t> kShapes[] = {
        {1, 1},    {1, 2},    {3, 4},    {2, 31},   {5, 32},  {4, 33},   {3, 127},
        {7, 128},  {2, 255},  {9, 260},  {6, 513},  {5, 768}, {11, 769}, {3, 1023},
        {4, 1024}, {2, 1028}, {3, 3072}, {2, 8191}, {1, 8192}};
    std::vector<FusedCase> cases;
    for (const auto& [rows, columns] : kShapes)
        if (columns <= longestRow)
            cases.push_back({device, type, rows, columns});
    return cases;
}

} // namespace rm

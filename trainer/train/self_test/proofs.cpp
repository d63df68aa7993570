// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/self_test/proofs.h"

#include "trainer/train/device/exact_products.h"
#include "trainer/train/dist/sum_check.h"
#include "trainer/train/self_test/fused_checks.h"
#include "trainer/train/self_test/limited_device.h"
#include "trainer/train/self_test/recorded_losses.h"
#include "trainer/train/workloads/registry.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace rm {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

void demand(bool holds, const std::string& otherwise) {
    if (!holds)
        throw ProofFailed(otherwise);
}

/// "0.0012"
std::string figure(double value) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%.2g", value);
    return buffer;
}

at::Generator seededFor(uint64_t proof) {
    return at::detail::createCPUGenerator(proof);
}

/// Shows with ExactProducts, for which the limits are meant. Training chooses TF32 only later, and
/// a person who chooses it knows what it loses.
template <std::string (*show)(const Device&)>
std::string exactly(const Device& device) {
    const ExactProducts exact;
    return show(device);
}

bool always(const Device&) {
    return true;
}

bool hasBFloat16(const Device& device) {
    return device.plugin->isTrusted(at::kBFloat16);
}

// Memory ---------------------------------------------------------------------------------------

/// The bytes to test: most of the free memory of a GPU, as a damaged or doubly mapped region may
/// lie anywhere; a little of a host's memory, which other programs need.
int64_t bytesToFill(const Device& device) {
    constexpr int64_t kOnHost = 64 * kMiB;
    constexpr int64_t kForOthers = 1024 * kMiB; // for comparisons and other users of the device
    if (device.isCpu())
        return kOnHost;
    return std::max(kOnHost, device.plugin->memory().free / 10 * 9 - kForOthers);
}

/// The numbers of a stretch of memory: every 8 bytes of the device hold another one.
at::Tensor numbers(int64_t stretch, int64_t count, const Device& device) {
    return at::arange(stretch * count, (stretch + 1) * count,
                      at::TensorOptions(at::kLong).device(device.at));
}

std::vector<at::Tensor> fillMemory(const Device& device, int64_t bytes, int64_t count) {
    std::vector<at::Tensor> stretches;
    const auto wanted = bytes / (count * static_cast<int64_t>(sizeof(int64_t)));
    try {
        for (int64_t i = 0; i < wanted; ++i)
            stretches.push_back(numbers(i, count, device));
    } catch (const c10::OutOfMemoryError&) { // somebody else took it meanwhile
        stretches.resize(stretches.size() / 10 * 9);
    }
    return stretches;
}

std::string showMemory(const Device& device) {
    constexpr int64_t kCount = 2 * kMiB; // numbers of a stretch: 16 MiB
    const std::vector<at::Tensor> stretches = fillMemory(device, bytesToFill(device), kCount);
    demand(!stretches.empty(), "no memory is free");
    int64_t damaged = 0;
    for (const bool inverted : {false, true}) { // so that each bit was once set and once not
        for (size_t i = 0; i < stretches.size(); ++i) {
            at::Tensor wanted = numbers(static_cast<int64_t>(i), kCount, device);
            if (inverted)
                wanted.bitwise_not_();
            damaged += at::equal(stretches[i], wanted) ? 0 : 1;
        }
        for (size_t i = 0; !inverted && i < stretches.size(); ++i)
            at::Tensor(stretches[i]).bitwise_not_();
    }
    const auto mib = static_cast<int64_t>(stretches.size()) * kCount * 8 / kMiB;
    demand(damaged == 0, std::to_string(damaged) + " of " + std::to_string(2 * stretches.size()) +
                             " stretches of 16 MiB came back changed");
    return std::to_string(mib) + " MiB filled and read back twice, all bits as they were written";
}

// Products -------------------------------------------------------------------------------------

struct Largest {
    double error = 0;
    std::string where;
    void note(double found, const std::string& at) {
        if (error <= found || std::isnan(found)) { // NaN stays, as nothing is larger
            error = found;
            where = at;
        }
    }
};

/// Matrix products and a convolution against the same in float64 on the CPU, for the same numbers.
std::string showProducts(const Device& device, at::ScalarType type) {
    static constexpr std::array<std::array<int64_t, 3>, 4> kSizes = {
        {{64, 64, 64}, {257, 129, 63}, {1, 1000, 3}, {512, 768, 1024}}};
    const auto generator = seededFor(1);
    Largest largest;
    for (const auto& [rows, inner, columns] : kSizes) {
        const at::Tensor a = at::randn({rows, inner}, generator, at::kFloat).to(type);
        const at::Tensor b = at::randn({inner, columns}, generator, at::kFloat).to(type);
        const at::Tensor mine = at::matmul(a.to(device.at), b.to(device.at));
        largest.note(deviationOf(mine, at::matmul(a.to(at::kDouble), b.to(at::kDouble))),
                     std::to_string(rows) + " x " + std::to_string(inner) + " x " +
                         std::to_string(columns));
    }
    const at::Tensor pictures = at::randn({4, 16, 28, 28}, generator, at::kFloat).to(type);
    const at::Tensor filters = at::randn({32, 16, 3, 3}, generator, at::kFloat).to(type);
    const at::Tensor mine = at::conv2d(pictures.to(device.at), filters.to(device.at));
    largest.note(deviationOf(mine, at::conv2d(pictures.to(at::kDouble), filters.to(at::kDouble))),
                 "a convolution of 3 x 3");
    const double limit = limitOfProducts(type);
    const std::string text = "largest error " + figure(largest.error) + " (" + largest.where +
                             "), allowed " + figure(limit);
    demand(largest.error <= limit, text);
    return text;
}

std::string showFloat32(const Device& device) {
    return showProducts(device, at::kFloat);
}
std::string showBFloat16(const Device& device) {
    return showProducts(device, at::kBFloat16);
}
std::string showFloat16(const Device& device) {
    return showProducts(device, at::kHalf);
}

// Own kernels ----------------------------------------------------------------------------------

bool hasKernels(const Device& device) {
    return device.plugin->fusedOps() != nullptr;
}

constexpr std::array kTypes = {at::kFloat, at::kBFloat16, at::kHalf};

/// The worst deviation of a check, relative to its limit.
class Verdict {
public:
    void note(const FusedCase& at, const std::vector<Deviation>& found) {
        for (const Deviation& one : found) {
            ++m_count;
            const std::string text = nameOf(at) + ", " + one.what + ": error " + figure(one.error) +
                                     ", allowed " + figure(one.limit);
            demand(one.isFine(), text);
            if (const double share = one.error / one.limit; share >= m_share) {
                m_share = share;
                m_text = text;
            }
        }
    }
    std::string text() const {
        return std::to_string(m_count) +
               " results against ATen's in float64, the farthest: " + m_text;
    }

private:
    int m_count = 0;
    double m_share = 0;
    std::string m_text;
};

/// Odd sizes and, on a GPU, those of real models, which take all of its processors.
std::vector<FusedCase> casesOf(const Device& device, at::ScalarType type, int64_t rows,
                               int64_t columns) {
    std::vector<FusedCase> cases = {
        {device.at, type, 3, 127}, {device.at, type, 9, 260}, {device.at, type, 5, 768}};
    if (!device.isCpu())
        cases.push_back({device.at, type, rows, columns});
    return cases;
}

std::string showLayerNorm(const Device& device) {
    Verdict verdict;
    for (const at::ScalarType type : kTypes)
        for (const FusedCase& at : casesOf(device, type, 4096, 768))
            for (const NormedFor use : {NormedFor::kProducts, NormedFor::kResidual})
                verdict.note(at, checkAddLayerNorm(*device.plugin->fusedOps(), at, use, false));
    return verdict.text();
}

std::string showGelu(const Device& device) {
    Verdict verdict;
    for (const at::ScalarType type : kTypes)
        for (const FusedCase& at : casesOf(device, type, 4096, 3072))
            verdict.note(at, checkBiasGelu(*device.plugin->fusedOps(), at));
    return verdict.text();
}

std::string showLoss(const Device& device) {
    constexpr int64_t kSeveralChunks = 6 * 1024 * kMiB; // what the largest case needs
    Verdict verdict;
    const bool isLarge = !device.isCpu() && device.plugin->memory().free > kSeveralChunks;
    for (const at::ScalarType type : {at::kFloat, at::kBFloat16})
        for (const double smoothing : {0.0, 0.1}) {
            const FusedOps& ops = *device.plugin->fusedOps();
            const FusedCase small{device.at, type, 130, 48};
            verdict.note(small, checkClassifierLoss(ops, small, 65, smoothing, true));
            const FusedCase large{device.at, type, 3000, 48};
            if (isLarge)
                verdict.note(large, checkClassifierLoss(ops, large, 50257, smoothing, false));
        }
    return verdict.text();
}

// Recorded steps -------------------------------------------------------------------------------

bool hasGraphs(const Device& device) {
    return device.plugin->makeStepGraphs() != nullptr;
}

/// A GPT that is small, but has all the parts of a large one.
RunSpec smallSpec(const Device& device) {
    RunSpec spec;
    spec.model.layers = 2;
    spec.model.heads = 4;
    spec.model.width = 64;
    spec.model.context = 32;
    spec.model.dropout = 0; // so that both draw the same
    spec.optimizer.lr = 1e-3;
    spec.train.precision = device.isCpu() ? "float32" : "bfloat16";
    return spec;
}

/// Made-up ids in the shape of the workload's batches.
Batch batchOf(const RunSpec& spec, int64_t samples, int64_t vocab) {
    const auto generator = seededFor(static_cast<uint64_t>(samples));
    Batch batch = workloadOf(spec).imagineBatch(spec, samples);
    for (at::Tensor& tensor : batch.tensors)
        tensor = at::randint(0, vocab, tensor.sizes(), generator, at::kLong);
    return batch;
}

FewSteps fewStepsOf(const Device& device, bool recorded) {
    constexpr int64_t kVocab = 200;
    constexpr int64_t kSteps = 12;
    const RunSpec spec = smallSpec(device);
    DataSizes sizes;
    sizes.vocab = kVocab;
    const World alone;
    const auto model = workloadOf(spec).makeModel(spec, sizes, alone);
    model->initialize(seededFor(11));
    model->moveTo(device.at);
    // Batches of two shapes, as recordings share memory.
    const std::vector<Batch> data = {batchOf(spec, 4, kVocab), batchOf(spec, 6, kVocab)};
    return trainFewSteps(*model, spec, data, device, kSteps, recorded);
}

std::string showRecordedSteps(const Device& device) {
    constexpr double kLimit = 2e-3; // of the first loss: kernels may add up in another order
    const FewSteps plain = fewStepsOf(device, false);
    const FewSteps recorded = fewStepsOf(device, true);
    Largest largest;
    for (size_t i = 0; i < plain.losses.size(); ++i)
        largest.note(std::abs(plain.losses[i] - recorded.losses[i]) / plain.losses.front(),
                     "step " + std::to_string(i + 1) + ": loss " + figure(plain.losses[i]) +
                         ", recorded " + figure(recorded.losses[i]));
    if (!recorded.obstacle.empty() && recorded.replays == 0)
        return "nothing is recorded here: " + recorded.obstacle;
    const std::string text = "largest difference " + figure(largest.error) + " (" + largest.where +
                             "), allowed " + figure(kLimit);
    demand(largest.error <= kLimit, text);
    return std::to_string(recorded.replays) + " replays, " + text;
}

// Copies ---------------------------------------------------------------------------------------

std::string showCopies(const Device& device) {
    constexpr int kBatches = 32;
    constexpr int64_t kNumbers = kMiB / 4;
    const int64_t side = device.isCpu() ? 64 : 2048;
    at::Tensor busy =
        at::rand({side, side}, at::TensorOptions(at::kFloat).device(device.at)).mul_(1e-3);
    std::vector<at::Tensor> sums;
    for (int i = 0; i < kBatches; ++i) {
        busy = at::matmul(busy, busy).tanh_();
        // The host's tensor dies at once: its memory must not be written again too early.
        const auto here = device.plugin->copyHere({at::full({kNumbers}, i, at::kLong)});
        sums.push_back(here.front().sum());
    }
    for (int i = 0; i < kBatches; ++i)
        demand(sums[static_cast<size_t>(i)].item<int64_t>() == i * kNumbers,
               "batch " + std::to_string(i + 1) + " of " + std::to_string(kBatches) +
                   " arrived damaged while the device computed");
    return std::to_string(kBatches) + " batches of 2 MiB arrived whole while the device computed";
}

// Sums -----------------------------------------------------------------------------------------

std::string showSum(const Device& device) {
    const std::string fault = sumFaultHere(device);
    demand(fault.empty(), fault);
    return device.isCpu() ? "two ranks over Gloo have the sum that one has alone"
                          : "the collectives of one rank give its own numbers";
}

} // namespace

double deviationOf(const at::Tensor& mine, const at::Tensor& exact) {
    const at::Tensor difference = (mine.cpu().to(at::kDouble) - exact).abs();
    return difference.max().item<double>() / exact.abs().max().item<double>();
}

/// Sums are float32 on every device; what a result loses is the rounding to its own type.
double limitOfProducts(at::ScalarType type) {
    switch (type) {
    case at::kFloat:
        return 1e-5;
    case at::kHalf:
        return 1.0 / 1024;
    default: // bfloat16
        return 1.0 / 128;
    }
}

const std::vector<Proof>& proofs() {
    static const std::vector<Proof> all = {
        {"memory", fast_path::kDevice, always, showMemory},
        {"float32 products", fast_path::kDevice, always, exactly<showFloat32>},
        {"bfloat16 products", fast_path::kBFloat16, hasBFloat16, exactly<showBFloat16>},
        {"float16 products", fast_path::kFloat16, always, exactly<showFloat16>},
        {"layer norm kernel", fast_path::kLayerNorm, hasKernels, exactly<showLayerNorm>},
        {"GELU kernel", fast_path::kGelu, hasKernels, exactly<showGelu>},
        {"loss kernel", fast_path::kClassifierLoss, hasKernels, exactly<showLoss>},
        {"copies beside computing", fast_path::kCopies, always, showCopies},
        {"recorded steps", fast_path::kRecordedSteps, hasGraphs, showRecordedSteps},
        {"sums", fast_path::kCollectives, always, showSum},
    };
    return all;
}

} // namespace rm

// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/workloads/resnet/resnet.h"

#include "trainer/train/model/recompute.h"
#include "trainer/train/workloads/resnet/batch_norm.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/adaptive_avg_pool2d.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

namespace rm {
namespace {

constexpr int64_t kChannels = 3;
constexpr int64_t kByteValues = 256;
constexpr std::array<double, 3> kMean = {0.485, 0.456, 0.406};
constexpr std::array<double, 3> kDeviation = {0.229, 0.224, 0.225};
constexpr std::array<int64_t, 4> kBlocks18 = {2, 2, 2, 2};
constexpr std::array<int64_t, 4> kBlocks50 = {3, 4, 6, 3};
constexpr double kCropShare = 0.875; ///< of the shorter side, when validating
constexpr int64_t kStemWidth = 64;
constexpr int64_t kExpansion50 = 4; ///< of a bottleneck's last convolution

bool isBottleneck(const std::string& type) {
    return type == "resnet50";
}

// Filled in place: a copy would wait for the device, which a recorded step must not do.
at::Tensor perChannel(const std::array<double, 3>& values, at::Device device) {
    const at::Tensor tensor = at::empty({1, 3, 1, 1}, at::TensorOptions(at::kFloat).device(device));
    for (size_t i = 0; i < values.size(); ++i)
        tensor.select(1, static_cast<int64_t>(i)).fill_(values[i]);
    return tensor;
}

// The operations of torchvision's ToTensor and Normalize in the same order, for bit-equal results.
at::Tensor normalizeStepByStep(const at::Tensor& bytes) {
    constexpr double kWhite = 255.0;
    return bytes.to(at::kFloat)
        .div_(kWhite)
        .sub_(perChannel(kMean, bytes.device()))
        .div_(perChannel(kDeviation, bytes.device()));
}

/// The normalized value of each byte in each channel: [byte][channel].
using PixelTable = std::array<std::array<float, kChannels>, kByteValues>;

PixelTable makePixelTable() {
    const at::Tensor bytes = at::arange(kByteValues, at::kByte).view({-1, 1, 1, 1});
    const at::Tensor values =
        normalizeStepByStep(bytes.expand({-1, kChannels, 1, 1}).contiguous()).contiguous();
    PixelTable table;
    std::memcpy(table.data(), values.const_data_ptr(), sizeof table);
    return table;
}

constexpr int64_t kAtOnce = 8 * kChannels;

/// The same arithmetic for whole runs of `kAtOnce` bytes, faster than table lookups. Returns the
/// number of bytes done.
__attribute__((target("avx2"))) int64_t normalizeRuns(const uint8_t* from, float* to,
                                                      int64_t count) {
    using Bytes = uint8_t __attribute__((vector_size(8)));
    using Floats = float __attribute__((vector_size(32)));
    std::array<Floats, kChannels> mean, deviation;
    for (size_t i = 0; i < kAtOnce; ++i) {
        mean[i / 8][i % 8] = static_cast<float>(kMean[i % kChannels]);
        deviation[i / 8][i % 8] = static_cast<float>(kDeviation[i % kChannels]);
    }
    int64_t done = 0;
    for (; done + kAtOnce <= count; done += kAtOnce)
        for (size_t part = 0; part < kChannels; ++part) {
            Bytes bytes;
            std::memcpy(&bytes, from + done + 8 * part, sizeof bytes);
            const Floats share = __builtin_convertvector(bytes, Floats) / 255.0F;
            const Floats value = (share - mean[part]) / deviation[part];
            std::memcpy(to + done + 8 * part, &value, sizeof value);
        }
    return done;
}

/// One pass; the separate operations would make four over the floats.
at::Tensor normalizeInOnePass(const at::Tensor& bytes) {
    static const PixelTable table = makePixelTable();
    static const bool wide = __builtin_cpu_supports("avx2");
    constexpr int64_t kGrain = 1 << 14; // pixels worth a thread
    const at::Tensor pixels = bytes.contiguous(at::MemoryFormat::ChannelsLast);
    at::Tensor out = at::empty(pixels.sizes(), pixels.options().dtype(at::kFloat),
                               at::MemoryFormat::ChannelsLast);
    const auto* from = pixels.const_data_ptr<uint8_t>();
    auto* to = out.mutable_data_ptr<float>();
    at::parallel_for(0, pixels.numel() / kChannels, kGrain, [&](int64_t begin, int64_t end) {
        const int64_t first = begin * kChannels, count = (end - begin) * kChannels;
        const int64_t done = wide ? normalizeRuns(from + first, to + first, count) : 0;
        for (int64_t at = first + done; at < end * kChannels; at += kChannels)
            for (int64_t channel = 0; channel < kChannels; ++channel)
                to[at + channel] = table[from[at + channel]][static_cast<size_t>(channel)];
    });
    return out;
}

} // namespace

at::Tensor normalizePictures(const at::Tensor& bytes) {
    return bytes.is_cpu() ? normalizeInOnePass(bytes) : normalizeStepByStep(bytes);
}

ResNet::ResNet(Settings settings, const World& world)
    : m_settings(std::move(settings))
    , m_over(m_settings.syncBatchNorm ? &world : nullptr) {
    const bool bottleneck = isBottleneck(m_settings.type);
    m_stem = addConvolution("conv1", "bn1", {3, kStemWidth, 7, 2});
    int64_t in = kStemWidth;
    for (size_t layer = 0; layer < kBlocks50.size(); ++layer) {
        const int64_t width = kStemWidth << layer;
        const int64_t count = bottleneck ? kBlocks50[layer] : kBlocks18[layer];
        for (int64_t i = 0; i < count; ++i) {
            const std::string name =
                "layer" + std::to_string(layer + 1) + "." + std::to_string(i) + ".";
            m_blocks.push_back(addBlock(name, in, width, layer > 0 && i == 0 ? 2 : 1));
            in = bottleneck ? width * kExpansion50 : width;
        }
    }
    m_classifierWeight = addParameter("fc.weight", {m_settings.classes, in});
    m_classifierBias = addParameter("fc.bias", {m_settings.classes});
}

ResNet::Convolution ResNet::addConvolution(const std::string& name, const std::string& norm,
                                           Shape shape) {
    Convolution made;
    made.stride = shape.stride;
    made.weight = addParameter(name + ".weight", {shape.out, shape.in, shape.size, shape.size},
                               at::MemoryFormat::ChannelsLast);
    made.normWeight = addParameter(norm + ".weight", {shape.out});
    made.normBias = addParameter(norm + ".bias", {shape.out});
    made.mean = addBuffer(norm + ".running_mean", at::zeros({shape.out}));
    made.variance = addBuffer(norm + ".running_var", at::ones({shape.out}));
    made.batches = addBuffer(norm + ".num_batches_tracked", at::zeros({}, at::kLong));
    return made;
}

ResNet::Block ResNet::addBlock(const std::string& name, int64_t in, int64_t width, int64_t stride) {
    Block block;
    const auto add = [&](int index, Shape shape) {
        const std::string number = std::to_string(index);
        block.convolutions.push_back(
            addConvolution(name + "conv" + number, name + "bn" + number, shape));
    };
    int64_t out = width;
    if (isBottleneck(m_settings.type)) {
        out = width * kExpansion50;
        add(1, {in, width, 1, 1});
        add(2, {width, width, 3, stride});
        add(3, {width, out, 1, 1});
    } else {
        add(1, {in, width, 3, stride});
        add(2, {width, width, 3, 1});
    }
    if (stride != 1 || in != out)
        block.shortcut =
            addConvolution(name + "downsample.0", name + "downsample.1", {in, out, 1, stride});
    return block;
}

// Drawn into contiguous memory, so that the values do not depend on the layout.
void ResNet::initialize(at::Generator generator) {
    const at::NoGradGuard noGrad;
    for (const Parameter& one : parameters()) {
        at::Tensor value = one.value;
        const bool classifier = one.name.starts_with("fc.");
        if (value.dim() == 4) {
            const auto fanOut = static_cast<double>(value.size(0) * value.size(2) * value.size(3));
            value.copy_(at::empty(value.sizes()).normal_(0.0, std::sqrt(2.0 / fanOut), generator));
        } else if (classifier) {
            const auto fanIn = static_cast<double>(parameter(m_classifierWeight).size(1));
            value.uniform_(-1.0 / std::sqrt(fanIn), 1.0 / std::sqrt(fanIn), generator);
        } else {
            value.fill_(one.name.ends_with("weight") ? 1.0 : 0.0);
        }
    }
}

at::Tensor ResNet::convolve(const Convolution& convolution, const at::Tensor& x, Pass pass) const {
    const at::Tensor& weight = parameter(convolution.weight);
    const at::Tensor y =
        at::conv2d(x, weight, {}, convolution.stride, /*padding=*/weight.size(2) / 2);
    NormTensors norm{
        parameter(convolution.normWeight), parameter(convolution.normBias), {}, {}, {}};
    if (pass != Pass::kTrainingAgain) {
        norm.mean = buffer(convolution.mean);
        norm.variance = buffer(convolution.variance);
        norm.batches = buffer(convolution.batches);
    }
    return batchNorm(y, norm, pass != Pass::kInference, m_over);
}

at::Tensor ResNet::forward(const Block& block, const at::Tensor& x, Pass pass) const {
    at::Tensor y = x;
    for (size_t i = 0; i < block.convolutions.size(); ++i) {
        y = convolve(block.convolutions[i], y, pass);
        if (i + 1 < block.convolutions.size())
            y.relu_();
    }
    y += block.shortcut ? convolve(*block.shortcut, x, pass) : x;
    return y.relu_();
}

at::Tensor ResNet::forwardAgainLater(const Block& block, const at::Tensor& x) const {
    const auto run = [this, &block, pass = Pass::kTraining](const at::Tensor& in) mutable {
        return forward(block, in, std::exchange(pass, Pass::kTrainingAgain));
    };
    return recomputed(run, x, parametersOf(block), /*isRandom=*/false);
}

std::vector<at::Tensor> ResNet::parametersOf(const Block& block) const {
    std::vector<at::Tensor> all;
    const auto add = [&](const Convolution& convolution) {
        for (const size_t index :
             {convolution.weight, convolution.normWeight, convolution.normBias})
            all.push_back(parameter(index));
    };
    std::ranges::for_each(block.convolutions, add);
    if (block.shortcut)
        add(*block.shortcut);
    return all;
}

at::Tensor ResNet::logits(const at::Tensor& pictures, bool training) {
    at::Tensor x = pictures.contiguous(at::MemoryFormat::ChannelsLast);
    const Pass pass = training ? Pass::kTraining : Pass::kInference;
    x = convolve(m_stem, x, pass).relu_();
    x = at::max_pool2d(x, /*kernel_size=*/3, /*stride=*/2, /*padding=*/1);
    for (const Block& block : m_blocks)
        x = training && m_settings.activationCheckpointing ? forwardAgainLater(block, x)
                                                           : forward(block, x, pass);
    x = at::adaptive_avg_pool2d(x, {1, 1}).flatten(1);
    return at::linear(x, parameter(m_classifierWeight), parameter(m_classifierBias));
}

double ResNet::forwardFlops(const Batch& batch) const {
    const at::Tensor& pictures = batch.tensors[0];
    int64_t height = pictures.size(2), width = pictures.size(3);
    const auto after = [](int64_t side, int64_t stride) { return (side - 1) / stride + 1; };
    double flops = 0;
    // A kernel has an odd side and is padded by half of it, so that only the stride counts.
    const auto add = [&](const Convolution& convolution, int64_t& high, int64_t& wide) {
        high = after(high, convolution.stride);
        wide = after(wide, convolution.stride);
        flops += static_cast<double>(high * wide) * flopsOfRow({convolution.weight});
    };
    add(m_stem, height, width);
    height = after(height, 2); // max-pooling
    width = after(width, 2);
    for (const Block& block : m_blocks) {
        int64_t shortHeight = height, shortWidth = width;
        if (block.shortcut)
            add(*block.shortcut, shortHeight, shortWidth);
        for (const Convolution& convolution : block.convolutions)
            add(convolution, height, width);
    }
    flops += flopsOfRow({m_classifierWeight});
    return static_cast<double>(pictures.size(0)) * flops;
}

at::Tensor ResNet::loss(const Batch& batch, bool training) {
    constexpr int64_t kNoIgnored = -100;
    const at::Tensor scores = logits(normalizePictures(batch.tensors[0]), training);
    return at::cross_entropy_loss(scores, batch.tensors[1], {}, at::Reduction::Mean, kNoIgnored,
                                  training ? m_settings.labelSmoothing : 0.0);
}

// timm's keys, as these are timm's tensor names; the labels also in transformers' form.
std::string ResNet::configJson() const {
    nlohmann::ordered_json config = {{"architecture", m_settings.type},
                                     {"num_classes", m_settings.classes}};
    config["pretrained_cfg"] = {{"input_size", {3, m_settings.imageSize, m_settings.imageSize}},
                                {"interpolation", "bilinear"},
                                {"crop_pct", kCropShare},
                                {"mean", kMean},
                                {"std", kDeviation},
                                {"label_names", m_settings.classNames}};
    auto& labels = config["id2label"] = nlohmann::ordered_json::object();
    for (size_t i = 0; i < m_settings.classNames.size(); ++i)
        labels[std::to_string(i)] = m_settings.classNames[i];
    return config.dump(2) + "\n";
}

} // namespace rm

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/spec/run_spec.h"
#include "trainer/train/dist/world.h"
#include "trainer/train/model/model.h"

#include <optional>

namespace rm {

/// ResNet-18 or -50 (He et al. 2015; the 50 strides in its 3x3 convolutions, "v1.5") with the names
/// of parameters and buffers, the numerics and the first values of torchvision.models.resnet18()
/// and resnet50(). Weights and activations are channels-last.
class ResNet final : public Model {
public:
    struct Settings {
        std::string type; ///< "resnet18" | "resnet50"
        int64_t classes = 1000;
        std::vector<std::string> classNames; ///< by class; fewer than classes: the rest have none
        int64_t imageSize = 224;             ///< pixels; for config.json alone
        double labelSmoothing = 0;           ///< of the training loss
        bool syncBatchNorm = false;
        bool activationCheckpointing = false; ///< of each residual block
    };
    /// `world` must outlive it; only synchronized batch norm uses it.
    ResNet(Settings settings, const World& world);

    void initialize(at::Generator generator) override;

    /// `batch`: pictures as uint8 (B, 3, H, W), channels-last, and their classes as int64 (B).
    at::Tensor loss(const Batch& batch, bool training) override;
    double forwardFlops(const Batch& batch) const override;
    std::string configJson() const override;

    /// Normalized pictures, float32 (B, 3, H, W) -> (B, classes)
    at::Tensor logits(const at::Tensor& pictures, bool training);

private:
    struct Convolution {
        size_t weight = 0; ///< (out, in, k, k)
        int64_t stride = 1;
        size_t normWeight = 0, normBias = 0, mean = 0, variance = 0, batches = 0;
    };
    struct Block {
        std::vector<Convolution> convolutions;
        std::optional<Convolution> shortcut;
    };
    struct Shape {
        int64_t in, out, size, stride;
    };
    enum class Pass {
        kInference,
        kTraining,
        kTrainingAgain, ///< recomputed: the running statistics have this batch already
    };

    Convolution addConvolution(const std::string& name, const std::string& norm, Shape shape);
    Block addBlock(const std::string& name, int64_t in, int64_t width, int64_t stride);
    at::Tensor convolve(const Convolution& convolution, const at::Tensor& x, Pass pass) const;
    at::Tensor forward(const Block& block, const at::Tensor& x, Pass pass) const;
    at::Tensor forwardAgainLater(const Block& block, const at::Tensor& x) const;
    std::vector<at::Tensor> parametersOf(const Block& block) const;

    Settings m_settings;
    const World* m_over; ///< null: batch norm of each rank alone
    Convolution m_stem;
    std::vector<Block> m_blocks;
    size_t m_classifierWeight = 0;
    size_t m_classifierBias = 0;
};

/// Bytes (B, 3, H, W) -> float32, normalized by ImageNet's mean and standard deviation per channel,
/// as torchvision's models expect. On any device; channels-last on the CPU.
at::Tensor normalizePictures(const at::Tensor& bytes);

} // namespace rm

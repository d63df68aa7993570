// SPDX-License-Identifier: Apache-2.0
#include "shared/io/control_group.h"
#include "shared/return_if_error.h"
#include "trainer/train/device/autocast.h"
#include "trainer/train/workloads/foreign_weights.h"
#include "trainer/train/workloads/registry.h"
#include "trainer/train/workloads/resnet/image_findings.h"
#include "trainer/train/workloads/resnet/image_folder.h"
#include "trainer/train/workloads/resnet/image_task.h"
#include "trainer/train/workloads/resnet/image_view.h"
#include "trainer/train/workloads/resnet/resnet.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/topk.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <span>
#include <thread>

namespace rm {
namespace {

class ResNetWorkload final : public Workload {
public:
    std::string_view family() const override { return "resnet"; }

    Result<std::unique_ptr<Task>> makeTask(const Session& session) const override {
        return ImageTask::create(session);
    }

    /// On the CPU the model needs the cores; a GPU is faster than one reader.
    int64_t readers(const Device& device, int localRanks) const override {
        constexpr int64_t kMost = 16;
        const auto cores = static_cast<int64_t>(givenCores());
        const int64_t share = cores / std::max(1, localRanks);
        return device.isCpu() ? 1 : std::clamp<int64_t>(share, 1, kMost);
    }

    bool convolves() const override { return true; }

    Result<DataSizes> dataSizes(const RunSpec& spec) const override {
        DataSizes sizes;
        sizes.classes = spec.model.classes;
        if (sizes.classes > 0)
            return sizes;
        const auto folder = ImageFolder::scan(spec.data.train);
        if (!folder)
            return fail(folder.error().code,
                        "count the classes: " + folder.error().message +
                            "; where the pictures are not at hand, set model.classes");
        sizes.classes = static_cast<int64_t>(folder->classes().size());
        return sizes;
    }

    std::unique_ptr<Model> makeModel(const RunSpec& spec, const DataSizes& sizes,
                                     const World& world) const override {
        return std::make_unique<ResNet>(ResNet::Settings{spec.model.type,
                                                         sizes.classes,
                                                         {},
                                                         spec.model.imageSize,
                                                         spec.train.labelSmoothing,
                                                         spec.model.syncBatchNorm,
                                                         spec.train.activationCheckpointing},
                                        world);
    }

    /// Pictures of model.image_size.
    Batch imagineBatch(const RunSpec& spec, int64_t samples) const override {
        const int64_t size = spec.model.imageSize;
        const at::Tensor pixels = at::ones({samples, 3, size, size}, at::kByte)
                                      .contiguous(at::MemoryFormat::ChannelsLast);
        return {{pixels, at::zeros({samples}, at::kLong)}, samples};
    }

    /// Convolutions use a weight many times: 4.1e9 products for 25.6e6 weights at 224 pixels.
    int64_t usesPerSample(const RunSpec& spec) const override {
        constexpr int64_t kUsesPerPicture = 160;
        constexpr int64_t kUsual = 224 * 224;
        return std::max<int64_t>(1, kUsesPerPicture * spec.model.imageSize * spec.model.imageSize /
                                        kUsual);
    }

    /// The weights are channels-last in memory, but not in files.
    HostExtras hostExtras() const override { return {.copiesForFiles = true}; }

    Result<void> checkInput(const RunSpec& spec, const TryInput& input) const override {
        if (!input.picture.empty())
            return {};
        return fail(ErrorCode::kInvalid,
                    "try a checkpoint of " + spec.model.type +
                        ": the input is a text, but this model classifies pictures; give it the "
                        "file of one");
    }

    /// The five likeliest classes of the picture's centre, as a validation sees it.
    Result<TryAnswer> tryOut(const RunSpec& spec, Model& model, const std::string& checkpoint,
                             const Device& device, const TryInput& input) const override {
        constexpr int64_t kMostShown = 5;
        const int64_t size = spec.model.imageSize;
        const at::Tensor pixels =
            at::empty({1, 3, size, size}, at::kByte, at::MemoryFormat::ChannelsLast);
        const auto read = ImageReader::open(std::as_bytes(std::span<const char>(input.picture)))
                              .and_then([&](const std::unique_ptr<ImageReader>& reader) {
                                  return readCentre(*reader, pixels[0]);
                              });
        if (!read)
            return failAs("read the picture", read.error());
        const Autocast autocast(spec.train.precision, device);
        const at::Tensor logits =
            dynamic_cast<ResNet&>(model).logits(normalizePictures(pixels.to(device.at)), false);
        const at::Tensor chances = at::softmax(logits.to(at::kCPU, at::kFloat), 1);
        const auto [best, classes] = at::topk(chances, std::min(kMostShown, chances.size(1)), 1);
        const auto names = classesOf(checkpoint);
        TryAnswer answer;
        answer.kind = TryKind::kClasses;
        for (int64_t i = 0; i < best.size(1); ++i)
            answer.classes.push_back(
                {className(classes[0][i].item<int64_t>(), names), best[0][i].item<double>()});
        return answer;
    }

    Result<std::unique_ptr<Model>> modelFor(const RunSpec& spec, const Weights& weights,
                                            const std::string&,
                                            const std::string& source) const override {
        static const World alone;
        RM_ASSIGN_OR_RETURN(const auto classes, rowsOf(weights, "fc.weight", source));
        ResNet::Settings settings;
        settings.type = spec.model.type;
        settings.classes = classes;
        settings.imageSize = spec.model.imageSize;
        return std::make_unique<ResNet>(settings, alone);
    }
};

} // namespace

const Workload& resnetWorkload() {
    static const ResNetWorkload workload;
    return workload;
}

} // namespace rm

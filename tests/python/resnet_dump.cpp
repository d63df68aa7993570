// SPDX-License-Identifier: Apache-2.0
// resnet_dump TYPE INPUT OUT: the trainer's ResNet with the weights, pictures and labels of INPUT,
// which resnet_reference.py wrote from a model of torchvision's: logits, loss and gradients, then
// some steps of SGD; all into one safetensors file, in which "after." is the whole model.
#include "tests/python/dump.h"
#include "trainer/train/checkpoint/checkpoint.h"
#include "trainer/train/model/gradients.h"
#include "trainer/train/workloads/resnet/resnet.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/stack.h>

#include <cstdio>

namespace {

using namespace rm::test;

constexpr double kLr = 0.01;
constexpr double kSmoothing = 0.1;

rm::RunSpec::Optimizer sgd() {
    rm::RunSpec::Optimizer settings;
    settings.type = "sgd";
    settings.momentum = 0.9;
    settings.weightDecay = 1e-4;
    return settings;
}

/// `pictures` (steps, B, 3, H, W) as int64, `labels` (steps, B)
Named compute(rm::ResNet& model, const at::Tensor& pictures, const at::Tensor& labels) {
    const auto batch = [&](int64_t step) {
        return rm::Batch{
            {pictures[step].to(at::kByte).contiguous(at::MemoryFormat::ChannelsLast), labels[step]},
            labels.size(1)};
    };
    Named dump;
    addFlops(dump, model, batch(0));
    const at::Tensor first = rm::normalizePictures(batch(0).tensors[0]);
    {
        const at::NoGradGuard noGrad;
        dump.emplace_back("evalLogits", snapshot(model.logits(first, false)));
        dump.emplace_back("evalLoss", snapshot(model.loss(batch(0), false)));
    }
    const rm::World alone;
    const auto optimizer = rm::makeOptimizer(model, sgd(), alone, nullptr);
    std::vector<at::Tensor> losses;
    for (int64_t step = 0; step < pictures.size(0); ++step) {
        clearGradients(model);
        const at::Tensor loss = model.loss(batch(step), true);
        loss.backward();
        if (step == 0)
            addGradients(dump, model);
        optimizer->step(kLr);
        losses.push_back(snapshot(loss));
    }
    dump.emplace_back("losses", at::stack(losses));
    for (const rm::NamedTensor& tensor : rm::modelTensors(model))
        dump.emplace_back("after." + tensor.name, snapshot(tensor.tensor));
    const at::NoGradGuard noGrad;
    dump.emplace_back("trainLogits", snapshot(model.logits(first, true)));
    return dump;
}

rm::Result<void> run(const std::string& type, const std::string& input, const std::string& out) {
    const auto file = rm::SafetensorsFile::open(input);
    if (!file)
        return tl::unexpected(file.error());
    const rm::World alone;
    rm::ResNet model({type, file->find("fc.bias")->shape[0], {}, 0, kSmoothing, false}, alone);
    std::vector<rm::TensorShape> needed = rm::modelShapes(model);
    for (const char* name : {"pictures", "labels"})
        needed.push_back({name, file->find(name)->shape, at::kLong});
    const auto loaded = rm::LoadedTensors::open(input, needed);
    if (!loaded)
        return tl::unexpected(loaded.error());
    rm::loadModel(*loaded, model);
    return save(out, compute(model, loaded->tensor("pictures"), loaded->tensor("labels")));
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fputs("usage: resnet_dump TYPE INPUT OUT\n", stderr);
        return 2;
    }
    at::set_num_threads(1); // as the reference: sums are taken in the same order
    return ended(run(argv[1], argv[2], argv[3]));
}

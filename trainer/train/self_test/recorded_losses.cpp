// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/self_test/recorded_losses.h"

#include "trainer/train/device/autocast.h"
#include "trainer/train/dist/gradient_sync.h"
#include "trainer/train/loop/graphed_step.h"
#include "trainer/train/optim/grad_scaler.h"
#include "trainer/train/optim/optimizer.h"

#include <ATen/ops/ones.h>

namespace rm {

FewSteps trainFewSteps(Model& model, const RunSpec& spec, const std::vector<Batch>& data,
                       const Device& device, int64_t steps, bool recorded) {
    FewSteps done;
    const World alone;
    GradientSync sync(alone, model, {}, false, [](MetricId) {});
    const auto optimizer = makeOptimizer(model, spec.optimizer, alone, nullptr);
    GradScaler scaler(device.at, false, GradScaler::Mode::kStaysShut);
    GraphedStep::Work work;
    work.begin = [&](bool inPlace) { inPlace ? sync.beginStepInPlace() : sync.beginStep(); };
    work.weight = [](const Batch&) { return 1.0; }; // the only one of its step
    work.add = [&](const Batch& batch, const at::Tensor& weight) {
        const auto forward = [&] {
            const Autocast autocast(spec.train.precision, device);
            return model.loss(batch, true);
        };
        const at::Tensor loss = forward();
        sync.backward(loss, scaler.seed(loss, weight), true);
        return loss.detach();
    };
    work.update = [&] { return scaler.update(*optimizer, spec.optimizer.lr, 1.0, 0); };
    work.takeLaps = [] { return nullptr; };
    work.onReplay = [&](const RecordedLaps&) { ++done.replays; };
    work.onObstacle = [&](const std::string& why, int64_t) { done.obstacle = why; };
    const auto recorder = recorded ? GraphedStep::make(*device.plugin, true, work) : nullptr;
    const at::Tensor one = at::ones({}, at::TensorOptions(at::kFloat).device(device.at));
    for (int64_t step = 1; step <= steps; ++step) {
        scaler.setLr(spec.optimizer.lr);
        const Batch batch = toDevice(data[static_cast<size_t>(step) % data.size()], device);
        if (recorder) {
            done.losses.push_back(recorder->gradients({batch}, step).item<double>());
            recorder->update(1.0, step);
        } else {
            work.begin(false);
            done.losses.push_back(work.add(batch, one).item<double>());
            work.update();
        }
    }
    return done;
}

} // namespace rm

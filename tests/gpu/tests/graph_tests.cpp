// SPDX-License-Identifier: Apache-2.0
// Recordings of a training step.
#include "tests/gpu/tests/harness.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>

#include <cmath>

using namespace rm;
using gpu::require;

namespace {

constexpr int kWarmUps = 3; ///< runs of the first StepGraph of a set before it is recorded

std::unique_ptr<StepGraph> makeGraph(const Device& device, std::function<void()> step) {
    return device.plugin->makeStepGraphs()->make(std::move(step));
}

/// Gradient descent on a small layer with dropout: forward, backward and update.
struct Descent {
    explicit Descent(const Device& device)
        : input(at::ones({16, 32}, at::TensorOptions(at::kFloat).device(device.at)))
        , weight(at::ones({32, 8}, input.options()).mul_(0.5).requires_grad_(true))
        , loss(at::zeros({}, input.options())) {}

    void step() {
        ++calls;
        weight.mutable_grad().reset();
        const at::Tensor out = at::matmul(at::dropout(input, 0.5, true), weight);
        const at::Tensor now = out.square().mean();
        now.backward();
        const at::NoGradGuard noGrad;
        loss.copy_(now);
        weight.sub_(weight.grad(), 0.01);
    }

    at::Tensor input, weight, loss;
    int calls = 0;
};

at::Tensor inputOf(const Descent& descent, int step) {
    return at::ones_like(descent.input) * (1.0 + 0.1 * step);
}

} // namespace

GPU_TEST(graphs, replaysComputeWhatTheStepComputes) {
    constexpr int kSteps = 10;
    const auto random = device.plugin->rngState();
    Descent plain(device);
    for (int i = 0; i < kSteps; ++i) {
        plain.input.copy_(inputOf(plain, i));
        plain.step();
    }
    const auto randomAfter = device.plugin->rngState();

    device.plugin->setRngState(random);
    Descent recorded(device);
    const auto graph = makeGraph(device, [&] { recorded.step(); });
    int replays = 0;
    for (int i = 0; i < kSteps; ++i) {
        recorded.input.copy_(inputOf(recorded, i));
        replays += graph->run() ? 1 : 0;
    }
    require(graph->obstacle().empty(), graph->obstacle());
    require(replays == kSteps - kWarmUps, std::to_string(replays) + " replays");
    require(recorded.calls == kWarmUps + 1, "the step was called again");
    require(at::equal(plain.weight, recorded.weight),
            "weights differ by " +
                gpu::text((plain.weight - recorded.weight).abs().max().item<double>()));
    require(device.plugin->rngState() == randomAfter, "the generator stands elsewhere");
}

GPU_TEST(graphs, graphsOfOneMemoryTakeTurns) {
    constexpr int kRounds = 6;
    const auto random = device.plugin->rngState();
    Descent plain(device);
    Descent wide(device);
    wide.input = at::ones({64, 32}, wide.input.options());
    const auto graphs = device.plugin->makeStepGraphs();
    const auto alternate = [&](Descent& first, Descent& second, const auto& run) {
        for (int i = 0; i < kRounds; ++i)
            for (Descent* descent : {&first, &second}) {
                descent->input.copy_(inputOf(*descent, i));
                run(*descent);
            }
    };
    alternate(plain, wide, [](Descent& descent) { descent.step(); });
    const auto randomAfter = device.plugin->rngState();

    device.plugin->setRngState(random);
    Descent recorded(device);
    Descent recordedWide(device);
    recordedWide.input = at::ones({64, 32}, wide.input.options());
    const auto graph = graphs->make([&] { recorded.step(); });
    const auto wideGraph = graphs->make([&] { recordedWide.step(); });
    int replays = 0;
    alternate(recorded, recordedWide, [&](Descent& descent) {
        replays += (&descent == &recorded ? *graph : *wideGraph).run() ? 1 : 0;
    });
    require(graph->obstacle().empty() && wideGraph->obstacle().empty(), graph->obstacle());
    require(replays == 2 * kRounds - kWarmUps, std::to_string(replays) + " replays");
    require(at::equal(plain.weight, recorded.weight) && at::equal(wide.weight, recordedWide.weight),
            "weights differ");
    require(device.plugin->rngState() == randomAfter, "the generator stands elsewhere");
}

GPU_TEST(graphs, brokenGraphLeavesTheOthersOfItsMemory) {
    const auto graphs = device.plugin->makeStepGraphs();
    Descent good(device);
    Descent bad(device);
    const auto graph = graphs->make([&] { good.step(); });
    const auto waiting = graphs->make([&] {
        bad.step();
        static_cast<void>(bad.loss.item<double>()); // no recording can hold that
    });
    for (int i = 0; i < 5; ++i)
        graph->run();
    waiting->run();
    require(!waiting->run() && !waiting->obstacle().empty(), "a step that waits was recorded");
    const auto before = device.plugin->rngState();
    require(graph->run(), "the recording before is gone: " + graph->obstacle());
    require(device.plugin->rngState() != before, "it does not move the generator any more");
    Descent next(device);
    const auto third = graphs->make([&] { next.step(); });
    third->run();
    require(third->run(), "nothing can be recorded afterwards: " + third->obstacle());
}

GPU_TEST(graphs, stepThatWaitsRunsUnrecorded) {
    Descent plain(device);
    double seen = 0;
    const auto graph = makeGraph(device, [&] {
        plain.step();
        seen = plain.loss.item<double>(); // no recording can hold that
    });
    for (int i = 0; i < 8; ++i) {
        require(!graph->run(), "a step that waits was replayed");
        require(std::isfinite(seen), "the loss is not finite");
    }
    require(!graph->obstacle().empty(), "no obstacle is named");
    require(plain.calls == 8 + 1, std::to_string(plain.calls) + " calls"); // one in the attempt
    // Neither allocator nor generator was left in the middle of a recording.
    const auto state = device.plugin->rngState();
    const at::Tensor first = at::rand({1000}, plain.input.options());
    device.plugin->setRngState(state);
    require(at::equal(first, at::rand({1000}, plain.input.options())), "random numbers are broken");
    Descent next(device);
    const auto another = makeGraph(device, [&] { next.step(); });
    for (int i = 0; i < 5; ++i)
        another->run();
    require(another->obstacle().empty(), "afterwards: " + another->obstacle());
}

GPU_TEST(graphs, errorOfTheStepComesThrough) {
    const auto graph = makeGraph(device, [] { throw std::runtime_error("no such data"); });
    try {
        graph->run();
        require(false, "nothing was thrown");
    } catch (const std::runtime_error& error) {
        require(std::string(error.what()) == "no such data", error.what());
    }
}

GPU_TEST(graphs, lapsOfAReplayAreTimed) {
    const auto clock = device.plugin->makeClock();
    const auto options = at::TensorOptions(at::kFloat).device(device.at);
    const at::Tensor big = at::randn({4096, 4096}, options);
    at::Tensor out;
    const auto graph = makeGraph(device, [&] {
        out = at::matmul(big, big);
        clock->lap(7);
        out = at::matmul(out, big);
        clock->lap(8);
    });
    RecordedLaps recorded;
    for (int step = 1; step <= 6; ++step) {
        clock->start(step);
        const bool replayed = graph->run();
        if (const RecordedLaps made = clock->takeRecorded())
            recorded = made;
        if (replayed)
            clock->replayed(recorded);
        clock->lap(9);
        clock->close();
        device.plugin->synchronize();
        const auto steps = clock->takeFinished();
        require(steps.size() == 1 && steps[0].step == step, "a step without times");
        const auto& laps = steps[0].ms;
        require(laps.size() == 3 && laps[0].first == 7 && laps[1].first == 8 && laps[2].first == 9,
                "step " + std::to_string(step) + " has " + std::to_string(laps.size()) + " laps");
        require(laps[0].second > 0.05F && laps[1].second > 0.05F, "a product took no time");
    }
}

// SPDX-License-Identifier: Apache-2.0
// optim_dump OUT: the trainer's optimizers, clipping, loss scaling, averaging and schedules on
// made-up weights and gradients, into one safetensors file for optim_reference.py. Its metadata
// says which cases it holds.
#include "tests/python/dump.h"
#include "tests/unit/train/toy_model.h"
#include "trainer/train/model/gradients.h"
#include "trainer/train/optim/grad_scaler.h"
#include "trainer/train/optim/schedule.h"
#include "trainer/train/optim/weight_average.h"

#include <ATen/ops/tensor.h>
#include <nlohmann/json.hpp>

#include <cstdio>

namespace {

using namespace rm::test;

constexpr int64_t kSteps = 25;
constexpr double kLr = 1e-2;
constexpr double kAverageDecay = 0.9;
constexpr double kGradientScale = 2.0;
constexpr uint64_t kWeightSeed = 3;
constexpr uint64_t kGradientSeed = 7;

struct Case {
    std::string name;
    rm::RunSpec::Optimizer settings;
    bool scalesLoss = false;
    std::vector<int64_t> brokenSteps; ///< whose gradients are infinite
};

Case caseOf(const char* name, const char* type, double momentum, bool nesterov) {
    Case one;
    one.name = name;
    one.settings.type = type;
    one.settings.momentum = momentum;
    one.settings.nesterov = nesterov;
    one.settings.clip = 0;
    return one;
}

std::vector<Case> allCases() {
    std::vector<Case> cases = {caseOf("adamw", "adamw", 0, false), caseOf("adam", "adam", 0, false),
                               caseOf("sgd", "sgd", 0, false),
                               caseOf("momentum", "sgd", 0.9, false),
                               caseOf("nesterov", "sgd", 0.9, true)};
    Case clipped = caseOf("clipped by norm", "adamw", 0, false);
    clipped.settings.clip = 1.0;
    cases.push_back(clipped);
    Case clamped = caseOf("clipped by value", "sgd", 0.9, false);
    clamped.settings.clipValue = 0.5;
    cases.push_back(clamped);
    Case scaled = clipped;
    scaled.name = "scaled loss";
    scaled.scalesLoss = true;
    scaled.brokenSteps = {1, 2, 9};
    cases.push_back(scaled);
    return cases;
}

nlohmann::json described(const Case& one) {
    return {{"name", one.name},
            {"type", one.settings.type},
            {"momentum", one.settings.momentum},
            {"nesterov", one.settings.nesterov},
            {"betas", {one.settings.beta1, one.settings.beta2}},
            {"eps", one.settings.eps},
            {"weight_decay", one.settings.weightDecay},
            {"clip", one.settings.clip},
            {"clip_value", one.settings.clipValue},
            {"scales_loss", one.scalesLoss},
            {"broken_steps", one.brokenSteps}};
}

/// Gradients of every step, before any loss scale.
std::vector<std::vector<at::Tensor>> makeGradients() {
    at::manual_seed(kGradientSeed);
    const auto model = rm::test::toyModel(kWeightSeed);
    std::vector<std::vector<at::Tensor>> steps;
    for (int64_t step = 0; step < kSteps; ++step) {
        rm::test::setGradients(*model, kGradientScale);
        steps.push_back(rm::gradientsOf(rm::parameterValues(*model)));
    }
    return steps;
}

void setGradients(const rm::Model& model, const std::vector<at::Tensor>& gradients, double scale,
                  bool broken) {
    for (size_t i = 0; i < gradients.size(); ++i) {
        at::Tensor gradient = gradients[i] * scale;
        if (broken)
            gradient.fill_(std::numeric_limits<double>::infinity());
        model.parameters()[i].value.mutable_grad() = gradient;
    }
}

void run(const Case& one, const std::vector<std::vector<at::Tensor>>& gradients, Named& out) {
    const rm::World alone;
    const auto model = rm::test::toyModel(kWeightSeed);
    const auto optimizer = rm::makeOptimizer(*model, one.settings, alone, nullptr);
    rm::GradScaler scaler(at::kCPU, one.scalesLoss, rm::GradScaler::Mode::kSkips);
    rm::WeightAverage average(*model, kAverageDecay);
    std::vector<double> scales;
    for (int64_t step = 1; step <= kSteps; ++step) {
        const bool broken = std::ranges::count(one.brokenSteps, step) > 0;
        scales.push_back(scaler.lossScale());
        setGradients(*model, gradients[static_cast<size_t>(step - 1)], scales.back(), broken);
        scaler.update(*optimizer, kLr, one.settings.clip, one.settings.clipValue);
        average.update();
    }
    for (size_t i = 0; i < gradients[0].size(); ++i) {
        const rm::Parameter& parameter = model->parameters()[i];
        out.emplace_back(one.name + "/" + parameter.name, snapshot(parameter.value));
        out.emplace_back(one.name + "/average/" + parameter.name, snapshot(average.values()[i]));
    }
    out.emplace_back(one.name + "/scales", at::tensor(scales, at::kFloat));
}

void addSchedules(Named& out) {
    for (const char* type : {"constant", "step", "cosine", "inverse-sqrt", "linear", "wsd"}) {
        rm::RunSpec::Schedule schedule{type, 10, 1e-3, 30, 0.25, 20};
        for (const int64_t warmup : {0, 10}) {
            schedule.warmupSteps = warmup;
            std::vector<double> rates;
            for (int64_t step = 1; step <= 100; ++step)
                rates.push_back(rm::learningRate(schedule, kLr, step, 100));
            out.emplace_back("schedule/" + std::string(type) + "/" + std::to_string(warmup),
                             at::tensor(rates, at::kFloat));
        }
    }
}

rm::Result<void> dump(const std::string& path) {
    Named tensors;
    const auto gradients = makeGradients();
    const auto model = rm::test::toyModel(kWeightSeed);
    for (size_t i = 0; i < model->parameters().size(); ++i) {
        const rm::Parameter& parameter = model->parameters()[i];
        tensors.emplace_back("initial/" + parameter.name, snapshot(parameter.value));
        for (size_t step = 0; step < gradients.size(); ++step)
            tensors.emplace_back("gradient/" + std::to_string(step) + "/" + parameter.name,
                                 snapshot(gradients[step][i]));
    }
    nlohmann::json cases = nlohmann::json::array();
    for (const Case& one : allCases()) {
        cases.push_back(described(one));
        run(one, gradients, tensors);
    }
    addSchedules(tensors);
    return save(path, tensors, {{"cases", cases.dump()}});
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fputs("usage: optim_dump OUT\n", stderr);
        return 2;
    }
    return ended(dump(argv[1]));
}

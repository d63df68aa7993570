// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/interchange/inspect.h"

#include "shared/checkpoint/manifest.h"
#include "shared/return_if_error.h"
#include "trainer/train/checkpoint/checkpoint.h"
#include "trainer/train/formats/dtypes.h"
#include "trainer/train/interchange/subcommands.h"
#include "trainer/train/session/options.h"

#include <ATen/ops/sum.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdio>
#include <numeric>

namespace rm {
namespace {

using nlohmann::ordered_json;

const char* kindName(WeightsKind kind) {
    switch (kind) {
    case WeightsKind::kCheckpoint:
        return "checkpoint";
    case WeightsKind::kFolder:
        return "folder";
    case WeightsKind::kSafetensors:
        return "safetensors";
    case WeightsKind::kTorch:
        return "torch";
    }
    return "";
}

std::vector<TensorReport> reportsOf(const Weights& weights) {
    std::vector<TensorReport> reports;
    for (const auto& [name, tensor] : weights) {
        const char* dtype = safetensorsDtype(tensor.scalar_type());
        reports.push_back({name, dtype ? dtype : at::toString(tensor.scalar_type()),
                           tensor.sizes().vec(), at::sum(tensor, at::kDouble).item<double>()});
    }
    return reports;
}

Result<void> addCheckpoint(Inspection& inspection) {
    const std::string& path = inspection.path;
    RM_ASSIGN_OR_RETURN(const auto state, openCheckpoint(path));
    RM_ASSIGN_OR_RETURN(const auto manifest, readManifest(path));
    RM_ASSIGN_OR_RETURN(const auto optimizer, readSafetensors(path + "/optimizer.safetensors"));
    inspection.state = state;
    inspection.attempt = manifest.attempt;
    inspection.best = manifest.best;
    inspection.optimizer = reportsOf(optimizer);
    inspection.spec = checkpointText(path, "spec.toml");
    for (const Manifest::File& file : manifest.files)
        inspection.files.emplace_back(file.name, file.size);
    return {};
}

int64_t itemsOf(const std::vector<TensorReport>& tensors) {
    int64_t count = 0;
    for (const TensorReport& tensor : tensors)
        count += itemsOf(tensor);
    return count;
}

std::string shapeOf(const TensorReport& tensor) {
    std::string text = "(";
    for (const int64_t size : tensor.shape)
        text += (text.size() > 1 ? ", " : "") + std::to_string(size);
    return text + ")";
}

std::string linesOf(const char* title, const std::vector<TensorReport>& tensors) {
    std::string text = title + std::string(": ") + std::to_string(tensors.size()) + " tensors, " +
                       std::to_string(itemsOf(tensors)) + " items\n";
    for (const TensorReport& tensor : tensors) {
        char sum[32];
        std::snprintf(sum, sizeof sum, "%.9g", tensor.sum);
        text += "  " + tensor.name + "  " + tensor.dtype + " " + shapeOf(tensor) + "  sum " + sum +
                "\n";
    }
    return text;
}

ordered_json jsonOf(const std::vector<TensorReport>& tensors) {
    ordered_json list = ordered_json::array();
    for (const TensorReport& tensor : tensors)
        list.push_back(
            {{"name", tensor.name},
             {"dtype", tensor.dtype},
             {"shape", tensor.shape},
             {"sum", std::isfinite(tensor.sum) ? ordered_json(tensor.sum) : ordered_json()}});
    return list;
}

} // namespace

int64_t itemsOf(const TensorReport& tensor) {
    return std::accumulate(tensor.shape.begin(), tensor.shape.end(), int64_t{1},
                           std::multiplies<>());
}

Result<Inspection> inspect(const std::string& path) {
    Inspection inspection;
    inspection.path = path;
    RM_ASSIGN_OR_RETURN(const auto kind, weightsKindOf(path));
    inspection.kind = kind;
    RM_ASSIGN_OR_RETURN(const auto weights, readWeights(path));
    inspection.weights = reportsOf(weights);
    if (kind == WeightsKind::kCheckpoint)
        RM_RETURN_IF_ERROR(addCheckpoint(inspection));
    return inspection;
}

std::string toText(const Inspection& inspection) {
    std::string text = inspection.path + " (" + kindName(inspection.kind) + ")\n";
    if (inspection.state)
        text += "step " + std::to_string(inspection.state->step) + ", epoch " +
                std::to_string(inspection.state->epoch) + ", saved by " +
                std::to_string(inspection.state->worldSize) + " ranks on " +
                inspection.state->device + ", attempt " + std::to_string(inspection.attempt) +
                (inspection.best ? ", best\n" : "\n");
    for (const auto& [name, size] : inspection.files)
        text += "  " + name + "  " + std::to_string(size) + " bytes\n";
    text += linesOf("weights", inspection.weights);
    if (inspection.state)
        text += linesOf("optimizer", inspection.optimizer) + "spec:\n" + inspection.spec;
    return text;
}

std::string toJson(const Inspection& inspection) {
    ordered_json json = {{"path", inspection.path},
                         {"kind", kindName(inspection.kind)},
                         {"parameters", itemsOf(inspection.weights)},
                         {"weights", jsonOf(inspection.weights)}};
    if (inspection.state) {
        json["step"] = inspection.state->step;
        json["attempt"] = inspection.attempt;
        json["best"] = inspection.best;
        json["epoch"] = inspection.state->epoch;
        json["world_size"] = inspection.state->worldSize;
        json["device"] = inspection.state->device;
        json["optimizer"] = jsonOf(inspection.optimizer);
        json["files"] = ordered_json::array();
        for (const auto& [name, size] : inspection.files)
            json["files"].push_back({{"name", name}, {"bytes", size}});
        json["spec"] = inspection.spec;
    }
    return json.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

Result<void> inspectSubcommand(int argc, char** argv) {
    std::string path;
    bool json = false;
    CLI::App app("Shows what a checkpoint, a folder or file of weights (safetensors, .pt, .pth) "
                 "holds: names, dtypes, shapes, sums; of a checkpoint also step, files, spec.",
                 "ringmaster-trainer inspect");
    app.add_option("path", path, "Checkpoint, folder or file")->required();
    app.add_flag("--json", json, "One JSON object");
    const auto continues = parseArguments(app, argc, argv);
    if (!continues || !*continues)
        return continues ? Result<void>() : tl::unexpected(continues.error());
    RM_ASSIGN_OR_RETURN(const auto inspection, inspect(path));
    std::fputs((json ? toJson(inspection) : toText(inspection)).c_str(), stdout);
    return {};
}

} // namespace rm

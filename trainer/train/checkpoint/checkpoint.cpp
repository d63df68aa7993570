// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/checkpoint/checkpoint.h"

#include "shared/checkpoint/safetensors.h"
#include "shared/io/file.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>

#include <filesystem>

namespace rm {
namespace {

constexpr const char* kModelFile = "model.safetensors";
constexpr const char* kOptimizerFile = "optimizer.safetensors";
constexpr const char* kStateFile = "state.json";

using NamedTensors = std::vector<NamedTensor>;

NamedTensors modelTensors(const Model& model) {
    NamedTensors tensors;
    for (const Parameter& parameter : model.parameters())
        tensors.push_back({parameter.name, parameter.value.detach()});
    for (const Buffer& buffer : model.buffers())
        tensors.push_back({buffer.name, buffer.value});
    return tensors;
}

Result<void> writeTensors(const std::string& path, const NamedTensors& tensors) {
    std::vector<at::Tensor> onHost; // keeps the bytes alive that the views show
    std::vector<TensorView> views;
    for (const auto& [name, tensor] : tensors) {
        onHost.push_back(tensor.to(at::kCPU, at::kFloat).contiguous());
        const at::Tensor& host = onHost.back();
        const auto* bytes = static_cast<const std::byte*>(host.const_data_ptr());
        views.push_back({name, "F32", host.sizes().vec(), {bytes, host.nbytes()}});
    }
    return writeSafetensors(path, views, {{"format", "pt"}});
}

std::string shapeText(const std::vector<int64_t>& shape) {
    std::string text = "(";
    for (const int64_t size : shape)
        text += (text.size() > 1 ? ", " : "") + std::to_string(size);
    return text + ")";
}

Result<void> readTensors(const std::string& path, const NamedTensors& tensors) {
    const at::NoGradGuard noGrad;
    const auto file = SafetensorsFile::open(path);
    if (!file)
        return tl::unexpected(file.error());
    for (const auto& [name, tensor] : tensors) {
        const TensorView* view = file->find(name);
        if (!view)
            return fail(ErrorCode::kInvalid, "load " + path + ": it has no tensor " + name);
        if (view->dtype != "F32" || view->shape != tensor.sizes().vec())
            return fail(ErrorCode::kInvalid, "load " + path + ": " + name + " is " + view->dtype +
                                                 " " + shapeText(view->shape) +
                                                 ", the spec's model needs F32 " +
                                                 shapeText(tensor.sizes().vec()));
        const at::Tensor saved = at::from_blob(const_cast<std::byte*>(view->data.data()),
                                               view->shape, at::TensorOptions(at::kFloat));
        at::Tensor(tensor).copy_(saved);
    }
    return {};
}

} // namespace

Result<std::string> saveCheckpoint(const std::string& parent, const Manifest& manifest,
                                   const Model& model, const Optimizer& optimizer,
                                   const TrainState& state, const TextFiles& texts) {
    if (const auto made = makeFolders(parent); !made)
        return tl::unexpected(made.error());
    return publishCheckpoint(parent, manifest, [&](const std::string& dir) -> Result<void> {
        if (const auto done = writeTensors(dir + "/" + kModelFile, modelTensors(model)); !done)
            return done;
        if (const auto done = writeTensors(dir + "/" + kOptimizerFile, optimizer.state()); !done)
            return done;
        for (const auto& [name, text] : texts)
            if (const auto done = writeFileAtomically(dir + "/" + name, text); !done)
                return done;
        return writeFileAtomically(dir + "/" + kStateFile, toJson(state));
    });
}

Result<TrainState> openCheckpoint(const std::string& dir) {
    if (const auto manifest = verifyCheckpoint(dir); !manifest)
        return tl::unexpected(manifest.error());
    const std::string path = dir + "/" + kStateFile;
    const auto text = readFile(path, size_t{1} << 30);
    if (!text)
        return tl::unexpected(text.error());
    return parseTrainState(*text, path);
}

std::string checkpointText(const std::string& dir, const std::string& name) {
    const std::string path = dir + "/" + name;
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored))
        return {};
    return readFile(path).value_or(std::string());
}

Result<void> restoreCheckpoint(const std::string& dir, const Model& model,
                               const Optimizer& optimizer) {
    if (const auto done = readTensors(dir + "/" + kModelFile, modelTensors(model)); !done)
        return done;
    return readTensors(dir + "/" + kOptimizerFile, optimizer.state());
}

} // namespace rm

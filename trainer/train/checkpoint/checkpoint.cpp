// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/checkpoint/checkpoint.h"

#include "shared/enforce.h"
#include "shared/io/file.h"
#include "shared/return_if_error.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>

#include <filesystem>
#include <thread>

namespace rm {
namespace {

constexpr const char* kStateFile = "state.json";

/// The type in which a tensor is stored.
at::ScalarType storedType(const at::Tensor& tensor) {
    return tensor.is_floating_point() ? at::kFloat : at::kLong;
}

std::string typeName(at::ScalarType type) {
    return type == at::kLong ? "I64" : "F32";
}

/// Writes the tensors to a file. If `hash` is not null, a second thread computes the file's SHA-256
/// meanwhile and stores it there.
Result<void> writeTensors(const std::string& path, const std::vector<NamedTensor>& tensors,
                          std::string* hash) {
    std::vector<at::Tensor> stored; // keeps the bytes of the views alive
    std::vector<TensorView> views;
    for (const NamedTensor& one : tensors) {
        stored.push_back(one.tensor.to(storedType(one.tensor)).contiguous());
        const at::Tensor& host = stored.back();
        const auto* bytes = static_cast<const std::byte*>(host.const_data_ptr());
        views.push_back(
            {one.name, typeName(host.scalar_type()), host.sizes().vec(), {bytes, host.nbytes()}});
    }
    const TensorMetadata metadata{{"format", "pt"}};
    std::jthread hashing;
    if (hash)
        hashing = std::jthread([&] { *hash = sha256OfSafetensors(views, metadata); });
    return writeSafetensors(path, views, metadata);
}

std::string shapeText(const std::vector<int64_t>& shape) {
    std::string text = "(";
    for (const int64_t size : shape)
        text += (text.size() > 1 ? ", " : "") + std::to_string(size);
    return text + ")";
}

Result<void> checkTensor(const std::string& path, const SafetensorsFile& file,
                         const TensorShape& needed) {
    const TensorView* view = file.find(needed.name);
    if (!view)
        return fail(ErrorCode::kInvalid, "load " + path + ": it has no tensor " + needed.name);
    const std::string type = typeName(needed.type);
    if (view->dtype == type && view->shape == needed.shape)
        return {};
    return fail(ErrorCode::kInvalid, "load " + path + ": " + needed.name + " is " + view->dtype +
                                         " " + shapeText(view->shape) +
                                         ", the spec's model needs " + type + " " +
                                         shapeText(needed.shape));
}

} // namespace

std::vector<NamedTensor> modelTensors(const Model& model) {
    std::vector<NamedTensor> tensors;
    for (const Parameter& parameter : model.parameters())
        tensors.push_back({parameter.name, parameter.value.detach()});
    for (NamedTensor& buffer : bufferTensors(model))
        tensors.push_back(std::move(buffer));
    return tensors;
}

std::vector<NamedTensor> bufferTensors(const Model& model) {
    std::vector<NamedTensor> tensors;
    for (const Buffer& buffer : model.buffers()) {
        const at::Tensor copy = buffer.value.detach().to(at::kCPU, /*non_blocking=*/false,
                                                         /*copy=*/true);
        tensors.push_back({buffer.name, copy, false});
    }
    return tensors;
}

std::vector<TensorShape> modelShapes(const Model& model) {
    std::vector<TensorShape> shapes;
    for (const Parameter& parameter : model.parameters())
        shapes.push_back({parameter.name, parameter.value.sizes().vec()});
    for (const Buffer& buffer : model.buffers())
        shapes.push_back({buffer.name, buffer.value.sizes().vec(), storedType(buffer.value)});
    return shapes;
}

Result<std::string> saveCheckpoint(const std::string& parent, const CheckpointContent& content) {
    RM_RETURN_IF_ERROR(makeFolders(parent));
    const at::NoGradGuard noGrad;
    FileHashes hashes;
    const auto fill = [&](const std::string& dir) -> Result<void> {
        for (const auto& [name, tensors] : content.tensorFiles)
            RM_RETURN_IF_ERROR(writeTensors(dir + "/" + name, tensors,
                                            content.hasSpareCore ? &hashes[name] : nullptr));
        for (const auto& [name, text] : content.texts)
            RM_RETURN_IF_ERROR(writeFileAtomically(dir + "/" + name, text));
        return writeFileAtomically(dir + "/" + kStateFile, toJson(content.state));
    };
    return publishCheckpoint(parent, content.manifest, fill, hashes);
}

Result<TrainState> openCheckpoint(const std::string& dir) {
    RM_RETURN_IF_ERROR(verifyCheckpoint(dir));
    return readState(dir);
}

Result<TrainState> readState(const std::string& dir) {
    const std::string path = dir + "/" + kStateFile;
    RM_ASSIGN_OR_RETURN(const auto text, readFile(path, size_t{1} << 30));
    return parseTrainState(text, path);
}

std::string checkpointText(const std::string& dir, const std::string& name) {
    const std::string path = dir + "/" + name;
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored))
        return {};
    return readFile(path).value_or(std::string());
}

Result<LoadedTensors> LoadedTensors::open(const std::string& path,
                                          const std::vector<TensorShape>& needed) {
    RM_ASSIGN_OR_RETURN(auto file, SafetensorsFile::open(path));
    for (const TensorShape& one : needed)
        RM_RETURN_IF_ERROR(checkTensor(path, file, one));
    return LoadedTensors(std::move(file));
}

at::Tensor LoadedTensors::tensor(const std::string& name) const {
    const TensorView* view = m_file.find(name);
    RM_ENFORCE(view);
    const at::ScalarType type = view->dtype == "I64" ? at::kLong : at::kFloat;
    return at::from_blob(const_cast<std::byte*>(view->data.data()), view->shape,
                         at::TensorOptions(type));
}

void loadModel(const LoadedTensors& from, const Model& model) {
    const at::NoGradGuard noGrad;
    for (const Parameter& parameter : model.parameters())
        parameter.value.detach().copy_(from.tensor(parameter.name));
    for (const Buffer& buffer : model.buffers())
        at::Tensor(buffer.value).copy_(from.tensor(buffer.name));
}

} // namespace rm

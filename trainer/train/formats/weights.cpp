// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/formats/weights.h"

#include "shared/checkpoint/manifest.h"
#include "shared/checkpoint/safetensors.h"
#include "shared/io/file.h"
#include "shared/io/json.h"
#include "shared/return_if_error.h"
#include "trainer/train/formats/dtypes.h"
#include "trainer/train/formats/torch_file.h"

#include <ATen/ops/from_blob.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <set>

namespace rm {
namespace fs = std::filesystem;
namespace {

/// The names of a folder's weights file, and of its index where there are several files.
constexpr const char* kModelFile = "model.safetensors";
constexpr const char* kTorchFile = "pytorch_model.bin";
constexpr const char* kIndexes[] = {"model.safetensors.index.json", "pytorch_model.bin.index.json"};

bool exists(const fs::path& path) {
    std::error_code ignored;
    return fs::exists(path, ignored);
}

/// The only file in `folder` with this ending; empty: none or several.
std::string onlyFile(const std::string& folder, const char* ending) {
    std::string found;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
        if (entry.path().extension() != ending)
            continue;
        if (!found.empty())
            return {};
        found = entry.path().string();
    }
    return found;
}

/// The files of an index: {"weight_map": {"tensor": "file beside the index"}}.
Result<std::vector<std::string>> filesOfIndex(const std::string& index) {
    RM_ASSIGN_OR_RETURN(const auto text, readFile(index));
    RM_ASSIGN_OR_RETURN(const auto json, parseJson(text, index));
    const auto map = json.is_object() ? json.find("weight_map") : json.end();
    if (map == json.end() || !map->is_object() || map->empty())
        return fail(ErrorCode::kCorrupt, "read " + index + ": it has no weight_map");
    std::set<std::string> names;
    for (const auto& file : *map) {
        const auto name = file.is_string() ? file.get<std::string>() : std::string();
        if (name.empty() || name.find('/') != name.npos || name == "..")
            return fail(ErrorCode::kCorrupt,
                        "read " + index + ": its weight_map names what is no file beside it");
        names.insert(name);
    }
    std::vector<std::string> files;
    for (const std::string& name : names)
        files.push_back((fs::path(index).parent_path() / name).string());
    return files;
}

/// The files in which a folder keeps its weights.
Result<std::vector<std::string>> filesOfFolder(const std::string& folder) {
    if (exists(folder + "/" + kModelFile))
        return std::vector{folder + "/" + kModelFile};
    for (const char* index : kIndexes)
        if (exists(folder + "/" + index))
            return filesOfIndex(folder + "/" + index);
    if (exists(folder + "/" + kTorchFile))
        return std::vector{folder + "/" + kTorchFile};
    for (const char* ending : {".safetensors", ".pth", ".pt", ".bin"})
        if (const std::string file = onlyFile(folder, ending); !file.empty())
            return std::vector{file};
    return fail(ErrorCode::kInvalid, "read weights in " + folder + ": it has no " + kModelFile +
                                         ", no index of several files, no " + kTorchFile +
                                         " and no single .safetensors, .pth or .pt file");
}

Result<Weights> readFileOfWeights(const std::string& path) {
    const auto kind = weightsKindOf(path);
    if (!kind)
        return tl::unexpected(kind.error());
    return *kind == WeightsKind::kTorch ? readTorchFile(path) : readSafetensors(path);
}

Result<Weights> readFolder(const std::string& folder) {
    RM_ASSIGN_OR_RETURN(const auto files, filesOfFolder(folder));
    Weights all;
    std::set<std::string> names;
    for (const std::string& file : files) {
        auto weights = readFileOfWeights(file);
        if (!weights)
            return weights;
        for (Weight& tensor : *weights) {
            if (!names.insert(tensor.name).second)
                return fail(ErrorCode::kCorrupt,
                            "read " + file + ": " + tensor.name + " is in an earlier file as well");
            all.push_back(std::move(tensor));
        }
    }
    return all;
}

Result<Weights> readCheckpoint(const std::string& folder) {
    RM_RETURN_IF_ERROR(verifyCheckpoint(folder));
    return readSafetensors(folder + "/" + kModelFile);
}

} // namespace

Result<WeightsKind> weightsKindOf(const std::string& path) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status))
        return failErrno("read weights at " + path, error ? error.value() : ENOENT);
    if (fs::is_directory(status))
        return exists(path + "/MANIFEST.json") ? WeightsKind::kCheckpoint : WeightsKind::kFolder;
    if (!fs::is_regular_file(status))
        return fail(ErrorCode::kInvalid,
                    "read weights at " + path + ": neither a file nor a folder");
    return looksLikeTorchFile(path) ? WeightsKind::kTorch : WeightsKind::kSafetensors;
}

Result<Weights> readWeights(const std::string& path) {
    RM_ASSIGN_OR_RETURN(const auto kind, weightsKindOf(path));
    switch (kind) {
    case WeightsKind::kCheckpoint:
        return readCheckpoint(path);
    case WeightsKind::kFolder:
        return readFolder(path);
    default:
        return readFileOfWeights(path);
    }
}

Result<Weights> readSafetensors(const std::string& path) {
    RM_ASSIGN_OR_RETURN(auto opened, SafetensorsFile::open(path));
    const auto file = std::make_shared<const SafetensorsFile>(std::move(opened));
    Weights weights;
    for (const TensorView& view : file->tensors()) {
        const auto type = scalarTypeOf(view.dtype);
        if (!type)
            return fail(ErrorCode::kInvalid,
                        "read " + path + ": " + view.name + " is " + view.dtype);
        // The tensor keeps the mapping.
        weights.push_back({view.name, at::from_blob(
                                          const_cast<std::byte*>(view.data.data()), view.shape,
                                          [file](void*) {}, *type)});
    }
    return weights;
}

Result<void> writeWeights(const std::string& path, const Weights& weights) {
    std::vector<at::Tensor> whole; // keeps the bytes of the views alive
    std::vector<TensorView> views;
    for (const auto& [name, tensor] : weights) {
        const char* dtype = safetensorsDtype(tensor.scalar_type());
        if (!dtype)
            return fail(ErrorCode::kInvalid, "write " + path + ": " + name + " is " +
                                                 at::toString(tensor.scalar_type()) +
                                                 ", for which safetensors has no name");
        whole.push_back(tensor.detach().to(at::kCPU).contiguous());
        const at::Tensor& host = whole.back();
        const auto* bytes = static_cast<const std::byte*>(host.const_data_ptr());
        views.push_back({name, dtype, host.sizes().vec(), {bytes, host.nbytes()}});
    }
    RM_RETURN_IF_ERROR(writeSafetensors(path, views, {{"format", "pt"}}));
    return syncFile(path);
}

} // namespace rm

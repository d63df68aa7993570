// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/interchange/export.h"

#include "shared/io/file.h"
#include "shared/return_if_error.h"
#include "trainer/train/checkpoint/checkpoint.h"
#include "trainer/train/formats/folder_texts.h"
#include "trainer/train/formats/weights.h"
#include "trainer/train/interchange/subcommands.h"
#include "trainer/train/session/options.h"

#include <CLI/CLI.hpp>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

namespace rm {
namespace fs = std::filesystem;
namespace {

using Written = std::vector<std::pair<std::string, int64_t>>;

at::ScalarType typeOf(const std::string& precision) {
    return precision == "bfloat16"  ? at::kBFloat16
           : precision == "float16" ? at::kHalf
                                    : at::kFloat;
}

Result<Weights> weightsOf(const Export& wanted) {
    RM_RETURN_IF_ERROR(verifyCheckpoint(wanted.checkpoint));
    const std::string path = wanted.checkpoint + "/" + (wanted.average ? kAverageFile : kModelFile);
    std::error_code ignored;
    if (wanted.average && !fs::exists(path, ignored))
        return fail(ErrorCode::kNotFound,
                    "export " + wanted.checkpoint + ": it has no moving average; train.ema was 0");
    auto weights = readSafetensors(path);
    if (!weights)
        return weights;
    for (Weight& weight : *weights)
        if (weight.tensor.is_floating_point())
            weight.tensor = weight.tensor.to(typeOf(wanted.precision));
    return weights;
}

Result<void> writeFolder(const std::string& folder, const Weights& weights,
                         const TextFiles& texts) {
    if (const auto made = makeFolders(folder); !made)
        return made;
    for (const auto& [name, text] : texts)
        if (const auto done = writeFileAtomically(folder + "/" + name, text); !done)
            return done;
    return writeWeights(folder + "/" + kModelFile, weights);
}

Written filesAt(const std::string& path) {
    if (!fs::is_directory(path))
        return {{path, static_cast<int64_t>(fs::file_size(path))}};
    Written files;
    for (const auto& entry : fs::directory_iterator(path))
        files.emplace_back(entry.path().string(), static_cast<int64_t>(entry.file_size()));
    std::sort(files.begin(), files.end());
    return files;
}

} // namespace

Result<Written> exportWeights(const Export& wanted) {
    const std::string attempt = "export " + wanted.checkpoint + " to " + wanted.to;
    std::error_code error;
    if (fs::exists(wanted.to, error))
        return fail(ErrorCode::kInvalid, attempt + ": that exists already");
    RM_ASSIGN_OR_RETURN(const auto weights, weightsOf(wanted));
    const std::string unfinished = wanted.to + ".tmp-" + std::to_string(getpid());
    const auto done = wanted.to.ends_with(".safetensors")
                          ? writeWeights(unfinished, weights)
                          : writeFolder(unfinished, weights, textsBeside(wanted.checkpoint));
    if (done)
        fs::rename(unfinished, wanted.to, error);
    if (done && !error)
        return filesAt(wanted.to);
    std::error_code ignored;
    fs::remove_all(unfinished, ignored);
    return done ? Result<Written>(failErrno(attempt, error.value())) : tl::unexpected(done.error());
}

Result<void> exportSubcommand(int argc, char** argv) {
    Export wanted;
    CLI::App app("Writes the weights of a checkpoint as a folder that Hugging Face's "
                 "from_pretrained() takes (for torchvision: its state dict), or as one "
                 "safetensors file.",
                 "ringmaster-trainer export");
    app.add_option("checkpoint", wanted.checkpoint, "Checkpoint folder")->required();
    app.add_option("to", wanted.to, "Folder or .safetensors file to write")->required();
    app.add_option("--precision", wanted.precision, "float32, bfloat16 or float16")
        ->check(CLI::IsMember({"float32", "bfloat16", "float16"}))
        ->capture_default_str();
    app.add_flag("--average", wanted.average, "The moving average of the weights (train.ema)");
    const auto continues = parseArguments(app, argc, argv);
    if (!continues || !*continues)
        return continues ? Result<void>() : tl::unexpected(continues.error());
    RM_ASSIGN_OR_RETURN(const auto written, exportWeights(wanted));
    for (const auto& [file, bytes] : written)
        std::printf("%s  %lld bytes\n", file.c_str(), static_cast<long long>(bytes));
    return {};
}

} // namespace rm

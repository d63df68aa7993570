// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/interchange/import.h"

#include "shared/io/clock.h"
#include "shared/io/file.h"
#include "shared/return_if_error.h"
#include "trainer/train/checkpoint/checkpoint.h"
#include "trainer/train/formats/folder_texts.h"
#include "trainer/train/interchange/subcommands.h"
#include "trainer/train/session/options.h"
#include "trainer/train/workloads/foreign_config.h"
#include "trainer/train/workloads/foreign_weights.h"
#include "trainer/train/workloads/registry.h"

#include <CLI/CLI.hpp>

#include <cstdio>

namespace rm {
namespace {

Result<RunSpec> specFor(const Import& import, const TextFiles& texts) {
    RunSpec spec;
    if (!import.spec.empty()) {
        auto loaded = loadRunSpec(import.spec);
        if (!loaded)
            return loaded;
        const auto checked = check(std::move(*loaded));
        if (!checked)
            return failAs("check " + import.spec, checked.error());
        return **checked;
    }
    const std::string config = textOf(texts, "config.json");
    if (config.empty())
        return fail(ErrorCode::kInvalid, "import " + import.source +
                                             ": it has no config.json to tell what model it is; "
                                             "name a run spec with --spec");
    return specOfConfig(config, spec, import.source);
}

CheckpointContent contentOf(const Model& model, const RunSpec& spec, TextFiles texts) {
    static const World alone;
    const std::string toml = toToml(spec);
    CheckpointContent content;
    content.manifest.createdNs = wallNowNs();
    content.manifest.reason = "import";
    content.state.specHash = specHashOf(spec);
    content.tensorFiles = {
        {kModelFile, modelTensors(model)},
        {kOptimizerFile, makeOptimizer(model, spec.optimizer, alone, nullptr)->collectState()}};
    content.texts = std::move(texts);
    setText(content.texts, "config.json", model.configJson());
    setText(content.texts, "spec.toml", toml);
    return content;
}

} // namespace

Result<std::string> importWeights(const Import& import) {
    const TextFiles texts = textsBeside(import.source);
    RM_ASSIGN_OR_RETURN(const auto spec, specFor(import, texts));
    const Workload& workload = workloadOf(spec);
    RM_ASSIGN_OR_RETURN(auto read, readWeights(import.source));
    RM_ASSIGN_OR_RETURN(
        const auto weights,
        workload.withOurNames(spec, withoutWrappers(std::move(read)), import.source));
    RM_ASSIGN_OR_RETURN(
        const auto model,
        workload.modelFor(spec, weights, textOf(texts, "config.json"), import.source));
    RM_RETURN_IF_ERROR(fillModel(*model, weights, import.source));
    RM_RETURN_IF_ERROR(makeFolders(import.into));
    return saveCheckpoint(import.into, contentOf(*model, spec, texts));
}

Result<void> importSubcommand(int argc, char** argv) {
    Import import;
    CLI::App app("Makes a checkpoint, for --start-from and for the app's restore, from weights of "
                 "elsewhere: a safetensors file, a folder of Hugging Face or torchvision, a "
                 "checkpoint, or a state dict saved by torch.save().",
                 "ringmaster-trainer import");
    app.add_option("source", import.source, "File or folder")->required();
    app.add_option("--into", import.into, "Folder in which the checkpoint's folder is made")
        ->required();
    app.add_option("--spec", import.spec,
                   "Run spec of the run to come; without it the model is that of config.json");
    const auto continues = parseArguments(app, argc, argv);
    if (!continues || !*continues)
        return continues ? Result<void>() : tl::unexpected(continues.error());
    RM_ASSIGN_OR_RETURN(const auto path, importWeights(import));
    std::printf("%s\n", path.c_str());
    return {};
}

} // namespace rm

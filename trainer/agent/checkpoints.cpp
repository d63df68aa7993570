// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/checkpoints.h"

#include "shared/checkpoint/manifest.h"
#include "shared/spec/run_spec.h"

#include <nlohmann/json.hpp>

#include <cmath>

namespace rm {

namespace {

using nlohmann::json;

// Relative to the run directory, which is the folder that a rank works in.
Result<std::string> checkpointFolder(const std::string& runDir) {
    const Result<RunSpec> spec = loadRunSpec(runDir + "/spec.toml");
    if (!spec)
        return tl::unexpected(spec.error());
    const std::string& folder = spec->checkpoint.directory;
    if (folder.starts_with('/'))
        return folder;
    return runDir + "/" + (folder.empty() ? "checkpoints" : folder);
}

json describe(const CheckpointEntry& entry) {
    const Manifest& manifest = entry.manifest;
    const json loss =
        std::isnan(manifest.validationLoss) ? json(nullptr) : json(manifest.validationLoss);
    return {{"path", entry.path},
            {"run_id", manifest.runId},
            {"attempt", manifest.attempt},
            {"step", manifest.step},
            {"world_size", manifest.worldSize},
            {"created_ns", manifest.createdNs},
            {"reason", manifest.reason},
            {"validation_loss", loss},
            {"bytes", manifest.bytes()}};
}

} // namespace

Result<std::string> listRunCheckpoints(const Folders& folders, const std::string& runId,
                                       bool verify) {
    const Result<std::string> runDir = folders.existingRunDir(runId);
    if (!runDir)
        return runDir;
    const Result<std::string> folder = checkpointFolder(*runDir);
    if (!folder)
        return failAs("list the checkpoints of " + runId, folder.error());
    const Result<std::vector<CheckpointEntry>> entries = listCheckpoints(*folder);
    if (!entries)
        return failAs("list the checkpoints of " + runId, entries.error());
    json list = json::array();
    for (const CheckpointEntry& entry : *entries) {
        json item = describe(entry);
        if (verify) {
            const Result<Manifest> verified = verifyCheckpoint(entry.path);
            item["valid"] = verified.has_value();
            item["error"] = verified ? "" : verified.error().message;
        }
        list.push_back(std::move(item));
    }
    return list.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

} // namespace rm

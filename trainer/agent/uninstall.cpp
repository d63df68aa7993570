// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/uninstall.h"

#include "shared/io/json.h"
#include "shared/return_if_error.h"
#include "trainer/agent/prune/prune.h"
#include "trainer/agent/supervisor/stop.h"

#include <unistd.h>

#include <array>
#include <filesystem>

namespace rm {

namespace {

namespace fs = std::filesystem;

constexpr std::array kFolders = {"agents", "bundles", "data", "blobs"};
constexpr std::array kNotes = {"home-id", "blobs.lock"};

std::vector<std::string> runsOf(const Folders& folders) {
    std::vector<std::string> ids;
    std::error_code error;
    for (fs::directory_iterator at(folders.stateDir + "/runs", error), end; !error && at != end;
         at.increment(error))
        if (at->is_directory(error) && !at->path().filename().string().starts_with('.'))
            ids.push_back(at->path().filename());
    return ids;
}

/// Empty: nothing.
std::string whatRuns(const Folders& folders, const DeployedReport& report) {
    for (const std::string& id : runsOf(folders))
        if (const auto over = checkIsOver(folders, id); !over)
            return "run " + id + ": " + over.error().message;
    for (const DeployedItem& item : report.items)
        if (!item.keptFor.empty() && item.kind != "runs" && item.kind != "checkpoints")
            return item.kind + "/" + item.name.substr(0, 12) + ": " + item.keptFor;
    return {};
}

void appendNotes(const Folders& folders, DeployedReport& report) {
    DeployedItem notes{"notes", {}, 0, 0, {}, {}};
    bool isAny = false;
    for (const char* name : kNotes) {
        std::error_code error;
        const auto size = fs::file_size(folders.home + "/" + name, error);
        notes.bytes += error ? 0 : static_cast<int64_t>(size);
        isAny |= !error;
    }
    if (isAny)
        report.items.push_back(notes);
}

/// What lies in our folders and is not ours.
void appendOthers(const Folders& folders, DeployedReport& report) {
    for (const char* kind : kFolders) {
        std::error_code error;
        for (fs::directory_iterator at(folders.home + "/" + kind, error), end; !error && at != end;
             at.increment(error)) {
            const std::string name = at->path().filename();
            const std::string sha = name.substr(0, name.find('.'));
            if (isSha256(sha) || name.starts_with(".removed-") || name.starts_with(".staging-"))
                continue;
            std::error_code none;
            const auto size = at->is_regular_file(none) ? at->file_size(none) : 0;
            report.items.push_back({"other",
                                    std::string(kind) + "/" + name.substr(0, 200),
                                    static_cast<int64_t>(size),
                                    0,
                                    "Ringmaster did not put it there",
                                    {}});
        }
    }
}

Result<void> removeRuns(const Folders& folders) {
    for (const std::string& id : runsOf(folders))
        RM_RETURN_IF_ERROR(removeRun(folders, id, false).map([](const auto&) {}));
    return {};
}

/// Folders that are not empty stay, as does what is missing.
void removeRest(const Folders& folders) {
    for (const char* name : kNotes)
        ::unlink((folders.home + "/" + name).c_str());
    for (const char* name : kFolders)
        ::rmdir((folders.home + "/" + name).c_str());
    ::rmdir(folders.home.c_str());
    ::rmdir((folders.stateDir + "/runs").c_str());
    ::rmdir(folders.stateDir.c_str());
}

} // namespace

Result<DeployedReport> uninstall(const Folders& folders, const UninstallOrder& order) {
    PruneOrder all;
    all.preview = all.all = true;
    RM_ASSIGN_OR_RETURN(DeployedReport report, pruneDeployed(folders, all));
    report.inTheWay = whatRuns(folders, report);
    if (!report.inTheWay.empty() && !order.preview)
        return fail(ErrorCode::kUnavailable,
                    "remove Ringmaster from this node: " + report.inTheWay);
    for (DeployedItem& item : report.items)
        if (item.kind == "runs" || item.kind == "checkpoints")
            item.keptFor = order.withRuns ? "" : "runs were not to be removed";
    appendNotes(folders, report);
    appendOthers(folders, report);
    if (order.preview)
        return report;
    if (order.withRuns)
        RM_RETURN_IF_ERROR(removeRuns(folders));
    all.preview = false;
    RM_RETURN_IF_ERROR(pruneDeployed(folders, all).map([](const auto&) {}));
    removeRest(folders);
    return report;
}

} // namespace rm

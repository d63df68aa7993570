// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/uninstall.h"

#include "shared/io/json.h"
#include "shared/return_if_error.h"
#include "shared/spec/node_plan.h"
#include "trainer/agent/prune/prune.h"
#include "trainer/agent/receive/blob_store.h"
#include "trainer/agent/supervisor/stop.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <span>

namespace rm {

namespace {

namespace fs = std::filesystem;

constexpr const char* kSelfTests = "self-tests"; ///< results, which the trainer writes as JSON
constexpr const char* kAsideRun = ".removed-";   ///< a run whose removal was cut off
constexpr std::array kFolders = {"agents", "bundles", "data", "blobs", kSelfTests};

bool isOurs(const std::string& kind, const std::string& name) {
    if (kind == kSelfTests)
        return name.find(".json") != name.npos; // also one that a killed trainer did not finish
    return isSha256(name.substr(0, name.find('.'))) || name.starts_with(".removed-") ||
           name.starts_with(".staging-");
}

std::string lockOf(const Folders& folders) {
    return folders.home + "/blobs.lock";
}

/// Our small files that are there.
std::vector<std::string> notesOf(const Folders& folders) {
    std::vector<std::string> notes = {folders.home + "/home-id", lockOf(folders),
                                      folders.stateDir + "/state-id"};
    std::error_code error;
    for (fs::directory_iterator at(folders.home + "/" + kSelfTests, error), end;
         !error && at != end; at.increment(error))
        if (isOurs(kSelfTests, at->path().filename()))
            notes.push_back(at->path());
    std::erase_if(notes, [](const std::string& path) {
        std::error_code none;
        return !fs::is_regular_file(path, none);
    });
    return notes;
}

/// The names of all that lies in a folder, in order.
std::vector<std::string> namesIn(const std::string& folder) {
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
        names.push_back(at->path().filename());
    std::ranges::sort(names);
    return names;
}

std::vector<std::string> runsOf(const Folders& folders) {
    std::vector<std::string> ids = namesIn(folders.stateDir + "/runs");
    std::erase_if(ids, [&](const std::string& name) { return !folders.isRun(name); });
    return ids;
}

/// What still runs, in words. Empty: nothing.
std::string whatRuns(const Folders& folders, const DeployedReport& report, bool preview) {
    // A run that a person has moved and linked stays, but nothing goes from under it.
    for (const std::string& id : namesIn(folders.stateDir + "/runs"))
        if (const auto over = isValidRunId(id) ? checkIsOver(folders, id, preview) : Result<void>();
            !over)
            return "run " + id + ": " + over.error().message;
    for (const DeployedItem& item : report.items)
        if (!item.keptFor.empty() && item.kind != "runs" && item.kind != "checkpoints")
            return item.kind + "/" + item.name.substr(0, 12) + ": " + item.keptFor;
    return {};
}

void appendNotes(const Folders& folders, DeployedReport& report) {
    DeployedItem notes{"notes", {}, 0, 0, {}, {}};
    const std::vector<std::string> paths = notesOf(folders);
    for (const std::string& path : paths) {
        std::error_code error;
        const auto size = fs::file_size(path, error);
        notes.bytes += error ? 0 : static_cast<int64_t>(size);
    }
    if (!paths.empty())
        report.items.push_back(notes);
}

void appendOther(const std::string& folder, const std::string& kind, const std::string& name,
                 DeployedReport& report) {
    if (report.items.size() >= kMostDeployed)
        return;
    std::error_code error;
    const fs::path path = folder + "/" + name;
    const auto size = fs::is_regular_file(fs::symlink_status(path, error))
                          ? fs::file_size(path, error)
                          : uintmax_t{0};
    report.items.push_back({"other",
                            kind + "/" + name.substr(0, 200),
                            error ? 0 : static_cast<int64_t>(size),
                            0,
                            "Ringmaster did not put it there",
                            {}});
}

/// Adds what lies in our folders and is not ours.
void appendOthers(const Folders& folders, DeployedReport& report) {
    for (const std::string kind : kFolders)
        for (const std::string& name : namesIn(folders.home + "/" + kind))
            if (!isOurs(kind, name))
                appendOther(folders.home + "/" + kind, kind, name, report);
    for (const std::string& name : namesIn(folders.stateDir + "/runs"))
        if (!folders.isRun(name) && !name.starts_with(kAsideRun))
            appendOther(folders.stateDir + "/runs", "runs", name, report);
}

/// Removes runs, and adds those that are gone to `gone`.
Result<void> removeRuns(const Folders& folders, const std::vector<std::string>& runs,
                        std::vector<std::string>& gone) {
    for (const std::string& id : runs) {
        const auto removed = removeRun(folders, id, false);
        std::error_code error;
        if (removed || !fs::exists(folders.stateDir + "/runs/" + id, error)) // it was moved aside
            gone.push_back(id);
        if (!removed)
            return tl::unexpected(removed.error());
    }
    return {};
}

/// "; gone already: run a, run b (and 3 more)"
std::string goneWords(const std::vector<std::string>& runs) {
    constexpr size_t kMostNamed = 20;
    std::string words;
    for (const std::string& id : std::span(runs).first(std::min(runs.size(), kMostNamed)))
        words += (words.empty() ? "; gone already: run " : ", run ") + id;
    return words + (runs.size() > kMostNamed
                        ? " (and " + std::to_string(runs.size() - kMostNamed) + " more)"
                        : "");
}

/// Removes our notes and our folders. Folders that are not empty stay.
void removeRest(const Folders& folders) {
    for (const std::string& path : notesOf(folders))
        ::unlink(path.c_str());
    for (const char* name : kFolders)
        ::rmdir((folders.home + "/" + name).c_str());
    ::rmdir(folders.home.c_str());
    ::rmdir((folders.stateDir + "/runs").c_str());
    ::rmdir(folders.stateDir.c_str());
}

} // namespace

Result<DeployedReport> uninstall(const Folders& folders, const UninstallOrder& order) {
    // To the end: of two that uninstall at once, the second finds what the first has left.
    std::optional<Descriptor> alone;
    std::error_code error;
    if (fs::exists(folders.home, error)) {
        RM_ASSIGN_OR_RETURN(alone, BlobStore::closeToReceivers(folders.home + "/blobs"));
    }
    PruneOrder all;
    all.preview = all.all = true;
    RM_ASSIGN_OR_RETURN(DeployedReport report, pruneClosed(folders, all));
    report.inTheWay = whatRuns(folders, report, order.preview);
    if (!report.inTheWay.empty() && !order.preview)
        return fail(ErrorCode::kUnavailable,
                    "remove Ringmaster from this node: " + report.inTheWay);
    for (DeployedItem& item : report.items)
        if (item.kind == "runs" || item.kind == "checkpoints")
            item.keptFor = !order.withRuns           ? "runs are kept"
                           : item.keptFor == kItsRun ? ""
                                                     : item.keptFor;
    // The lock makes its folders also where another has just removed them all.
    if (report.items.empty() && notesOf(folders) == std::vector{lockOf(folders)}) {
        removeRest(folders);
        return report;
    }
    appendNotes(folders, report);
    appendOthers(folders, report);
    if (order.preview)
        return report;
    std::vector<std::string> gone;
    Result<void> done =
        order.withRuns ? removeRuns(folders, runsOf(folders), gone) : Result<void>();
    all.preview = false;
    if (done)
        done = pruneClosed(folders, all).map([](const auto&) {});
    if (!done) {
        std::erase_if(report.items, [&](const DeployedItem& item) {
            const bool isOfRun = item.kind == "runs" || item.kind == "checkpoints";
            return !isOfRun || std::ranges::find(gone, item.name) == gone.end();
        });
        report.failure = done.error().message + goneWords(gone);
        return report;
    }
    removeRest(folders);
    return report;
}

} // namespace rm

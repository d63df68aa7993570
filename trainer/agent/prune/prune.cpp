// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/prune/prune.h"

#include "shared/io/clock.h"
#include "shared/io/json.h"
#include "shared/return_if_error.h"
#include "trainer/agent/posix/walk.h"
#include "trainer/agent/probe/home_id.h"
#include "trainer/agent/prune/needs.h"
#include "trainer/agent/receive/blob_store.h"
#include "trainer/agent/receive/bundle_check.h"
#include "trainer/agent/run_dir/named_checkpoints.h"
#include "trainer/agent/run_dir/release.h"
#include "trainer/agent/run_dir/run_dir.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace rm {

namespace {

namespace fs = std::filesystem;

constexpr std::array kKinds = {"agents", "bundles", "data"};
constexpr const char* kThisRelease = "this release";
constexpr const char* kAside = ".removed-";
constexpr const char* kStaging = ".staging-"; ///< folders of publishTree()

using FileId = std::pair<dev_t, ino_t>;

/// Something that lies under the home.
struct Found {
    DeployedItem item;
    std::vector<std::string> paths; ///< the folder; for blobs the files
};

int64_t changedNs(const struct stat& info) {
    return info.st_mtim.tv_sec * int64_t{1'000'000'000} + info.st_mtim.tv_nsec;
}

bool isOwnAgent(const fs::path& folder) {
    std::error_code error;
    const fs::path own = fs::read_symlink("/proc/self/exe", error);
    return fs::equivalent(folder, own.parent_path(), error);
}

/// Counts files that trees and blobs share once.
class Census {
public:
    /// Bytes of the files below `folder` that were not counted before.
    Result<int64_t> count(const std::string& folder) {
        int64_t bytes = 0;
        const auto counted =
            walk(folder, [&](const std::string&, const struct stat& info) -> Result<bool> {
                bytes += S_ISREG(info.st_mode) ? add(info) : 0;
                return true;
            });
        return counted.map([&] { return bytes; });
    }
    /// The bytes of one file if it was not counted before.
    int64_t add(const struct stat& info) {
        const bool isNew = m_seen.insert({info.st_dev, info.st_ino}).second;
        return isNew ? int64_t{info.st_size} : 0;
    }
    bool has(const struct stat& info) const { return m_seen.contains({info.st_dev, info.st_ino}); }

private:
    std::set<FileId> m_seen;
};

/// Looks through one home.
class Survey {
public:
    Survey(const Folders& folders, const PruneOrder& order, Needs needs)
        : m_folders(folders)
        , m_home(folders.home)
        , m_runs(folders.stateDir + "/runs")
        , m_order(order)
        , m_needs(std::move(needs))
        , m_youngSinceNs(wallNowNs() - order.youngSeconds * 1'000'000'000) {}

    Result<std::vector<Found>> run() {
        if (!m_order.agents.empty())
            return runForAgents();
        for (const char* kind : kKinds)
            RM_RETURN_IF_ERROR(readTrees(kind));
        if (!m_order.all)
            keepReleaseBefore();
        RM_RETURN_IF_ERROR(countTrees());
        RM_RETURN_IF_ERROR(readBlobs());
        RM_RETURN_IF_ERROR(readRuns());
        return std::move(m_found);
    }

private:
    Result<std::vector<Found>> runForAgents() {
        RM_RETURN_IF_ERROR(readTrees("agents"));
        std::erase_if(m_found, [this](const Found& found) {
            return std::ranges::none_of(m_order.agents, [&found](const std::string& begin) {
                return found.item.name.starts_with(begin);
            });
        });
        RM_RETURN_IF_ERROR(countTrees());
        return std::move(m_found);
    }

    using Show = std::function<Result<void>(const std::string& path, const struct stat& info)>;

    static Result<void> inFolder(const std::string& folder, const Show& show) {
        return walk(folder, [&show](const std::string& path, const struct stat& info) {
            return show(path, info).map([] { return false; });
        });
    }

    Result<void> readTrees(const std::string& kind) {
        std::vector<Found> trees;
        RM_RETURN_IF_ERROR(
            inFolder(m_home + "/" + kind, [&](const std::string& path, const struct stat& info) {
                const std::string name = fs::path(path).filename();
                const bool isOurs =
                    isSha256(name) || name.starts_with(kAside) || name.starts_with(kStaging);
                if (isOurs && S_ISDIR(info.st_mode))
                    trees.push_back(
                        {{kind, name, 0, changedNs(info), whyKept(kind, name, info), labelOf(path)},
                         {path}});
                return Result<void>();
            }));
        std::ranges::sort(trees, std::greater(), [](const Found& f) { return f.item.usedNs; });
        m_found.insert(m_found.end(), trees.begin(), trees.end());
        return {};
    }

    std::string whyKept(const std::string& kind, const std::string& name,
                        const struct stat& info) const {
        if (name.starts_with(kAside))
            return {};
        if (m_order.all)
            return m_needs.whyInUse(kind, name);
        if (m_order.current.contains(name) ||
            (kind == "agents" && isOwnAgent(m_home + "/agents/" + name)))
            return kThisRelease;
        std::string why = m_needs.whyNeeded(kind, name);
        return why.empty() ? whyYoung(info) : why;
    }

    /// Keeps what a person would go back to: of each runtime the bundle that was used last before
    /// this release's, of one release. Those built from source may be several of one release.
    void keepReleaseBefore() {
        std::string before;
        std::set<std::string> kept;    // labels
        for (Found& found : m_found) { // those of a kind are in the order of use
            const std::string& label = found.item.label;
            if (found.item.kind != "bundles" || label.empty() || found.item.keptFor == kThisRelease)
                continue;
            const std::string release = label.substr(0, label.find(' '));
            if (before.empty())
                before = release;
            if (release == before && kept.insert(label).second && found.item.keptFor.empty())
                found.item.keptFor =
                    release == kRelease ? "the build before" : "the release before";
        }
    }

    /// A run's checkpoints, then the rest of it. They are removed with the run, not here.
    Result<void> readRuns() {
        return inFolder(
            m_runs, [this](const std::string& path, const struct stat& info) -> Result<void> {
                const std::string id = fs::path(path).filename();
                if (!m_folders.isRun(id))
                    return {};
                RM_ASSIGN_OR_RETURN(const int64_t checkpoints, countCheckpoints(path));
                RM_ASSIGN_OR_RETURN(const int64_t rest, m_census.count(path));
                if (checkpoints > 0)
                    m_found.push_back(
                        {{"checkpoints", id, checkpoints, changedNs(info), kItsRun, {}}, {}});
                m_found.push_back(
                    {{"runs", id, rest, changedNs(info), kItsRun, {}, {}, startedBy(id)}, {}});
                return readNamed(id, changedNs(info));
            });
    }

    /// NodePlan::startedBy of its newest attempt here.
    std::string startedBy(const std::string& id) const {
        int64_t newest = -1;
        std::string who;
        for (const std::string& part : m_folders.partDirs(id).value_or(std::vector<std::string>()))
            if (const auto plan = loadPlan(part); plan && plan->attempt > newest) {
                newest = plan->attempt;
                who = plan->startedBy;
            }
        return who;
    }

    /// Adds the checkpoints in folders that the specs of the run name.
    Result<void> readNamed(const std::string& id, int64_t usedNs) {
        for (const NamedCheckpoints& named : namedCheckpoints(m_folders, id)) {
            int64_t bytes = 0;
            for (const std::string& path : named.paths) {
                RM_ASSIGN_OR_RETURN(const int64_t more, m_census.count(path));
                bytes += more;
            }
            const std::string why = named.whyStays.empty() ? kItsRun : named.whyStays;
            if (!named.paths.empty())
                m_found.push_back({{"checkpoints", id, bytes, usedNs, why, {}, named.folder}, {}});
        }
        return {};
    }

    Result<int64_t> countCheckpoints(const std::string& run) {
        int64_t bytes = 0;
        const auto counted =
            inFolder(run, [&](const std::string& path, const struct stat&) -> Result<void> {
                const std::string folder = path + "/checkpoints";
                if (std::error_code none; !fs::is_directory(folder, none))
                    return {};
                RM_ASSIGN_OR_RETURN(const int64_t more, m_census.count(folder));
                bytes += more;
                return {};
            });
        return counted.map([&] { return bytes; });
    }

    std::string whyYoung(const struct stat& info) const {
        if (m_order.all)
            return {};
        return changedNs(info) > m_youngSinceNs ? "used lately" : "";
    }

    /// Those that stay are counted first: to remove the rest frees only what they do not share.
    Result<void> countTrees() {
        for (const bool stays : {true, false}) {
            for (Found& found : m_found)
                if (found.item.keptFor.empty() != stays) {
                    RM_ASSIGN_OR_RETURN(found.item.bytes, m_census.count(found.paths.front()));
                }
            if (stays)
                m_kept = m_census;
        }
        return {};
    }

    /// Blobs in a folder that stays are that folder's; those in one that goes go along with it.
    Result<void> readBlobs() {
        Found going{{"blobs", {}, 0, 0, {}, {}}, {}},
            young{{"blobs", {}, 0, 0, "used lately", {}}, {}};
        RM_RETURN_IF_ERROR(
            inFolder(m_home + "/blobs", [&](const std::string& path, const struct stat& info) {
                const std::string name = fs::path(path).filename();
                if (!S_ISREG(info.st_mode) || !isSha256(name.substr(0, name.find('.'))) ||
                    m_kept.has(info))
                    return Result<void>();
                const bool isYoung = !m_census.has(info) && !whyYoung(info).empty();
                Found& found = isYoung ? young : going;
                found.item.usedNs = std::max(found.item.usedNs, changedNs(info));
                found.paths.push_back(path);
                found.item.bytes += m_census.add(info);
                return Result<void>();
            }));
        for (Found* found : {&young, &going})
            if (!found->paths.empty())
                m_found.push_back(std::move(*found));
        return {};
    }

    const Folders& m_folders;
    std::string m_home;
    std::string m_runs;
    const PruneOrder& m_order;
    Needs m_needs;
    int64_t m_youngSinceNs;
    Census m_census;
    Census m_kept; ///< the part of m_census in trees that stay
    std::vector<Found> m_found;
};

/// Moves it out of the way first, so that half a folder never has its name.
Result<void> removeTree(const std::string& folder) {
    const fs::path path(folder);
    std::string aside = folder;
    if (!path.filename().string().starts_with(kAside))
        aside = path.parent_path() / (kAside + path.filename().string());
    std::error_code error;
    if (aside != folder)
        fs::rename(folder, aside, error);
    if (!error)
        fs::remove_all(aside, error);
    return error ? failErrno("remove " + folder, error.value()) : Result<void>();
}

Result<void> removeFound(const Found& found) {
    for (const std::string& path : found.paths) {
        const bool isBlob = found.item.kind == "blobs";
        if (isBlob && ::unlink(path.c_str()) != 0 && errno != ENOENT)
            return failErrno("remove " + path, errno);
        if (!isBlob)
            RM_RETURN_IF_ERROR(removeTree(path));
    }
    return {};
}

} // namespace

Result<DeployedReport> pruneDeployed(const Folders& folders, const PruneOrder& order) {
    std::error_code error;
    if (!fs::exists(folders.home, error) && !error)
        return DeployedReport{folders.home, {}, {}, {}, {}, folders.stateDir};
    // Until this ends nobody begins to receive; a receiver at work keeps this from beginning.
    RM_ASSIGN_OR_RETURN(const Descriptor alone,
                        BlobStore::closeToReceivers(folders.home + "/blobs"));
    return pruneClosed(folders, order).map([&](DeployedReport report) {
        report.homeId = homeId(folders.home);
        report.stateId = stateId(folders.stateDir);
        return report;
    });
}

Result<DeployedReport> pruneClosed(const Folders& folders, const PruneOrder& order) {
    DeployedReport report{folders.home, {}, {}, {}, {}, folders.stateDir};
    RM_ASSIGN_OR_RETURN(Needs needs, Needs::read(folders));
    RM_ASSIGN_OR_RETURN(const auto all, Survey(folders, order, std::move(needs)).run());
    size_t gone = 0;
    for (const Found& found : std::span(all).first(std::min(all.size(), kMostDeployed))) {
        const bool goes = !order.preview && found.item.keptFor.empty();
        if (const auto done = goes ? removeFound(found) : Result<void>(); !done)
            return fail(
                done.error().code,
                done.error().message +
                    (gone > 0 ? "; gone already: " + std::to_string(gone) + " of what nothing needs"
                              : ""));
        gone += goes ? 1 : 0;
        report.items.push_back(found.item);
    }
    return report;
}

std::vector<AgentReport> otherAgents(const Folders& folders) {
    // What the runs need is looked for only where it matters: that reads all of them.
    bool areAny = false;
    std::error_code error;
    for (fs::directory_iterator at(folders.home + "/agents", error), end; !error && at != end;
         at.increment(error))
        areAny = areAny || (isSha256(at->path().filename().string()) && !isOwnAgent(at->path()));
    if (!areAny)
        return {};
    PruneOrder look;
    look.preview = true;
    look.youngSeconds = kJustNowSeconds;
    look.agents = {""};
    const auto all = pruneClosed(folders, look);
    std::vector<AgentReport> others;
    for (const DeployedItem& item : all.value_or(DeployedReport()).items)
        if (isSha256(item.name) && item.keptFor != kThisRelease)
            others.push_back({item.name, item.label, item.bytes, item.keptFor});
    return others;
}

} // namespace rm

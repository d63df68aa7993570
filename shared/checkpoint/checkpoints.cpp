// SPDX-License-Identifier: Apache-2.0
#include "shared/checkpoint/file_name.h"
#include "shared/checkpoint/manifest.h"
#include "shared/checkpoint/reasons.h"
#include "shared/io/file.h"
#include "shared/metrics/registry.h"
#include "shared/return_if_error.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <optional>
#include <set>
#include <sstream>
#include <thread>

namespace rm {

namespace fs = std::filesystem;

namespace {

// A link could lead out of the folder.
std::optional<int64_t> plainFileSize(const std::string& path) {
    struct stat info {};
    if (::lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode))
        return std::nullopt;
    return info.st_size;
}

Result<void> checkSize(const std::string& path, const Manifest::File& file) {
    const auto size = plainFileSize(path);
    if (!size)
        return fail(ErrorCode::kCorrupt, "read " + path +
                                             ": the manifest lists it, but there is "
                                             "no such file");
    if (*size != file.size)
        return fail(ErrorCode::kCorrupt, "read " + path + ": " + std::to_string(*size) +
                                             " bytes, but the manifest says " +
                                             std::to_string(file.size));
    return {};
}

Result<void> checkContent(const std::string& path, const Manifest::File& file) {
    if (auto sized = checkSize(path, file); !sized)
        return sized;
    RM_ASSIGN_OR_RETURN(const auto sha256, sha256HexOfFile(path));
    if (sha256 != file.sha256)
        return fail(ErrorCode::kCorrupt,
                    "read " + path + ": its SHA-256 is not the one in the manifest");
    return {};
}

/// Checks every file. Several at the same time, as one thread hashes more slowly than a good disk
/// reads.
std::vector<Result<void>> checkContents(const std::string& dir,
                                        const std::vector<Manifest::File>& files) {
    constexpr size_t kMostThreads =
        4; // two files have nearly all the bytes, an average makes three
    std::vector<Result<void>> checked(files.size());
    std::atomic<size_t> next = 0;
    const auto work = [&] {
        for (size_t i = next++; i < files.size(); i = next++)
            checked[i] = checkContent(dir + "/" + files[i].name, files[i]);
    };
    std::vector<std::jthread> threads;
    while (threads.size() + 1 < std::min(kMostThreads, files.size()))
        threads.emplace_back(work);
    work();
    threads.clear(); // joins
    return checked;
}

std::optional<CheckpointEntry> readEntry(const fs::path& dir) {
    auto manifest = readManifest(dir.string());
    if (!manifest || (dir.filename() != checkpointName(manifest->step) &&
                      dir.filename() != checkpointName(manifest->step, manifest->attempt)))
        return std::nullopt;
    const bool whole = std::ranges::all_of(manifest->files, [&](const Manifest::File& file) {
        return checkSize((dir / file.name).string(), file).has_value();
    });
    if (!whole)
        return std::nullopt;
    const auto has = [&dir](const char* mark) {
        return plainFileSize((dir / mark).string()).has_value();
    };
    return CheckpointEntry{dir.string(), std::move(*manifest), has(kCopyMark), has(kPinMark)};
}

auto orderOf(const CheckpointEntry& entry) {
    return std::pair(entry.manifest.step, entry.manifest.attempt);
}

bool isSameFolder(const std::string& a, const std::string& b) {
    std::error_code error;
    return fs::weakly_canonical(a, error) == fs::weakly_canonical(b, error);
}

/// The ancestors of an attempt that resumes from the checkpoint.
std::vector<Manifest::Ancestor> behindOf(const Manifest& from) {
    auto behind = from.line.value_or(std::vector<Manifest::Ancestor>());
    if (!from.line) // what was retired is not known, so all earlier attempts
        for (int64_t attempt = 1; attempt < from.attempt; ++attempt)
            behind.push_back({attempt, from.step});
    behind.push_back({from.attempt, from.step});
    return behind;
}

std::vector<const CheckpointEntry*> newestFirst(const std::vector<CheckpointEntry>& entries,
                                                const CheckpointLine& line) {
    std::vector<const CheckpointEntry*> living;
    for (const CheckpointEntry& entry : entries)
        if (line.has(entry.manifest))
            living.push_back(&entry);
    std::ranges::sort(living, std::greater(), [](const auto* entry) { return orderOf(*entry); });
    return living;
}

bool isWorse(const CheckpointEntry* one, const CheckpointEntry& other) {
    return !one || other.manifest.validationLoss < one->manifest.validationLoss;
}

} // namespace

Result<std::vector<CheckpointEntry>> listCheckpoints(const std::string& parent) {
    std::error_code error;
    std::vector<CheckpointEntry> entries;
    for (fs::directory_iterator it(parent, error), end; !error && it != end; it.increment(error))
        if (it->path().filename().string().starts_with("step-"))
            if (auto entry = readEntry(it->path()))
                entries.push_back(std::move(*entry));
    if (error && error != std::errc::no_such_file_or_directory)
        return failErrno("list checkpoints in " + parent, error.value());
    std::ranges::sort(entries, {}, orderOf);
    return entries;
}

Result<Manifest> verifyCheckpoint(const std::string& dir) {
    auto manifest = readManifest(dir);
    if (!manifest)
        return manifest;
    for (const Result<void>& checked : checkContents(dir, manifest->files))
        RM_RETURN_IF_ERROR(checked);
    return manifest;
}

bool wasRequested(const Manifest& manifest) {
    return manifest.reason == "command" || manifest.reason == "pause";
}

bool CheckpointLine::has(const Manifest& manifest) const {
    if (manifest.attempt == attempt)
        return true;
    const auto ancestor = std::ranges::find(behind, manifest.attempt, &Manifest::Ancestor::attempt);
    return ancestor != behind.end() && manifest.step <= ancestor->step;
}

CheckpointLine lineOf(const std::vector<CheckpointEntry>& entries, int64_t attempt,
                      const std::string& startFrom) {
    CheckpointLine line{attempt, {}, {}};
    // By its path first, as links are seldom and to follow them takes system calls.
    auto started = std::ranges::find(entries, startFrom, &CheckpointEntry::path);
    if (started == entries.end() && !startFrom.empty())
        started = std::ranges::find_if(entries, [&](const CheckpointEntry& entry) {
            return isSameFolder(entry.path, startFrom);
        });
    if (started != entries.end()) {
        line.behind = behindOf(started->manifest);
        line.startedFrom = started->path;
        return line;
    }
    for (const CheckpointEntry& entry : entries)
        if (entry.manifest.attempt == attempt && entry.manifest.line)
            line.behind = *entry.manifest.line;
    return line;
}

const CheckpointEntry* bestOf(const std::vector<CheckpointEntry>& entries,
                              const CheckpointLine& line) {
    const auto living = newestFirst(entries, line);
    for (const CheckpointEntry* entry : living)
        if (entry->manifest.best)
            return entry;
    const CheckpointEntry* best = nullptr;
    for (const CheckpointEntry* entry : living)
        if (!entry->manifest.line && std::isfinite(entry->manifest.validationLoss) &&
            isWorse(best, *entry))
            best = entry;
    return best;
}

namespace {

using Entries = std::vector<const CheckpointEntry*>;

/// The best `count` of `living` (newest first), the newer of equal ones first.
Entries bestOnes(const std::vector<CheckpointEntry>& entries, const CheckpointLine& line,
                 const Entries& living, int64_t count) {
    const CheckpointEntry* first = count > 0 ? bestOf(entries, line) : nullptr;
    if (!first)
        return {};
    Entries measured;
    for (const CheckpointEntry* entry : living)
        if (entry != first && entry->manifest.watched &&
            (measured.empty() ||
             measured.front()->manifest.watched->metric == entry->manifest.watched->metric))
            measured.push_back(entry);
    if (!measured.empty())
        if (const auto* metric = findBuiltinMetric(measured.front()->manifest.watched->metric))
            std::ranges::stable_sort(measured, [metric](const auto* a, const auto* b) {
                return isBetter(*metric, a->manifest.watched->value, b->manifest.watched->value);
            });
    measured.resize(std::min(measured.size(), static_cast<size_t>(count - 1)));
    measured.push_back(first);
    return measured;
}

/// The settings that it was saved before a change of; release 0.1.0 named none. None, too, where
/// the line's next attempt started from it: what followed it is not of the line, nor is the change.
std::set<std::string> changedAfter(const CheckpointEntry& entry, const CheckpointLine& line) {
    std::set<std::string> names;
    const Manifest::Ancestor here{entry.manifest.attempt, entry.manifest.step};
    const bool isStart = std::ranges::find(line.behind, here) != line.behind.end();
    if (!isBeforeSet(entry.manifest.reason) || isStart)
        return names;
    std::istringstream list(entry.manifest.reason.substr(kBeforeSetReason.size()));
    for (std::string name; std::getline(list >> std::ws, name, ',');)
        names.insert(name);
    return names;
}

} // namespace

std::vector<std::string> checkpointsToRemove(const std::vector<CheckpointEntry>& entries,
                                             const CheckpointLine& line, const KeepRules& rules) {
    const auto living = newestFirst(entries, line);
    const Entries best = bestOnes(entries, line, living, rules.best);
    const auto isCounted = [](const CheckpointEntry* entry) {
        return entry->manifest.reason != "best";
    };
    const auto own = std::ranges::count_if(living, [&](const CheckpointEntry* entry) {
        return isCounted(entry) && entry->manifest.attempt == line.attempt;
    });
    std::vector<std::string> removed;
    int64_t counted = 0;
    std::set<std::string> changed; // by newer ones
    for (const CheckpointEntry* entry : living) {
        bool isBeforeChange = false;
        for (const std::string& name : changedAfter(*entry, line))
            isBeforeChange |= changed.insert(name).second;
        const bool isLast = isCounted(entry) && counted++ < rules.last;
        const bool isStart = entry->path == line.startedFrom && own < rules.last;
        const bool isBest = std::ranges::find(best, entry) != best.end();
        const bool isNth = rules.every > 0 && entry->manifest.step % rules.every == 0;
        const bool isAPersons = wasRequested(entry->manifest) || entry->isPinned;
        if (!isLast && !isStart && !isBest && !isNth && !isAPersons && !isBeforeChange)
            removed.push_back(entry->path);
    }
    return removed;
}

Result<void> setPinned(const std::string& dir, bool pinned) {
    RM_RETURN_IF_ERROR(readManifest(dir));
    const std::string mark = dir + "/" + kPinMark;
    if (pinned)
        return writeFileAtomically(mark, "");
    if (::unlink(mark.c_str()) != 0 && errno != ENOENT)
        return failErrno("unpin " + dir, errno);
    return syncFolder(dir);
}

} // namespace rm

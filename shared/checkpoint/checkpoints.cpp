// SPDX-License-Identifier: Apache-2.0
#include "shared/checkpoint/file_name.h"
#include "shared/checkpoint/manifest.h"
#include "shared/io/file.h"

#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <set>

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
    const auto sha256 = sha256HexOfFile(path);
    if (!sha256)
        return tl::unexpected(sha256.error());
    if (*sha256 != file.sha256)
        return fail(ErrorCode::kCorrupt,
                    "read " + path + ": its SHA-256 is not the one in the manifest");
    return {};
}

std::optional<CheckpointEntry> readEntry(const fs::path& dir) {
    auto manifest = readManifest(dir.string());
    if (!manifest || dir.filename() != checkpointName(manifest->step))
        return std::nullopt;
    const bool whole = std::ranges::all_of(manifest->files, [&](const Manifest::File& file) {
        return checkSize((dir / file.name).string(), file).has_value();
    });
    return whole ? std::optional(CheckpointEntry{dir.string(), std::move(*manifest)})
                 : std::nullopt;
}

bool wasAskedFor(const CheckpointEntry& entry) {
    return entry.manifest.reason == "command" || entry.manifest.reason == "pause";
}

const CheckpointEntry* bestOf(const std::vector<CheckpointEntry>& entries) {
    const CheckpointEntry* best = nullptr;
    for (const CheckpointEntry& entry : entries) {
        const double loss = entry.manifest.validationLoss;
        if (std::isfinite(loss) && (!best || loss < best->manifest.validationLoss))
            best = &entry;
    }
    return best;
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
    std::ranges::sort(entries, {}, [](const CheckpointEntry& e) { return e.manifest.step; });
    return entries;
}

Result<Manifest> verifyCheckpoint(const std::string& dir) {
    auto manifest = readManifest(dir);
    if (!manifest)
        return manifest;
    for (const Manifest::File& file : manifest->files)
        if (auto right = checkContent(dir + "/" + file.name, file); !right)
            return tl::unexpected(right.error());
    return manifest;
}

std::vector<std::string> checkpointsToRemove(const std::vector<CheckpointEntry>& entries,
                                             int64_t keepLast, bool keepBest) {
    std::set<std::string> kept;
    if (const CheckpointEntry* best = keepBest ? bestOf(entries) : nullptr)
        kept.insert(best->path);
    auto newestFirst = entries;
    std::ranges::sort(newestFirst, std::greater(), [](const auto& e) { return e.manifest.step; });
    std::vector<std::string> removed;
    for (size_t i = 0; i < newestFirst.size(); ++i) {
        const CheckpointEntry& entry = newestFirst[i];
        if (int64_t(i) >= keepLast && !wasAskedFor(entry) && !kept.contains(entry.path))
            removed.push_back(entry.path);
    }
    return removed;
}

} // namespace rm

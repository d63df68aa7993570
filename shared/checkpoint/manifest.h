// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace rm {

/// A checkpoint is a folder `step-000001000/` with a valid MANIFEST.json, written last
/// (FORMAT.md beside this). A folder without one does not exist as far as readers go.
struct Manifest {
    int64_t version = 1;
    std::string runId;
    int64_t attempt = 1;
    int64_t step = 0;
    int64_t worldSize = 1;
    int64_t createdNs = 0; ///< Unix epoch
    std::string reason;    ///< as CheckpointSaved::reason
    double validationLoss = std::numeric_limits<double>::quiet_NaN(); ///< JSON null when NaN
    struct File {
        std::string name; ///< no '/', not "." or ".."
        int64_t size = 0;
        std::string sha256; ///< 64 lower-case hex digits
        bool operator==(const File&) const = default;
    };
    std::vector<File> files;

    int64_t bytes() const; ///< sum of sizes
};

std::string toJson(const Manifest& manifest);
/// kCorrupt with what is wrong; kTooNew for a later version.
Result<Manifest> parseManifest(const std::string& json, const std::string& source);

/// "step-000001000"
std::string checkpointName(int64_t step);

/// Writes a checkpoint atomically: `fill(tempDir)` writes the files, then they are hashed and
/// fsynced, MANIFEST.json is written last, the folder renamed into `parent` and `parent` fsynced.
/// `manifest.files` is filled in. A checkpoint of that step that exists already is replaced only
/// after the new one is complete. On failure nothing is left behind. Returns the final folder.
Result<std::string> publishCheckpoint(const std::string& parent, Manifest manifest,
                                      const std::function<Result<void>(const std::string&)>& fill);

struct CheckpointEntry {
    std::string path;
    Manifest manifest;
};

/// The folders in `parent` with a readable manifest and files of the stated sizes, by step
/// ascending. What is not a checkpoint is passed over; a missing `parent` is an empty list.
Result<std::vector<CheckpointEntry>> listCheckpoints(const std::string& parent);

/// Reads the manifest of one folder: kNotFound when there is none.
Result<Manifest> readManifest(const std::string& dir);

/// Every byte against the manifest: kCorrupt names the first wrong file.
Result<Manifest> verifyCheckpoint(const std::string& dir);

/// Removes a checkpoint so that a crash half way leaves no half: manifest first.
Result<void> removeCheckpoint(const std::string& dir);

/// Removes what an interrupted publishCheckpoint() left (`tmp-*`) in `parent`.
void sweepUnpublished(const std::string& parent);

/// Which of `entries` (any order) the rule keeps: the `keepLast` newest, the best by validation
/// loss if `keepBest`, and those saved by "command" or "pause". Returns paths to remove.
std::vector<std::string> checkpointsToRemove(const std::vector<CheckpointEntry>& entries,
                                             int64_t keepLast, bool keepBest);

} // namespace rm

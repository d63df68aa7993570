// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
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
    /// Of the weights in it; JSON null when NaN: they were not validated.
    double validationLoss = std::numeric_limits<double>::quiet_NaN();
    struct File {
        std::string name; ///< no '/', not "." or ".."
        int64_t size = 0;
        std::string sha256; ///< 64 lower-case hex digits
        bool operator==(const File&) const = default;
    };
    std::vector<File> files;
    /// An earlier attempt whose steps up to `step` are behind this checkpoint.
    struct Ancestor {
        int64_t attempt = 1;
        int64_t step = 0;
        bool operator==(const Ancestor&) const = default;
    };
    /// By attempt; nullopt: release 0.1.0, which did not say, wrote it.
    std::optional<std::vector<Ancestor>> line = std::nullopt;
    bool best = false; ///< when it was saved, of all checkpoints of its line

    int64_t bytes() const; ///< sum of sizes
};

std::string toJson(const Manifest& manifest);
/// kCorrupt with what is wrong; kTooNew for a later version.
Result<Manifest> parseManifest(const std::string& json, const std::string& source);

/// "step-000001000"
std::string checkpointName(int64_t step);
/// "step-000001000-attempt-2": where another attempt has a checkpoint of that step already.
std::string checkpointName(int64_t step, int64_t attempt);

/// Writes a checkpoint atomically: `fill(tempDir)` writes the files, then they are hashed and
/// fsynced, MANIFEST.json is written last, the folder renamed into `parent` and `parent` fsynced.
/// `manifest.files` is filled in. A checkpoint of the same step and attempt that exists already is
/// replaced, only after the new one is complete; one of another attempt stays, and the new one gets
/// the longer name. On failure nothing is left behind. Returns the final folder.
Result<std::string> publishCheckpoint(const std::string& parent, Manifest manifest,
                                      const std::function<Result<void>(const std::string&)>& fill);

struct CheckpointEntry {
    std::string path;
    Manifest manifest;
};

/// The folders in `parent` with a readable manifest and files of the stated sizes, by step and
/// attempt ascending. What is not a checkpoint is passed over; a missing `parent` is an empty list.
Result<std::vector<CheckpointEntry>> listCheckpoints(const std::string& parent);

/// Reads the manifest of one folder: kNotFound when there is none.
Result<Manifest> readManifest(const std::string& dir);

/// Every byte against the manifest: kCorrupt names the first wrong file.
Result<Manifest> verifyCheckpoint(const std::string& dir);

/// Removes a checkpoint so that a crash half way leaves no half: manifest first.
Result<void> removeCheckpoint(const std::string& dir);

/// Whether a person's command made it: it is removed by a person only.
bool wasAskedFor(const Manifest& manifest);

/// Removes what an interrupted publishCheckpoint() left (`tmp-*`) in `parent`.
void sweepUnpublished(const std::string& parent);

/// The living line of a run: its newest attempt, and of the earlier ones what that attempt has
/// behind it. All other checkpoints of the run are retired: those of abandoned lines.
struct CheckpointLine {
    int64_t attempt = 1; ///< the newest
    std::vector<Manifest::Ancestor> behind;
    std::string startedFrom; ///< the entry's path; empty: from none of the run's own checkpoints

    bool has(const Manifest& manifest) const;
    bool operator==(const CheckpointLine&) const = default;
};

/// The line of an attempt that starts, or started, from the checkpoint folder `startFrom` (empty:
/// none), which need not be one of `entries`: all checkpoints of the run that are there.
CheckpointLine lineOf(const std::vector<CheckpointEntry>& entries, int64_t attempt,
                      const std::string& startFrom);

/// The best of a line: of those that were it when they were saved, the newest. Release 0.1.0 did
/// not say it: of its checkpoints the one with the lowest validation loss. nullptr: there is none.
const CheckpointEntry* bestOf(const std::vector<CheckpointEntry>& entries,
                              const CheckpointLine& line);

/// Which of `entries` (any order) the rule removes: those of the line but
/// - its `keepLast` newest, not counting those with the reason "best",
/// - the best if `keepBest`,
/// - those saved by "command" or "pause",
/// - the one that the attempt started from, until the attempt has `keepLast` of its own.
/// Retired ones are a person's to remove. Returns paths.
std::vector<std::string> checkpointsToRemove(const std::vector<CheckpointEntry>& entries,
                                             const CheckpointLine& line, int64_t keepLast,
                                             bool keepBest);

} // namespace rm

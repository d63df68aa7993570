// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rm {

/// A checkpoint is a folder `step-000001000/` with a valid MANIFEST.json, which is written last
/// (FORMAT.md beside this). Readers ignore a folder without one.
struct Manifest {
    int64_t version = 1;
    std::string runId;
    int64_t attempt = 1;
    int64_t step = 0;
    int64_t worldSize = 1;
    int64_t createdNs = 0; ///< Unix epoch
    std::string reason;    ///< as CheckpointSaved::reason
    /// The loss of these weights; NaN (JSON null): they were not validated.
    double validationLoss = std::numeric_limits<double>::quiet_NaN();
    struct File {
        std::string name; ///< no '/', not "." or ".."
        int64_t size = 0;
        std::string sha256; ///< 64 lower-case hex digits
        bool operator==(const File&) const = default;
    };
    std::vector<File> files;
    /// An earlier attempt whose steps up to `step` belong to this checkpoint's line.
    struct Ancestor {
        int64_t attempt = 1;
        int64_t step = 0;
        bool operator==(const Ancestor&) const = default;
    };
    /// Sorted by attempt; nullopt: written by release 0.1.0, which did not record it.
    std::optional<std::vector<Ancestor>> line = std::nullopt;
    bool best = false; ///< it was the best of its line when it was saved
    /// The weights' value in the metric that the spec watches.
    struct Watched {
        std::string metric; ///< "validation/loss"
        double value = 0;   ///< finite
        bool operator==(const Watched&) const = default;
    };
    std::optional<Watched> watched = std::nullopt; ///< nullopt: they were not validated
    /// Random for each start of an attempt, as several starts may have the same number. Empty: not
    /// started by an agent, or by release 0.1.0.
    std::string nonce = {};

    int64_t bytes() const; ///< sum of sizes
};

std::string toJson(const Manifest& manifest);
/// kCorrupt with what is wrong; kTooNew for a later version.
Result<Manifest> parseManifest(const std::string& json, const std::string& source);

/// "step-000001000"
std::string checkpointName(int64_t step);
/// "step-000001000-attempt-2": of an attempt after the first.
std::string checkpointName(int64_t step, int64_t attempt);

/// Writes a checkpoint atomically: `fill(tempDir)` writes the files, then they are hashed and
/// fsynced, MANIFEST.json is written, the folder renamed into `parent` and `parent` fsynced.
/// `manifest.files` is filled in. An existing checkpoint of the same step and attempt is replaced
/// once the new one is complete; one of another attempt stays, and the new one gets the longer
/// name. On failure nothing is left behind; kInvalid when another run or a later attempt has
/// claimed `parent` (owner.h), or another start of this one, also while the files are written.
/// Returns the final folder. `hashes`: SHA-256 by name, of the files that `fill` has hashed itself
/// as it wrote them; they are not read again.
using FileHashes = std::map<std::string, std::string>;
Result<std::string> publishCheckpoint(const std::string& parent, Manifest manifest,
                                      const std::function<Result<void>(const std::string&)>& fill,
                                      const FileHashes& hashes = {});

/// The name under which a checkpoint is staged in its folder: no other call of this machine gives
/// it, and sweepUnpublished() removes what was left under it.
std::string stagingName(const Manifest& manifest);

/// Publishes in `parent` a checkpoint from elsewhere: `staged`, a folder in it of stagingName(),
/// has the manifest and the files. Verifies every byte, syncs, renames. One of the same run, step
/// and attempt is replaced. On failure the staged folder is gone; kCorrupt: a byte is not as the
/// manifest says; kInvalid: another run's checkpoint has that name. Returns the final folder.
Result<std::string> adoptCheckpoint(const std::string& parent, const std::string& staged);

/// The name of a file beside a manifest: the checkpoint is a copy of one on another node, and may
/// be removed when there are newer copies.
inline constexpr const char* kCopyMark = "COPY";

/// The name of a file beside a manifest: a person keeps the checkpoint from retention.
inline constexpr const char* kPinMark = "PINNED";

/// Sets or removes kPinMark. kNotFound: there is no checkpoint in `dir`.
Result<void> setPinned(const std::string& dir, bool pinned);

struct CheckpointEntry {
    std::string path;
    Manifest manifest;
    bool isCopy = false;   ///< see kCopyMark
    bool isPinned = false; ///< see kPinMark
};

/// The folders in `parent` with a readable manifest and files of the stated sizes, by step and
/// attempt ascending. What is not a checkpoint is passed over; a missing `parent` is an empty list.
Result<std::vector<CheckpointEntry>> listCheckpoints(const std::string& parent);

/// Reads the manifest of one folder: kNotFound when there is none.
Result<Manifest> readManifest(const std::string& dir);

/// Checks every byte against the manifest. kCorrupt names the first wrong file.
Result<Manifest> verifyCheckpoint(const std::string& dir);

/// Removes a checkpoint, its manifest first, so that a crash half-way leaves no partial checkpoint.
Result<void> removeCheckpoint(const std::string& dir);
/// The same for retention in the attempt that `by` belongs to: kInvalid, with nothing removed, when
/// another attempt has begun since (checkOwner()), which may go on from this checkpoint.
Result<void> removeCheckpoint(const std::string& dir, const Manifest& by);

/// Days for which a checkpoint that a person removed can be brought back.
inline constexpr int kAsideDays = 7;

/// Moves a checkpoint aside in its folder, where it does not count as one until bringBack(). Those
/// that lie aside for longer than kAsideDays are removed for good. Returns where it lies.
Result<std::string> setAside(const std::string& dir);

/// Undoes setAside() of `parent`/`name`. kNotFound: it does not lie aside (any more); kInvalid: its
/// place is taken.
Result<void> bringBack(const std::string& parent, const std::string& name);

/// Whether a person's command made it; then only a person removes it.
bool wasRequested(const Manifest& manifest);

/// Cleans `parent` up after an interrupted publishCheckpoint(): removes `tmp-CHECKPOINT-PID-N`;
/// renames `old-CHECKPOINT-PID-N` back if their checkpoint is missing, else removes them too. Any
/// other name is somebody else's and stays. The caller has claimed the folder (owner.h).
void sweepUnpublished(const std::string& parent);

/// The living line of a run: its newest attempt and the parts of earlier attempts that it
/// continues. All other checkpoints of the run are on abandoned lines and hence retired.
struct CheckpointLine {
    int64_t attempt = 1; ///< the newest
    std::vector<Manifest::Ancestor> behind;
    std::string startedFrom; ///< the entry's path; empty: none of the run's own checkpoints

    bool has(const Manifest& manifest) const;
    bool operator==(const CheckpointLine&) const = default;
};

/// The line of an attempt that starts, or started, from the checkpoint folder `startFrom` (empty:
/// none). `entries` are all existing checkpoints of the run; `startFrom` need not be one of them.
CheckpointLine lineOf(const std::vector<CheckpointEntry>& entries, int64_t attempt,
                      const std::string& startFrom);

/// The best checkpoint of a line: the newest of those that were the best when saved. Release 0.1.0
/// did not record that; of its checkpoints it is the one with the lowest validation loss. nullptr:
/// none.
const CheckpointEntry* bestOf(const std::vector<CheckpointEntry>& entries,
                              const CheckpointLine& line);

/// Code of rank 0's event for a damaged checkpoint, on the line up to then, that its attempt would
/// have gone on from. The event's step is the checkpoint's.
inline constexpr const char* kCheckpointDamagedEvent = "checkpoint-damaged";

/// A checkpoint that nothing can go on from, and why.
struct DamagedCheckpoint {
    int64_t step = -1; ///< by the folder's name; -1: it names none
    std::string path;
    std::string problem; ///< "model.safetensors: its SHA-256 is not the one in the manifest"
};

struct WholeCheckpoint {
    std::string path;
    Manifest manifest;
    std::vector<DamagedCheckpoint> passedOver; ///< newer ones of its line, the newest first
};

/// The checkpoint in `dir` if every byte of it is there, else the newest whole one before it on its
/// line in the same folder. Without a readable manifest its line is that of the folder's owner
/// (owner.h), else the line of the newest attempt that has an earlier checkpoint there. kCorrupt
/// names all that are damaged. Another error, such as a later version, says that it cannot be told
/// whether one is whole; then no older one is taken.
Result<WholeCheckpoint> newestWhole(const std::string& dir);

/// The checkpoints of a line that retention keeps, beside those a person asked for or pinned.
struct KeepRules {
    int64_t last = 3;  ///< how many of the newest, not counting those with the reason "best"
    int64_t best = 1;  ///< how many by the watched metric; 0: none for that
    int64_t every = 0; ///< those whose step this divides; 0: none for that
    bool operator==(const KeepRules&) const = default;
};

/// Paths of the `entries` (in any order) that retention removes: all of the line except
/// - those that the rules keep. The first of the best is bestOf(); the others follow by their value
///   in the metric of the newest checkpoint that has one,
/// - those saved by "command" or "pause", and pinned ones,
/// - of each setting that was changed the one from before its newest change, as long as that is in
///   force: an attempt that started from this checkpoint trains without the change,
/// - the one that the attempt started from, until the attempt has `rules.last` of its own.
/// Retired ones are only removed by a person.
std::vector<std::string> checkpointsToRemove(const std::vector<CheckpointEntry>& entries,
                                             const CheckpointLine& line, const KeepRules& rules);

} // namespace rm

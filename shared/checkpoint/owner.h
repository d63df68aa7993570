// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/checkpoint/manifest.h"

#include <string>

namespace rm {

inline constexpr const char* kOwnerName = "OWNER.json";

/// `OWNER.json` in a folder of checkpoints: the run that writes into it, and the newest attempt
/// that has begun to (FORMAT.md beside this).
struct CheckpointOwner {
    std::string runId; ///< empty: started by hand, without a launcher that numbers runs
    std::string runName;
    CheckpointLine line;    ///< of that attempt; `startedFrom` as lineOf() gives it
    std::string nonce = {}; ///< that of the attempt's start, as Manifest::nonce

    bool operator==(const CheckpointOwner&) const = default;
};

/// kNotFound: nobody has claimed the folder. kCorrupt, kTooNew: as parseManifest().
Result<CheckpointOwner> readOwner(const std::string& parent);

/// What is known of a folder in which checkpoints were saved. An empty one may be the place where a
/// disk is to be mounted.
enum class CheckpointFolder {
    kKnown,   ///< an attempt has claimed it, or it has checkpoints
    kForeign, ///< it is there, without any sign of that
    kMissing,
};
CheckpointFolder checkpointFolderAt(const std::string& parent);
/// "known", "foreign", "missing", as agents tell it.
const char* nameOf(CheckpointFolder folder);
/// kKnown for what is none of these: an older agent does not tell.
CheckpointFolder checkpointFolderNamed(const std::string& name);

/// Makes the attempt `claim.line.attempt` the one that writes into `parent`, which is made if it is
/// missing. kInvalid: the folder is another run's, which is named, or a later attempt of this run
/// has begun. An attempt that goes on from a checkpoint in this folder takes it over from a run of
/// another id, as a launcher may give every launch an id of its own. A damaged file is replaced.
Result<void> claimCheckpoints(const std::string& parent, const CheckpointOwner& claim);

/// Whether the attempt of that manifest may publish into `parent`: kInvalid when another run, a
/// later attempt or another start of the same one has claimed it since. A folder without an owner
/// is free.
Result<void> checkOwner(const std::string& parent, const Manifest& manifest);

} // namespace rm

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/attempts.h"
#include "app/core/store/requested_command.h"
#include "app/core/store/run_summary.h"
#include "app/core/store/stored_checkpoint.h"

#include <string>
#include <vector>

namespace rm {

/// Texts about checkpoints that the window and the terminal share.

/// The last part of its path: "step-000001000", "step-000001000-attempt-2".
std::string checkpointNameOf(const StoredCheckpoint& checkpoint);

/// A reason of checkpoints, as the trainer stores it ("command"), for people ("asked for by hand").
std::string reasonWords(const std::string& reason);

/// Why it was saved, then why it is kept and what became of it: "every 500; kept as best", "pause;
/// damaged; set aside by attempt 2". Contains text of the trainer, which is not safe to print on a
/// terminal.
std::string whySaved(const StoredCheckpoint& checkpoint);

/// A place of a checkpoint, and what was found there: kCorrupt says what is wrong.
struct VerifiedPlace {
    std::string node;
    bool isCopy = false;
    Result<void> found;
};

/// All places in one verdict: all is well only if each was read and is whole. Else the error is
/// kCorrupt if any is damaged, and its words begin with those places and name the others, too:
/// "its copy on node-b: read ...; whole: on node-a". A single place is told without its name.
Result<void> verdictOf(const std::vector<VerifiedPlace>& places);

/// The verdict of VerifyCheckpointRequest: "whole", "damaged: read .../model.safetensors: its
/// SHA-256 ...", or why it could not be verified. As a node wrote it: not safe for a terminal.
std::string verdictText(const Result<void>& verified);

/// The nodes where it lies: "node-a, copied to node-b and this-computer"; "copied to node-b": only
/// there.
std::string whereWords(const StoredCheckpoint& checkpoint);

/// Why it is not known whether a run that goes on, of which none is known, has saved a checkpoint;
/// empty: it is known that it has none yet.
std::string whyNoneIsKnown(const RunSummary& run);

/// Why a run that has ended has no checkpoint that can be had: "it failed before its first
/// checkpoint", "its checkpoints were cleaned from the nodes on 2026-11-24 22:10". `all`: also
/// those that were removed; `newestFirst` as of broughtBackUntil().
std::string whyNoCheckpoint(const RunSummary& run, const std::vector<StoredCheckpoint>& all,
                            const std::vector<RequestedCommand>& newestFirst);

/// What a pause has not saved, as no rank was there for it: "the pause could save no checkpoint:
/// the newest is of step 80, and steps 81 to 95 are trained again". Empty: nothing, or the run is
/// not paused.
std::string unsavedWords(const RunSummary& run, const std::vector<StoredCheckpoint>& newestFirst);

/// "steps 251 to 405 and 3 checkpoints"
std::string retirementText(const Retirement& retired);

} // namespace rm

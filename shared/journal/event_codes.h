// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace rm {

// Texts of records that a program looks for.

/// Code of the event of an attempt that failed and is followed by another one by itself.
inline constexpr const char* kRestartsEvent = "restarts";
/// Of a rank, or of all of a node, that finishes no step any more, and of those that do again.
inline constexpr const char* kRankHangsEvent = "rank-hangs";
inline constexpr const char* kRankGoesOnEvent = "rank-goes-on";
/// Of what of a journal or log is lost, as it cannot be read.
inline constexpr const char* kJournalDamagedEvent = "journal-damaged";
/// That says why a checkpoint was not copied.
inline constexpr const char* kNotCopiedEvent = "checkpoint-not-copied";

/// AttemptEnded::message where a person had every rank killed; its outcome is that of a stop.
inline constexpr const char* kKilledMessage = "killed on request";

} // namespace rm

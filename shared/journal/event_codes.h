// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace rm {

// Texts of records that a program looks for.

/// Code of the event of an attempt that failed and is followed by another one by itself.
inline constexpr const char* kRestartsEvent = "restarts";
/// Codes of the events of ranks, one or all of a node, that finish no step any more, or do again.
inline constexpr const char* kRankHangsEvent = "rank-hangs";
inline constexpr const char* kRankContinuesEvent = "rank-goes-on";
/// Codes of the events of a rank that makes the steps of all longer, and does so no more
/// (StragglerWatch); in rank 0's journal.
inline constexpr const char* kRankSlowEvent = "rank-slow";
inline constexpr const char* kRankKeepsUpEvent = "rank-keeps-up";
/// Code of the event of bytes of a journal or log that are lost, as they cannot be read.
inline constexpr const char* kJournalDamagedEvent = "journal-damaged";
/// Code of the event of a rank that cannot write its journal while a checkpoint is saved.
inline constexpr const char* kJournalUnwrittenEvent = "journal-unwritten";
/// Code of the event that says why a checkpoint was not copied.
inline constexpr const char* kNotCopiedEvent = "checkpoint-not-copied";

/// AttemptEnded::message where a person had every rank killed; its outcome is that of a stop.
inline constexpr const char* kKilledMessage = "killed on request";

} // namespace rm

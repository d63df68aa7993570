// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/journal/trace_slices.h"
#include "shared/metrics/registry.h"
#include "shared/result.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace rm {

/// The records of a journal as values; `records.fbs` is their form on disk (FORMAT.md beside it).
/// Times: `wallNs` is nanoseconds since the Unix epoch, for people and for skew; order within
/// one file is the file's own.

/// First record of each attempt in a rank's journal, written by the rank.
struct AttemptStarted {
    int32_t attempt = 1;
    int32_t rank = 0;
    int32_t worldSize = 1;
    int64_t startStep = 0; ///< steps done before; the first step of this attempt is startStep + 1
    int64_t wallNs = 0;
    std::string startFrom; ///< checkpoint folder or empty
    bool operator==(const AttemptStarted&) const = default;
};

/// A metric of the run's own (id >= metric::kFirstUser), before its first sample.
struct MetricRegistered {
    MetricDef def;
    bool operator==(const MetricRegistered&) const = default;
};

/// Values of one rank at one step. `metric` and `value` have equal length.
struct Samples {
    int32_t rank = 0;
    int64_t step = 0;
    int64_t wallNs = 0;
    std::vector<MetricId> metric;
    std::vector<float> value;
    bool operator==(const Samples&) const = default;
};

enum class Severity : uint8_t { kInfo = 0, kWarning = 1, kError = 2 };

/// Something a person may want to know. `code` is kebab-case and stable ("data-skipped").
struct Event {
    int32_t rank = -1; ///< -1: of the node
    int64_t step = -1; ///< -1: unknown
    int64_t wallNs = 0;
    Severity severity = Severity::kInfo;
    std::string code;
    std::string message;
    bool operator==(const Event&) const = default;
};

/// Rank 0's report that all ranks acted on a command at the boundary after `step`.
struct CommandApplied {
    std::string id;
    std::string kind; ///< commandKindName()
    int64_t step = 0;
    int64_t wallNs = 0;
    bool ok = true;
    std::string message; ///< why not, or what changed ("lr 0.0005 -> 0.0003")
    bool operator==(const CommandApplied&) const = default;
};

struct CheckpointSaved {
    int64_t step = 0;
    int64_t wallNs = 0;
    std::string path; ///< absolute, on the node of rank 0
    int64_t bytes = 0;
    double durationMs = 0;
    std::string reason; ///< "every 500", "command", "pause", "end", "preempted"
    double validationLoss = std::numeric_limits<double>::quiet_NaN(); ///< NaN: none yet
    bool best = false;
    /// NaN equals NaN here.
    bool operator==(const CheckpointSaved& other) const;
};

struct CheckpointRemoved {
    int64_t step = 0;
    int64_t wallNs = 0;
    std::string path;
    bool operator==(const CheckpointRemoved&) const = default;
};

/// A checkpoint lies on the node of this journal as well.
struct CheckpointCopied {
    int64_t step = 0;
    int64_t wallNs = 0;
    std::string path;                 ///< where it was saved, on the node of rank 0
    std::string folder;               ///< here, every byte verified
    std::vector<std::string> dropped; ///< folders of older copies, removed here for it
    int32_t attempt = 1;              ///< the one that saved it
    int64_t bytes = 0;
    std::string reason; ///< as CheckpointSaved::reason
    bool operator==(const CheckpointCopied&) const = default;
};

/// All settings that differ from the spec. Written by rank 0 when an attempt begins and after each
/// change, whoever asked for it.
struct SettingsChanged {
    int64_t step = 0;
    int64_t wallNs = 0;
    struct Setting {
        std::string key; ///< of the spec
        double value = 0;
        bool operator==(const Setting&) const = default;
    };
    std::vector<Setting> settings;
    bool operator==(const SettingsChanged&) const = default;
};

/// The step at which the run ends, by rank 0 when an attempt begins: how many steps train.epochs
/// are is known once the data was read.
struct StepsPlanned {
    int64_t lastStep = 0;
    bool operator==(const StepsPlanned&) const = default;
};

/// A part of a trace: what one rank did in some steps, by its own clock. All ranks of a run begin a
/// trace at the same step boundary.
struct TraceRecorded {
    int32_t rank = 0;
    int64_t firstStep = 0; ///< of the trace, which it names within the attempt
    int32_t steps = 0;     ///< that were asked for
    int64_t wallNs = 0;    ///< the time at `clockNs` of the trace's clock
    int64_t clockNs = 0;
    bool onDevice = false; ///< phases by events of the device, else by the host's clock
    bool last = false;     ///< no further part follows
    std::vector<TraceSlice> slices;
    bool operator==(const TraceRecorded&) const = default;
};

/// Stored: never renumber.
enum class SampleKind : uint8_t {
    kText = 0,        ///< `text` continues `prompt`; of earlier releases a translation, too
    kTranslation = 1, ///< `text` translates `prompt`
    kPicture = 2,     ///< `prompt` names a picture file, `text` the class that it was taken for
};

/// What a model made of one input at a validation.
struct SampleText {
    int64_t step = 0;
    int64_t wallNs = 0;
    std::string prompt;
    std::string text;
    SampleKind kind = SampleKind::kText;
    std::string reference = {}; ///< the reference translation, or the picture's class; empty: none
    /// Of a translation chrF, 0 to 100; of a picture the probability of its guess, 0 to 1. NaN:
    /// none.
    float score = std::numeric_limits<float>::quiet_NaN();
    std::vector<std::byte> picture = {}; ///< JPEG of what the model saw, at most kMaxPicture bytes
    /// NaN equals NaN here.
    bool operator==(const SampleText& other) const;
};

inline constexpr size_t kMaxPicture = 32768;

/// The sample as a person reads it: "Once upon a time", "source: ...\ntranslation: ...".
std::string sampleWords(const SampleText& sample);

/// How often a validation took pictures of one class for another.
struct ConfusionMatrix {
    int64_t step = 0;
    int64_t wallNs = 0;
    int64_t classes = 0;            ///< of the model
    std::vector<std::string> names; ///< of the classes that have a row; at most kMaxConfused
    /// Row by row: the pictures of a class by what they were taken for. With fewer names than
    /// classes one row and one column more, the last ones, are of all other classes.
    std::vector<uint32_t> counts;
    bool operator==(const ConfusionMatrix&) const = default;

    bool hasOthers() const { return static_cast<int64_t>(names.size()) < classes; }
    size_t side() const { return names.size() + (hasOthers() ? 1 : 0); }
    uint32_t at(size_t of, size_t takenFor) const { return counts[of * side() + takenFor]; }
};

inline constexpr size_t kMaxConfused = 64;

/// The agent's records.
struct RankStarted {
    int32_t attempt = 1;
    int32_t rank = 0;
    int64_t pid = 0;
    int64_t wallNs = 0;
    bool operator==(const RankStarted&) const = default;
};

struct RankExited {
    int32_t attempt = 1;
    int32_t rank = 0;
    int32_t exitCode = 0; ///< rm::ExitCode, or any other value of a program that is not ours
    int32_t signal = 0;   ///< 0: exited by itself
    int64_t wallNs = 0;
    std::string message; ///< "killed by SIGKILL", "exited: peer lost"
    std::string tail;    ///< last lines of its log, at most 4 KiB
    bool operator==(const RankExited&) const = default;
};

/// Stored: never renumber.
enum class Outcome : uint8_t {
    kFinished = 0,
    kPaused = 1,
    kStopped = 2,
    kPreempted = 3,
    kFailed = 4,
};

/// Last record of an attempt in a node's journal.
struct AttemptEnded {
    int32_t attempt = 1;
    Outcome outcome = Outcome::kFinished;
    int32_t firstFailedRank = -1; ///< of this node, by time; -1: none
    int32_t exitCode = 0;         ///< of that rank (RankExited::exitCode)
    int64_t wallNs = 0;
    std::string message;
    /// The run goes on by itself: another attempt follows, or a record of this one that it does
    /// not.
    bool resumes = false;
    bool operator==(const AttemptEnded&) const = default;
};

/// An attempt that no person asked for, in the journal of node 0 before it begins.
struct AttemptPlanned {
    int32_t attempt = 1;
    int64_t wallNs = 0;
    std::string startFrom; ///< checkpoint folder or empty
    /// A node that takes part. They are in the order of their ranks.
    struct Node {
        int32_t node = 0;
        int32_t firstRank = 0;
        int32_t ranks = 0;
        bool operator==(const Node&) const = default;
    };
    std::vector<Node> nodes;
    bool operator==(const AttemptPlanned&) const = default;
};

using Record = std::variant<AttemptStarted, MetricRegistered, Samples, Event, CommandApplied,
                            CheckpointSaved, CheckpointRemoved, SampleText, RankStarted, RankExited,
                            AttemptEnded, AttemptPlanned, CheckpointCopied, SettingsChanged,
                            StepsPlanned, ConfusionMatrix, TraceRecorded>;

/// The payload of a frame (shared/io/frame.h) that holds `record`.
std::vector<std::byte> encodeRecord(const Record& record);

/// Verifies and reads a payload. A record type from the future gives kTooNew, which readers skip;
/// anything that FlatBuffers' verifier or our own rules refuse gives kCorrupt.
Result<Record> decodeRecord(std::span<const std::byte> payload);

const char* outcomeName(Outcome outcome);

} // namespace rm

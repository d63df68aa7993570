// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/launch/plan.h"
#include "shared/wire/measures.h"

#include <QString>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rm {

/// A checkpoint is to lie in another place as well.
struct CopyOrder {
    QString node; ///< that gets it
    QString to;   ///< a folder there, absolute; empty: where the run's checkpoints lie there
    /// The folder of the checkpoint itself on this computer, from which it is taken; empty: it is
    /// taken from where it lies.
    QString from;
    bool operator==(const CopyOrder&) const = default;
};

/// What the model of a checkpoint is asked. What is not set is as the run's spec has it.
struct TryOrder {
    QString text; ///< to be continued or translated; empty with a file
    QString file; ///< on this computer, absolute: a text, or for a classifier a picture
    std::optional<int64_t> maxTokens = {};
    std::optional<double> temperature = {}; ///< 0: always the likeliest token
    std::optional<int64_t> topK = {};
    std::optional<int64_t> beams = {};
    std::optional<int64_t> seed = {}; ///< by which tokens are drawn
    bool onCpu = false;               ///< also where no run trains
    bool operator==(const TryOrder&) const = default;
};

/// What the model answered.
struct TriedCheckpoint {
    TryAnswer answer;
    std::string node;
    std::string note; ///< a sentence on how it was computed beside a run; empty: nothing to say
    bool operator==(const TriedCheckpoint&) const = default;
};

/// What resuming would do; nothing is begun.
struct ResumePreflight {
    int64_t step = 0;                     ///< that it goes on from
    std::string checkpoint;               ///< name of its folder
    std::string takenFrom;                ///< the node where it lies
    int64_t bytesToMove = 0;              ///< to the first node; 0: it lies there
    std::vector<Placement> before, after; ///< ranks counted
    /// Steps of newer checkpoints that are nowhere any more, the newest first.
    std::vector<int64_t> passedOver;
    std::vector<std::string> warnings = {}; ///< Launcher::warnings() as sentences
    int64_t newestStep = 0; ///< the last one that it trains again; `step` or less: none
    bool operator==(const ResumePreflight&) const = default;
};

/// What changes, one sentence each:
/// "Ranks: 4 in place of 2; a step keeps its number of samples."
QStringList preflightWords(const ResumePreflight& preflight);

} // namespace rm

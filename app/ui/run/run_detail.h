// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/engine/engine.h"
#include "app/core/runs/run_figures.h"
#include "app/core/runs/slowdowns.h"
#include "app/core/store/store_reader.h"
#include "app/ui/data/timeline.h"
#include "shared/spec/run_spec.h"

#include <optional>

namespace rm {

/// Where an ended run goes on by itself: its newest checkpoint.
struct ResumePoint {
    int64_t step = 0;
    Retirement retires; ///< of what was trained after it
    std::string notes;  ///< partWords() and unreadWords()
};

/// How the run went in the steps to which its charts are zoomed.
struct SpanDetail {
    RunFigures figures;
    Verdict verdict;
};

/// Everything that the tabs of a run show except its series, log and samples, read at once.
struct RunDetail {
    std::optional<RunSummary> run;
    RunFigures figures;
    Verdict verdict;
    std::optional<SpanDetail> span; ///< nullopt: the charts show all steps
    RunHistory history;
    std::vector<StoredSettings> settings;
    std::vector<StoredRank> ranks;
    std::vector<RunNode> wholePlaces;       ///< see StoreReader
    std::optional<ResumePoint> resumePoint; ///< nullopt: it cannot be resumed
    std::optional<RunSpec> spec;            ///< nullopt: it cannot be read
    std::string waitsFor;                   ///< in the queue, in words; empty: it does not wait

    bool writesSamples() const; ///< texts, also when asked for; of a spec that cannot be read: true
    bool keepsPictures() const;
    std::string modelType() const; ///< "gpt"; of a spec that cannot be read: empty
};

/// Worker thread.
RunDetail readDetail(StoreReader& reader, const QString& run,
                     const std::optional<StepSpan>& span = {});

/// Which rank a run waits for that does not come, and why: "the run stands still: rank 1 on node-b
/// is stopped, ..."; empty: none is known to hang.
QString hangWords(const RunDetail& detail, const LiveState& live);

/// Says that the newest attempt of a run that has not ended was begun by the run itself, why, and
/// from where: "Attempt 2 since 21:40: rank 1 on node-b: killed by SIGKILL at step 279; it went on
/// from step 200, 79 steps done again". Empty: a person began it.
QString restartWords(const RunDetail& detail);

/// Why a run failed, in three answers.
struct FailureReport {
    QString what;         ///< "rank 3 on node-b was killed by SIGKILL"
    QString why;          ///< the last lines it wrote
    QString next;         ///< what a person can do
    QString text() const; ///< for the clipboard
};
FailureReport failureReport(const RunDetail& detail);

/// What is to be known of a run that ended as a person asked: the ranks that had failed before, and
/// what a pause could not save. `what` is empty: nothing.
FailureReport endReport(const RunDetail& detail);

} // namespace rm

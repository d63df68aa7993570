// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/findings/tables.h"

#include <QCoreApplication>

namespace rm {

namespace {

/// Why a run is not faster, and what would cure it.
struct PaceTexts {
    Q_DECLARE_TR_FUNCTIONS(Findings)
public:
    static constexpr FindingText kFindings[] = {
        {"slow-rank.data", kWarning, QT_TR_NOOP("A slow rank"),
         QT_TR_NOOP(
             "{rank} waits {takes} of a step for its data, the median of the others {usual}; "
             "steps are {share} longer for it, and without that {factor} times as fast"),
         QT_TR_NOOP("all ranks wait for the slowest one"),
         QT_TR_NOOP("look at what reads on that machine: its disk or share, other programs, free "
                    "processors for the reader threads (data.workers)")},
        {"slow-rank.compute", kWarning, "",
         QT_TR_NOOP("{rank} computes for {takes} of a step, the median of the others {usual}; "
                    "steps are {share} longer for it, and without that {factor} times as fast"),
         QT_TR_NOOP("all ranks wait for the slowest one"),
         QT_TR_NOOP("look for other programs on its processors or GPU, for heat and for a limit of "
                    "power there; check the node; train without it if it stays so")},
        {"slow-rank.link", kWarning, "",
         QT_TR_NOOP("the node of {rank} sends for {takes} of a step, the median of the other nodes "
                    "{usual}; steps are {share} longer for it, and without that {factor} times as "
                    "fast"),
         QT_TR_NOOP("its link is slow, or that of the node to which it sends"),
         QT_TR_NOOP("measure the links (`ringmaster nodes all-reduce`), and look at its cable, "
                    "interface and switch")},

        {"slow-data", kWarning, QT_TR_NOOP("Waiting for data"),
         QT_TR_NOOP("data waits take {share} of a step, {data} of {step}; without them it would be "
                    "{factor} times as fast"),
         QT_TR_NOOP("batches are read slower than they are trained on"),
         QT_TR_NOOP("{workers}, or put the data on a faster disk")},

        {"slow-communication", kWarning, QT_TR_NOOP("Summing gradients"),
         QT_TR_NOOP("sums over the ranks that no computing hides take {share} of a step, {sums} of "
                    "{step}; without them it would be {factor} times as fast"),
         QT_TR_NOOP("the link carries gradients slower than they are computed"),
         QT_TR_NOOP("{cures}; or use a faster link")},

        {"slow-checkpoints", kWarning, QT_TR_NOOP("Saving checkpoints"),
         QT_TR_NOOP("training stands still for {share} of the time while checkpoints are taken; "
                    "without that it would be {factor} times as fast"),
         QT_TR_NOOP("each takes a copy of weights and optimizer state before training goes on"),
         QT_TR_NOOP("save less often (checkpoint.every, now {every})")},

        {"slow-validation", kWarning, QT_TR_NOOP("Validating"),
         QT_TR_NOOP("validations take {share} of the time; without them it would be {factor} times "
                    "as fast"),
         QT_TR_NOOP("no step is trained meanwhile"),
         QT_TR_NOOP("validate less often (validation.every, now {every}) or on fewer batches "
                    "(validation.batches)")},

        {"slow-memory", kWarning, QT_TR_NOOP("Growing memory"),
         QT_TR_NOOP("the process of {rank} takes {now} and grows steadily, by {growth} in an hour"),
         QT_TR_NOOP("it ends once the machine has no more; how much that has is not stored"),
         QT_TR_NOOP(
             "save checkpoints often enough that such an end costs little, and look for what "
             "keeps growing in code of your own")},
        {"slow-memory.gpu", kWarning, "",
         QT_TR_NOOP("the GPU of {rank} has {now} taken, which grows steadily, by {growth} in an "
                    "hour"),
         QT_TR_NOOP("it ends once the GPU has no more; how much that has is not stored"),
         QT_TR_NOOP(
             "save checkpoints often enough that such an end costs little, and look for what "
             "keeps growing in code of your own")},

        {"slow-heat", kWarning, QT_TR_NOOP("A hot GPU"),
         QT_TR_NOOP("the GPU of {rank} is at {degrees} °C"),
         QT_TR_NOOP("from about there on GPUs lower their clocks; whether this one does is not "
                    "measured"),
         QT_TR_NOOP("look at fans, filters and the air in front of that machine")},

        {"slow-compute", kGood, QT_TR_NOOP("Computing"),
         QT_TR_NOOP("forward, backward and optimizer take {share} of a step, {work} of {step}; no "
                    "waiting slows it down{mfu}"),
         QT_TR_NOOP("it gets faster with faster devices, more nodes, or a model or number format "
                    "(train.precision) that computes less")},
    };
    static constexpr Phrase kPhrases[] = {
        {"pace.rank", QT_TR_NOOP("rank {rank}")},
        {"pace.mfu", QT_TR_NOOP("; the GPUs do {share} of what they can (MFU)")},
        {"pace.rank-on", QT_TR_NOOP("rank {rank} on {node}")},
        {"pace.set-workers", QT_TR_NOOP("let more threads read ahead (data.workers, now chosen by "
                                        "the kind of data)")},
        {"pace.raise-workers",
         QT_TR_NOOP("let more threads read ahead (data.workers, now {workers})")},
        {"pace.compress",
         QT_TR_NOOP("distribution.compression = \"bfloat16\" halves what travels: {factor} times "
                    "as fast at most")},
        {"pace.larger-steps",
         QT_TR_NOOP("{key} = {size} sums half as often: {factor} times as many samples a second at "
                    "most, with an update after twice as many")},
        {"pace.no-steps-there", QT_TR_NOOP("none of these steps was measured")},
        {"pace.no-steps", QT_TR_NOOP("no step of the newest attempt was measured yet")},
        {"pace.no-phases",
         QT_TR_NOOP("what a step is made of is not known: the run reports no phases")},
        {"pace.no-validation-there",
         QT_TR_NOOP("the time of validations is not known: none was among these steps")},
        {"pace.no-checkpoint-there",
         QT_TR_NOOP("the time of checkpoints is not known: none was among these steps")},
        {"pace.no-validation",
         QT_TR_NOOP("the time of validations is not known: none was among the last steps")},
        {"pace.no-checkpoint",
         QT_TR_NOOP("the time of checkpoints is not known: none was among the last steps")},
        {"pace.no-memory", QT_TR_NOOP("whether memory grows is not known: there are no ten minutes "
                                      "of samples yet")},
        {"pace.no-gpus", QT_TR_NOOP("heat is not known: there are no figures of GPUs")},
    };
};

} // namespace

TextTable paceTexts() {
    return {PaceTexts::kFindings, PaceTexts::kPhrases};
}

} // namespace rm

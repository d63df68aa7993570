// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/findings/tables.h"

#include <QCoreApplication>

namespace rm {

namespace {

/// What waits for free nodes, what runs of a sweep differ in, and which of them go on.
struct QueueTexts {
    Q_DECLARE_TR_FUNCTIONS(Findings)
public:
    static constexpr Phrase kPhrases[] = {
        // What was attempted: the part of an error's message before its ": ".
        {"queue.put", QT_TR_NOOP("put {run} into the queue")},
        {"queue.move", QT_TR_NOOP("move {run} in the queue")},
        {"queue.start", QT_TR_NOOP("start what waits in the queue")},
        {"queue.read-axis", QT_TR_NOOP("read \"{text}\"")},
        {"queue.check-run", QT_TR_NOOP("check the run \"{run}\" of the sweep")},

        // What a run waits for.
        {"queue.of-nodes", QT_TR_NOOP("{count} of {nodes}")},
        {"queue.place", QT_TR_NOOP("number {place} of {of} in the queue, {waits}")},
        {"queue.waits", QT_TR_NOOP("for {nodes}")},
        {"queue.waits-for-run", QT_TR_NOOP("for {nodes}; {busy}")},
        {"queue.trains-on", QT_TR_NOOP("{run} trains on {node}")},
        {"queue.lost-on", QT_TR_NOOP("{run} has {node}, which cannot be reached; if it is gone for "
                                     "good: ringmaster declare-lost {run} {node}")},

        // What becomes of it.
        {"queue.taken-out", QT_TR_NOOP("it was taken out of the queue")},
        {"queue.waits-no-more", QT_TR_NOOP("it does not wait in the queue any more")},
        {"queue.take-out-first",
         QT_TR_NOOP("it waits in the queue; take it out first (stop does that)")},
        {"queue.no-rank-yet", QT_TR_NOOP("it waits in the queue, so that no rank can do that; "
                                         "stop takes it out")},
        {"queue.halved-out",
         QT_TR_NOOP("ended by its sweep: number {place} of {of} at step {step}, of which "
                    "{kept} went on; resume goes on all the same")},

        // Why there is no such sweep.
        {"queue.resumes-earlier",
         QT_TR_NOOP("checkpoint.on_existing is \"resume\", so that it may be no new run: launch it "
                    "without the queue, or set \"separate\"")},
        {"queue.no-axis", QT_TR_NOOP("a sweep needs a setting that differs, such as "
                                     "lr=1e-3,3e-4")},
        {"queue.no-values", QT_TR_NOOP("write KEY=VALUE,VALUE or KEY=FROM..TO")},
        {"queue.no-setting", QT_TR_NOOP("{key} is no setting of a run")},
        {"queue.empty-value", QT_TR_NOOP("a value is missing between two commas")},
        {"queue.bad-range", QT_TR_NOOP("a range is FROM..TO, or FROM..TO/COUNT of at least two "
                                       "values, and ends above where it begins")},
        {"queue.grid-of-range",
         QT_TR_NOOP("how many values of {key} are to be tried? Write FROM..TO/COUNT, or draw at "
                    "random")},
        {"queue.too-many-runs", QT_TR_NOOP("a sweep has at most {most} runs")},
        {"queue.halving-of-epochs",
         QT_TR_NOOP("successive halving goes by steps, but train.epochs says how long the runs "
                    "train; set train.steps")},
        {"queue.axis-twice", QT_TR_NOOP("{key} varies twice; give all its values at once")},
        {"queue.pauses-itself",
         QT_TR_NOOP("successive halving says where the runs pause, so train.pause_at must be "
                    "empty")},
        {"queue.other-lengths",
         QT_TR_NOOP("successive halving compares runs of one length, so {key} cannot differ")},
        {"queue.nothing-to-halve",
         QT_TR_NOOP("successive halving begins after {first} steps, but the runs have only "
                    "{steps}")},
    };
};

} // namespace

TextTable queueTexts() {
    return {{}, QueueTexts::kPhrases};
}

} // namespace rm

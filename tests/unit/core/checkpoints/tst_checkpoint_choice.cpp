// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/checkpoints/checkpoint_choice.h"
#include "app/core/checkpoints/checkpoint_orders.h"
#include "app/core/checkpoints/checkpoint_words.h"
#include "app/core/runs/requested_words.h"

#include <QDateTime>
#include <QTest>

using namespace rm;

namespace {

StoredCheckpoint stored(int64_t step, bool removed, const std::string& copyOn = {},
                        int retiredBy = 0) {
    StoredCheckpoint checkpoint;
    checkpoint.saved.step = step;
    checkpoint.node = std::string("a");
    checkpoint.removed = removed;
    checkpoint.retiredBy = retiredBy;
    if (!copyOn.empty())
        checkpoint.copies = {{copyOn, "/copies", 1}};
    return checkpoint;
}

int64_t newestOf(const std::vector<StoredCheckpoint>& newestFirst) {
    const StoredCheckpoint* newest = newestLiving(newestFirst);
    return newest ? newest->saved.step : -1;
}

} // namespace

class TestCheckpointChoice : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void whatLiesWhereItWasSavedComesFirst() {
        QCOMPARE(newestOf({stored(30, true, "b"), stored(20, false), stored(10, false)}), 20);
    }

    void aCopyIsEnough() {
        QCOMPARE(newestOf({stored(30, true), stored(20, true, "b"), stored(10, true, "b")}), 20);
    }

    void abandonedLinesAreNotGoneOnFrom() {
        QCOMPARE(newestOf({stored(30, false, "", 2), stored(20, true, "b", 2)}), -1);
        QVERIFY(isSomewhere(stored(30, false, "", 2)));
        // A person removed it; that a copy stays for a while makes it none that is there.
        QVERIFY(!isSomewhere(stored(20, true, "b", 2)));
        QVERIFY(!isSomewhere(stored(20, true)));
        QVERIFY(isSomewhere(stored(20, true, "this-computer", 2))); // this one was asked for
    }

    void aPauseSaysWhichStepsItCouldNotSave() {
        RunSummary run;
        run.state = RunStateKind::kPaused;
        run.step = 95;
        QCOMPARE(unsavedWords(run, {stored(80, false), stored(70, false)}),
                 std::string("the pause could save no checkpoint: the newest is of step 80, and "
                             "steps 81 to 95 are trained again"));
        QCOMPARE(unsavedWords(run, {}),
                 std::string("the pause could save no checkpoint, and there is none: its 95 steps "
                             "are trained again"));
        QVERIFY(unsavedWords(run, {stored(95, false)}).empty());
        QVERIFY(!unsavedWords(run, {stored(95, false, "", 2), stored(80, false)}).empty());
        run.state = RunStateKind::kFailed; // of which its own report says from where it goes on
        QVERIFY(unsavedWords(run, {stored(80, false)}).empty());
    }

    void whatAPersonRemovedCanBeBroughtBackForAWeek() {
        constexpr int64_t kDayNs = int64_t{24} * 3600 * 1'000'000'000;
        StoredCheckpoint checkpoint = stored(20, true, "", 2);
        checkpoint.saved.path = "/checkpoints/step-000000020";
        const auto requested = [](const char* kind, const char* which, int64_t day) {
            RequestedCommand command;
            command.kind = kind;
            command.args = {{"checkpoint", which}};
            command.requestedNs = day * kDayNs;
            return command;
        };
        const auto until = [&](const std::vector<RequestedCommand>& newestFirst, int64_t day) {
            const auto found = broughtBackUntil({checkpoint}, newestFirst, day * kDayNs);
            return found.empty() ? -1 : found.at(checkpoint.saved.path) / kDayNs;
        };
        const RequestedCommand byName = requested(kRemoveCheckpoint, "step-000000020", 3);
        QCOMPARE(until({}, 3), -1); // retention removed it
        QCOMPARE(until({byName}, 4), 10);
        QCOMPARE(until({requested(kRemoveCheckpoint, "20", 3)}, 4), 10);
        QCOMPARE(until({requested(kRemoveCheckpoint, "30", 3)}, 4), -1);
        QCOMPARE(until({byName}, 10), -1);
        QCOMPARE(until({requested(kBringBackCheckpoint, "20", 4), byName}, 5), -1);
        QCOMPARE(until({requested(kClean, "", 4), byName}, 5), -1);
        checkpoint.removed = false;
        QCOMPARE(until({byName}, 4), -1);
    }

    void aRunThatEndedSaysWhyItHasNoCheckpoint() {
        RunSummary run;
        run.state = RunStateKind::kFailed;
        QCOMPARE(whyNoCheckpoint(run, {}, {}),
                 std::string("it failed before its first checkpoint"));
        run.unreadNodes = {"node-b"};
        QVERIFY(whyNoCheckpoint(run, {}, {})
                    .starts_with("none of its checkpoints is known, and node-b may have some"));
        run.unreadNodes.clear();
        run.state = RunStateKind::kPaused;
        QCOMPARE(whyNoCheckpoint(run, {}, {}),
                 std::string("it was paused before its first checkpoint"));
        const std::vector<StoredCheckpoint> gone = {stored(20, true)};
        run.nodes = {{0, "node-a", 1, 0}, {1, "node-b", 1, 1}};
        run.lostNodes = {{"node-b", 1, "away"}}; // it saves none
        QCOMPARE(whyNoneIsKnown(run), std::string());
        run.lostNodes = {{"node-a", 1, "away"}};
        QCOMPARE(whyNoneIsKnown(run),
                 std::string("node-a saves them, and cannot be reached now, so that it is not "
                             "known whether it has any"));
        run.lostNodes.clear();
        QCOMPARE(whyNoCheckpoint(run, gone, {}),
                 std::string("its checkpoints are not on the nodes any more"));
        RequestedCommand first, again;
        first.kind = again.kind = kClean;
        first.requestedNs = 1'000'000'000;
        again.requestedNs = first.requestedNs + int64_t{48} * 3600 * 1'000'000'000;
        const std::string said = whyNoCheckpoint(run, gone, {again, first});
        const std::string when =
            QDateTime::fromSecsSinceEpoch(1).toString("yyyy-MM-dd").toStdString();
        QVERIFY2(said.starts_with("its checkpoints were cleaned from the nodes on " + when),
                 said.c_str());
    }

    void whyItWasSavedComesBeforeWhyItIsKept() {
        StoredCheckpoint checkpoint = stored(20, false);
        checkpoint.saved.reason = "every 20";
        QCOMPARE(whySaved(checkpoint), std::string("every 20"));
        checkpoint.isBest = checkpoint.isPinned = true;
        QCOMPARE(whySaved(checkpoint), std::string("every 20; kept as best and pinned"));
        checkpoint.isBest = false;
        checkpoint.retiredBy = 2;
        QCOMPARE(whySaved(checkpoint),
                 std::string("every 20; kept as it is pinned; set aside by attempt 2"));
        for (const auto& [stored, reported] :
             {std::pair("command", "asked for by hand"),
              {"rule", "asked for by a rule"},
              {"before set", "before a change of settings"},
              {"before set clip, lr", "before the change of clip, lr"},
              {"epoch 3", "epoch 3"}})
            QCOMPARE(reasonWords(stored), std::string(reported));
    }

    void whereItLiesIsSaidTruly() {
        QCOMPARE(whereWords(stored(20, false, "b")), std::string("a, copied to b"));
        QCOMPARE(whereWords(stored(20, true, "b")), std::string("copied to b"));
    }

    void aResumeIsToldWhatItPassesOver() {
        ResumePreflight preflight{60, "step-000000060", "a", 0, {{"a", 2}}, {{"a", 2}}, {80, 70}};
        const QString reported = preflightWords(preflight).join(' ');
        QVERIFY2(reported.contains("from step 60"), qPrintable(reported));
        QVERIFY2(reported.contains("step 80") && reported.contains("step 70"),
                 qPrintable(reported));
        QVERIFY2(reported.contains("Nodes and ranks stay as they were."), qPrintable(reported));
        preflight.passedOver.clear();
        QVERIFY(!preflightWords(preflight).join(' ').contains("nowhere"));
        preflight.warnings = {"x-2 on b: it may share processors; wait for its end"};
        QVERIFY(preflightWords(preflight).contains(
            "Warning: x-2 on b: it may share processors; wait for its end."));
    }

    void aResumeSaysWhichStepsItTrainsAgain() {
        ResumePreflight preflight{60, "step-000000060", "a", 0, {{"a", 2}}, {{"a", 2}}, {}};
        for (const int64_t newest : {-1, 0, 60}) { // the checkpoint is of the last one
            preflight.newestStep = newest;
            const QString reported = preflightWords(preflight).join(' ');
            QCOMPARE(reported, QString("It goes on from step 60. Nodes and ranks stay as they "
                                       "were."));
        }
        preflight.newestStep = 61;
        QVERIFY(preflightWords(preflight).contains("Step 61 is trained again."));
        preflight.newestStep = 95;
        QVERIFY(preflightWords(preflight).contains("Steps 61 to 95 are trained again."));
        preflight.after = {{"b", 2}}; // on whatever nodes
        QVERIFY(preflightWords(preflight).contains("Steps 61 to 95 are trained again."));
    }
};

QTEST_APPLESS_MAIN(TestCheckpointChoice)
#include "app/core/store/requested_command.h"
#include "app/core/store/run_summary.h"
#include "app/core/store/stored_checkpoint.h"

#include "tst_checkpoint_choice.moc"

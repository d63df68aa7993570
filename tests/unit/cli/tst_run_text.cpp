// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/run_text.h"
#include "app/core/store/attempt_outcome.h"
#include "app/core/store/run_summary.h"
#include "shared/board/board.h"

#include <QTest>

using namespace rm;
using namespace rm::cli;

namespace {

LiveState liveWith(Phase phase, bool hasEnded) {
    RunState state;
    state.ended = hasEnded;
    RankState rank;
    rank.pid = hasEnded ? 0 : 4711;
    rank.phase = static_cast<uint8_t>(phase);
    state.ranks = {rank};
    LiveState live;
    live.nodes.push_back({"node-a", LiveState::Link::kLive, {}, 0, state});
    return live;
}

} // namespace

class tst_run_text : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void whatALaunchHasStartedIsToldAsItIs_data() {
        QTest::addColumn<RunStateKind>("state");
        QTest::addColumn<QString>("message");
        QTest::addColumn<LiveState>("live");
        QTest::addColumn<QString>("text");
        const auto row = [](const char* name, RunStateKind state, const std::string& message,
                            const LiveState& live, const char* text) {
            QTest::newRow(name) << state << QString::fromStdString(message) << live << text;
        };
        const RunStateKind preparing = RunStateKind::kPreparing;
        const LiveState starting = liveWith(Phase::kRendezvous, false);
        row("trains by its journal", RunStateKind::kRunning, {}, starting,
            "It trains on its nodes now");
        row("trains, its journal is on its way", preparing, {}, liveWith(Phase::kForward, false),
            "It trains on its nodes now");
        row("ended by its journal", RunStateKind::kFinished, {}, starting,
            "It is finished already");
        row("ended, its journal is on its way", preparing, {}, liveWith(Phase::kEnding, true),
            "Its ranks have ended already");
        row("meets", preparing, {}, starting, "Its ranks are started, but do not train yet");
        row("silent", preparing, {}, {}, "Its ranks are started; nothing was heard of them yet");
        row("trained and restarts", preparing, kRestartsMessage + std::string(": rank 1 died"),
            starting, "It restarts: rank 1 died");
        row("waits for Slurm", preparing, kQueuedMessage + std::string(": Priority"), {},
            "It is queued: Priority");
    }
    void whatALaunchHasStartedIsToldAsItIs() {
        QFETCH(RunStateKind, state);
        QFETCH(QString, message);
        QFETCH(LiveState, live);
        QFETCH(QString, text);
        RunSummary run;
        run.state = state;
        run.message = message;
        QCOMPARE(QString::fromStdString(startedText(run, live)), text);
    }
};

QTEST_APPLESS_MAIN(tst_run_text)
#include "tst_run_text.moc"

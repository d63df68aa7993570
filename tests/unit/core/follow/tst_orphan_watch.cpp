// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/follow/orphan_watch.h"
#include "shared/io/frame.h"
#include "shared/wire/adoption.h"
#include "trainer/agent/attach/attach_session.h"

#include <QTemporaryDir>
#include <QTest>

using namespace rm;
using namespace std::chrono_literals;

namespace {

using Time = OrphanWatch::Clock::time_point;

RunState orphaned(int attempt) {
    RunState state;
    state.attempt = attempt;
    state.ranks.resize(1);
    return state;
}

} // namespace

/// When the app takes an attempt without any process for lost.
class TestOrphanWatch : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void anAttemptIsLostAfterSeveralTriesToAdoptIt();
    void aSupervisorThatComesLateIsInTime();
    void silenceOfTheAgentIsNoTry();
    void whatNeverBeganIsLostSoon();
};

// Both sides at one clock.
void TestOrphanWatch::anAttemptIsLostAfterSeveralTriesToAdoptIt() {
    const QTemporaryDir dir;
    int adopted = 0;
    AttachSession agent(dir.path().toStdString(), "r1", 0,
                        {[] { return orphaned(1); }, [](const Command&) { return Result<void>(); },
                         [] {}, [] {}, [&] { ++adopted; }},
                        0);
    agent.onBytes(frameMessage(Hello{kWireVersion, "0.1.0", "r1", 0}), 0);
    agent.onBytes(frameMessage(Attach{}), 0);
    OrphanWatch watch;
    std::chrono::nanoseconds now = 0s;
    while (!watch.isLost(Time(now))) {
        QVERIFY(now < 60s);
        now += 100ms;
        agent.onBytes(frameMessage(Heartbeat{now.count(), 0}), now.count());
        agent.tick(now.count());
        while (const auto frame = agent.nextFrame()) {
            const auto message = decodeMessage(std::span(*frame).subspan(kFrameHeader));
            QVERIFY(message.has_value());
            if (const auto* state = std::get_if<RunState>(&*message))
                watch.onState(*state, Time(now));
        }
    }
    QVERIFY(adopted >= kAdoptTries);
    QVERIFY(now >= std::chrono::milliseconds(kAdoptTries * kAdoptMs));
}

void TestOrphanWatch::aSupervisorThatComesLateIsInTime() {
    OrphanWatch watch;
    for (int second = 0; second < 11; ++second)
        watch.onState(orphaned(1), Time(std::chrono::seconds(second)));
    RunState adopted = orphaned(1);
    adopted.supervised = true;
    watch.onState(adopted, Time(11s));
    QVERIFY(!watch.isLost(Time(60s)));
    watch.onState(orphaned(1), Time(61s));
    QVERIFY(!watch.isLost(Time(62s)));
}

void TestOrphanWatch::silenceOfTheAgentIsNoTry() {
    OrphanWatch watch;
    watch.onState(orphaned(1), Time(0s));
    watch.onState(orphaned(1), Time(9s));
    watch.onState(orphaned(1), Time(18s));
    QVERIFY(!watch.isLost(Time(27s)));
}

void TestOrphanWatch::whatNeverBeganIsLostSoon() {
    OrphanWatch watch;
    watch.onState(orphaned(0), Time(0s));
    QVERIFY(!watch.isLost(Time(2s)));
    QVERIFY(watch.isLost(Time(3s)));
}

QTEST_GUILESS_MAIN(TestOrphanWatch)
#include "tst_orphan_watch.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
#include "shared/journal/event_codes.h"
#include "tests/cli/own_folders.h"

#include <QJsonArray>
#include <QJsonObject>
#include <QTest>

using namespace rm;

namespace {

constexpr int kDeadlineMs = 180000;

} // namespace

/// What the terminal says of a run's speed, with real ranks.
class TestCliWhy : public QObject {
    Q_OBJECT
private Q_SLOTS:
    /// Rank 1 waits 200 ms longer for its data in each step.
    void aSlowedRunIsToldWhy() {
        qputenv("RINGMASTER_SLOW", "1:data:200");
        const Answer ended =
            m_own.run(longRunWords("slowed", 60, "this-computer:2") +
                          QStringList{"--set", "schedule.warmup_steps=1", "--wait"},
                      kDeadlineMs);
        qunsetenv("RINGMASTER_SLOW");
        QVERIFY2(ended.exitCode == 0, ended.whole());

        const Answer why = m_own.run({"why", "slowed", "--json"});
        QVERIFY2(why.exitCode == 0, why.whole());
        const QJsonObject told = why.json().object();
        QVERIFY2(told["step_ms"].toDouble() >= 200, why.whole());
        const QJsonObject first = told["findings"].toArray().at(0).toObject();
        QVERIFY2(first["id"].toString() == "slow-rank" && first["rank"].toInt() == 1 &&
                     first["slow_in"].toString() == "data" && first["speed_up"].toDouble() > 1,
                 why.whole());
        for (const QJsonValue& each : told["findings"].toArray()) // the other rank does not wait
            QVERIFY2(each["id"].toString() != "slow-data", why.whole());
        QVERIFY2(!told["not_known"].toArray().isEmpty(), why.whole());

        const Answer words = m_own.run({"why", "slowed"});
        QVERIFY2(words.exitCode == 0 && words.out.contains("A slow rank\n  rank 1 waits ") &&
                     words.out.contains("what to do: ") && words.out.contains("Not known\n"),
                 words.whole());
        const Answer shown = m_own.run({"show", "slowed"});
        QVERIFY2(shown.out.contains("  why slow    A slow rank: rank 1 waits ") &&
                     shown.out.contains(": rank 1: waiting for data takes "),
                 shown.whole());

        const Answer span = m_own.run({"why", "slowed", "--from", "20", "--to", "40", "--json"});
        QVERIFY2(span.exitCode == 0, span.whole());
        QCOMPARE(span.json().object()["steps"].toInt(), 21);
        QCOMPARE(span.json().object()["last_step"].toInt(), 40);
        QVERIFY2(span.json().object()["step_ms"].toDouble() >= 200, span.whole());
        const Answer none = m_own.run({"why", "slowed", "--from", "900"});
        QVERIFY2(none.exitCode != 0 &&
                     none.err.contains("why slowed: it has no samples of these steps"),
                 none.whole());
        const Answer lines = m_own.run({"logs", "slowed", "--until", "1", "--json"});
        const Answer all = m_own.run({"logs", "slowed", "--json"});
        QVERIFY2(lines.exitCode == 0, lines.whole());
        QVERIFY2(lines.json().array().size() < all.json().array().size(), all.whole());

        bool isNamed = false;
        for (const QJsonValue& each :
             m_own.run({"show", "slowed", "--json"}).json().object()["events"].toArray()) {
            const QJsonObject event = each.toObject();
            isNamed = isNamed ||
                      (event["code"].toString() == kRankSlowEvent && event["rank"].toInt() == 1);
        }
        QVERIFY2(isNamed, "no event names rank 1");
    }

private:
    OwnFolders m_own;
};

QTEST_GUILESS_MAIN(TestCliWhy)
#include "tst_cli_why.moc"

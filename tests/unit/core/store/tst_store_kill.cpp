// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/store_reader.h"
#include "tests/unit/core/store/store_fixture.h"

#include <QProcess>

#include <SQLiteCpp/SQLiteCpp.h>

#include <random>
#include <thread>

namespace rm {

namespace {

constexpr int kKills = 30;

/// Every step from 1 to the cursor is there exactly once, in samples and in the log.
void checkNode(StoreReader& reader, int node) {
    const auto cursors = reader.cursors("victim", node);
    const uint64_t cursor = cursors.empty() ? 0 : cursors[0].second;
    for (const char* metric : {"train/loss", "train/lr"}) {
        const auto points = reader.points("victim", {metric, node});
        QCOMPARE(points.size(), size_t(cursor));
        for (size_t i = 0; i < points.size(); ++i)
            QCOMPARE(points[i].step, int64_t(i) + 1);
    }
    const auto buckets = reader.buckets("victim", {"train/loss", node}, 0, INT64_MAX, 3);
    if (cursor > 0)
        QCOMPARE(buckets.back().max, float(cursor));
    const auto lines = reader.log("victim", node, 0, 1 << 30);
    QCOMPARE(lines.size(), size_t(cursor));
    for (size_t i = 0; i < lines.size(); ++i)
        QCOMPARE(lines[i].text, std::to_string(i + 1));
}

} // namespace

class TestStoreKill : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void killedWriterLosesAndDoublesNothing() {
        QTemporaryDir folder;
        const QString path = folder.filePath("runs.sqlite");
        std::mt19937 random(11);
        uint64_t before = 0;
        for (int kill = 0; kill < kKills; ++kill) {
            QProcess victim;
            victim.setProcessChannelMode(QProcess::ForwardedErrorChannel);
            victim.start(QCoreApplication::applicationDirPath() + "/store_victim", {path});
            QVERIFY(victim.waitForReadyRead(20000));
            // The moment of the kill is what varies.
            std::this_thread::sleep_for(std::chrono::microseconds(random() % 60000));
            victim.kill();
            QVERIFY(victim.waitForFinished(20000));
            QCOMPARE(victim.exitStatus(), QProcess::CrashExit);
            {
                SQLite::Database database(path.toStdString(), SQLite::OPEN_READONLY);
                QCOMPARE(database.execAndGet("PRAGMA integrity_check").getString(),
                         std::string("ok"));
            }
            const auto reader = std::move(*StoreReader::open(path));
            checkNode(*reader, 0);
            checkNode(*reader, 1);
            const auto cursors = reader->cursors("victim", 0);
            const uint64_t now = cursors.empty() ? 0 : cursors[0].second;
            QVERIFY(now >= before);
            before = now;
        }
        QVERIFY2(before > 4096, "the victim never got as far as a chunk");
    }
};

} // namespace rm

QTEST_GUILESS_MAIN(rm::TestStoreKill)
#include "tst_store_kill.moc"

// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/attach/file_tails.h"
#include "trainer/agent/run_dir/log_times.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <fcntl.h>
#include <sys/stat.h>

#include <span>

using namespace rm;

namespace {

const std::string kLog = "log/rank-00000.log";

std::vector<LogStamp> entriesOf(const QString& path) {
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return {};
    const QByteArray bytes = file.readAll();
    return parseLogTimes(std::as_bytes(std::span(bytes.constData(), size_t(bytes.size()))))
        .value_or(std::vector<LogStamp>());
}

} // namespace

/// When logs were written: the file beside each, and what is sent of it.
class TestLogTimes : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init();
    void cleanup();
    void eachGrowthHasItsTime();
    void anotherWriterGoesOnAndTellsTheLastChangeOfWhatItMissed();
    void whatWasThereBeforeHasNoTime();
    void whatARankWroteSinceItsStartHasATime();
    void anEmptiedLogBeginsAnew();
    void everySecondOfTheOlderEntriesGoes();
    void aFullFileHasRoomForWhatComes();
    void aTornEntryIsOverwritten();
    void slicesHaveTheTimesOfTheirBytes();
    void whatIsNotNotedYetHasTheTimeOfTheLastChange();
    void aLogWithoutTimesHasNone();
    void aSliceHasNoMoreStampsThanFitAMessage();

private:
    void append(const std::string& text) const {
        QFile to(QString::fromStdString(kLog));
        QVERIFY(to.open(QIODevice::Append));
        QCOMPARE(to.write(text.data(), qint64(text.size())), qint64(text.size()));
    }
    static void writeTimes(std::span<const LogStamp> entries) {
        const auto bytes = encodeLogTimes(entries);
        QFile file("log/rank-00000.times");
        QVERIFY(file.open(QIODevice::WriteOnly));
        QCOMPARE(file.write(reinterpret_cast<const char*>(bytes.data()), qint64(bytes.size())),
                 qint64(bytes.size()));
    }
    static void changeAt(int64_t seconds) {
        const timespec times[] = {{seconds, 0}, {seconds, 0}};
        QCOMPARE(::utimensat(AT_FDCWD, kLog.c_str(), times, 0), 0);
    }
    std::vector<LogStamp> noted() const { return entriesOf("log/rank-00000.times"); }

    std::unique_ptr<QTemporaryDir> m_folder;
    QString m_before;
};

void TestLogTimes::init() {
    m_folder = std::make_unique<QTemporaryDir>();
    m_before = QDir::currentPath();
    QVERIFY(QDir::setCurrent(m_folder->path()));
    QVERIFY(QDir().mkpath("log"));
}

void TestLogTimes::cleanup() {
    QVERIFY(QDir::setCurrent(m_before));
}

void TestLogTimes::eachGrowthHasItsTime() {
    append("");
    LogTimesWriter times(kLog);
    times.look(5);
    append("one\n");
    times.look(10);
    times.look(20);
    append("two\nthree\n");
    times.look(30);
    QCOMPARE(noted(), (std::vector<LogStamp>{{4, 10}, {14, 30}}));
}

void TestLogTimes::anotherWriterGoesOnAndTellsTheLastChangeOfWhatItMissed() {
    append("");
    {
        LogTimesWriter times(kLog);
        times.look(5);
        append("one\n");
        times.look(10);
    }
    append("two\n");
    changeAt(2);
    LogTimesWriter times(kLog);
    times.look(9'000'000'000);
    append("three\n");
    times.look(9'500'000'000);
    QCOMPARE(noted(), (std::vector<LogStamp>{{4, 10}, {8, 2'000'000'000}, {14, 9'500'000'000}}));
}

void TestLogTimes::whatWasThereBeforeHasNoTime() {
    append("of an agent that noted none\n");
    LogTimesWriter times(kLog);
    times.look(10);
    append("new\n");
    times.look(20);
    QCOMPARE(noted(), (std::vector<LogStamp>{{28, 0}, {32, 20}}));
}

void TestLogTimes::whatARankWroteSinceItsStartHasATime() {
    append("old\n");
    LogTimesWriter times(kLog, 4);
    append("new\n");
    changeAt(5);
    times.look(10'000'000'000);
    QCOMPARE(noted(), (std::vector<LogStamp>{{4, 0}, {8, 5'000'000'000}}));
}

void TestLogTimes::anEmptiedLogBeginsAnew() {
    append("");
    LogTimesWriter times(kLog);
    times.look(5);
    append("one\ntwo\n");
    times.look(10);
    QVERIFY(QFile::resize(QString::fromStdString(kLog), 0));
    append("cut\n");
    times.look(20);
    QCOMPARE(noted(), (std::vector<LogStamp>{{4, 20}}));
}

void TestLogTimes::everySecondOfTheOlderEntriesGoes() {
    std::vector<LogStamp> entries;
    for (int64_t i = 1; i <= 100; ++i)
        entries.push_back({uint64_t(i) * 10, i});
    const auto fewer = thinned(entries);
    QCOMPARE(fewer.size(), size_t(100 - 38));
    QCOMPARE(fewer.front(), (LogStamp{20, 2}));
    QVERIFY(std::equal(fewer.end() - 25, fewer.end(), entries.end() - 25));
}

void TestLogTimes::aFullFileHasRoomForWhatComes() {
    std::vector<LogStamp> entries;
    for (size_t i = 1; i <= kMostLogTimes; ++i)
        entries.push_back({i, int64_t(i)});
    append(std::string(kMostLogTimes, 'x'));
    writeTimes(entries);
    LogTimesWriter times(kLog);
    times.look(1);
    QCOMPARE(noted().size(), kMostLogTimes); // nothing came
    append("y");
    times.look(2);
    append("z");
    times.look(3);
    std::vector<LogStamp> expected = thinned(entries);
    expected.insert(expected.end(), {{kMostLogTimes + 1, 2}, {kMostLogTimes + 2, 3}});
    QVERIFY(noted() == expected);
}

void TestLogTimes::aTornEntryIsOverwritten() {
    append("");
    LogTimesWriter times(kLog);
    times.look(5);
    append("one\n");
    times.look(10);
    QFile file("log/rank-00000.times");
    QVERIFY(file.open(QIODevice::Append));
    file.write("torn");
    file.close();
    append("two\n");
    times.look(20);
    QCOMPARE(noted(), (std::vector<LogStamp>{{4, 10}, {8, 20}}));
}

void TestLogTimes::slicesHaveTheTimesOfTheirBytes() {
    append("");
    LogTimesWriter times(kLog);
    times.look(5);
    for (int64_t i = 1; i <= 5; ++i) {
        append("0123456789");
        times.look(i * 100);
    }
    FileTails tails(m_folder->path().toStdString());
    QVERIFY(tails.seek({{kLog, 15}}));
    const auto first = tails.next(20);
    QVERIFY(first);
    QCOMPARE(first->offset, uint64_t(15));
    QCOMPARE(first->stamps, (std::vector<LogStamp>{{20, 200}, {30, 300}, {35, 400}}));
    const auto second = tails.next(1024);
    QVERIFY(second);
    QCOMPARE(second->stamps, (std::vector<LogStamp>{{40, 400}, {50, 500}}));
}

void TestLogTimes::whatIsNotNotedYetHasTheTimeOfTheLastChange() {
    append("");
    LogTimesWriter times(kLog);
    times.look(5);
    append("one\n");
    times.look(1'000'000'000);
    append("two\n");
    changeAt(2);
    FileTails tails(m_folder->path().toStdString());
    QVERIFY(tails.seek({}));
    const auto slice = tails.next(1024);
    QVERIFY(slice);
    QCOMPARE(slice->stamps, (std::vector<LogStamp>{{4, 1'000'000'000}, {8, 2'000'000'000}}));
}

void TestLogTimes::aLogWithoutTimesHasNone() {
    append("one\n");
    FileTails tails(m_folder->path().toStdString());
    QVERIFY(tails.seek({}));
    const auto slice = tails.next(1024);
    QVERIFY(slice && slice->stamps.empty());
}

void TestLogTimes::aSliceHasNoMoreStampsThanFitAMessage() {
    std::vector<LogStamp> entries;
    for (size_t i = 1; i <= 3 * kMaxStamps; ++i)
        entries.push_back({2 * i, int64_t(i)});
    append(std::string(6 * kMaxStamps, 'x'));
    writeTimes(entries);
    FileTails tails(m_folder->path().toStdString());
    QVERIFY(tails.seek({}));
    const auto slice = tails.next(1 << 20);
    QVERIFY(slice);
    QVERIFY(!slice->stamps.empty() && slice->stamps.size() <= kMaxStamps);
    QCOMPARE(slice->stamps.back(), entries.back());
    QVERIFY(decodeMessage(encodeMessage(*slice)));
}

QTEST_GUILESS_MAIN(TestLogTimes)
#include "tst_log_times.moc"

// SPDX-License-Identifier: Apache-2.0
#include "shared/board/board.h"
#include "shared/journal/journal.h"
#include "trainer/agent/attach/attach_session.h"
#include "trainer/agent/run_dir/log_cap.h"
#include "trainer/agent/supervisor/run_state.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <functional>
#include <map>

using namespace rm;

namespace {

constexpr int64_t kMs = 1'000'000;

/// An app at the other end of a session, with a clock that stands until told.
struct Fixture {
    QTemporaryDir dir;
    int64_t nowNs = 1000 * kMs;
    RunState state;
    bool isSupervised = true;
    bool echoes = true; ///< heartbeats, as an app does
    std::vector<Command> forwarded;
    int requested = 0, ended = 0, adopted = 0;
    AttachSession session{dir.path().toStdString(), "r1", 2, ports(), nowNs};
    std::vector<Message> messages;
    std::map<std::string, std::string> files;

    Fixture() {
        QDir(dir.path()).mkdir("journal");
        QDir(dir.path()).mkdir("log");
    }

    AttachSession::Ports ports() {
        return {[this] { return state; },
                [this](const Command& command) -> Result<void> {
                    if (!isSupervised)
                        return fail(ErrorCode::kUnavailable, "the run is not running on this node");
                    forwarded.push_back(command);
                    return {};
                },
                [this] { ++requested; }, [this] { ++ended; }, [this] { ++adopted; }};
    }

    void append(const QString& file, const std::string& text) {
        QFile out(dir.filePath(file));
        QVERIFY(out.open(QIODevice::Append));
        out.write(text.data(), static_cast<qint64>(text.size()));
    }
    void say(const Message& message) { sayBytes(frameMessage(message)); }
    void sayBytes(std::span<const std::byte> bytes) { session.onBytes(bytes, nowNs); }
    void attach(std::vector<FileCursor> cursors = {}) {
        say(Hello{kWireVersion, "0.1.0", "r1", 0});
        say(Attach{std::move(cursors)});
        pass(0);
    }
    void pass(int64_t ns) {
        nowNs += ns;
        session.tick(nowNs);
        take();
    }
    void take() {
        while (auto frame = session.nextFrame()) {
            takeFrame(*frame);
            if (const auto* beat = std::get_if<Heartbeat>(&messages.back()); beat && echoes)
                say(Heartbeat{1, beat->sentNs});
        }
    }
    void takeFrame(std::span<const std::byte> frame) {
        const auto message = decodeMessage(frame.subspan(kFrameHeader));
        QVERIFY(message.has_value());
        messages.push_back(*message);
        if (const auto* slice = std::get_if<Slice>(&*message); slice && !slice->bytes.empty()) {
            std::string& text = files[slice->file];
            const uint64_t begin = starts.try_emplace(slice->file, slice->offset).first->second;
            QCOMPARE(slice->offset, begin + text.size());
            text.append(reinterpret_cast<const char*>(slice->bytes.data()), slice->bytes.size());
        }
    }
    template <class T>
    std::vector<T> all() const {
        std::vector<T> found;
        for (const Message& message : messages)
            if (const T* one = std::get_if<T>(&message))
                found.push_back(*one);
        return found;
    }
    std::map<std::string, uint64_t> starts;
};

/// A link with a buffer of its own between a session and an app that echoes at once. Steps of 10
/// ms.
struct SlowLink {
    SlowLink(double bytesPerS, size_t bufferBytes)
        : rate(bytesPerS)
        , buffer(bufferBytes) {}

    void slowTo(double bytesPerS) { rate = bytesPerS; }
    void attach(size_t backlog) {
        f.append("journal/rank-00000.rmj", std::string(backlog, 'x'));
        f.say(Hello{kWireVersion, "0.1.0", "r1", 0});
        f.say(Attach{});
    }
    void run(int seconds) {
        f.state.attempt = 1;
        f.state.supervised = true;
        for (int i = 0; i < seconds * 100; ++i)
            step();
    }
    /// How many seconds a state was under way at most, from that second on.
    double oldestState(double fromS) const {
        double oldest = -1;
        for (const auto& [atS, tookS] : states)
            if (atS >= fromS)
                oldest = std::max(oldest, tookS);
        return oldest < 0 ? 1e9 : oldest;
    }

    void step() {
        f.nowNs += 10 * kMs;
        nowS += 0.01;
        f.state.wallNs = f.nowNs;
        f.session.tick(f.nowNs);
        if (f.nowNs >= nextBeatNs) {
            f.say(Heartbeat{1, 0});
            nextBeatNs = f.nowNs + kHeartbeatMs * kMs;
        }
        fill();
        credit += rate / 100;
        while (!onItsWay.empty() && credit >= static_cast<double>(onItsWay.front().size())) {
            credit -= static_cast<double>(onItsWay.front().size());
            arrive(onItsWay.front());
            onItsWay.pop_front();
            fill();
        }
        if (onItsWay.empty())
            credit = 0;
    }
    void fill() {
        while (bytesOnTheirWay() < buffer) {
            auto frame = f.session.nextFrame();
            if (!frame)
                return;
            onItsWay.push_back(std::move(*frame));
        }
    }
    size_t bytesOnTheirWay() const {
        size_t bytes = 0;
        for (const auto& frame : onItsWay)
            bytes += frame.size();
        return bytes;
    }
    void arrive(const std::vector<std::byte>& frame) {
        f.takeFrame(frame);
        const Message message = f.messages.back();
        f.messages.clear();
        if (const auto* beat = std::get_if<Heartbeat>(&message))
            f.say(Heartbeat{1, beat->sentNs});
        else if (const auto* state = std::get_if<RunState>(&message))
            states.emplace_back(nowS, static_cast<double>(f.nowNs - state->wallNs) / 1e9);
    }

    Fixture f;
    double rate;
    size_t buffer;
    double nowS = 0;
    double credit = 0;
    int64_t nextBeatNs = 0;
    std::deque<std::vector<std::byte>> onItsWay;
    std::vector<std::pair<double, double>> states; ///< when one came, how long it took
};

} // namespace

class TestAttachSession : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void helloComesFirst() {
        Fixture f;
        f.take();
        const Hello hello = std::get<Hello>(f.messages.front());
        QCOMPARE(hello.version, kWireVersion);
        QCOMPARE(hello.runId, std::string("r1"));
        QCOMPARE(hello.nodeIndex, 2);
    }

    void filesComeFromTheCursors() {
        Fixture f;
        f.append("journal/rank-00000.rmj", "0123456789");
        f.append("log/rank-00000.log", "hello");
        f.attach({{"journal/rank-00000.rmj", 4}});
        QCOMPARE(f.files["journal/rank-00000.rmj"], std::string("456789"));
        QCOMPARE(f.files["log/rank-00000.log"], std::string("hello"));
    }

    void growthAndNewFilesFollow() {
        Fixture f;
        f.append("log/rank-00000.log", "a");
        f.attach();
        f.append("log/rank-00000.log", "b");
        f.append("log/rank-00001.log", "c");
        f.session.onFilesChanged();
        f.take();
        QCOMPARE(f.files["log/rank-00000.log"], std::string("ab"));
        QCOMPARE(f.files["log/rank-00001.log"], std::string("c"));
    }

    void growthIsFoundWithoutNotice() {
        Fixture f;
        f.attach();
        f.append("log/rank-00000.log", "late");
        f.pass(200 * kMs);
        QCOMPARE(f.files["log/rank-00000.log"], std::string("late"));
    }

    void stateIsNotLateBehindFilesOnASlowLink() {
        SlowLink link(8'000, 280'000);
        link.attach(1'000'000);
        link.run(160);
        QVERIFY2(link.oldestState(40) < 6, qPrintable(QString::number(link.oldestState(40))));
        QCOMPARE(link.f.files["journal/rank-00000.rmj"].size(), size_t{1'000'000});
    }

    void fastLinkIsNotHeldUp() {
        SlowLink link(100'000'000, 280'000);
        link.attach(30'000'000);
        link.run(3);
        QCOMPARE(link.f.files["journal/rank-00000.rmj"].size(), size_t{30'000'000});
    }

    void echoesThatCameTogetherTellNoRate() {
        SendWindow window;
        window.onHeartbeat(1);
        window.onEcho(1, 100 * kMs); // the way takes 0.1 s
        window.onHeartbeat(1000 * kMs);
        window.onFileBytes(16 << 10, 1000 * kMs);
        window.onHeartbeat(1001 * kMs);
        window.onEcho(1000 * kMs, 4000 * kMs);
        window.onEcho(1001 * kMs, 4000 * kMs);
        QVERIFY2(window.room(4000 * kMs) <= 64 << 10,
                 qPrintable(QString::number(window.room(4000 * kMs))));
    }

    void longWayIsNotASlowLink() {
        SendWindow window;
        int64_t nowNs = 0;
        for (int i = 0; i < 12; ++i) {
            const size_t room = std::min(window.room(nowNs), size_t{8} << 20);
            window.onFileBytes(room, nowNs);
            window.onHeartbeat(nowNs);
            const int64_t sentNs = nowNs;
            nowNs += 900 * kMs; // there and back, by a satellite
            window.onLinkReady(sentNs);
            window.onEcho(sentNs, nowNs);
        }
        QVERIFY(window.room(nowNs) > size_t{4} << 20);
    }

    void onlyTheNewestStateWaitsForTheLink() {
        Fixture f;
        f.attach();
        f.state.attempt = 1;
        for (f.state.wallNs = 1; f.state.wallNs < 5; ++f.state.wallNs) {
            f.nowNs += 1000 * kMs;
            f.session.tick(f.nowNs);
        }
        f.messages.clear();
        f.take();
        QCOMPARE(f.all<RunState>().size(), size_t{1});
        QCOMPARE(f.all<RunState>().front().wallNs, int64_t{4});
    }

    void linkThatBecomesSlowIsNotFilled() {
        SlowLink link(100'000'000, 280'000);
        link.attach(1'000'000);
        link.run(2);
        link.slowTo(8'000);
        link.f.append("journal/rank-00000.rmj", std::string(1'000'000, 'x'));
        link.run(200); // what it holds by then takes it a minute
        QVERIFY2(link.oldestState(75) < 6, qPrintable(QString::number(link.oldestState(75))));
        QVERIFY(link.f.files["journal/rank-00000.rmj"].size() > 1'900'000);
    }

    void bigFilesComeInSlices() {
        Fixture f;
        const std::string big(3 * kMaxSlice + 7, 'x');
        f.append("log/rank-00000.log", big);
        f.attach();
        QCOMPARE(f.files["log/rank-00000.log"].size(), big.size());
        for (const Slice& slice : f.all<Slice>())
            QVERIFY(slice.bytes.size() <= kMaxSlice);
        QVERIFY(f.all<Slice>().size() >= 4);
    }

    void nothingIsReadBeforeItCanBeSent() {
        Fixture f;
        f.append("log/rank-00000.log", std::string(10 * kMaxSlice, 'x'));
        f.say(Hello{kWireVersion, "0.1.0", "r1", 0});
        f.say(Attach{});
        QVERIFY(f.session.nextFrame()); // the Hello
        QVERIFY(f.session.nextFrame()); // one slice
        f.isSupervised = false;
        f.say(Command{"id", CommandKind::kPause, {}});
        const auto frame = f.session.nextFrame();
        QVERIFY(frame);
        const auto message = decodeMessage(std::span(*frame).subspan(kFrameHeader));
        QVERIFY(std::holds_alternative<CommandState>(*message));
    }

    void journalsGoBeforeLogs() {
        Fixture f;
        f.append("log/a.log", std::string(2 * kMaxSlice, 'x'));
        f.append("journal/z.rmj", "j");
        f.attach();
        QCOMPARE(f.all<Slice>().front().file, std::string("journal/z.rmj"));
    }

    void otherFilesStayHere() {
        Fixture f;
        f.append("log/core dump", "secret");
        f.append("log/agent.log", "the disk is full");
        f.append("journal/.rank-00000.rmj", "secret");
        f.append("plan.toml", "secret");
        f.attach();
        QVERIFY(f.files.empty());
    }

    void linksOutOfTheFolderAreNotFollowed() {
        Fixture f;
        f.append("secret", "secret");
        QVERIFY(QFile::link(f.dir.filePath("secret"), f.dir.filePath("log/rank-00000.log")));
        f.attach();
        QVERIFY(f.files.empty());
    }

    // A power cut took bytes that had been sent; the writer goes on behind them, if at all.
    void journalShorterThanItsCursorIsSentOnFromThere() {
        Fixture f;
        f.append("journal/rank-00000.rmj", "short");
        f.attach({{"journal/rank-00000.rmj", 6}, {"journal/rank-00007.rmj", 1}});
        QVERIFY(!f.session.failure());
        QVERIFY(f.all<Slice>() == std::vector({Slice{"journal/rank-00000.rmj", 5, {}}}));
        f.append("journal/rank-00000.rmj", "!longer");
        f.pass(200 * kMs);
        QCOMPARE(f.files["journal/rank-00000.rmj"], std::string("longer"));
    }

    void segmentsComeInTheirOrderAndOnlyTheNewestAgain() {
        const std::string source = "journal/rank-00000";
        const std::string first = source + "-a00001-s0001-ffffffff.rmj";
        const std::string second = source + "-a00001-s0002-00000001.rmj";
        const std::string third = source + "-a00002-s0001-80000000.rmj";
        Fixture f;
        for (const std::string& file : {third, first, source + ".rmj", second})
            f.append(QString::fromStdString(file), "0123456789");
        f.attach();
        std::vector<std::string> order;
        for (const Slice& slice : f.all<Slice>())
            order.push_back(slice.file);
        QCOMPARE(order, (std::vector<std::string>{source + ".rmj", first, second, third}));
        Fixture again;
        for (const std::string& file : {first, second, third})
            again.append(QString::fromStdString(file), "0123456789");
        again.attach({{second, 4}});
        QCOMPARE(again.files.size(), size_t(2));
        QCOMPARE(again.files[second], std::string("456789"));
        QCOMPARE(again.files[third], std::string("0123456789"));
    }

    // The node has lost its disk since: other bytes under the same numbers.
    void segmentOfAnotherEpochIsSentWhole() {
        const std::string source = "journal/rank-00000-a00001-s0001-";
        Fixture f;
        f.append(QString::fromStdString(source + "00000002.rmj"), "new");
        f.attach({{source + "00000001.rmj", 1000}});
        QCOMPARE(f.files[source + "00000002.rmj"], std::string("new"));
    }

    void logThatWasCutIsSentOnFromItsEnd() {
        Fixture f;
        f.append("log/rank-00000.log", "long line");
        f.attach();
        QVERIFY(QFile::resize(f.dir.filePath("log/rank-00000.log"), 3));
        f.pass(200 * kMs);
        f.starts.clear();
        f.files.clear();
        f.append("log/rank-00000.log", "more");
        f.pass(200 * kMs);
        QCOMPARE(f.files["log/rank-00000.log"], std::string("more"));
        QCOMPARE(f.starts["log/rank-00000.log"], uint64_t(3));
    }

    void logThatTheAgentEmptiedIsSentFromItsFirstLine() {
        Fixture f;
        const std::string path = f.dir.filePath("log/rank-00000.log").toStdString();
        f.append("log/rank-00000.log", std::string(2000, 'x'));
        f.attach();
        QVERIFY(!*capLog(path, 2000));
        QVERIFY(*capLog(path, 1999));
        f.starts.clear();
        f.files.clear();
        f.append("log/rank-00000.log", "more\n");
        f.pass(200 * kMs);
        QCOMPARE(f.starts["log/rank-00000.log"], uint64_t(0));
        const std::string& text = f.files["log/rank-00000.log"];
        QVERIFY2(text.find("it had 2000 bytes\nmore\n") != std::string::npos, text.c_str());
    }

    void hostileInputEndsTheStreamInWords_data() {
        QTest::addColumn<QByteArray>("bytes");
        QTest::newRow("noise") << QByteArray(64, 'A');
        QTest::newRow("huge length") << QByteArray("\xff\xff\xff\xff", 4) + QByteArray(32, '\0');
        QTest::newRow("bad checksum") << flipped(frameMessage(Hello{kWireVersion, "x", "r1", 0}));
        QTest::newRow("attach before hello") << bytesOf(frameMessage(Attach{}));
        QTest::newRow("command before attach")
            << bytesOf(frameMessage(Hello{kWireVersion, "x", "r1", 0})) +
                   bytesOf(frameMessage(Command{"id", CommandKind::kKill, {}}));
        QTest::newRow("an agent's message")
            << bytesOf(frameMessage(Hello{kWireVersion, "x", "r1", 0})) +
                   bytesOf(frameMessage(RunState{}));
    }
    void hostileInputEndsTheStreamInWords() {
        QFETCH(QByteArray, bytes);
        Fixture f;
        f.append("log/rank-00000.log", "secret");
        f.sayBytes(std::as_bytes(std::span(bytes.constData(), static_cast<size_t>(bytes.size()))));
        f.say(Attach{});
        f.pass(1000 * kMs);
        QVERIFY(f.session.failure());
        QCOMPARE(f.all<Refusal>().size(), size_t(1));
        QVERIFY(f.files.empty() && f.forwarded.empty());
    }

    void otherVersionIsRefusedByRelease() {
        Fixture f;
        f.say(Hello{kWireVersion + 1, "9.9.9", "r1", 0});
        f.take();
        const Refusal refusal = f.all<Refusal>().at(0);
        QCOMPARE(refusal.code, static_cast<uint8_t>(ErrorCode::kTooNew));
        QVERIFY(refusal.message.find("9.9.9") != std::string::npos);
    }

    void heartbeatsEchoAndSilenceEnds() {
        Fixture f;
        f.attach();
        f.echoes = false;
        f.say(Heartbeat{77, 0});
        f.pass(kHeartbeatMs * kMs);
        QCOMPARE(f.all<Heartbeat>().back().echoNs, int64_t(77));
        f.pass((kSilenceMs - kHeartbeatMs) * kMs);
        QVERIFY(f.session.failure());
        QCOMPARE(f.session.failure()->code, ErrorCode::kUnavailable);
    }

    void stateComesEachSecondAndOnChange() {
        Fixture f;
        f.state.ranks = {{0, 100, 1, 2, 0, 0, 0}};
        f.attach();
        f.pass(200 * kMs);
        QCOMPARE(f.all<RunState>().size(), size_t(1));
        f.state.ranks[0].pid = 0;
        f.pass(200 * kMs);
        QCOMPARE(f.all<RunState>().size(), size_t(2));
        f.pass(1000 * kMs);
        QCOMPARE(f.all<RunState>().size(), size_t(3));
    }

    void endIsToldBehindTheLastByte() {
        Fixture f;
        f.append("journal/rank-00000.rmj", std::string(2 * kMaxSlice, 'x'));
        f.state.ended = true;
        f.attach();
        QVERIFY(std::holds_alternative<RunState>(f.messages.back()));
        QCOMPARE(f.files["journal/rank-00000.rmj"].size(), 2 * kMaxSlice);
        f.pass(5000 * kMs);
        QCOMPARE(f.all<RunState>().size(), size_t(1));
    }

    void commandGoesToTheSupervisorAndItsStateComesBack() {
        Fixture f;
        f.attach();
        f.say(Command{"id", CommandKind::kPause, {}});
        QCOMPARE(f.forwarded.size(), size_t(1));
        f.session.onCommandState({"id", CommandProgress::kAccepted, -1, {}});
        f.session.onCommandState({"of another app", CommandProgress::kAccepted, -1, {}});
        f.take();
        QCOMPARE(f.all<CommandState>().size(), size_t(1));
    }

    void appliedIsSaidWhenTheJournalShowsIt() {
        Fixture f;
        f.attach();
        f.say(Command{"id", CommandKind::kPause, {}});
        applyInJournal(f, "id");
        f.session.onFilesChanged();
        f.take();
        QCOMPARE(f.all<CommandState>().at(0).progress, CommandProgress::kApplied);
        QCOMPARE(f.all<CommandState>().at(0).step, int64_t(7));
        f.session.onCommandState({"id", CommandProgress::kAccepted, -1, {}}); // late
        f.pass(200 * kMs);
        QCOMPARE(f.all<CommandState>().size(), size_t(1));
    }

    void appliedLongAgoNeedsNoSupervisor() {
        Fixture f;
        f.isSupervised = false;
        applyInJournal(f, "id");
        f.attach();
        f.say(Command{"id", CommandKind::kPause, {}});
        f.take();
        QCOMPARE(f.all<CommandState>().at(0).progress, CommandProgress::kApplied);
    }

    void withoutSupervisorACommandIsRefusedInWords() {
        Fixture f;
        f.isSupervised = false;
        f.attach();
        f.say(Command{"id", CommandKind::kPause, {}});
        f.take();
        QCOMPARE(f.all<CommandState>().at(0).progress, CommandProgress::kRefused);
        QCOMPARE(f.all<CommandState>().at(0).message,
                 std::string("the run is not running on this node"));
    }

    void aCommandThatComesTooLateIsToldHowTheRunEnded() {
        Fixture f;
        f.state.attempt = 2;
        f.state.ended = true;
        f.state.outcome = static_cast<uint8_t>(Outcome::kFinished);
        f.isSupervised = false;
        f.attach();
        f.say(Command{"id", CommandKind::kPause, {}});
        f.take();
        QCOMPARE(f.all<CommandState>().at(0).progress, CommandProgress::kRefused);
        QCOMPARE(f.all<CommandState>().at(0).message,
                 std::string("its ranks had ended by then: finished"));
    }

    void commandsWaitForTheNextSupervisor() {
        Fixture f;
        f.state.attempt = 1;
        f.state.supervised = true;
        f.attach();
        f.say(Command{"a", CommandKind::kPause, {}});
        f.say(Command{"b", CommandKind::kPause, {}});
        applyInJournal(f, "a");
        f.isSupervised = f.state.supervised = false;
        f.session.onSupervisorGone();
        f.pass(200 * kMs);
        QCOMPARE(f.adopted, 1);
        QCOMPARE(f.all<CommandState>().size(), size_t(1));
        QCOMPARE(f.all<CommandState>().at(0).progress, CommandProgress::kApplied);
        f.isSupervised = f.state.supervised = true;
        f.forwarded.clear();
        f.pass(200 * kMs);
        QCOMPARE(f.forwarded.size(), size_t(1));
        QCOMPARE(f.forwarded[0].id, std::string("b"));
        f.pass(200 * kMs);
        QCOMPARE(f.forwarded.size(), size_t(1));
    }

    void commandsDoNotWaitForEver() {
        Fixture f;
        f.state.attempt = 1;
        f.isSupervised = false;
        f.attach();
        f.say(Command{"a", CommandKind::kPause, {}});
        for (int second = 0; second < 16; ++second) {
            f.say(Heartbeat{1, 0});
            f.pass(1000 * kMs);
        }
        QVERIFY(f.adopted > 3 && f.adopted < 8);
        QCOMPARE(f.all<CommandState>().at(0).progress, CommandProgress::kRefused);
    }

    void aSupervisorIsNotReplacedWhileItShowsLife() {
        Fixture f;
        f.state.attempt = 1;
        f.state.supervised = true;
        f.attach();
        f.say(Command{"a", CommandKind::kPause, {}});
        for (int second = 0; second < 60; ++second) {
            const int before = f.requested;
            f.say(Heartbeat{1, 0});
            f.pass(1000 * kMs);
            if (f.requested > before)
                f.session.onSupervisorAlive();
        }
        QVERIFY(f.requested > 3);
        QCOMPARE(f.ended, 0);
    }

    void aSupervisorWithoutASignOfLifeIsEnded() {
        Fixture f;
        f.state.attempt = 1;
        f.state.supervised = true;
        f.attach();
        for (int second = 0; second < 30; ++second) { // nobody waits for it
            f.say(Heartbeat{1, 0});
            f.pass(1000 * kMs);
        }
        QCOMPARE(f.requested, 0);
        f.say(Command{"a", CommandKind::kKill, {}});
        for (int second = 0; second < 6; ++second)
            f.pass(1000 * kMs);
        QCOMPARE(f.ended, 1);
    }

    void everySplitOfTheInputIsTheSame() {
        const std::vector<std::byte> hello = frameMessage(Hello{kWireVersion, "0.1.0", "r1", 0});
        std::vector<std::byte> input = hello;
        const std::vector<std::byte> attach = frameMessage(Attach{{{"log/rank-00000.log", 2}}});
        input.insert(input.end(), attach.begin(), attach.end());
        for (size_t split = 0; split <= input.size(); ++split) {
            Fixture f;
            f.append("log/rank-00000.log", "0123");
            f.sayBytes(std::span(input).first(split));
            f.sayBytes(std::span(input).subspan(split));
            f.pass(0);
            QCOMPARE(f.files["log/rank-00000.log"], std::string("23"));
        }
    }

    void stepsAndInnerPhasesAreNoVisibleChange() {
        RunState a;
        a.ranks = {{0, 100, 1, static_cast<uint8_t>(Phase::kForward), 0, 0, 0}};
        RunState b = a;
        b.ranks[0].step = 2;
        b.ranks[0].phase = static_cast<uint8_t>(Phase::kAllreduce);
        b.wallNs = 5;
        QVERIFY(!differsVisibly(a, b));
        b.ranks[0].phase = static_cast<uint8_t>(Phase::kHeld);
        QVERIFY(differsVisibly(a, b));
    }

private:
    static QByteArray bytesOf(const std::vector<std::byte>& bytes) {
        return {reinterpret_cast<const char*>(bytes.data()), static_cast<int>(bytes.size())};
    }
    static QByteArray flipped(const std::vector<std::byte>& bytes) {
        QByteArray changed = bytesOf(bytes);
        changed.back() = static_cast<char>(changed.back() ^ 1);
        return changed;
    }
    static void applyInJournal(Fixture& f, const std::string& id) {
        auto writer = JournalWriter::open(f.dir.filePath(kAppliedJournal).toStdString());
        QVERIFY(writer.has_value());
        writer->append(CommandApplied{id, "pause", 7, 0, true, ""});
        QVERIFY(writer->flush().has_value());
    }
};

QTEST_GUILESS_MAIN(TestAttachSession)
#include "tst_attach_session.moc"

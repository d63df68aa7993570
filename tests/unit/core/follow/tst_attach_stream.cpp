// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/follow/attach_stream.h"

#include <QTest>

using namespace rm;
using namespace std::chrono_literals;

class TestAttachStream : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void opensWithHelloAndItsCursors();
    void slicesArriveWhateverTheChunking();
    void aRefusalEndsItWithTheAgentsWords();
    void anotherProtocolVersionIsRefusedByRelease();
    void damageEndsIt();
    void silenceEndsIt();
    void heartbeatsAreSentInTime();

private:
    AttachStream make(AttachStream::Clock::time_point now) {
        AttachStream::Handlers handlers;
        handlers.slice = [this](const Slice& slice) {
            m_slices.push_back(slice);
            return Result<void>{};
        };
        handlers.runState = [this](const RunState& state) { m_states.push_back(state); };
        handlers.commandState = [](const CommandState&) {};
        m_slices.clear();
        m_states.clear();
        return AttachStream("run-1", {{"journal/rank-00000.rmj", 77}}, std::move(handlers), now);
    }

    std::vector<Slice> m_slices;
    std::vector<RunState> m_states;
};

void TestAttachStream::opensWithHelloAndItsCursors() {
    FrameScanner frames;
    const auto opening = make({}).opening();
    frames.feed(opening);
    const auto hello = decodeMessage(**frames.next());
    QCOMPARE(std::get<Hello>(*hello).runId, std::string("run-1"));
    const auto attach = decodeMessage(**frames.next());
    QCOMPARE(std::get<Attach>(*attach).cursors.at(0).offset, uint64_t(77));
    QVERIFY(!*frames.next());
}

void TestAttachStream::slicesArriveWhateverTheChunking() {
    const Slice slice{"journal/rank-00000.rmj", 77, std::vector<std::byte>(1000, std::byte{7})};
    auto bytes = frameMessage(Hello{});
    for (const Message& message : {Message(slice), Message(RunState{}), Message(slice)}) {
        const auto more = frameMessage(message);
        bytes.insert(bytes.end(), more.begin(), more.end());
    }
    for (const size_t chunk : {size_t(1), size_t(13), bytes.size()}) {
        AttachStream stream = make({});
        for (size_t at = 0; at < bytes.size(); at += chunk)
            QVERIFY(stream.onBytes(std::span(bytes).subspan(at, std::min(chunk, bytes.size() - at)),
                                   {}));
        QCOMPARE(m_slices.size(), size_t(2));
        QCOMPARE(m_slices[1], slice);
        QCOMPARE(m_states.size(), size_t(1));
    }
}

void TestAttachStream::aRefusalEndsItWithTheAgentsWords() {
    const auto done = make({}).onBytes(
        frameMessage(Refusal{static_cast<uint8_t>(ErrorCode::kNotFound), "no such run"}), {});
    QVERIFY(!done);
    QCOMPARE(done.error(), (Error{ErrorCode::kNotFound, "no such run"}));
}

void TestAttachStream::anotherProtocolVersionIsRefusedByRelease() {
    Hello hello;
    hello.version = kWireVersion + 1;
    hello.release = "9.9.9";
    const auto done = make({}).onBytes(frameMessage(hello), {});
    QVERIFY(!done);
    QCOMPARE(done.error().code, ErrorCode::kTooNew);
    QVERIFY(done.error().message.find("9.9.9") != std::string::npos);
}

void TestAttachStream::damageEndsIt() {
    auto bytes = frameMessage(RunState{});
    bytes.back() ^= std::byte{1};
    const auto done = make({}).onBytes(bytes, {});
    QVERIFY(!done);
    QCOMPARE(done.error().code, ErrorCode::kCorrupt);
}

void TestAttachStream::silenceEndsIt() {
    const AttachStream::Clock::time_point start{};
    AttachStream stream = make(start);
    QVERIFY(stream.tick(start + std::chrono::milliseconds(kSilenceMs)));
    const auto silent = stream.tick(start + std::chrono::milliseconds(kSilenceMs) + 1ms);
    QVERIFY(!silent);
    QCOMPARE(silent.error().code, ErrorCode::kUnavailable);
}

void TestAttachStream::heartbeatsAreSentInTime() {
    const AttachStream::Clock::time_point start{};
    AttachStream stream = make(start);
    QVERIFY(!*stream.tick(start + std::chrono::milliseconds(kHeartbeatMs) - 1ms));
    QVERIFY(*stream.tick(start + std::chrono::milliseconds(kHeartbeatMs)));
    QVERIFY(!*stream.tick(start + std::chrono::milliseconds(kHeartbeatMs) + 1ms));
}

QTEST_GUILESS_MAIN(TestAttachStream)
#include "tst_attach_stream.moc"

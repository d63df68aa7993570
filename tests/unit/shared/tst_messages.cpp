// SPDX-License-Identifier: Apache-2.0
#include "shared/io/flat.h"
#include "shared/io/frame.h"
#include "shared/wire/messages.h"
#include "shared/wire/wire_generated.h"
#include "tests/unit/shared/examples.h"
#include "tests/unit/shared/shared_test.h"

#include <set>

using namespace rm;

namespace {

// A message that says the same thing ten thousand times, made of one table.
std::vector<std::byte> attachWithSharedCursor(size_t count) {
    flatbuffers::FlatBufferBuilder b;
    const auto cursor = fb::CreateFileCursor(b, b.CreateString("log/rank-00000.log"), 0);
    const std::vector<flatbuffers::Offset<fb::FileCursor>> cursors(count, cursor);
    const auto body = fb::CreateAttach(b, b.CreateVector(cursors)).Union();
    b.Finish(fb::CreateMessageRoot(b, fb::MessageBody::Attach, body));
    return bytesOf(b);
}

} // namespace

class TestMessages : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void everyMessageSurvives() {
        std::set<size_t> types;
        for (const Message& message : example::messages()) {
            const auto decoded = decodeMessage(encodeMessage(message));
            RM_OK(decoded);
            QVERIFY(*decoded == message);
            types.insert(message.index());
        }
        QCOMPARE(types.size(), std::variant_size_v<Message>);
    }

    // Beside example::messages(), which are those of the golden file.
    void whatWasAddedSurvives() {
        RunState state;
        state.ranks = {{3, 4242, 501, 2, 17, 0, 0, true, 7, 12}};
        const auto decoded = decodeMessage(encodeMessage(state));
        RM_OK(decoded);
        QVERIFY(std::get<RunState>(*decoded) == state);
    }

    void framedMessageIsOneFrame() {
        FrameScanner scanner;
        scanner.feed(frameMessage(Heartbeat{1, 2}));
        const auto payload = scanner.next();
        RM_OK(payload);
        QVERIFY(*decodeMessage(**payload) == Message(Heartbeat{1, 2}));
        QVERIFY(!*scanner.next());
    }

    void noTruncationIsReadAsAnotherMessage() {
        for (const Message& message : example::messages()) {
            const auto payload = encodeMessage(message);
            for (size_t size = 0; size < payload.size(); ++size) {
                const std::vector<std::byte> part(payload.begin(),
                                                  payload.begin() + std::ptrdiff_t(size));
                const auto decoded = decodeMessage(part);
                QVERIFY(!decoded || *decoded == message);
            }
        }
    }

    void noFlippedBitDoesHarm() {
        for (const Message& message : example::messages()) {
            const auto payload = encodeMessage(message);
            for (size_t bit = 0; bit < payload.size() * 8; ++bit)
                (void)decodeMessage(test::withBitFlipped(payload, bit));
        }
    }

    void typeOfTheFutureIsTooNew() {
        RM_FAILS(decodeMessage(example::futureMessage()), ErrorCode::kTooNew, "type 200");
    }

    void commandOfTheFutureIsTooNew() {
        RM_FAILS(decodeMessage(encodeMessage(Command{"id", CommandKind(99), {}})),
                 ErrorCode::kTooNew, "command kind 99");
        RM_FAILS(decodeMessage(encodeMessage(CommandState{"id", CommandProgress(9), 0, ""})),
                 ErrorCode::kTooNew, "command progress 9");
    }

    void versionOfTheFutureIsRead() {
        const Hello hello{99, "9.9.9", "run", 0};
        QVERIFY(*decodeMessage(encodeMessage(hello)) == Message(hello));
    }

    void hostileFileNamesAreCorrupt_data() {
        QTest::addColumn<QString>("file");
        const char* names[] = {
            "",
            "/etc/passwd",
            "../journal/rank-00000.rmj",
            "journal/../../x.rmj",
            "journal/.rmj",
            "journal/a/b.rmj",
            "journal/rank-00000.log",
            "log/rank-00000.rmj",
            "journal/Rank.rmj",
            "journal/rank 0.rmj",
            "journal/rank.rmj\n",
            "journal/r\xc3\xa4nk.rmj",
            "spec.toml",
            "board/rank-00000",
            "journal/"
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
            ".rmj"};
        for (const char* name : names)
            QTest::newRow(*name ? name : "empty") << QString::fromUtf8(name);
    }
    void hostileFileNamesAreCorrupt() {
        QFETCH(QString, file);
        const std::string name = file.toStdString();
        QVERIFY(!isReplicatedFile(name));
        RM_FAILS(decodeMessage(encodeMessage(Slice{name, 0, {}})), ErrorCode::kCorrupt, "file");
        RM_FAILS(decodeMessage(encodeMessage(Attach{{{name, 0}}})), ErrorCode::kCorrupt, "file");
    }

    void nulInAFileNameIsCorrupt() {
        const std::string name("journal/a\0b.rmj", 15);
        RM_FAILS(decodeMessage(encodeMessage(Slice{name, 0, {}})), ErrorCode::kCorrupt, "file");
    }

    void oversizedMessagesAreCorrupt() {
        RM_OK(decodeMessage(attachWithSharedCursor(4096)));
        RM_FAILS(decodeMessage(attachWithSharedCursor(4097)), ErrorCode::kCorrupt, "cursors");
        RM_FAILS(decodeMessage(attachWithSharedCursor(200000)), ErrorCode::kCorrupt, "not a");
    }

    void offsetThatWouldOverflowIsCorrupt() {
        RM_FAILS(decodeMessage(encodeMessage(Slice{"log/rank-00000.log", UINT64_MAX, {}})),
                 ErrorCode::kCorrupt, "offset");
    }

    void largestSliceFitsAFrame() {
        Slice slice{"log/rank-00000.log", 0, std::vector<std::byte>(kMaxSlice)};
        for (uint64_t i = 1; i <= kMaxStamps; ++i)
            slice.stamps.push_back({i, 7});
        QVERIFY(*decodeMessage(encodeMessage(slice)) == Message(slice));
        QVERIFY(encodeMessage(slice).size() < kMaxRecord);
    }

    void stampsThatAreNotInOrderAreRefused() {
        const auto refused = [](std::vector<LogStamp> stamps) {
            const Slice slice{"log/rank-00000.log", 100, {}, std::move(stamps)};
            RM_FAILS(decodeMessage(encodeMessage(slice)), ErrorCode::kCorrupt, "order");
        };
        refused({{100, 7}});
        refused({{110, 7}, {110, 8}});
        refused({{120, 7}, {110, 8}});
    }

    void everyKindOfCommandHasARow() {
        std::set<std::string> names;
        for (size_t i = 0; i < commandRows().size(); ++i) {
            const CommandRow& row = commandRows()[i];
            QCOMPARE(static_cast<size_t>(row.kind), i);
            QVERIFY(isKnown(row.kind) && &rowOf(row.kind) == &row);
            QVERIFY(names.insert(row.name).second);
            QCOMPARE(commandKindNamed(row.name), row.kind);
            QVERIFY(std::string_view(row.help).size() > 10);
        }
        QVERIFY(!isKnown(CommandKind(commandRows().size())));
        QCOMPARE(commandKindName(CommandKind(99)), "unknown");
        QVERIFY(!commandKindNamed("unknown"));
    }
};

QTEST_GUILESS_MAIN(TestMessages)
#include "tst_messages.moc"

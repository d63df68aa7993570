// SPDX-License-Identifier: Apache-2.0
#include "shared/board/board.h"
#include "shared/checkpoint/safetensors.h"
#include "shared/io/file.h"
#include "shared/io/frame.h"
#include "shared/journal/journal.h"
#include "tests/unit/shared/examples.h"
#include "tests/unit/shared/shared_test.h"

#include <QTemporaryDir>

#include <algorithm>
#include <span>

using namespace rm;

namespace {

template <class T>
std::vector<T> decodeStream(const char* file, Result<T> (*decode)(std::span<const std::byte>)) {
    FrameScanner scanner;
    scanner.feed(test::readBytes(test::goldenPath(file)));
    std::vector<T> values;
    auto payload = scanner.next();
    for (; payload && *payload; payload = scanner.next())
        if (auto value = decode(**payload))
            values.push_back(std::move(*value));
    return values;
}

/// Later releases add values behind those that a golden file has.
template <class T>
bool isFirstOf(const std::vector<T>& read, const std::vector<T>& known) {
    return !read.empty() && read.size() <= known.size() &&
           std::equal(read.begin(), read.end(), known.begin());
}

} // namespace

/// What earlier versions wrote must read as it was meant then, for ever.
class TestGolden : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void journalV1Reads() {
        const auto records = readJournal(test::goldenPath("journal-v1.rmj"));
        RM_OK(records);
        QVERIFY(*records == example::records());
    }

    void wireV1Reads() {
        QVERIFY(isFirstOf(decodeStream("wire-v1.bin", decodeMessage), example::messages()));
    }

    void receiveV1Reads() {
        QVERIFY(isFirstOf(decodeStream("receive-v1.bin", decodeTransfer), example::transfers()));
    }

    void specV1Reads() {
        const auto spec = loadRunSpec(test::goldenPath("spec-v1.toml"));
        RM_OK(spec);
        QVERIFY(*spec == example::spec());
    }

    void nodePlanV1Reads() {
        const auto plan = parseNodePlan(*readFile(test::goldenPath("node-plan-v1.toml")), "x");
        RM_OK(plan);
        QVERIFY(*plan == example::plan());
    }

    void manifestV1Reads() {
        const auto manifest = parseManifest(*readFile(test::goldenPath("manifest-v1.json")), "x");
        RM_OK(manifest);
        QCOMPARE(toJson(*manifest), toJson(example::manifest()));
    }

    void safetensorsV1Reads() {
        const auto file = SafetensorsFile::open(test::goldenPath("safetensors-v1.safetensors"));
        RM_OK(file);
        QCOMPARE(file->tensors().size(), size_t(3));
        const TensorView* a = file->find("a");
        QCOMPARE(a->shape, (std::vector<int64_t>{2, 1}));
        QCOMPARE(reinterpret_cast<const char*>(a->data.data())[3], '\x3f');
        QCOMPARE(file->metadata().at("format"), std::string("pt"));
    }

    void boardV1Opens() {
        QTemporaryDir folder;
        const std::string copy = folder.filePath("rank-00003").toStdString();
        test::writeBytes(copy, test::readBytes(test::goldenPath("board-v1.bin")));
        const auto board = Board::open(copy);
        RM_OK(board);
        const auto status = board->status();
        QCOMPARE(status.rank, 3);
        QCOMPARE(status.attempt, 2);
        QCOMPARE(status.pid, int64_t(4242));
        QCOMPARE(status.step, int64_t(501));
        QCOMPARE(status.phase, Phase::kBackward);
        QCOMPARE(status.main.begun + status.side.begun, uint64_t(0)); // it had no collectives
        QVERIFY(*board->pendingCommand() == example::command());
    }
};

QTEST_GUILESS_MAIN(TestGolden)
#include "tst_golden.moc"

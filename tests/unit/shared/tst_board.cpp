// SPDX-License-Identifier: Apache-2.0
#include "shared/board/board.h"
#include "shared/board/page.h"
#include "tests/support/small_disk.h"
#include "tests/unit/shared/examples.h"
#include "tests/unit/shared/shared_test.h"

#include <QDeadlineTimer>
#include <QTemporaryDir>

#include <sys/wait.h>
#include <unistd.h>

#include <thread>

using namespace rm;

namespace {

constexpr int kCommands = 2000;

// The id is repeated in the argument, so that a torn command shows.
Command numbered(int number) {
    return {std::to_string(number), CommandKind::kSet, {{"n", std::to_string(number)}}};
}

bool postAll(Board& board) {
    const QDeadlineTimer deadline(60000);
    for (int i = 0; i < kCommands && !deadline.hasExpired();) {
        const auto posted = board.postCommand(numbered(i));
        if (!posted)
            return false;
        i += *posted;
        if (!*posted)
            std::this_thread::yield(); // else it holds its core while the other side has none
    }
    return !deadline.hasExpired();
}

// How many commands arrived whole and in order.
int takeAll(Board& board) {
    const QDeadlineTimer deadline(60000);
    int taken = 0;
    while (taken < kCommands && !deadline.hasExpired()) {
        const auto command = board.pendingCommand();
        if (!command) {
            std::this_thread::yield();
            continue;
        }
        if (*command != numbered(taken))
            break;
        ++taken;
        board.commandDone();
    }
    return taken;
}

} // namespace

class TestBoard : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init() {
        m_folder = std::make_unique<QTemporaryDir>();
        m_path = m_folder->filePath("rank-00003").toStdString();
    }

    void statusIsSeenOnTheOtherSide() {
        auto rank = Board::create(m_path, 3, 2);
        RM_OK(rank);
        auto agent = Board::open(m_path);
        RM_OK(agent);
        rank->setStep(501);
        rank->setPhase(Phase::kForward);
        const auto status = agent->status();
        QCOMPARE(status.rank, 3);
        QCOMPARE(status.attempt, 2);
        QCOMPARE(status.pid, int64_t(::getpid()));
        QCOMPARE(status.step, int64_t(501));
        QCOMPARE(status.phase, Phase::kForward);
        QVERIFY(status.sinceMs >= 0 && status.sinceMs < 10000);
    }

    void stateOfTheJournalIsSeenOnTheOtherSide() {
        auto rank = Board::create(m_path, 3, 2);
        auto agent = Board::open(m_path);
        RM_OK(agent);
        QVERIFY(!agent->status().journalProblem);
        QCOMPARE(agent->status().droppedRecords, uint64_t(0));
        rank->setJournalState(ErrorCode::kExhausted, uint64_t(1) << 40);
        QVERIFY(agent->status().journalProblem == ErrorCode::kExhausted);
        QCOMPARE(agent->status().droppedRecords, uint64_t(1) << 40);
        rank->setJournalState(std::nullopt, 7);
        QVERIFY(!agent->status().journalProblem);
        QCOMPARE(agent->status().droppedRecords, uint64_t(7));
        rank->setJournalState(ErrorCode::kInvalid, 7); // the first of the codes is not "none"
        QVERIFY(agent->status().journalProblem == ErrorCode::kInvalid);
        auto next = Board::create(m_path, 3, 3);
        QVERIFY(!agent->status().journalProblem);
        QCOMPARE(agent->status().droppedRecords, uint64_t(0));
    }

    void collectivesAreSeenOnTheOtherSideAndAreOfOneAttempt() {
        auto rank = Board::create(m_path, 3, 2);
        auto agent = Board::open(m_path);
        RM_OK(agent);
        QCOMPARE(agent->status().main.begun, uint64_t(0));
        QCOMPARE(agent->status().main.sinceMs, int64_t(0));
        QVERIFY(!agent->status().main.endsAreKnown);
        rank->countEnds(CollectiveGroup::kMain, true);
        rank->beginCollective(CollectiveGroup::kMain, CollectiveKind::kAllReduce, 1 << 20);
        rank->beginCollective(CollectiveGroup::kMain, CollectiveKind::kBroadcast, 8);
        rank->endCollective(CollectiveGroup::kMain);
        rank->beginCollective(CollectiveGroup::kSide, CollectiveKind::kAllReduce, 24);
        const auto status = agent->status();
        QCOMPARE(status.main.begun, uint64_t(2));
        QCOMPARE(status.main.ended, uint64_t(1));
        QVERIFY(status.main.endsAreKnown);
        QVERIFY(status.main.kind == CollectiveKind::kBroadcast);
        QCOMPARE(status.main.bytes, uint64_t(8));
        QVERIFY(status.main.sinceMs >= 0 && status.main.sinceMs < 10000);
        QCOMPARE(status.side.begun, uint64_t(1));
        QCOMPARE(status.side.ended, uint64_t(0));
        QVERIFY(!status.side.endsAreKnown);
        auto next = Board::create(m_path, 3, 3);
        QCOMPARE(agent->status().main.begun, uint64_t(0));
        QCOMPARE(agent->status().side.begun, uint64_t(0));
        QVERIFY(!agent->status().main.endsAreKnown);
    }

    void lastWordIsSeenOnceItIsSaidAndIsOfOneAttempt() {
        auto rank = Board::create(m_path, 3, 2);
        auto agent = Board::open(m_path);
        RM_OK(agent);
        QVERIFY(!agent->status().lastWord);
        rank->setLastWord(0); // a finish is a word, too
        QVERIFY(agent->status().lastWord == 0);
        rank->setLastWord(21);
        QVERIFY(agent->status().lastWord == 21);
        auto next = Board::create(m_path, 3, 3);
        QVERIFY(!agent->status().lastWord);
    }

    void commandWaitsUntilDone() {
        auto rank = Board::create(m_path, 0, 1);
        auto agent = Board::open(m_path);
        QVERIFY(!rank->pendingCommand());
        QCOMPARE(*agent->postCommand(numbered(1)), true);
        QCOMPARE(*agent->postCommand(numbered(2)), false);
        QVERIFY(*rank->pendingCommand() == numbered(1));
        QVERIFY(*rank->pendingCommand() == numbered(1));
        rank->commandDone();
        QVERIFY(!rank->pendingCommand());
        QCOMPARE(*agent->postCommand(numbered(2)), true);
    }

    void tooLargeCommandIsInvalid() {
        auto rank = Board::create(m_path, 0, 1);
        const Command large{"id", CommandKind::kSet, {{"x", std::string(1024, 'x')}}};
        RM_FAILS(rank->postCommand(large), ErrorCode::kInvalid, "1024 bytes");
        QVERIFY(!rank->pendingCommand());
    }

    void commandsPassBetweenThreadsInOrder() {
        auto rank = Board::create(m_path, 0, 1);
        auto agent = Board::open(m_path);
        bool posted = false;
        std::thread poster([&] { posted = postAll(*agent); });
        const int taken = takeAll(*rank);
        poster.join();
        QCOMPARE(taken, kCommands);
        QVERIFY(posted);
    }

    void commandsPassBetweenProcessesInOrder() {
        auto rank = Board::create(m_path, 0, 1);
        const pid_t child = ::fork();
        if (child == 0) {
            auto agent = Board::open(m_path);
            ::_exit(agent && postAll(*agent) ? 0 : 1);
        }
        const int taken = takeAll(*rank);
        int status = 0;
        QCOMPARE(::waitpid(child, &status, 0), child);
        QCOMPARE(taken, kCommands);
        QCOMPARE(status, 0);
    }

    void pageOutlivesTheRankThatMadeIt() {
        const pid_t child = ::fork();
        if (child == 0) {
            auto rank = Board::create(m_path, 3, 2);
            if (rank)
                rank->setStep(77);
            ::_exit(rank ? 0 : 1);
        }
        int status = 0;
        QCOMPARE(::waitpid(child, &status, 0), child);
        auto agent = Board::open(m_path);
        RM_OK(agent);
        QCOMPARE(agent->status().step, int64_t(77));
        QCOMPARE(agent->status().pid, int64_t(child));
    }

    void takeOverIsSeenThroughTheOldMapping() {
        auto first = Board::create(m_path, 3, 1);
        auto agent = Board::open(m_path);
        first->setStep(9);
        auto second = Board::create(m_path, 3, 2);
        RM_OK(second);
        second->setPhase(Phase::kData);
        QCOMPARE(agent->status().attempt, 2);
        QCOMPARE(agent->status().step, int64_t(0));
        QCOMPARE(agent->status().phase, Phase::kData);
        QCOMPARE(*agent->postCommand(numbered(1)), true);
        QVERIFY(second->pendingCommand().has_value());
    }

    void commandForAnEarlierAttemptIsDropped() {
        auto first = Board::create(m_path, 3, 1);
        QVERIFY(*first->postCommand(numbered(1)));
        QVERIFY(Board::create(m_path, 3, 1)->pendingCommand().has_value());
        QVERIFY(!Board::create(m_path, 3, 2)->pendingCommand().has_value());
        QCOMPARE(*first->postCommand(numbered(2)), true);
    }

    void missingPageIsNotFound() {
        RM_FAILS(Board::open(m_path), ErrorCode::kNotFound, m_path);
        RM_FAILS(Board::create(m_path + "/x/y", 0, 1), ErrorCode::kNotFound, m_path);
    }

    void otherLayoutIsRefusedAndReplaced() {
        auto page = example::boardPage();
        page[8] = std::byte{2};
        test::writeBytes(m_path, page);
        RM_FAILS(Board::open(m_path), ErrorCode::kTooNew, "board layout 2");
        page[8] = std::byte{0};
        test::writeBytes(m_path, page);
        RM_FAILS(Board::open(m_path), ErrorCode::kCorrupt, "board layout 0");
        RM_OK(Board::create(m_path, 0, 1));
        RM_OK(Board::open(m_path));
    }

    void everyOtherSizeIsRefused() {
        auto page = example::boardPage();
        for (const size_t size : {0, 1, 64, 4095, 4097, 8192}) {
            page.resize(size);
            test::writeBytes(m_path, page);
            RM_FAILS(Board::open(m_path), ErrorCode::kCorrupt, "not a board page");
        }
        RM_FAILS(Board::open(m_folder->path().toStdString()), ErrorCode::kInvalid, "directory");
    }

    void everyFlippedBitOfTheMagicIsRefused() {
        for (size_t bit = 0; bit < 8 * 8; ++bit) {
            test::writeBytes(m_path, test::withBitFlipped(example::boardPage(), bit));
            RM_FAILS(Board::open(m_path), ErrorCode::kCorrupt, "not a board page");
        }
    }

    void noFlippedBitOfTheRestDoesHarm() {
        const auto page = example::boardPage();
        const auto flip = [&](size_t from, size_t to) {
            for (size_t bit = from * 8; bit < to * 8; ++bit) {
                test::writeBytes(m_path, test::withBitFlipped(page, bit));
                auto board = Board::open(m_path);
                RM_OK(board);
                (void)collectiveName(board->status().main.kind);
                (void)board->pendingCommand();
            }
        };
        flip(12, 72 + 300);
        flip(1152, 1152 + 2 * 64);
    }

    void garbageInTheSlotIsNoCommandAndIsFreedByTakeOver() {
        auto page = example::boardPage();
        std::fill(page.begin() + 72, page.begin() + 172, std::byte{0xff});
        test::writeBytes(m_path, page);
        QVERIFY(!Board::open(m_path)->pendingCommand());
        QCOMPARE(*Board::open(m_path)->postCommand(numbered(1)), false);
        auto rank = Board::create(m_path, 3, 2);
        QCOMPARE(*rank->postCommand(numbered(1)), true);
    }

    void sizeBeyondTheSlotIsNoCommand() {
        auto page = example::boardPage();
        std::fill_n(page.begin() + 68, 4, std::byte{0xff});
        test::writeBytes(m_path, page);
        QVERIFY(!Board::open(m_path)->pendingCommand());
    }

    void fullDiskIsAnErrorAndNoPage() {
        const OwnDisk disk;
        RM_NEEDS("root", disk.error().isEmpty(), disk.error());
        disk.fill();
        const std::string path = disk.path() + "/rank-00000";
        RM_FAILS(Board::create(path, 0, 1), ErrorCode::kExhausted, path);
        QCOMPARE(QDir(QString::fromStdString(disk.path())).entryList(QDir::Files),
                 QStringList{"filler"});
    }

    void everyPhaseHasAName() {
        for (int phase = 0; phase <= int(Phase::kRendezvous); ++phase)
            QVERIFY(phaseName(Phase(phase)) != std::string("unknown"));
        QCOMPARE(phaseName(Phase(99)), "unknown");
    }

private:
    std::unique_ptr<QTemporaryDir> m_folder;
    std::string m_path;
};

QTEST_GUILESS_MAIN(TestBoard)
#include "tst_board.moc"

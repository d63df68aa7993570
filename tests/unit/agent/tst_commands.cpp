// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/supervisor/command_queue.h"

#include <QTemporaryDir>
#include <QTest>

using namespace rm;

namespace {

struct FakeTarget : CommandTarget {
    bool isFree = true;
    bool refuses = false;
    std::vector<std::string> posted;
    std::string inSlot; ///< put there by an earlier agent
    int kills = 0;

    Result<bool> post(const Command& command) override {
        if (refuses)
            return fail(ErrorCode::kInvalid, "post " + command.id + ": too long");
        if (isFree)
            posted.push_back(command.id);
        return isFree;
    }
    bool isPosted(const std::string& id) override { return id == inSlot; }
    void killAll() override { ++kills; }
};

struct Fixture {
    QTemporaryDir dir;
    std::string path = dir.filePath(kAppliedJournal).toStdString();
    FakeTarget target;
    AppliedCommands applied{dir.path().toStdString()};
    CommandQueue queue;

    explicit Fixture(bool hostsRankZero = true)
        : queue(hostsRankZero, target, applied) {}

    void journal(const Record& record) {
        auto writer = JournalWriter::open(path);
        QVERIFY(writer.has_value());
        writer->append(record);
        QVERIFY(writer->flush().has_value());
    }
    void apply(const std::string& id, bool ok = true, CommandKind kind = CommandKind::kPause) {
        journal(CommandApplied{id, commandKindName(kind), 42, 0, ok, "done"});
    }
};

Command command(const std::string& id, CommandKind kind = CommandKind::kPause) {
    return {id, kind, {}};
}

} // namespace

class TestCommands : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void postedCommandIsAccepted() {
        Fixture f;
        const auto states = f.queue.onCommand(command("a"));
        QCOMPARE(states.size(), size_t(1));
        QCOMPARE(states[0].progress, CommandProgress::kAccepted);
        QCOMPARE(f.target.posted, std::vector<std::string>{"a"});
    }

    void sameIdActsOnce() {
        Fixture f;
        f.queue.onCommand(command("a"));
        QCOMPARE(f.queue.onCommand(command("a"))[0].progress, CommandProgress::kAccepted);
        QCOMPARE(f.target.posted.size(), size_t(1));
    }

    void whatAnEarlierAgentPostedIsNotPostedAgain() {
        Fixture f;
        f.target.inSlot = std::string("a");
        const auto states = f.queue.onCommand(command("a"));
        QCOMPARE(states.at(0).progress, CommandProgress::kAccepted);
        QVERIFY(f.target.posted.empty());
    }

    void sameIdWhileWaitingActsOnce() {
        Fixture f;
        f.target.isFree = false;
        QVERIFY(f.queue.onCommand(command("a")).empty());
        QVERIFY(f.queue.onCommand(command("a")).empty());
        f.target.isFree = true;
        QCOMPARE(f.queue.tick().size(), size_t(1));
        QCOMPARE(f.target.posted.size(), size_t(1));
        QVERIFY(!f.queue.isWaiting());
    }

    void appliedIsKnownFromTheJournal() {
        Fixture f;
        f.apply("old");
        const auto states = f.queue.onCommand(command("old"));
        QCOMPARE(states[0].progress, CommandProgress::kApplied);
        QCOMPARE(states[0].step, int64_t(42));
        QVERIFY(f.target.posted.empty());
    }

    void refusalOfRankZeroIsKnownFromTheJournal() {
        Fixture f;
        f.apply("old", false);
        QCOMPARE(f.queue.onCommand(command("old"))[0].progress, CommandProgress::kRefused);
    }

    void ranksThatComeAfterHeldOnesAreHeld() {
        const auto requestedAfter =
            [](const std::vector<std::pair<std::string, CommandKind>>& held) {
                Fixture f;
                for (const auto& [id, kind] : held) {
                    f.queue.onCommand(command(id, kind));
                    f.apply(id, id != "refused", kind);
                }
                f.queue.onCommand(command("unheard", CommandKind::kContinue));
                f.target.posted.clear();
                f.queue.onRestart(2, 0);
                f.queue.tick();
                return f.target.posted;
            };
        const std::vector<std::string> again{"again-2"};
        QCOMPARE(requestedAfter({{"h", CommandKind::kHold}}), again);
        QCOMPARE(requestedAfter({{"h", CommandKind::kHold}, {"s", CommandKind::kStep}}), again);
        QCOMPARE(requestedAfter({{"h", CommandKind::kHold}, {"refused", CommandKind::kContinue}}),
                 again);
        QVERIFY(requestedAfter({{"h", CommandKind::kHold}, {"c", CommandKind::kContinue}}).empty());
        QVERIFY(requestedAfter({{"refused", CommandKind::kHold}}).empty());
        QVERIFY(requestedAfter({}).empty());
    }

    void aHoldOutlivesEveryRestart() {
        Fixture f;
        f.queue.onCommand(command("h", CommandKind::kHold));
        f.apply("h", true, CommandKind::kHold);
        for (int attempt = 2; attempt < 5; ++attempt) {
            const std::string again = "again-" + std::to_string(attempt);
            f.queue.onRestart(attempt, 0);
            f.queue.tick();
            QCOMPARE(f.target.posted.back(), again);
            f.apply(again, true, CommandKind::kHold);
        }
    }

    void aHoldOutlivesItsAgentAndIsNoneOfALaterStart() {
        Fixture f;
        f.apply("h", true, CommandKind::kHold); // known to an earlier agent alone
        const uint64_t before = f.applied.size();
        f.queue.onRestart(2, before); // a person has started the run anew since
        f.queue.tick();
        QVERIFY(f.target.posted.empty());
        f.queue.onRestart(3, 0);
        f.queue.tick();
        QCOMPARE(f.target.posted, std::vector<std::string>{"again-3"});
    }

    void orderOfArrivalIsKept() {
        Fixture f;
        f.target.isFree = false;
        f.queue.onCommand(command("a"));
        f.queue.onCommand(command("b"));
        f.target.isFree = true;
        f.queue.tick();
        QCOMPARE(f.target.posted, (std::vector<std::string>{"a", "b"}));
    }

    void commandThatDoesNotFitIsRefusedAndGone() {
        Fixture f;
        f.target.refuses = true;
        QCOMPARE(f.queue.onCommand(command("a"))[0].progress, CommandProgress::kRefused);
        QVERIFY(!f.queue.isWaiting());
    }

    void elsewhereRefusedInWords() {
        Fixture f(false);
        const auto states = f.queue.onCommand(command("a", CommandKind::kStop));
        QCOMPARE(states[0].progress, CommandProgress::kRefused);
        QVERIFY(states[0].message.find("rank 0 is not on this node") != std::string::npos);
    }

    void killIsForEveryNodeAndOnce() {
        Fixture f(false);
        QCOMPARE(f.queue.onCommand(command("k", CommandKind::kKill))[0].progress,
                 CommandProgress::kApplied);
        f.queue.onCommand(command("k", CommandKind::kKill));
        QCOMPARE(f.target.kills, 1);
    }

    void endGivesTheLastWordOnAll() {
        Fixture f;
        f.queue.onCommand(command("applied"));
        f.queue.onCommand(command("lost"));
        f.target.isFree = false;
        f.queue.onCommand(command("waiting"));
        f.apply("applied");
        std::map<std::string, CommandProgress> last;
        for (const CommandState& state : f.queue.onEnded())
            last[state.id] = state.progress;
        QCOMPARE(last.size(), size_t(3));
        QCOMPARE(last["applied"], CommandProgress::kApplied);
        QCOMPARE(last["lost"], CommandProgress::kRefused);
        QCOMPARE(last["waiting"], CommandProgress::kRefused);
        QVERIFY(f.queue.onEnded().empty());
    }

    void searchGoesOnWhereItEnded() {
        Fixture f;
        QVERIFY(!f.applied.find("a"));
        f.apply("a");
        QVERIFY(f.applied.find("a"));
        QVERIFY(!f.applied.find("b"));
        f.apply("b");
        QVERIFY(f.applied.find("b") && f.applied.find("a"));
    }
};

QTEST_GUILESS_MAIN(TestCommands)
#include "tst_commands.moc"

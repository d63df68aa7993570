// SPDX-License-Identifier: Apache-2.0
#include "shared/io/frame.h"
#include "tests/unit/simulation/schedules.h"
#include "trainer/agent/supervisor/command_queue.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <set>

using namespace rm;
using test::Dice;

namespace {

constexpr uint64_t kSchedules = 100'000;
constexpr int kActions = 60;
constexpr int kMostCommands = 4;

/// A run's node with rank 0: agents that come and go, a rank that obeys what lies in its slot, and
/// an app on a link that breaks.
class Node : public CommandTarget {
public:
    Node(Dice& dice, const std::string& folder, const QByteArray& header)
        : m_dice(dice)
        , m_folder(folder)
        , m_journal(QString::fromStdString(folder + "/" + kAppliedJournal)) {
        static_cast<void>(m_journal.open(QIODevice::WriteOnly | QIODevice::Unbuffered));
        m_journal.write(header);
        startAgent();
    }
    ~Node() override { m_journal.remove(); }

    std::string act() {
        switch (m_dice.below(12)) {
        case 0:
            return issue();
        case 1:
            return breakLink();
        case 2:
            return sendAgain();
        case 3:
            return killAgent();
        case 4:
            return m_dice.oneIn(10) ? endRanks() : std::string();
        case 5:
        case 6:
            return obey();
        case 7:
            return journal();
        case 8:
            return tick();
        case 9:
            return look();
        default:
            return deliver();
        }
    }

    /// From now on nothing fails; every command must get its answer.
    std::string settle() {
        startAgent();
        for (int round = 0; round < 3 * kMostCommands && !isOver(); ++round)
            for (const auto& each : {&Node::sendAgain, &Node::deliverAll, &Node::obey,
                                     &Node::journal, &Node::tick, &Node::look})
                if (const std::string flaw = (this->*each)(); !flaw.empty())
                    return flaw;
        return isOver() ? std::string() : "a command has no answer";
    }

private:
    Result<bool> post(const Command& command) override {
        if (m_slot)
            return false;
        m_slot = command;
        return true;
    }
    bool isPosted(const std::string& id) override { return m_slot && m_slot->id == id; }
    void killAll() override {}

    bool isOver() const { return m_hasEnded || m_answers.size() == m_issued.size(); }

    std::string issue() {
        if (m_issued.size() >= kMostCommands)
            return {};
        static constexpr CommandKind kKinds[] = {CommandKind::kHold, CommandKind::kCheckpoint,
                                                 CommandKind::kPause};
        m_issued.push_back({"c" + std::to_string(m_issued.size()), m_dice.of(kKinds), {}});
        m_wire.push_back(m_issued.back());
        return {};
    }
    std::string breakLink() {
        m_wire.clear();
        m_answering.clear();
        return {};
    }
    /// The app's follower on a new link, or another one's.
    std::string sendAgain() {
        for (const Command& command : m_issued)
            if (!m_answers.contains(command.id))
                m_wire.push_back(command);
        return {};
    }
    std::string deliver() {
        if (m_wire.empty() || !m_queue)
            return {};
        const Command command = m_wire.front();
        m_wire.erase(m_wire.begin());
        if (m_hasEnded)
            return {};
        return hear(m_queue->onCommand(command));
    }
    std::string deliverAll() {
        while (!m_wire.empty())
            if (const std::string flaw = deliver(); !flaw.empty())
                return flaw;
        return {};
    }
    std::string tick() { return m_queue && !m_hasEnded ? hear(m_queue->tick()) : std::string(); }
    /// What serves the link looks for commands that were applied since.
    std::string look() {
        std::vector<CommandState> found;
        for (const std::string& id : m_answering)
            if (m_answers.contains(id))
                continue;
            else if (const auto state = m_applied->find(id))
                found.push_back(*state);
        return hear(found);
    }

    void startAgent() {
        if (m_queue)
            return;
        m_applied = std::make_unique<AppliedCommands>(m_folder);
        m_queue = std::make_unique<CommandQueue>(true, *this, *m_applied);
    }
    std::string killAgent() {
        if (!m_queue) {
            startAgent();
            return {};
        }
        m_queue.reset();
        m_wire.clear();
        return {};
    }

    std::string obey() {
        if (!m_slot || m_isObeyed || m_hasEnded)
            return {};
        m_isObeyed = true;
        return m_effects.insert(m_slot->id).second ? std::string() : m_slot->id + " acted twice";
    }
    std::string journal() {
        if (!m_isObeyed || m_hasEnded)
            return {};
        std::vector<std::byte> bytes;
        appendFrame(bytes, encodeRecord(CommandApplied{m_slot->id, "hold", 1, 1, true, {}}));
        m_journal.write(reinterpret_cast<const char*>(bytes.data()), qint64(bytes.size()));
        m_journaled.insert(m_slot->id);
        m_slot.reset();
        m_isObeyed = false;
        return {};
    }
    std::string endRanks() {
        if (m_hasEnded || m_isObeyed || !m_queue)
            return {};
        m_hasEnded = true;
        m_slot.reset();
        return hear(m_queue->onEnded());
    }

    /// The app gets these.
    std::string hear(const std::vector<CommandState>& states) {
        for (const CommandState& state : states) {
            const bool isApplied = state.progress == CommandProgress::kApplied;
            if (state.progress == CommandProgress::kAccepted) {
                if (m_answers.contains(state.id) && m_answers.at(state.id) != isApplied)
                    return state.id + " is accepted after its answer";
                m_answering.insert(state.id);
                continue;
            }
            const auto [known, isNew] = m_answers.emplace(state.id, isApplied);
            if (!isNew && known->second != isApplied)
                return state.id + " has two answers";
            if (isApplied != m_journaled.contains(state.id))
                return state.id + (isApplied ? " is said to be applied" : " is refused") +
                       ", which it is not";
        }
        return {};
    }

    Dice& m_dice;
    std::string m_folder;
    QFile m_journal;
    std::unique_ptr<AppliedCommands> m_applied;
    std::unique_ptr<CommandQueue> m_queue;
    std::optional<Command> m_slot;
    bool m_isObeyed = false;
    bool m_hasEnded = false;
    std::set<std::string> m_effects, m_journaled;
    std::vector<Command> m_issued, m_wire;
    std::set<std::string> m_answering; ///< accepted on this link
    std::map<std::string, bool> m_answers;
};

} // namespace

/// Commands on links that break, with agents that are killed.
class tst_simulated_commands : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void eachCommandActsOnceAndItsAnswerIsTrue();
};

void tst_simulated_commands::eachCommandActsOnceAndItsAnswerIsTrue() {
    const QTemporaryDir folder("/dev/shm/rm-commands-XXXXXX");
    QVERIFY(folder.isValid());
    const std::string path = folder.filePath("empty").toStdString();
    QVERIFY(JournalWriter::open(path)->flush());
    QFile empty(QString::fromStdString(path));
    QVERIFY(empty.open(QIODevice::ReadOnly));
    const QByteArray header = empty.read(kJournalHeader);
    QCOMPARE(header.size(), qsizetype(kJournalHeader));
    const auto schedule = [&](Dice& dice) -> std::string {
        Node node(dice, folder.path().toStdString(), header);
        for (int action = 0; action < kActions; ++action)
            if (const std::string flaw = node.act(); !flaw.empty())
                return flaw;
        return node.settle();
    };
    QCOMPARE(test::flawIn(kSchedules, schedule), QByteArray());
}

QTEST_GUILESS_MAIN(tst_simulated_commands)
#include "tst_simulated_commands.moc"

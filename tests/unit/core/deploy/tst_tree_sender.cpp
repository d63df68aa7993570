// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/deploy/tree_sender.h"

#include <QTest>

#include <deque>

using namespace rm;

namespace {

/// An agent that gives these answers, one a read, whatever it is told.
class ScriptedAgent : public HostProcess {
public:
    explicit ScriptedAgent(std::deque<Transfer> answers)
        : m_answers(std::move(answers)) {}

    Result<Bytes> read(std::chrono::milliseconds, const Waker*) override {
        if (m_answers.empty())
            return Bytes{{}, true};
        Bytes bytes{frameTransfer(m_answers.front()), false};
        m_answers.pop_front();
        return bytes;
    }
    Result<void> write(std::span<const std::byte>) override { return {}; }
    Result<void> closeWrite() override { return {}; }
    Result<int> exitCode(std::chrono::milliseconds) override { return 0; }
    std::string errorText() const override { return {}; }

private:
    std::deque<Transfer> m_answers;
};

class ScriptedSession : public HostSession {
public:
    explicit ScriptedSession(std::deque<Transfer> answers)
        : m_answers(std::move(answers)) {}

    Result<std::unique_ptr<HostProcess>> start(const std::string&, const std::vector<std::string>&,
                                               std::stop_token) override {
        return std::make_unique<ScriptedAgent>(m_answers);
    }
    Result<std::unique_ptr<HostProcess>> startScript(const std::string&, std::stop_token) override {
        return fail(ErrorCode::kInternal, "not asked for");
    }
    std::string where() const override { return "the node"; }

private:
    std::deque<Transfer> m_answers;
};

HashedTree treeOf(const Blob& blob) {
    HashedTree tree;
    tree.blobs = {blob};
    return tree;
}

} // namespace

class TestTreeSender : public QObject {
    Q_OBJECT
private Q_SLOTS:
    /// It reads and copies gigabytes of an installed torch before it answers the offer.
    void aNodeThatTellsOfItsWorkIsWaitedFor() {
        const Blob blob{std::string(64, 'a'), 7};
        ScriptedSession session({Fetching{0, 0}, Fetching{1000, 0}, Fetching{2000, 0},
                                 Missing{{{blob.sha256, 3}}, 3000}});
        const auto sender = TreeSender::open(session, "agent", {});
        QVERIFY(sender.has_value());
        std::vector<int64_t> reported;
        const auto lack = (*sender)->offer(
            treeOf(blob), false, [&reported](int64_t bytes) { reported.push_back(bytes); });
        QVERIFY2(lack, lack ? "" : lack.error().message.c_str());
        QCOMPARE(reported, (std::vector<int64_t>{0, 1000, 2000}));
        QCOMPARE(lack->reused, int64_t{3000});
        QCOMPARE(lack->bytes, int64_t{4});
    }

    void anotherAnswerToAnOfferIsAnError() {
        const Blob blob{std::string(64, 'a'), 7};
        ScriptedSession session({Fetching{0, 0}, Stored{blob.sha256}});
        const auto sender = TreeSender::open(session, "agent", {});
        QVERIFY(sender.has_value());
        const auto lack = (*sender)->offer(treeOf(blob));
        QVERIFY(!lack);
        QCOMPARE(lack.error().code, ErrorCode::kCorrupt);
    }
};

QTEST_APPLESS_MAIN(TestTreeSender)
#include "tst_tree_sender.moc"

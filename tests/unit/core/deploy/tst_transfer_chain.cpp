// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/deploy/transfer_chain.h"

#include <QTest>

#include <thread>

using namespace rm;
using namespace std::chrono_literals;

namespace {

constexpr int64_t kMB = 1'000'000;

/// A chain whose time stands still unless it is moved.
struct Fixture {
    TransferChain::Clock::time_point now{};
    TransferChain chain;

    explicit Fixture(const std::vector<std::string>& names)
        : chain(partiesOf(names), [this] { return now; }) {}

    static std::vector<TransferChain::Party> partiesOf(const std::vector<std::string>& names) {
        std::vector<TransferChain::Party> parties;
        for (const std::string& name : names)
            parties.push_back({name, {"10.0.0." + std::to_string(parties.size() + 1)}});
        return parties;
    }
    void joinAll(int64_t held) {
        for (size_t i = 0; i < 3; ++i)
            chain.join(i, 4000 + static_cast<int>(i), held, false);
    }
    std::string sourceOf(size_t node) {
        const auto source = chain.sourceFor(node, {});
        return source ? source->name : "here";
    }
};

} // namespace

class TestTransferChain : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void eachGetsItFromTheOneBeforeIt() {
        Fixture f({"a", "b", "c"});
        f.joinAll(0);
        QCOMPARE(f.sourceOf(0), std::string("here"));
        QCOMPARE(f.sourceOf(1), std::string("a"));
        QCOMPARE(f.sourceOf(2), std::string("b"));
        const auto source = f.chain.sourceFor(2, {});
        QCOMPARE(source->fetch.addresses, std::vector<std::string>{"10.0.0.2"});
        QCOMPARE(source->fetch.port, 4001);
        QCOMPARE(source->fetch.key, f.chain.order().key);
    }

    void whoHasMostIsFirst() {
        Fixture f({"a", "b", "c"});
        f.chain.join(0, 4000, 5, false);
        f.chain.join(1, 4001, 9, false);
        f.chain.join(2, 4002, 100, true);
        QCOMPARE(f.sourceOf(1), std::string("c"));
        QCOMPARE(f.sourceOf(0), std::string("b"));
    }

    void aNodeThatFailedIsPassedOver() {
        Fixture f({"a", "b", "c"});
        f.joinAll(0);
        QCOMPARE(f.sourceOf(2), std::string("b"));
        f.chain.finish(1, false);
        f.chain.leaveSource(2, kMB);
        QCOMPARE(f.sourceOf(2), std::string("a"));
        f.chain.finish(0, false);
        f.chain.leaveSource(2, kMB);
        QCOMPARE(f.sourceOf(2), std::string("here"));
    }

    void afterTwoThatCannotBeReachedItComesFromHere() {
        Fixture f({"a", "b", "c", "d"});
        f.joinAll(0);
        f.chain.join(3, 4003, 0, false);
        for (const char* expected : {"c", "b"}) {
            QCOMPARE(f.sourceOf(3), std::string(expected));
            f.chain.leaveSource(3, 0);
        }
        QCOMPARE(f.sourceOf(3), std::string("here"));
    }

    void aNodeWithoutAnAddressPassesNothingOn() {
        TransferChain chain({{"a", {}}, {"b", {"10.0.0.2"}}});
        chain.join(0, 4000, 0, false);
        chain.join(1, 4001, 0, false);
        QVERIFY(!chain.sourceFor(1, {}));
    }

    void whoLagsTenSecondsBehindItsSourceIsTooSlowToPassOn() {
        Fixture f({"a", "b", "c"});
        f.joinAll(0);
        for (const size_t i : {0, 1, 2})
            (void)f.sourceOf(i);
        for (int second = 0; second < 30; ++second) {
            f.now += 1s;
            f.chain.progress(0, 10 * kMB * second);
            f.chain.progress(1, kMB * second);
            f.chain.progress(2, kMB * second);
        }
        QVERIFY(!f.chain.isSourceSlow(0));
        QVERIFY2(!f.chain.isSourceSlow(1), "the first has nobody to be compared with");
        QVERIFY(f.chain.isSourceSlow(2));
        f.chain.leaveSource(2, 29 * kMB);
        QCOMPARE(f.sourceOf(2), std::string("a"));
    }

    void whoKeepsPaceIsNotSlowHoweverSlowTheUplinkIs() {
        Fixture f({"a", "b", "c"});
        f.joinAll(0);
        for (const size_t i : {0, 1, 2})
            (void)f.sourceOf(i);
        for (int second = 0; second < 300; ++second) {
            f.now += 1s;
            for (const size_t i : {0, 1, 2})
                f.chain.progress(i, 1000 * second);
            QVERIFY(!f.chain.isSourceSlow(2));
        }
    }

    void whoStandsStillBehindAWholeOneIsTooSlow() {
        Fixture f({"a", "b", "c"});
        f.joinAll(0);
        for (const size_t i : {0, 1, 2})
            (void)f.sourceOf(i);
        for (int second = 1; second <= 10; ++second) {
            f.now += 1s;
            f.chain.progress(0, kMB * second);
            f.chain.progress(1, kMB);
            f.chain.progress(2, kMB);
        }
        f.chain.finish(0, true);
        for (int second = 0; second < 15; ++second) {
            f.now += 1s;
            f.chain.progress(1, kMB);
            f.chain.progress(2, kMB);
        }
        QVERIFY(f.chain.isSourceSlow(2));
    }

    /// It has the tree, and lost the stored files that it was made of.
    void whoGetsNothingOfAWholeOneGoesOnWithTheNext() {
        Fixture f({"a", "b"});
        f.chain.join(0, 4000, 9 * kMB, true);
        f.chain.join(1, 4001, 0, false);
        f.now += 60s; // until it was asked to serve, and did
        QCOMPARE(f.sourceOf(1), std::string("a"));
        for (int second = 0; second <= 9; ++second) {
            f.chain.progress(1, 0);
            QVERIFY(!f.chain.isSourceSlow(1));
            f.now += 1s;
        }
        f.chain.progress(1, 0);
        QVERIFY(f.chain.isSourceSlow(1));
        f.chain.leaveSource(1, 0);
        QCOMPARE(f.sourceOf(1), std::string("here"));
    }

    void whoHashesWhatCameDoesNotStandStill() {
        Fixture f({"a", "b"});
        f.chain.join(0, 4000, 9 * kMB, true);
        f.chain.join(1, 4001, 0, false);
        (void)f.sourceOf(1);
        for (int file = 1; file <= 9; ++file) {
            f.chain.progress(1, file * kMB);
            f.now += 30s; // it says nothing meanwhile
            f.chain.progress(1, file * kMB);
            QVERIFY(!f.chain.isSourceSlow(1));
            f.now += 1s;
        }
    }

    void whoHasItStaysUntilAllAreThrough() {
        Fixture f({"a", "b"});
        f.chain.join(0, 0, 100, true);
        f.chain.finish(0, true);
        f.chain.join(1, 4001, 0, false);
        std::jthread other([&] {
            QCOMPARE(f.sourceOf(1), std::string("a"));
            f.chain.finish(1, true);
        });
        QVERIFY(f.chain.isToServe(0, {}));
        f.chain.join(0, 4000, 100, true);
        QVERIFY(!f.chain.isToServe(0, {}));
    }

    void nobodyIsWaitedForWhoHasNotBegun() {
        Fixture f({"a", "b"}); // b may wait behind a transfer that waits for this one
        f.chain.join(0, 4000, 0, false);
        QCOMPARE(f.sourceOf(0), std::string("here"));
        f.chain.finish(0, true);
        QVERIFY(!f.chain.isToServe(0, {}));
        f.chain.leave(0);
        f.chain.join(1, 4001, 0, false);
        QCOMPARE(f.sourceOf(1), std::string("here"));
    }

    void aPlaceThatIsDroppedIsGivenUp() {
        const auto chain = std::make_shared<TransferChain>(Fixture::partiesOf({"a", "b"}),
                                                           &TransferChain::Clock::now);
        { const ChainPlace refused(chain, 0); }
        chain->join(1, 4001, 0, false);
        QVERIFY(!chain->sourceFor(1, {}));
    }
};

QTEST_GUILESS_MAIN(TestTransferChain)
#include "tst_transfer_chain.moc"

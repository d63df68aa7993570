// SPDX-License-Identifier: Apache-2.0
// The channel between a run's agents, in one process over loopback.
#include "shared/io/clock.h"
#include "tests/support/free_port.h"
#include "trainer/agent/peers/channel.h"
#include "trainer/agent/peers/tls.h"

#include <QTest>

#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

using namespace rm;

namespace {

using asio::ip::tcp;

constexpr int64_t kPatienceNs = 10'000'000'000;

NodePlan planOf(int node, char key) {
    NodePlan plan;
    plan.runId = "r1";
    plan.nodeIndex = node;
    plan.nodeCount = plan.worldSize = 2;
    plan.agentKey = std::string(64, key);
    return plan;
}

/// Runs the loop until the condition holds, or for as long as a person would wait.
template <class Condition>
bool runUntil(asio::io_context& io, const Condition& condition) {
    for (const int64_t endNs = monotonicNowNs() + kPatienceNs; monotonicNowNs() < endNs;) {
        if (condition())
            return true;
        io.restart();
        io.run_for(std::chrono::milliseconds(20));
    }
    return false;
}

/// A context with a certificate that it signed itself.
void useCertificate(asio::ssl::context& context) {
    EVP_PKEY* key = EVP_EC_gen("P-256");
    X509* certificate = X509_new();
    X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
    X509_set_pubkey(certificate, key);
    X509_sign(certificate, key, EVP_sha256());
    QCOMPARE(SSL_CTX_use_certificate(context.native_handle(), certificate), 1);
    QCOMPARE(SSL_CTX_use_PrivateKey(context.native_handle(), key), 1);
    X509_free(certificate);
    EVP_PKEY_free(key);
}

} // namespace

class TestPeerChannel : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void whoKnowsTheKeyIsHeard() {
        asio::io_context io;
        NodePlan plan = planOf(0, 'a');
        plan.agentPort = test::freePort();
        int64_t step = 0;
        std::string why;
        LeaderChannel leader(io, {[&](const PeerStatus& status) { step = status.step; },
                                  [](int32_t, const std::string&) {}});
        QVERIFY(leader.listen(plan));
        plan.nodeIndex = 1;
        PeerStatus own;
        own.node = 1;
        own.step = 42;
        PeerChannel* speaks = nullptr;
        PeerChannel peer(io, {[&] { speaks->send(own); },
                              [&](const PeerMessage& order) {
                                  if (const auto* over = std::get_if<OverOrder>(&order))
                                      why = over->why;
                              },
                              [](const std::string&) {}});
        speaks = &peer;
        QVERIFY(peer.begin(plan));
        QVERIFY(runUntil(io, [&] { return step == 42; }));
        QVERIFY(leader.send(1, OverOrder{{}, "enough"}));
        QVERIFY(runUntil(io, [&] { return why == "enough"; }));
    }

    void whoHasAnotherKeyIsNot() {
        asio::io_context io;
        NodePlan plan = planOf(0, 'a');
        plan.agentPort = test::freePort();
        bool isHeard = false;
        LeaderChannel leader(
            io, {[&](const PeerStatus&) { isHeard = true; }, [](int32_t, const std::string&) {}});
        QVERIFY(leader.listen(plan));
        NodePlan other = planOf(1, 'b');
        other.agentPort = plan.agentPort;
        asio::ip::tcp::socket socket(io);
        const auto tls = makeTls(other);
        std::string closed;
        const auto link = std::make_shared<PeerLink>(std::move(socket), *tls);
        link->connect(leaderAt(other),
                      {[&] { isHeard = true; }, [](const PeerMessage&) {},
                       [&](const std::string& why) { closed = why; }},
                      monotonicNowNs());
        QVERIFY(runUntil(io, [&] { return !closed.empty(); }));
        QVERIFY(!isHeard);
    }

    void aStatusIsReadAsItWasSent() {
        PeerStatus status;
        status.node = 1;
        status.end.attempt = status.attempt; // which is sent once
        status.whyGone = "the folder of the run on bob, /r1, was removed while it ran";
        const auto read = parsePeerMessage(encodePeerMessage(status));
        QVERIFY2(read, read ? "" : read.error().message.c_str());
        QCOMPARE(std::get<PeerStatus>(*read), status);
    }

    /// Agents of one run may be of two releases, as one that is gone is replaced by the newest.
    void aStatusOfAnEarlierAgentIsRead() {
        PeerStatus status;
        status.end.attempt = status.attempt;
        std::string text = encodePeerMessage(status);
        const std::string later = R"("gone":"",)";
        QVERIFY(text.find(later) != std::string::npos);
        text.erase(text.find(later), later.size());
        const auto read = parsePeerMessage(text);
        QVERIFY2(read, read ? "" : read.error().message.c_str());
        QCOMPARE(std::get<PeerStatus>(*read), status);
    }

    /// One that listens where the leader should, and completes handshakes without the key.
    void aCertificateIsNoKey() {
        asio::io_context io;
        asio::ssl::context impostor(asio::ssl::context::tlsv13_server);
        useCertificate(impostor);
        tcp::acceptor acceptor(io, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
        NodePlan plan = planOf(1, 'a');
        plan.agentPort = acceptor.local_endpoint().port();
        asio::ssl::stream<tcp::socket> victim(io, impostor);
        acceptor.async_accept(victim.next_layer(), [&](asio::error_code) {
            victim.async_handshake(asio::ssl::stream_base::server, [](asio::error_code) {});
        });
        const auto tls = makeTls(plan);
        bool isOpen = false;
        std::string closed;
        const auto link = std::make_shared<PeerLink>(tcp::socket(io), *tls);
        link->connect(leaderAt(plan),
                      {[&] { isOpen = true; }, [](const PeerMessage&) {},
                       [&](const std::string& why) { closed = why; }},
                      monotonicNowNs());
        QVERIFY(runUntil(io, [&] { return isOpen || !closed.empty(); }));
        QVERIFY2(!isOpen && closed.find("certificate") != std::string::npos, closed.c_str());
    }

    void onlyTheOfferedCheckpointIsGivenOut() {
        asio::io_context io;
        NodePlan plan = planOf(0, 'a');
        plan.agentPort = test::freePort();
        std::string problem;
        LeaderChannel leader(io, {[](const PeerStatus&) {}, [](int32_t, const std::string&) {},
                                  [&](const FetchAnswer& answer) { problem = answer.problem; }});
        QVERIFY(leader.listen(plan));
        const FetchOrder order{"/checkpoints/step-000000010", 1, 10};
        QVERIFY(leader.isAlone());
        QVERIFY(!leader.offer(order)); // to whom?
        plan.nodeIndex = 1;
        PeerStatus own;
        own.node = 1;
        std::optional<FetchOrder> came;
        PeerChannel* speaks = nullptr;
        PeerChannel peer(io, {[&] { speaks->send(own); },
                              [&](const PeerMessage& message) {
                                  if (const auto* copy = std::get_if<FetchOrder>(&message))
                                      came = *copy;
                              },
                              [](const std::string&) {}});
        speaks = &peer;
        QVERIFY(peer.begin(plan));
        QVERIFY(runUntil(io, [&] { return leader.offer(order).has_value(); }));
        QVERIFY(!leader.isAlone());
        QVERIFY(runUntil(io, [&] { return came == order; }));
        const auto tls = makeTls(plan);
        std::string closed;
        const auto link = std::make_shared<PeerLink>(tcp::socket(io), *tls);
        link->connect(leaderAt(plan),
                      {[&] { link->send(FetchRequest{"/etc"}); }, [](const PeerMessage&) {},
                       [&](const std::string& why) { closed = why; }},
                      monotonicNowNs());
        QVERIFY(runUntil(io, [&] { return !closed.empty(); }));
        QVERIFY(!leader.isRelaying());
        peer.send(FetchAnswer{order.path, "no room"});
        QVERIFY(runUntil(io, [&] { return problem == "no room"; }));
    }

private:
    static std::unique_ptr<asio::ssl::context> makeTls(const NodePlan& plan) {
        return std::move(*makeRunTls(plan.runId, plan.agentKey));
    }
    static tcp::endpoint leaderAt(const NodePlan& plan) {
        return {asio::ip::make_address(plan.masterAddr), static_cast<uint16_t>(plan.agentPort)};
    }
};

QTEST_GUILESS_MAIN(TestPeerChannel)
#include "tst_peer_channel.moc"

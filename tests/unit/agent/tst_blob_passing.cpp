// SPDX-License-Identifier: Apache-2.0
// Blobs that one agent passes on to another, in one process over loopback.
#include "shared/io/file.h"
#include "trainer/agent/receive/blob_fetch.h"
#include "trainer/agent/receive/blob_server.h"
#include "trainer/agent/receive/receiver.h"

#include <QDir>
#include <QTemporaryDir>
#include <QTest>

#include <fcntl.h>
#include <unistd.h>
#include <zstd.h>

#include <atomic>
#include <thread>

using namespace rm;

namespace {

const Serve kOrder{"transfer-1", std::string(64, 'a')};
constexpr int kLongMs = 20'000;

std::string noiseOf(size_t size) {
    std::string text(size, '\0');
    unsigned seed = static_cast<unsigned>(size);
    for (char& c : text)
        c = static_cast<char>((seed = seed * 1664525u + 1013904223u) >> 24);
    return text;
}

Blob blobFor(const std::string& text) {
    return {sha256Hex(std::as_bytes(std::span(text))), static_cast<int64_t>(text.size())};
}

/// A node: its receiver, and what it says while it fetches.
struct NodeOfTest {
    explicit NodeOfTest(const QString& folder)
        : home(folder.toStdString())
        , receiver(home) {
        if (!receiver.prepare() || ::pipe2(input, O_CLOEXEC) != 0)
            qFatal("prepare a node");
    }
    ~NodeOfTest() {
        ::close(input[0]);
        ::close(input[1]);
    }

    void offer(const std::vector<std::string>& texts) {
        std::vector<Blob> blobs;
        for (const std::string& text : texts)
            blobs.push_back(blobFor(text));
        QVERIFY(receiver.onTransfer(Offer{blobs}).has_value());
    }
    /// As it comes from the app.
    void give(const std::string& text, size_t begin, size_t end) {
        for (size_t at = begin; at < end; at += kMaxChunk) {
            const std::string piece = text.substr(at, std::min(kMaxChunk, end - at));
            Chunk chunk{std::vector<std::byte>(ZSTD_compressBound(piece.size()))};
            chunk.zstd.resize(
                ZSTD_compress(chunk.zstd.data(), chunk.zstd.size(), piece.data(), piece.size(), 1));
            QVERIFY(receiver.onTransfer(chunk).has_value());
        }
        if (end == text.size())
            QVERIFY(receiver.onTransfer(BlobEnd{blobFor(text).sha256}).has_value());
    }
    Result<std::string> fetch(int port, const Serve& key = kOrder) {
        const FetchHandlers handlers{[this](const Transfer& transfer) -> Result<int64_t> {
                                         const int64_t before = receiver.received();
                                         const auto taken = receiver.onTransfer(transfer);
                                         return taken
                                                    ? Result<int64_t>(receiver.received() - before)
                                                    : tl::unexpected(taken.error());
                                     },
                                     [this] { return receiver.expected().empty(); },
                                     [this](const Fetching& fetching) -> Result<void> {
                                         reported = fetching;
                                         return {};
                                     }};
        return fetchBlobs({{"127.0.0.1", "::1"}, port, key.id, key.key}, receiver.expected(),
                          input[0], handlers);
    }
    bool has(const std::string& text) const {
        return readFile(receiver.blobs().pathOf(blobFor(text).sha256)) == text;
    }

    std::string home;
    Receiver receiver;
    int input[2] = {};
    Fetching reported;
};

} // namespace

class TestBlobPassing : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init() { m_dir = std::make_unique<QTemporaryDir>(); }

    void whatOneHasTheOtherGets() {
        NodeOfTest a(m_dir->filePath("a")), b(m_dir->filePath("b"));
        const std::string big = noiseOf(1'300'000), small = "small", empty;
        a.offer({big, small, empty});
        for (const std::string& text : {big, small, empty})
            a.give(text, 0, text.size());
        const auto server = serve(a);
        b.offer({big, small, empty});
        QCOMPARE(b.fetch(server->port()).value_or("failed"), std::string());
        QVERIFY(b.has(big) && b.has(small) && b.has(empty));
        QCOMPARE(b.reported.bytes, int64_t(big.size() + small.size()));
    }

    void whatGrowsIsPassedOnAsItGrows() {
        NodeOfTest a(m_dir->filePath("a")), b(m_dir->filePath("b"));
        const std::string text = noiseOf(4 * kMaxChunk);
        a.offer({text});
        const auto server = serve(a);
        b.offer({text});
        Result<std::string> why = "not ended";
        std::thread other([&] { why = b.fetch(server->port()); });
        const std::string part = b.receiver.blobs().pathOf(blobFor(text).sha256) + ".part";
        for (size_t at = 0; at < text.size(); at += kMaxChunk) {
            a.give(text, at, at + kMaxChunk);
            server->grown();
            // The second has what the first got before the first gets more.
            if (at + kMaxChunk < text.size())
                QTRY_VERIFY_WITH_TIMEOUT(QFileInfo(QString::fromStdString(part)).size() ==
                                             qint64(at + kMaxChunk),
                                         kLongMs);
        }
        other.join();
        QCOMPARE(why.value_or("failed"), std::string());
        QVERIFY(b.has(text));
    }

    void aPartThatIsThereIsGoneOnWith() {
        NodeOfTest a(m_dir->filePath("a")), b(m_dir->filePath("b"));
        const std::string text = noiseOf(2 * kMaxChunk + 9);
        a.offer({text});
        a.give(text, 0, text.size());
        const auto server = serve(a);
        b.offer({text});
        b.give(text, 0, kMaxChunk);
        b.receiver.forgetExpected();
        b.offer({text});
        QCOMPARE(b.receiver.expected().at(0).offset, int64_t(kMaxChunk));
        QCOMPARE(b.fetch(server->port()).value_or("failed"), std::string());
        QCOMPARE(b.reported.bytes, int64_t(kMaxChunk + 9));
        QVERIFY(b.has(text));
    }

    void whoDoesNotKnowTheKeyGetsNothing_data() {
        QTest::addColumn<QString>("id");
        QTest::addColumn<QString>("key");
        QTest::newRow("another key") << "transfer-1" << QString(64, 'b');
        QTest::newRow("of another transfer") << "transfer-2" << QString(64, 'a');
    }
    void whoDoesNotKnowTheKeyGetsNothing() {
        QFETCH(QString, id);
        QFETCH(QString, key);
        NodeOfTest a(m_dir->filePath("a")), b(m_dir->filePath("b"));
        a.offer({"secret"});
        a.give("secret", 0, 6);
        const auto server = serve(a);
        b.offer({"secret"});
        const auto why = b.fetch(server->port(), {id.toStdString(), key.toStdString()});
        QVERIFY2(why && why->find("cannot be reached") != why->npos, why.value_or("").c_str());
        QVERIFY(!b.has("secret"));
    }

    void wrongBytesOfAnotherNodeNeverGetTheName() {
        NodeOfTest a(m_dir->filePath("a")), b(m_dir->filePath("b"));
        const std::string right = "right", wrong = "wrong";
        QVERIFY(writeFileAtomically(a.receiver.blobs().pathOf(blobFor(right).sha256), wrong)
                    .has_value());
        const auto server = serve(a);
        b.offer({right});
        const auto why = b.fetch(server->port());
        QVERIFY(why && !why->empty());
        b.receiver.forgetExpected();
        QVERIFY(!b.has(right) && !b.has(wrong));
        b.offer({right});
        QCOMPARE(b.receiver.expected().at(0).offset, int64_t(0));
    }

    void aNodeThatEndsIsToldOf() {
        NodeOfTest a(m_dir->filePath("a")), b(m_dir->filePath("b"));
        const std::string text = noiseOf(2 * kMaxChunk);
        a.offer({text});
        a.give(text, 0, kMaxChunk);
        auto server = serve(a);
        b.offer({text});
        Result<std::string> why = "";
        const auto port = server->port(); // the thread would look at what is ended meanwhile
        std::thread other([&] { why = b.fetch(port); });
        const QString part =
            QString::fromStdString(b.receiver.blobs().pathOf(blobFor(text).sha256) + ".part");
        const bool came =
            QTest::qWaitFor([&] { return QFileInfo(part).size() == qint64(kMaxChunk); }, kLongMs);
        server.reset();
        other.join();
        QVERIFY(came);
        QVERIFY(why && !why->empty());
        b.receiver.forgetExpected();
        b.offer({text});
        QCOMPARE(b.receiver.expected().at(0).offset, int64_t(kMaxChunk));
    }

    void whoeverEndsTheInputEndsTheFetch() {
        NodeOfTest a(m_dir->filePath("a")), b(m_dir->filePath("b"));
        const auto server = serve(a);
        b.offer({"never"});
        ::close(std::exchange(b.input[1], ::open("/dev/null", O_RDONLY | O_CLOEXEC)));
        QCOMPARE(b.fetch(server->port()).value_or(""), std::string("the app ended it"));
    }

    void anAddressThatNobodyListensOnIsToldOf() {
        NodeOfTest b(m_dir->filePath("b"));
        b.offer({"x"});
        const auto why = b.fetch(1);
        QVERIFY2(why && why->find("refused") != why->npos, why.value_or("").c_str());
    }

private:
    static std::unique_ptr<BlobServer> serve(const NodeOfTest& node) {
        auto server = BlobServer::start(node.home + "/blobs", kOrder);
        if (!server)
            qFatal("%s", server.error().message.c_str());
        return std::move(*server);
    }
    std::unique_ptr<QTemporaryDir> m_dir;
};

QTEST_GUILESS_MAIN(TestBlobPassing)
#include "tst_blob_passing.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/unit/core/engine/face_examples.h"

#include <QCborArray>
#include <QCborValue>
#include <QFile>
#include <QTest>

#include <boost/core/demangle.hpp>

#include <set>
#include <typeinfo>
#include <utility>

using namespace rm;

namespace {

std::span<const std::byte> bytesOf(const QByteArray& text) {
    return std::as_bytes(std::span(text.constData(), static_cast<size_t>(text.size())));
}

QCborValue hello(const QCborValue& kind) {
    return QCborArray{0, QCborArray{QByteArray("ringmaster"), QByteArray("0.1.0"), 42, kind}};
}

/// "LaunchRequest"
template <class T>
QString nameOf() {
    return QString::fromStdString(boost::core::demangle(typeid(T).name())).section("::", -1);
}

/// "- 0 `LaunchRequest`", a line for each alternative.
template <class Variant, size_t... I>
QString listOf(std::index_sequence<I...>) {
    const QStringList lines = {
        QString("- %1 `%2`").arg(I).arg(nameOf<std::variant_alternative_t<I, Variant>>())...};
    return lines.join('\n');
}
template <class Variant>
QString listOf() {
    return listOf<Variant>(std::make_index_sequence<std::variant_size_v<Variant>>());
}

} // namespace

/// What one Ringmaster says to another: see app/core/engine/holder/PROTOCOL.md.
class TestFaceMessages : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void everyMessageComesBackAsItWas();
    void examplesAreOfEveryKind();
    void theProtocolListsEveryRequest();
    void helloHasTheShapeThatEveryReleaseReads();
    void anyBytesOfAPasswordArrive();
    void whatHasNoKnownShapeIsRefused_data();
    void whatHasNoKnownShapeIsRefused();
    void everyTruncationIsRefused();
};

void TestFaceMessages::everyMessageComesBackAsItWas() {
    for (const face::Message& message : example::faceMessages()) {
        const QByteArray sent = encodeFaceMessage(message);
        const auto received = decodeFaceMessage(bytesOf(sent));
        QVERIFY2(received, qPrintable(QString::number(message.index())));
        QCOMPARE(received->index(), message.index());
        QCOMPARE(encodeFaceMessage(*received), sent);
        if (const auto* ask = std::get_if<face::Ask>(&message))
            QVERIFY(std::get<face::Ask>(*received).request == ask->request);
    }
    const auto live =
        decodeFaceMessage(bytesOf(encodeFaceMessage(face::Live{"x", example::liveState()})));
    const LiveState& state = std::get<face::Live>(*live).state;
    QCOMPARE(state.nodes.size(), 2u);
    QCOMPARE(*state.nodes[0].state, *example::liveState().nodes[0].state);
    QCOMPARE(state.nodes[1].why, QString("no route ☃"));
    QCOMPARE(*state.launching, *example::liveState().launching);
    const auto check =
        decodeFaceMessage(bytesOf(encodeFaceMessage(face::Answer{1, example::nodeCheck()})));
    const auto& reply = std::get<NodeCheck>(std::get<face::Answer>(*check).reply);
    QCOMPARE(*reply.report, *example::nodeCheck().report);
    QCOMPARE(reply.rows, example::nodeCheck().rows);
}

void TestFaceMessages::examplesAreOfEveryKind() {
    std::set<size_t> messages;
    std::set<size_t> requests;
    std::set<size_t> replies;
    for (const face::Message& message : example::faceMessages()) {
        messages.insert(message.index());
        if (const auto* ask = std::get_if<face::Ask>(&message))
            requests.insert(ask->request.index());
        if (const auto* answer = std::get_if<face::Answer>(&message))
            replies.insert(answer->reply.index());
    }
    QCOMPARE(messages.size(), std::variant_size_v<face::Message>);
    QCOMPARE(requests.size(), std::variant_size_v<EngineRequest>);
    QCOMPARE(replies.size(), std::variant_size_v<EngineReply>);
}

void TestFaceMessages::theProtocolListsEveryRequest() {
    QFile file(qEnvironmentVariable("RINGMASTER_SOURCE") + "/app/core/engine/holder/PROTOCOL.md");
    QVERIFY2(file.open(QIODevice::ReadOnly), qPrintable(file.fileName()));
    const QString list = listOf<EngineRequest>();
    QVERIFY2(file.readAll().contains(("\n\n" + list + "\n").toUtf8()),
             qPrintable("the list of requests is\n" + list));
}

void TestFaceMessages::helloHasTheShapeThatEveryReleaseReads() {
    const QByteArray sent = encodeFaceMessage(face::Hello{"ringmaster", "0.1.0", 42, {}});
    QCOMPARE(sent, hello(0).toCbor());
    QCOMPARE(sent.toHex(), QByteArray("8200844a72696e676d617374657245302e312e30182a00"));
}

void TestFaceMessages::anyBytesOfAPasswordArrive() {
    const std::string password("\xff\0\x80 x", 5);
    const auto received = decodeFaceMessage(
        bytesOf(encodeFaceMessage(face::Ask{1, CheckRequest{"n", {password, {}, {}}}})));
    QCOMPARE(std::get<CheckRequest>(std::get<face::Ask>(*received).request).credentials.password,
             password);
}

void TestFaceMessages::whatHasNoKnownShapeIsRefused_data() {
    QTest::addColumn<QByteArray>("bytes");
    const auto row = [](const char* name, const QCborValue& value) {
        QTest::newRow(name) << value.toCbor();
    };
    QTest::newRow("nothing") << QByteArray();
    QTest::newRow("no CBOR") << QByteArray("\xff\xff");
    QTest::newRow("more behind it") << hello(0).toCbor() + '\0';
    QTest::newRow("nested without end") << QByteArray(100'000, '\x81');
    row("no array", 7);
    row("unknown type", QCborArray{99, QCborArray{}});
    row("negative type", QCborArray{-1, QCborArray{}});
    row("unknown enumerator", hello(2));
    row("negative enumerator", hello(-1));
    row("text for a number", hello("1"));
    row("too few members", QCborArray{0, QCborArray{QByteArray("ringmaster")}});
    row("too many members", QCborArray{5, QCborArray{1}});
    row("a spec that is none",
        QCborArray{
            1, QCborArray{1, QCborArray{0, QCborArray{QByteArray("no toml"),
                                                      QCborArray{QCborArray{"n", 1}}, "x", 0}}}});
    row("number beyond its type",
        QCborArray{1, QCborArray{1, QCborArray{0, QCborArray{QByteArray("name = \"x\""),
                                                             QCborArray{QCborArray{"n", 1LL << 40}},
                                                             "x", 0}}}});
    row("neither answer nor error",
        QCborArray{4, QCborArray{1, QCborArray{0, QCborArray{1, "x"}}}});
}

void TestFaceMessages::whatHasNoKnownShapeIsRefused() {
    QFETCH(QByteArray, bytes);
    const auto received = decodeFaceMessage(bytesOf(bytes));
    QVERIFY(!received);
    QCOMPARE(received.error().code, ErrorCode::kCorrupt);
}

void TestFaceMessages::everyTruncationIsRefused() {
    for (const face::Message& message : example::faceMessages()) {
        const QByteArray whole = encodeFaceMessage(message);
        for (qsizetype size = 0; size < whole.size(); ++size)
            QVERIFY(!decodeFaceMessage(bytesOf(whole.left(size))));
    }
}

QTEST_GUILESS_MAIN(TestFaceMessages)
#include "tst_face_messages.moc"

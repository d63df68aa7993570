// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/engine/holder/face_channel.h"
#include "app/core/engine/holder/face_server.h"
#include "tests/unit/core/engine/fake_engine.h"

#include <QFileInfo>
#include <QLocalSocket>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <sys/stat.h>

using namespace rm;
using rm::test::FakeEngine;

namespace {

constexpr int kDeadlineMs = 10'000;

face::Hello helloOf(face::Kind kind, const std::string& release = "0.1.0") {
    return {"ringmaster", release, 42, kind};
}

/// A process that is served: what it was told.
struct Guest {
    explicit Guest(const QString& path, std::optional<face::Hello> hello = helloOf({})) {
        auto* socket = new QLocalSocket;
        socket->connectToServer(path);
        socket->waitForConnected();
        channel = std::make_unique<FaceChannel>(socket);
        QObject::connect(channel.get(), &FaceChannel::received, channel.get(),
                         [this](const face::Message& message) { reported.push_back(message); });
        QObject::connect(channel.get(), &FaceChannel::ended, channel.get(),
                         [this] { isOver = true; });
        if (hello)
            channel->send(*hello);
    }

    template <class T>
    std::vector<T> all() const {
        std::vector<T> found;
        for (const face::Message& message : reported)
            if (const T* one = std::get_if<T>(&message))
                found.push_back(*one);
        return found;
    }
    template <class T>
    bool has() const {
        return !all<T>().empty();
    }

    std::unique_ptr<FaceChannel> channel;
    std::vector<face::Message> reported;
    bool isOver = false;
};

const face::Ask kLaunch{1, ResumeRequest{"x-1", {}, {}}};

} // namespace

/// The holder's side of the socket, against guests that behave and such that do not.
class TestFaceServer : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init();
    void theSocketIsForItsUserAlone();
    void whoDoesNotGreetIsServedNothing();
    void anotherReleaseHearsWhichThisIs();
    void garbageEndsOnlyItsSender();
    void everyoneHearsWhatTheEngineSignals();
    void requestsAreAcceptedAndAnswered();
    void aLaunchEndsWithWhoAskedForIt();
    void aTrialEndsWithWhoAskedForIt();
    void anAnswerThatDoesNotFitIsAFailureInWords();
    void itIsBusyWhileItStartsRanksForOthers();
    void aWindowAmongTheGuestsIsShown();
    void aReceiverThatTakesNothingIsToldOnceOrCutOff();
    void nodesOfWhoEndedWithoutAWordAreKnown();

private:
    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<FakeEngine> m_engine;
    std::unique_ptr<Fleet> m_fleet;
    std::unique_ptr<FaceServer> m_server;
    QString m_path;
};

void TestFaceServer::init() {
    m_server.reset();
    m_folder = std::make_unique<QTemporaryDir>();
    m_engine = std::make_unique<FakeEngine>();
    m_fleet = std::make_unique<Fleet>(m_folder->filePath("config"));
    m_server = std::make_unique<FaceServer>(*m_engine, *m_fleet, helloOf(face::Kind::kTerminal));
    m_path = m_folder->filePath("holder.sock");
    QVERIFY(m_server->listen(m_path));
}

void TestFaceServer::theSocketIsForItsUserAlone() {
    struct stat status {};
    QVERIFY(::stat(qPrintable(m_path), &status) == 0);
    QCOMPARE(status.st_mode & 0777, 0600u);
    // What a killed holder leaves behind does not stand in the way.
    FaceServer next(*m_engine, *m_fleet, helloOf(face::Kind::kTerminal));
    QVERIFY(next.listen(m_path));
}

void TestFaceServer::nodesOfWhoEndedWithoutAWordAreKnown() {
    auto guest = std::make_unique<Guest>(m_path, helloOf(face::Kind::kTerminal));
    QTRY_VERIFY_WITH_TIMEOUT(guest->has<face::Hello>(), kDeadlineMs);
    Fleet its(m_folder->filePath("config"));
    QVERIFY(its.add({"node-a", false, "host", {}, 0, {}}));
    QVERIFY(!m_fleet->find("node-a"));
    guest.reset();
    QTRY_VERIFY_WITH_TIMEOUT(m_fleet->find("node-a"), kDeadlineMs);
}

void TestFaceServer::whoDoesNotGreetIsServedNothing() {
    Guest rude(m_path, std::nullopt);
    QTRY_VERIFY_WITH_TIMEOUT(rude.has<face::Hello>(), kDeadlineMs);
    Q_EMIT m_engine->runsChanged();
    rude.channel->send(face::Follow{"x-1"});
    QTRY_VERIFY_WITH_TIMEOUT(rude.isOver, kDeadlineMs);
    QVERIFY(m_engine->attached.isEmpty());
    QCOMPARE(rude.reported.size(), 1u);
}

void TestFaceServer::anotherReleaseHearsWhichThisIs() {
    Guest newer(m_path, helloOf(face::Kind::kTerminal, "9.9.9"));
    QTRY_VERIFY_WITH_TIMEOUT(newer.isOver, kDeadlineMs);
    QVERIFY(newer.has<face::Hello>());
    QCOMPARE(newer.all<face::Hello>().front().release, std::string("0.1.0"));
}

void TestFaceServer::garbageEndsOnlyItsSender() {
    Guest good(m_path);
    QLocalSocket bad;
    bad.connectToServer(m_path);
    QVERIFY(bad.waitForConnected());
    bad.write(QByteArray(64, 'x'));
    QTRY_COMPARE_WITH_TIMEOUT(bad.state(), QLocalSocket::UnconnectedState, kDeadlineMs);
    good.channel->send(face::Follow{"x-1"});
    QTRY_VERIFY_WITH_TIMEOUT(good.has<face::Live>(), kDeadlineMs);
    QVERIFY(!good.isOver);
}

void TestFaceServer::everyoneHearsWhatTheEngineSignals() {
    Guest first(m_path);
    Guest second(m_path);
    for (Guest* guest : {&first, &second}) {
        guest->channel->send(face::Follow{"x-1"});
        QTRY_VERIFY_WITH_TIMEOUT(guest->has<face::Live>(), kDeadlineMs);
    }
    m_engine->lives["x-1"].held = true;
    Q_EMIT m_engine->liveChanged("x-1");
    Q_EMIT m_engine->samplesAppended("x-1");
    Q_EMIT m_engine->progressed("x-1", {"Start ranks"});
    Q_EMIT m_engine->runsChanged();
    Q_EMIT m_engine->tooLarge("x-1", "why");
    Q_EMIT m_engine->loginRefused("node-a");
    Q_EMIT m_engine->failed("x-1", "that");
    Q_EMIT m_engine->attemptEnded("x-1");
    QVERIFY(m_fleet->add({"node-a", false, "host", {}, 0, {}}));
    for (Guest* guest : {&first, &second}) {
        QTRY_VERIFY_WITH_TIMEOUT(guest->has<face::NodesChanged>(), kDeadlineMs);
        QVERIFY(guest->all<face::Live>().back().state.held);
        QCOMPARE(guest->all<face::SamplesAppended>().back().run, QString("x-1"));
        QCOMPARE(guest->all<face::Progressed>().back().progress.stage, QString("Start ranks"));
        QVERIFY(guest->has<face::RunsChanged>());
        QCOMPARE(guest->all<face::TooLarge>().back().why, QString("why"));
        QCOMPARE(guest->all<face::LoginRefused>().back().node, QString("node-a"));
        QCOMPARE(guest->all<face::Failed>().back().message, QString("that"));
        QVERIFY(guest->has<face::AttemptEnded>());
    }
}

void TestFaceServer::requestsAreAcceptedAndAnswered() {
    Guest guest(m_path);
    guest.channel->send(face::Ask{5, NotesRequest{"x-1", "text"}});
    guest.channel->send(face::Ask{6, CommandRequest{"x-1", CommandKind::kHold, {}, "id"}});
    QTRY_COMPARE_WITH_TIMEOUT(guest.all<face::Answer>().size(), 2u, kDeadlineMs);
    QCOMPARE(guest.all<face::Accepted>().front().number, 5);
    QCOMPARE(guest.all<face::Answer>().front().number, 5);
    QCOMPARE(m_engine->notes["x-1"], QString("text"));
    const auto command = std::get<Result<CommandState>>(guest.all<face::Answer>().back().reply);
    QCOMPARE(command->step, 7);
}

void TestFaceServer::aLaunchEndsWithWhoAskedForIt() {
    {
        Guest guest(m_path);
        m_engine->lives["x-1"].launching = Progress{};
        guest.channel->send(kLaunch);
        QTRY_VERIFY_WITH_TIMEOUT(m_server->isBusy(), kDeadlineMs);
    }
    QTRY_VERIFY_WITH_TIMEOUT(!m_engine->commands.empty(), kDeadlineMs);
    QCOMPARE(m_engine->commands.front(), std::pair(QString("x-1"), CommandKind::kKill));
    QVERIFY(!m_server->isBusy());
}

void TestFaceServer::aTrialEndsWithWhoAskedForIt() {
    m_engine->trialsTakeLong = true;
    const NodeTrial trial{TrialKind::kAllReduce, {{"node-a", 0}, {"node-b", 0}}, {}};
    auto guest = std::make_unique<Guest>(m_path);
    guest->channel->send(face::Ask{1, TrialRequest{trial}});
    QTRY_VERIFY_WITH_TIMEOUT(guest->has<face::Accepted>(), kDeadlineMs);
    QVERIFY(m_engine->stopped.empty());
    guest.reset();
    QTRY_COMPARE_WITH_TIMEOUT(m_engine->stopped.size(), size_t{1}, kDeadlineMs);
    QVERIFY(m_engine->stopped.front() == trial);

    // One that has ended is none of its any more.
    m_engine->trialsTakeLong = false;
    guest = std::make_unique<Guest>(m_path);
    guest->channel->send(face::Ask{1, TrialRequest{trial}});
    QTRY_VERIFY_WITH_TIMEOUT(guest->has<face::Answer>(), kDeadlineMs);
    guest.reset();
    Guest next(m_path);
    next.channel->send(face::Follow{"x-1"});
    QTRY_VERIFY_WITH_TIMEOUT(next.has<face::Live>(), kDeadlineMs);
    QCOMPARE(m_engine->stopped.size(), size_t{1});
}

void TestFaceServer::anAnswerThatDoesNotFitIsAFailureInWords() {
    m_engine->trialAnswer = QString(2 << 20, 'x');
    Guest guest(m_path);
    guest.channel->send(
        face::Ask{7, TrialRequest{{TrialKind::kAllReduce, {{"a", 0}, {"b", 0}}, {}}}});
    QTRY_VERIFY_WITH_TIMEOUT(guest.has<face::Answer>(), kDeadlineMs);
    const face::Answer answer = guest.all<face::Answer>().front();
    QCOMPARE(answer.number, int64_t{7});
    const auto reported = std::get<Result<QString>>(answer.reply);
    QVERIFY(!reported);
    QVERIFY2(reported.error().message.find("all-reduce test: the answer exceeds") == 0,
             reported.error().message.c_str());
}

void TestFaceServer::itIsBusyWhileItStartsRanksForOthers() {
    Guest guest(m_path);
    QSignalSpy idle(m_server.get(), &FaceServer::idle);
    guest.channel->send(kLaunch);
    QTRY_VERIFY_WITH_TIMEOUT(m_server->isBusy(), kDeadlineMs);
    QVERIFY(guest.all<face::Answer>().empty());
    m_engine->start(Result<QString>("x-1"));
    QTRY_COMPARE_WITH_TIMEOUT(idle.size(), 1, kDeadlineMs);
    QVERIFY(!m_server->isBusy());
    QTRY_VERIFY_WITH_TIMEOUT(guest.has<face::Answer>(), kDeadlineMs);
}

void TestFaceServer::aWindowAmongTheGuestsIsShown() {
    Guest asking(m_path, helloOf(face::Kind::kWindow));
    asking.channel->send(face::Ask{1, WindowRequest{"token"}});
    QTRY_VERIFY_WITH_TIMEOUT(asking.has<face::Answer>(), kDeadlineMs);
    QCOMPARE(std::get<bool>(asking.all<face::Answer>().back().reply), false); // not itself
    Guest next(m_path, helloOf(face::Kind::kWindow));
    next.channel->send(face::Ask{1, WindowRequest{"token"}});
    QTRY_VERIFY_WITH_TIMEOUT(asking.has<face::ShowWindow>(), kDeadlineMs);
    QCOMPARE(asking.all<face::ShowWindow>().back().activationToken, QByteArray("token"));
    QTRY_VERIFY_WITH_TIMEOUT(next.has<face::Answer>(), kDeadlineMs);
    QCOMPARE(std::get<bool>(next.all<face::Answer>().back().reply), true);
}

void TestFaceServer::aReceiverThatTakesNothingIsToldOnceOrCutOff() {
    QLocalSocket suspended;
    suspended.setReadBufferSize(1); // as a process that is stopped: what it is sent stays unread
    suspended.connectToServer(m_path);
    QVERIFY(suspended.waitForConnected());
    const QByteArray hello = encodeFaceMessage(helloOf({}));
    std::vector<std::byte> frame;
    appendFrame(frame,
                std::as_bytes(std::span(hello.constData(), static_cast<size_t>(hello.size()))));
    suspended.write(reinterpret_cast<const char*>(frame.data()), static_cast<qint64>(frame.size()));
    Guest reader(m_path);
    reader.channel->send(face::Follow{"x-1"});
    QTRY_VERIFY_WITH_TIMEOUT(reader.has<face::Live>(), kDeadlineMs);
    // Messages that cannot be kept back pile up until there are more than 4 MiB.
    const QString text(100'000, 'x');
    for (int i = 0; i < 100; ++i) {
        Q_EMIT m_engine->failed("x-1", text);
        QCoreApplication::processEvents();
    }
    QTRY_COMPARE_WITH_TIMEOUT(reader.all<face::Failed>().size(), 100u, kDeadlineMs);
    QVERIFY(!reader.isOver);
    suspended.setReadBufferSize(0);
    const auto isCutOff = [&] {
        suspended.readAll();
        return suspended.state() == QLocalSocket::UnconnectedState;
    };
    QTRY_VERIFY_WITH_TIMEOUT(isCutOff(), kDeadlineMs);
}

QTEST_GUILESS_MAIN(TestFaceServer)
#include "tst_face_server.moc"

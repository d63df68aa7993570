// SPDX-License-Identifier: Apache-2.0
#include "shared/checkpoint/manifest.h"
#include "shared/checkpoint/owner.h"
#include "shared/checkpoint/safetensors.h"
#include "shared/exit_code.h"
#include "shared/io/file.h"
#include "shared/wire/receive.h"
#include "tests/unit/agent/agent_fixture.h"
#include "tests/unit/shared/shared_test.h"

#include <QDir>
#include <QFileInfo>
#include <QJsonArray>
#include <QStorageInfo>
#include <QTest>

#include <fcntl.h>
#include <sys/stat.h>

#include <ctime>
#include <filesystem>

using namespace rm;
using rm::test::AgentFixture;

namespace {

constexpr int64_t kSaidNs = 1'700'000'000'000'000'000;

/// A checkpoint as rank 0 of run r1 saves it; its second file takes several chunks.
Result<std::string> publish(const std::string& parent, int64_t step, int64_t attempt = 1,
                            const std::string& run = "r1") {
    Manifest manifest;
    manifest.runId = run;
    manifest.step = step;
    manifest.attempt = attempt;
    manifest.reason = "every 20";
    manifest.createdNs = kSaidNs + step;
    manifest.line.emplace();
    std::filesystem::create_directories(parent);
    return publishCheckpoint(parent, manifest, [step](const std::string& dir) {
        std::string tensors(3 * kMaxChunk + 17, '\0');
        unsigned seed = static_cast<unsigned>(step);
        for (char& c : tensors)
            c = static_cast<char>((seed = seed * 1664525u + 1013904223u) >> 24);
        return writeFileAtomically(dir + "/state.json", "{}").and_then([&] {
            return writeFileAtomically(dir + "/model.safetensors", tensors);
        });
    });
}

QByteArray framed(const Transfer& transfer) {
    const auto frame = frameTransfer(transfer);
    return {reinterpret_cast<const char*>(frame.data()), static_cast<qsizetype>(frame.size())};
}

std::optional<Transfer> firstIn(const QByteArray& out) {
    FrameScanner frames;
    frames.feed(std::as_bytes(std::span(out.constData(), static_cast<size_t>(out.size()))));
    const auto payload = frames.next();
    if (!payload || !*payload)
        return std::nullopt;
    const auto transfer = decodeTransfer(**payload);
    return transfer ? std::optional(*transfer) : std::nullopt;
}

std::string readyIn(const AgentFixture::Answer& answer) {
    const auto transfer = firstIn(answer.out);
    const auto* ready = transfer ? std::get_if<TreeReady>(&*transfer) : nullptr;
    return ready ? ready->path : std::string();
}

QByteArray sent(const AgentFixture& from, const std::string& path) {
    return from.agent({"send-checkpoint"}, QByteArray::fromStdString(path)).out;
}

AgentFixture::Answer receive(const AgentFixture& to, const QByteArray& stream,
                             int64_t keepCopies = 0, const std::string& folder = {}) {
    return to.agent({"receive-checkpoint"},
                    framed(CheckpointPlace{"r1", folder, keepCopies}) + stream);
}

QStringList namesIn(const QString& folder) {
    return QDir(folder).entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot);
}

} // namespace

/// A checkpoint that goes from one node to another.
class TestAgentCheckpoints : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void whatWasSentIsWholeThere();
    void whatIsThereIsNotSentAgain();
    void aStreamThatIsCutAnywhereLeavesNothing();
    void aWrongByteNeverGetsTheName();
    void anotherRunsCheckpointIsRefused();
    void whatNodesShareIsNotFetched();
    void theNewestCopiesStay();
    void aCopyThatWouldFillTheDiskIsRefused();
    void aFolderOfAPersonsChoiceTakesOnePerRun();
    void whatLiesThereIsTold();
    void whatWasRemovedIsBroughtBack();
    void aPinnedOneIsNotRemoved();
    void twoAreComparedByLayer();

private:
    /// One retired checkpoint of step 76, beside that of step 60 from which attempt 2 started.
    static void leaveARetiredOne(AgentFixture& f);
};

void TestAgentCheckpoints::whatWasSentIsWholeThere() {
    AgentFixture a, b;
    const auto source = publish(a.runDir().toStdString() + "/checkpoints", 60);
    RM_OK(source);
    const auto answer = receive(b, sent(a, *source));
    QVERIFY2(answer.exitCode == 0, answer.err);
    const std::string path = b.runDir().toStdString() + "/checkpoints/step-000000060";
    QCOMPARE(readyIn(answer), path);
    RM_OK(verifyCheckpoint(path));
    QCOMPARE(*readFile(path + "/MANIFEST.json"), *readFile(*source + "/MANIFEST.json"));
    QVERIFY(!listCheckpoints(b.runDir().toStdString() + "/checkpoints")->front().isCopy);
}

void TestAgentCheckpoints::whatNodesShareIsNotFetched() {
    AgentFixture f;
    const auto source = publish(f.runDir().toStdString() + "/checkpoints", 60);
    RM_OK(source);
    const QJsonObject order{
        {"path", QString::fromStdString(*source)}, {"attempt", 1}, {"step", 60}};
    const auto answer = f.agent({"fetch-checkpoint", "r1", "1"}, QJsonDocument(order).toJson());
    QVERIFY2(answer.exitCode == 0, answer.err);
    QCOMPARE(QJsonDocument::fromJson(answer.out).object(), (QJsonObject{{"shared", true}}));
}

void TestAgentCheckpoints::whatIsThereIsNotSentAgain() {
    AgentFixture a, b;
    const auto source = publish(a.runDir().toStdString() + "/checkpoints", 60);
    RM_OK(source);
    const QByteArray stream = sent(a, *source);
    QCOMPARE(receive(b, stream, 2).exitCode, 0);
    const std::string parent = b.runDir().toStdString() + "/checkpoints";
    QVERIFY(listCheckpoints(parent)->front().isCopy);
    // The begin of the stream is enough; and what is gone on from is a copy no more.
    const auto again = receive(b, stream.first(4096));
    QVERIFY2(again.exitCode == 0, again.err);
    QCOMPARE(readyIn(again), parent + "/step-000000060");
    QVERIFY(!listCheckpoints(parent)->front().isCopy);
    // One whose bytes changed is replaced.
    QFile model(QString::fromStdString(parent + "/step-000000060/model.safetensors"));
    QVERIFY(model.open(QIODevice::ReadWrite) && model.seek(100) && model.putChar('x'));
    model.close();
    QCOMPARE(receive(b, stream).exitCode, 0);
    RM_OK(verifyCheckpoint(parent + "/step-000000060"));
    QCOMPARE(namesIn(QString::fromStdString(parent)), QStringList("step-000000060"));
}

void TestAgentCheckpoints::aStreamThatIsCutAnywhereLeavesNothing() {
    AgentFixture a, b;
    const auto source = publish(a.runDir().toStdString() + "/checkpoints", 60);
    RM_OK(source);
    const QByteArray stream = sent(a, *source);
    for (qsizetype part = 0; part < 12; ++part) {
        const auto answer = receive(b, stream.first(stream.size() * part / 12));
        QVERIFY(readyIn(answer).empty());
        QCOMPARE(namesIn(b.runDir() + "/checkpoints"), QStringList());
    }
}

void TestAgentCheckpoints::aWrongByteNeverGetsTheName() {
    AgentFixture a, b;
    const auto source = publish(a.runDir().toStdString() + "/checkpoints", 60);
    RM_OK(source);
    QFile model(QString::fromStdString(*source + "/model.safetensors"));
    QVERIFY(model.open(QIODevice::ReadWrite) && model.seek(100) && model.putChar('x'));
    model.close();
    const auto answer = receive(b, sent(a, *source));
    QVERIFY(answer.exitCode != 0);
    QVERIFY2(answer.err.contains("model.safetensors: its SHA-256 is not the one in the manifest"),
             answer.err);
    QCOMPARE(namesIn(b.runDir() + "/checkpoints"), QStringList());
}

void TestAgentCheckpoints::anotherRunsCheckpointIsRefused() {
    AgentFixture a, b;
    const auto source = publish(a.path("elsewhere").toStdString(), 60, 1, "r2");
    RM_OK(source);
    const auto answer = receive(b, sent(a, *source));
    QVERIFY(answer.exitCode != 0);
    QVERIFY2(answer.err.contains("it is one of run r2"), answer.err);
    const auto none = a.agent({"send-checkpoint"}, "/no/such/folder");
    QVERIFY(none.exitCode != 0);
    QVERIFY(std::holds_alternative<Failed>(firstIn(none.out).value_or(Transfer(Stored{}))));
}

void TestAgentCheckpoints::theNewestCopiesStay() {
    AgentFixture a, b;
    const std::string parent = b.runDir().toStdString() + "/checkpoints";
    RM_OK(publish(parent, 10)); // its own, from when it was rank 0's node
    for (const int64_t step : {20, 40, 60, 80}) {
        const auto source = publish(a.runDir().toStdString() + "/checkpoints", step);
        RM_OK(source);
        QCOMPARE(receive(b, sent(a, *source), 2).exitCode, 0);
    }
    QCOMPARE(namesIn(QString::fromStdString(parent)),
             QStringList({"step-000000010", "step-000000060", "step-000000080"}));
}

void TestAgentCheckpoints::aCopyThatWouldFillTheDiskIsRefused() {
    AgentFixture f;
    Manifest manifest;
    manifest.runId = "r1";
    manifest.step = 60;
    const int64_t free = QStorageInfo(f.path("")).bytesAvailable();
    manifest.files = {{"model.safetensors", free / 4 * 3, std::string(64, '0')}};
    const QByteArray begin = framed(CheckpointBegin{toJson(manifest)});
    const auto refused = receive(f, begin, 2);
    QCOMPARE(refused.exitCode, static_cast<int>(ExitCode::kExhausted));
    QVERIFY2(refused.err.contains("as much again that a copy leaves free"), refused.err);
    // One that a person asks for may take all that is free.
    const auto taken = receive(f, begin); // whose bytes never come
    QVERIFY2(taken.exitCode == 0, taken.err);
}

void TestAgentCheckpoints::aFolderOfAPersonsChoiceTakesOnePerRun() {
    AgentFixture a, b;
    const std::string chosen = b.path("chosen").toStdString();
    RM_OK(publish(chosen, 60, 1, "r2"));
    const auto source = publish(a.runDir().toStdString() + "/checkpoints", 60);
    RM_OK(source);
    const auto refused = receive(b, sent(a, *source), 0, chosen);
    QVERIFY(refused.exitCode != 0);
    QVERIFY2(refused.err.contains("is a checkpoint of r2; choose another folder"), refused.err);
    QCOMPARE(namesIn(QString::fromStdString(chosen)), QStringList("step-000000060"));
}

void TestAgentCheckpoints::whatLiesThereIsTold() {
    AgentFixture a;
    const auto source = publish(a.runDir().toStdString() + "/checkpoints", 60, 3);
    RM_OK(source);
    const auto ask = [&](const std::string& path) {
        return a.agent({"find-checkpoint"}, QByteArray::fromStdString(path)).json();
    };
    const QJsonObject found = ask(*source);
    QVERIFY(found["there"].toBool());
    QCOMPARE(found["run_id"].toString(), "r1");
    QCOMPARE(found["attempt"].toInteger(), 3);
    QCOMPARE(found["step"].toInteger(), 60);
    QVERIFY(QFile::resize(QString::fromStdString(*source + "/model.safetensors"), 5));
    QVERIFY(!ask(*source)["there"].toBool(true));
    QVERIFY(!ask("/no/such/step-000000060")["there"].toBool(true));
    // A disk that is away leaves nothing, or the empty folder where it is mounted.
    QCOMPARE(ask(*source)["folder"].toString(), "known");
    QCOMPARE(ask("/no/such/step-000000060")["folder"].toString(), "missing");
    const QString mount = a.path("mount");
    QVERIFY(QDir().mkpath(mount + "/lost+found"));
    QCOMPARE(ask(mount.toStdString() + "/step-000000060")["folder"].toString(), "foreign");
    RM_OK(claimCheckpoints(mount.toStdString(), {"r1", "named", {1, {}, {}}}));
    QCOMPARE(ask(mount.toStdString() + "/step-000000060")["folder"].toString(), "known");
}

void TestAgentCheckpoints::leaveARetiredOne(AgentFixture& f) {
    const auto ends = [&f] { return f.nodeRecords<AttemptEnded>().size(); };
    f.script(0, "finish@1");
    QCOMPARE(f.start(f.plan(1)).exitCode, 0);
    QTRY_COMPARE_WITH_TIMEOUT(ends(), size_t(1), 30000);
    const std::string parent = f.runDir().toStdString() + "/checkpoints";
    const auto start = publish(parent, 60);
    QVERIFY(start && publish(parent, 76));
    NodePlan plan = f.plan(1);
    plan.attempt = 2;
    plan.startFrom = *start;
    QCOMPARE(f.start(plan).exitCode, 0);
    QTRY_COMPARE_WITH_TIMEOUT(ends(), size_t(2), 30000);
    f.agent({"stop", "r1"}); // an agent that has not gone yet keeps the journal to itself
}

void TestAgentCheckpoints::whatWasRemovedIsBroughtBack() {
    AgentFixture f;
    leaveARetiredOne(f);
    const std::string path = f.runDir().toStdString() + "/checkpoints/step-000000076";
    QVERIFY(f.agent({"bring-back-checkpoint", "r1", "step-000000076"}).exitCode != 0);
    QCOMPARE(f.agent({"remove-checkpoint", "r1", "step-000000076"}).exitCode, 0);
    QVERIFY(!QFileInfo::exists(QString::fromStdString(path)));
    QCOMPARE(f.agent({"bring-back-checkpoint", "r1", "step-000000076"}).exitCode, 0);
    RM_OK(verifyCheckpoint(path));
    // What lay aside for longer goes for good with the next removal.
    QCOMPARE(f.agent({"remove-checkpoint", "r1", "step-000000076"}).exitCode, 0);
    const QString aside = f.runDir() + "/checkpoints/removed-step-000000076";
    const timespec old[2] = {{0, 0}, {::time(nullptr) - (kAsideDays + 1) * 24 * 3600, 0}};
    QCOMPARE(::utimensat(AT_FDCWD, qPrintable(aside), old, 0), 0);
    const auto other = publish(f.runDir().toStdString() + "/checkpoints", 78);
    RM_OK(other);
    QCOMPARE(f.agent({"remove-checkpoint", "r1", "step-000000078"}).exitCode, 0);
    QVERIFY(!QFileInfo::exists(aside));
    QVERIFY(f.agent({"bring-back-checkpoint", "r1", "step-000000076"}).exitCode != 0);
    QVERIFY(f.agent({"bring-back-checkpoint", "r1", "../checkpoints"}).exitCode != 0);
}

void TestAgentCheckpoints::aPinnedOneIsNotRemoved() {
    AgentFixture f;
    leaveARetiredOne(f);
    const QByteArray path = (f.runDir() + "/checkpoints/step-000000076").toUtf8();
    QCOMPARE(f.agent({"pin-checkpoint"}, path).exitCode, 0);
    const auto refused = f.agent({"remove-checkpoint", "r1", "step-000000076"});
    QVERIFY(refused.exitCode != 0);
    QVERIFY2(refused.err.contains("it is pinned; unpin it first"), refused.err);
    QCOMPARE(f.agent({"pin-checkpoint", "--off"}, path).exitCode, 0);
    QCOMPARE(f.agent({"remove-checkpoint", "r1", "step-000000076"}).exitCode, 0);
    QVERIFY(f.agent({"pin-checkpoint"}, path).exitCode != 0);
}

void TestAgentCheckpoints::twoAreComparedByLayer() {
    AgentFixture f;
    const auto save = [&](const char* name, float first, float second) {
        Manifest manifest;
        manifest.runId = "r1";
        manifest.step = first > 2 ? 20 : 10;
        manifest.reason = "every 10";
        manifest.line.emplace();
        return publishCheckpoint(f.path(name).toStdString(), manifest, [&](const std::string& dir) {
            const std::vector<float> block = {first, 4}, head = {second};
            return writeSafetensors(
                dir + "/model.safetensors",
                {{"blocks.0.weight", "F32", {2}, std::as_bytes(std::span(block))},
                 {"head.weight", "F32", {1}, std::as_bytes(std::span(head))}},
                {});
        });
    };
    QDir().mkpath(f.path("a"));
    QDir().mkpath(f.path("b"));
    const auto a = save("a", 0, 5), b = save("b", 3, 5);
    QVERIFY(a && b);
    const QJsonObject order = {{"a", QString::fromStdString(*a)},
                               {"b", QString::fromStdString(*b)}};
    const auto answer = f.agent({"compare-checkpoints"}, QJsonDocument(order).toJson());
    QVERIFY2(answer.exitCode == 0, answer.err);
    const QJsonArray layers = answer.json()["layers"].toArray();
    QCOMPARE(layers.size(), 2);
    QCOMPARE(layers[0]["layer"].toString(), QString("blocks.0"));
    QCOMPARE(layers[0]["norm_a"].toDouble(), 4.0);
    QCOMPARE(layers[0]["norm_b"].toDouble(), 5.0);
    QCOMPARE(layers[0]["difference"].toDouble(), 3.0);
    QCOMPARE(layers[0]["largest"].toDouble(), 3.0);
    QCOMPARE(layers[1]["layer"].toString(), QString("head"));
    QCOMPARE(layers[1]["difference"].toDouble(), 0.0);
    const auto none = f.agent({"compare-checkpoints"}, "{\"a\": \"/no\", \"b\": \"/no\"}");
    QVERIFY(none.exitCode != 0);
}

QTEST_GUILESS_MAIN(TestAgentCheckpoints)
#include "tst_agent_checkpoints.moc"

// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/agent/agent_fixture.h"

#include "shared/journal/segment.h"
#include "trainer/agent/posix/process.h"

#include <QDir>
#include <QFile>
#include <QJsonArray>

#include <linux/capability.h>
#include <sys/prctl.h>

namespace rm::test {

namespace {

constexpr int kPatienceMs = 50'000;

QString binary(const char* name) {
    return qEnvironmentVariable("RINGMASTER_BIN") + "/" + name;
}

QByteArray readAll(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

} // namespace

AgentFixture::AgentFixture()
    : m_environment(QProcessEnvironment::systemEnvironment()) {
    m_environment.insert("RINGMASTER_HOME", home());
    m_environment.insert("XDG_STATE_HOME", m_dir.filePath("state"));
    QDir(m_dir.path()).mkpath("bundle/bin");
    QFile::link(qEnvironmentVariable("RINGMASTER_BUILD") + "/tests/fake_trainer",
                m_dir.filePath("bundle/bin/ringmaster-trainer"));
}

AgentFixture::~AgentFixture() {
    if (QFile::exists(runFolder()))
        agent({"stop", "r1", "--kill"});
}

AgentFixture::Answer AgentFixture::agent(const QStringList& arguments,
                                         const QByteArray& input) const {
    const std::unique_ptr<QProcess> process = spawn(arguments);
    process->write(input);
    process->closeWriteChannel();
    process->waitForFinished(kPatienceMs);
    const bool hasEnded = process->state() == QProcess::NotRunning;
    return {hasEnded ? process->exitCode() : -1, process->readAllStandardOutput(),
            process->readAllStandardError()};
}

std::unique_ptr<QProcess> AgentFixture::spawn(const QStringList& arguments) const {
    auto process = std::make_unique<QProcess>();
    process->setProcessEnvironment(m_environment);
    if (m_obeysPermissions)
        process->setChildProcessModifier([] {
            for (const int capability : {CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH})
                ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
        });
    process->start(binary("ringmaster-agent"), arguments);
    process->waitForStarted();
    return process;
}

void AgentFixture::script(int rank, const QString& action) {
    m_environment.insert(QString("RINGMASTER_FAKE_RANK_%1").arg(rank), action);
}

NodePlan AgentFixture::plan(int ranks) const {
    NodePlan plan;
    plan.runId = "r1";
    plan.runName = "fake";
    plan.localRanks = ranks;
    plan.worldSize = ranks;
    plan.masterPort = 29500;
    plan.bundle = m_dir.filePath("bundle").toStdString();
    return plan;
}

AgentFixture::Answer AgentFixture::start(const NodePlan& plan, const std::string& spec) {
    const QJsonObject order{{"spec", QString::fromStdString(spec)},
                            {"plan", QString::fromStdString(toToml(plan))}};
    return agent({"start", QString::fromStdString(plan.runId)}, QJsonDocument(order).toJson());
}

void AgentFixture::useTrainer(const QByteArray& shellScript) {
    const QString path = m_dir.filePath("bundle/bin/ringmaster-trainer");
    QFile::remove(path);
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(shellScript);
    file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
}

QJsonObject AgentFixture::agentState() const {
    return QJsonDocument::fromJson(readAll(runDir() + "/agent.json")).object();
}

std::string AgentFixture::fileOf(const std::string& name) const {
    const std::string journals = "journal/";
    if (!name.starts_with(journals))
        return name;
    std::vector<Segment> segments;
    const bool isThere = QTest::qWaitFor(
        [&] {
            segments =
                listSegments(runDir().toStdString() + "/journal", name.substr(journals.size()));
            return !segments.empty();
        },
        kPatienceMs);
    return isThere ? journals + segments.back().fileName() : name;
}

qint64 AgentFixture::rankPid(int localRank) const {
    return agentState()["ranks"]
        .toArray()[localRank]
        .toObject()["process"]
        .toObject()["pid"]
        .toInteger();
}

std::vector<Record> AgentFixture::nodeJournal() const {
    return readSegments((runDir() + "/journal").toStdString(), nodeName(0))
        .value_or(std::vector<Record>());
}

bool processRuns(qint64 pid) {
    return isAlive(identify(pid));
}

AttachClient::AttachClient(const AgentFixture& fixture, std::vector<FileCursor> cursors)
    : m_process(fixture.spawn({"attach", "r1", "0"})) {
    for (const FileCursor& cursor : cursors)
        m_starts[cursor.file] = cursor.offset;
    say(Hello{kWireVersion, "0.1.0", "r1", 0});
    say(Attach{std::move(cursors)});
    m_sinceBeat.start();
}

AttachClient::~AttachClient() {
    m_process->closeWriteChannel();
    m_process->waitForFinished(10'000);
}

void AttachClient::say(const Message& message) {
    const std::vector<std::byte> frame = frameMessage(message);
    m_process->write(reinterpret_cast<const char*>(frame.data()),
                     static_cast<qint64>(frame.size()));
    m_process->waitForBytesWritten(1000);
}

bool AttachClient::pump(int waitMs) {
    if (m_sinceBeat.elapsed() > kHeartbeatMs / 2) {
        say(Heartbeat{1, 0});
        m_sinceBeat.restart();
    }
    m_process->waitForReadyRead(waitMs);
    const QByteArray bytes = m_process->readAllStandardOutput();
    m_frames.feed(std::as_bytes(std::span(bytes.constData(), static_cast<size_t>(bytes.size()))));
    while (true) {
        const auto payload = m_frames.next();
        if (!payload || !*payload)
            return m_isGapFree && payload.has_value();
        const Result<Message> message = decodeMessage(**payload);
        if (message)
            take(*message);
    }
}

void AttachClient::take(const Message& message) {
    if (const auto* slice = std::get_if<Slice>(&message)) {
        // Without bytes it says that the file ends before what was sent of it.
        m_isGapFree = m_isGapFree && (slice->bytes.empty() || slice->offset == cursor(slice->file));
        m_files[slice->file].append(reinterpret_cast<const char*>(slice->bytes.data()),
                                    slice->bytes.size());
        auto& stamps = m_stamps[slice->file];
        stamps.insert(stamps.end(), slice->stamps.begin(), slice->stamps.end());
        return;
    }
    if (const auto* beat = std::get_if<Heartbeat>(&message))
        say(Heartbeat{1, beat->sentNs}); // or the agent sends no more of the files
    m_messages.push_back(message);
}

} // namespace rm::test

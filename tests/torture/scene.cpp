// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/torture/scene.h"

#include "app/core/store/store_reader.h"
#include "shared/journal/segment.h"

#include <QTest>

#include <csignal>
#include <set>

namespace rm::torture {
namespace {

constexpr int kEndMs = 120000;
constexpr int64_t kMomentNs = 1'000'000'000; ///< a loaded machine's; usually within 50 ms
const QStringList kBothNodes = {"--node", "node-a:1", "--node", "node-b:1"};

} // namespace

Result<std::unique_ptr<Scene>> Scene::create(const QStringList& environment) {
    std::unique_ptr<Scene> scene(new Scene);
    const QString oracle = "RINGMASTER_ORACLE=" + scene->m_oracle.path();
    auto bed = Testbed::create(
        "torture", {.environment = QStringList{oracle} + environment, .stepMs = 0, .seeded = true});
    if (!bed)
        return tl::unexpected(bed.error());
    scene->m_bed = std::move(*bed);
    scene->m_cli = &scene->m_bed->laptop();
    if (const auto added = scene->m_bed->addNodes(scene->cli()); !added)
        return tl::unexpected(added.error());
    return scene;
}

QString Scene::launch(int64_t steps, const QStringList& options) {
    const QString name = QString("run-%1").arg(++m_runs);
    const QString spec =
        m_bed->writeSpec(name, {.steps = steps, .checkpointEvery = kCheckpointEvery});
    m_app = cli().start(QStringList{"run", spec, "--wait"} + kBothNodes + options);
    const auto isThere = [&] {
        const auto newest = newestRun(cli().database());
        return newest && newest->name == name;
    };
    if (QTest::qWaitFor(isThere, 30000))
        return newestRun(cli().database())->id;
    qWarning("%s", m_app->readAllStandardError().constData());
    return {};
}

RunSummary Scene::summary(const QString& run) const {
    return findRun(cli().database(), run).value_or(RunSummary{});
}

int64_t Scene::stepOfAll(const QString& run) const {
    const auto reader = StoreReader::open(cli().database());
    const auto ranks = reader ? (*reader)->ranks(run) : std::vector<StoredRank>();
    return ranks.empty() ? 0 : std::ranges::min(ranks, {}, &StoredRank::step).step;
}

bool Scene::hasEvent(const QString& run, const std::string& code, int rank) const {
    const auto reader = StoreReader::open(cli().database());
    const auto events = reader ? (*reader)->events(run) : std::vector<StoredEvent>();
    return std::ranges::any_of(events, [&](const StoredEvent& event) {
        return event.event.code == code && event.event.rank == rank;
    });
}

QByteArray Scene::wordsOf(const QString& run, const std::string& code) const {
    const auto reader = StoreReader::open(cli().database());
    const auto events = reader ? (*reader)->events(run) : std::vector<StoredEvent>();
    QByteArray words;
    for (const StoredEvent& event : events)
        if (event.event.code == code)
            words += QByteArray::fromStdString(event.event.message) + '\n';
    return words;
}

int64_t Scene::oracleStep(const QString& run) const {
    return lastOracleStep(m_oracle.path(), run);
}

bool Scene::waitForOracleStep(const QString& run, int64_t step, int limitMs) const {
    return QTest::qWaitFor([&] { return oracleStep(run) >= step; }, limitMs);
}

void Scene::signal(int node, const QString& program, int signal) const {
    for (const pid_t pid : m_bed->processes(node, program))
        ::kill(pid, signal);
}

QString Scene::part(int node, const QString& run) const {
    return m_bed->server(node).home() + "/state/ringmaster/runs/" + run + "/" +
           QString::fromStdString(nodeName(node));
}

QByteArray Scene::say(const char* what, const CliResult& result) const {
    return QByteArray(what) + ": " + result.whole();
}

QByteArray Scene::awaitFinish(const QString& run) {
    if (!m_app->waitForFinished(kEndMs))
        return "the app does not see an end, but: " + m_app->readAllStandardError().right(2000);
    const RunSummary end = summary(run);
    return end.state == RunStateKind::kFinished
               ? QByteArray()
               : QByteArray("it ended as ") + runStateName(end.state) + ": " + end.message.toUtf8();
}

QByteArray Scene::flawOfPart(const QString& run, const QString& checkpoints) {
    const auto recorded = readOracle(m_oracle.path(), run);
    if (const QByteArray flaw = flawIn(recorded); !flaw.isEmpty())
        return flaw;
    if (const QByteArray flaw = flawInStore(cli().database(), run, recorded, kRanks);
        !flaw.isEmpty())
        return flaw;
    if (const std::string flaw = integrityOf(cli().database()); flaw != "ok")
        return QByteArray::fromStdString(flaw);
    return flawInCheckpoints(checkpoints.isEmpty() ? part(0, run) + "/checkpoints" : checkpoints,
                             recorded);
}

QByteArray Scene::flawOf(const QString& run, const QString& checkpoints) {
    if (const QByteArray flaw = flawOfPart(run, checkpoints); !flaw.isEmpty())
        return flaw;
    const auto recorded = readOracle(m_oracle.path(), run);
    if (livingOf(recorded.at(0)).rbegin()->first != kSteps)
        return "the last step was not done";
    return difference(recorded, undisturbed());
}

QByteArray Scene::flawInSpool(const QString& run, int node, int attempt, int64_t wallNs) const {
    const auto reader = StoreReader::open(cli().database());
    if (!reader)
        return QByteArray::fromStdString(reader.error().message);
    std::set<int64_t> stored;
    for (const StoredLine& line : (*reader)->lines(run))
        if (line.attempt == attempt)
            for (const Point& point : (*reader)->points(run, line, {"train/loss", node}))
                stored.insert(point.step);
    for (const OracleStep& step : readOracle(m_oracle.path(), run)[node])
        if (step.attempt == attempt && step.wallNs < wallNs - kMomentNs &&
            !stored.contains(step.step))
            return "step " + QByteArray::number(qlonglong(step.step)) + " was done " +
                   QByteArray::number((wallNs - step.wallNs) / 1'000'000) +
                   " ms before, but is not stored";
    return {};
}

const std::map<int, OracleSteps>& Scene::undisturbed() {
    if (m_undisturbed.empty()) {
        const QString run = launch();
        if (m_app->waitForFinished(kEndMs) && summary(run).state == RunStateKind::kFinished)
            m_undisturbed = readOracle(m_oracle.path(), run);
    }
    return m_undisturbed;
}

} // namespace rm::torture

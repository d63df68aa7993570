// SPDX-License-Identifier: GPL-3.0-or-later
#include "shared/io/file.h"
#include "tests/integration/testbed.h"
#include "tests/support/requirement.h"

#include <QJsonArray>
#include <QJsonObject>
#include <QSet>
#include <QTest>

using namespace rm;

/// 64 machines, from their names in ssh_config to checked nodes whose network is known.
class ManyNodesTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void cleanup();
    void allAreImportedByTheirNames();
    void allAreCheckedAtOnce();
    void theirNetworkIsFound();
    void theTwoThatCannotBeUsedAreNamed(); // last, as they stay so

private:
    static constexpr int kCount = NetworkLab::kMaxNodes;

    const Cli& cli() const { return m_bed->laptop(); }
    QJsonArray check() const;
    /// What the check of that node says first; empty: it is ready.
    static QString problemOf(const QJsonValue& check);

    std::unique_ptr<Testbed> m_bed;
};

namespace {
constexpr int kLimitMs = 180'000;
} // namespace

void ManyNodesTest::initTestCase() {
    const auto can = Testbed::canRun();
    RM_NEEDS("netns", can, QString::fromStdString(can.error().message));
    auto bed = Testbed::create("many", {.nodes = kCount});
    QVERIFY2(bed, bed ? "" : bed.error().message.c_str());
    m_bed = std::move(*bed);
    QString config, known;
    for (int node = 0; node < kCount; ++node) {
        config += QString("Host %1\n  HostName %2\n  Port %3\n  User root\n  IdentityFile %4\n")
                      .arg(Testbed::nodeName(node), NetworkLab::managementAddress(node))
                      .arg(m_bed->server(node).port())
                      .arg(m_bed->path("id_ed25519"));
        known += m_bed->server(node).knownHostsLine() + '\n';
    }
    const QString folder = cli().home() + "/.ssh/";
    QVERIFY(writeFileAtomically((folder + "config").toStdString(), config.toStdString()));
    QVERIFY(writeFileAtomically(cli().knownHosts().toStdString(), known.toStdString()));
}

void ManyNodesTest::cleanup() {
    if (m_bed)
        QTRY_COMPARE_WITH_TIMEOUT(m_bed->strayProcesses(), QString(), 20'000);
}

void ManyNodesTest::allAreImportedByTheirNames() {
    const CliResult listed = cli().run({"nodes", "import", "--json"});
    QVERIFY2(listed.json().array().size() == kCount, listed.whole());
    const CliResult done = cli().run({"nodes", "import", "--all", "--group", "lab", "--json"});
    QVERIFY2(done.exitCode == 0 && done.json().array().size() == kCount, done.whole());
}

QJsonArray ManyNodesTest::check() const {
    const CliResult result = cli().run({"nodes", "check", "@lab", "--json"}, kLimitMs);
    if (!result.json().isArray())
        qWarning("%s", result.whole().constData());
    return result.json().array();
}

QString ManyNodesTest::problemOf(const QJsonValue& check) {
    if (check["ready"].toBool())
        return {};
    for (const QJsonValue& row : check["rows"].toArray())
        if (row["state"].toString() == "bad")
            return row["title"].toString();
    return "not ready, and no row says why";
}

void ManyNodesTest::allAreCheckedAtOnce() {
    const QJsonArray checks = check();
    QCOMPARE(checks.size(), kCount);
    QSet<QString> names;
    for (const QJsonValue& of : checks) {
        QVERIFY2(problemOf(of).isEmpty(), QJsonDocument(of.toObject()).toJson());
        names << of["name"].toString();
    }
    QCOMPARE(names.size(), kCount);
}

void ManyNodesTest::theirNetworkIsFound() {
    const CliResult result = cli().run({"nodes", "network", "@lab", "--json"}, kLimitMs);
    QVERIFY2(result.exitCode == 0, result.whole());
    const QJsonObject found = result.json().object();
    QCOMPARE(found["blocked"].toInt(-1), 0);
    const QJsonObject chosen = found["chosen"].toObject();
    QCOMPARE(chosen.size(), kCount);
    for (const QJsonValue& of : chosen)
        QCOMPARE(of["interface"].toString(), QString("data0"));
}

void ManyNodesTest::theTwoThatCannotBeUsedAreNamed() {
    m_bed->server(5).stop();
    QVERIFY(m_bed->server(17).changeHostKey());
    QMap<QString, QString> problems;
    for (const QJsonValue& of : check())
        if (const QString problem = problemOf(of); !problem.isEmpty())
            problems.insert(of["name"].toString(), problem);
    const QMap<QString, QString> expected{{Testbed::nodeName(5), "Connection refused"},
                                          {Testbed::nodeName(17), "Host key"}};
    QCOMPARE(problems, expected);
}

QTEST_GUILESS_MAIN(ManyNodesTest)
#include "tst_many_nodes.moc"

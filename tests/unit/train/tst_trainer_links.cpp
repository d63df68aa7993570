// SPDX-License-Identifier: Apache-2.0
#include "shared/journal/event_codes.h"
#include "tests/support/netns.h"
#include "tests/support/requirement.h"
#include "tests/unit/train/trainer_run.h"

#include <QFile>
#include <QObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

using namespace rm;
using namespace rm::test;

namespace {

constexpr int kNodes = 3;
constexpr int kDeadlineMs = 240000;

/// A model whose gradients take a while on a slow link, 6 MB.
RunSpec linkSpec() {
    RunSpec spec = tinySpec();
    spec.model.width = 128;
    spec.model.layers = 3;
    spec.model.context = 16;
    spec.train.steps = 60;
    spec.train.batchSize = 1;
    return spec;
}

/// A program that starts a rank on a node of its own, whose number is the rank's.
QString programOn(const NetworkLab& lab, const QString& folder) {
    const QString path = folder + "/rank-on-its-node";
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly))
        return {};
    QByteArray text = "#!/bin/sh\n"
                      "export LOCAL_RANK=0 LOCAL_WORLD_SIZE=1 GROUP_RANK=$RANK MASTER_ADDR=" +
                      NetworkLab::dataAddress(0).toUtf8() + "\ncase $RANK in\n";
    const QString trainer = qEnvironmentVariable("RINGMASTER_BIN") + "/ringmaster-trainer";
    for (int node = 0; node < kNodes; ++node)
        text += QByteArray::number(node) +
                ") export RINGMASTER_ADDRESS=" + NetworkLab::dataAddress(node).toUtf8() +
                "\nexec " + NetworkLab::commandIn(lab.node(node), {trainer}).join(' ').toUtf8() +
                " \"$@\";;\n";
    file.write(text + "esac\n");
    file.setPermissions(file.permissions() | QFile::ExeOwner);
    return path;
}

/// What the node sends to the others goes at this rate.
bool limitSending(const NetworkLab& lab, int node, const QString& rate) {
    return QProcess::execute("tc",
                             {"-n", lab.node(node), "qdisc", "replace", "dev", "data0", "root",
                              "tbf", "rate", rate, "burst", "64kb", "latency", "200ms"}) == 0;
}

/// The events of slow links. Ranks that other programs keep from the processors have events of
/// computing, which are true as well.
std::vector<Event> slowLinks(const TrainerRun& run) {
    std::vector<Event> events = run.recordsOf<Event>(0);
    std::erase_if(events, [](const Event& event) {
        return event.code != kRankSlowEvent ||
               !event.message.starts_with("sending from its node to others takes ");
    });
    return events;
}

} // namespace

/// Real ranks on nodes of their own, one of which has a slow link.
class TestTrainerLinks : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void aNodeWhoseLinkIsSlowIsNamed_data() {
        QTest::addColumn<QString>("rate");
        QTest::newRow("slow") << "100mbit";
        QTest::newRow("as the others'") << "";
    }
    void aNodeWhoseLinkIsSlowIsNamed() {
        QFETCH(const QString, rate);
        const auto can = canMakeNamespaces();
        RM_NEEDS("netns", can.has_value(),
                 can ? QString() : QString::fromStdString(can.error().message));
        const auto lab = NetworkLab::create("links", kNodes);
        QVERIFY2(lab, lab ? "" : lab.error().message.c_str());
        if (!rate.isEmpty())
            QVERIFY(limitSending(*lab, 1, rate));
        QTemporaryDir folder;
        TrainerRun run;
        run.useProgram(programOn(*lab, folder.path()));
        run.start(linkSpec(), kNodes);
        const auto codes = run.finish(kDeadlineMs);
        QVERIFY2(codes == std::vector<int>(kNodes, 0), qPrintable(run.output(0)));
        const std::vector<Event> events = slowLinks(run);
        if (rate.isEmpty()) {
            QVERIFY2(events.empty(), events.empty() ? "" : events.front().message.c_str());
            return;
        }
        QVERIFY2(!events.empty(), qPrintable(run.output(0)));
        QCOMPARE(events.front().rank, 1);
    }
};

QTEST_GUILESS_MAIN(TestTrainerLinks)
#include "tst_trainer_links.moc"

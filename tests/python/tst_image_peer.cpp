// SPDX-License-Identifier: Apache-2.0
#include "tests/python/peer_process.h"
#include "tests/support/requirement.h"
#include "tests/unit/train/trainer_run.h"

#include <QDir>
#include <QJsonArray>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>

using namespace rm;
using namespace rm::test;

namespace {

constexpr double kTolerance = 1e-5;
constexpr const char* kModels[] = {"resnet18", "resnet50"};
constexpr int kWorlds[] = {1, 2};

RunSpec imageSpec(const std::string& folder) {
    RunSpec spec = tinyImageSpec(folder + "/train");
    spec.data.validation = {folder + "/val"};
    spec.train.steps = 4;
    spec.train.batchSize = 8;
    spec.validation.every = 2;
    return spec;
}

} // namespace

/// Pictures and ResNets beside the wheels' own torchvision and Pillow.
class TestImagePeer : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() {
        RM_NEEDS("python", !peerPython().isEmpty(),
                 "no Python with packaging/requirements/python-peer.txt at RINGMASTER_PYTHON");
        QVERIFY(QDir(at("")).mkdir("views"));
        QJsonObject made{{"views", QJsonArray{"make_views", at("views")}},
                         {"run", QJsonArray{"make_run", at("run")}}};
        for (const char* type : kModels)
            made[type] = QJsonArray{"make_resnet", type, at(type)};
        runJobs("image_peers.py", made);
        dumpModels();
        runPeer(builtProgram("picture_dump"), {at("views/list"), at("views-dump")});
        m_jobs["views"] = QJsonArray{"compare_views", at("views"), at("views-dump")};
        for (const int ranks : kWorlds)
            train(ranks);
        m_reports = runJobs("image_peers.py", m_jobs);
        QCOMPARE(m_reports.size(), 5);
    }

    void numbersEqualTorchvision_data() {
        QTest::addColumn<QString>("type");
        for (const char* type : kModels)
            QTest::newRow(type) << QString(type);
    }

    /// Its weights loaded here, our weights after some steps loaded there.
    void numbersEqualTorchvision() {
        QFETCH(QString, type);
        const QJsonObject report = m_reports[type].toObject();
        for (const char* one :
             {"evalLogits", "evalLoss", "trainLogits", "losses", "loaded", "flops"})
            QVERIFY2(report[QLatin1String(one)].toDouble(1) < kTolerance, one);
        for (const char* many : {"gradients", "statistics", "parameters"}) {
            const QJsonObject worst = report[QLatin1String(many)].toObject();
            QVERIFY2(worst["difference"].toDouble(1) < kTolerance,
                     qPrintable(worst["tensor"].toString()));
        }
        QCOMPARE(report["batches"].toInt(), 5);
    }

    void viewsEqualTorchvisionAndPillow() {
        const QJsonObject report = m_reports["views"].toObject();
        const auto figure = [&](const char* kind, const char* name) {
            return report[QLatin1String(kind)].toObject()[QLatin1String(name)].toDouble(1e9);
        };
        for (const char* kind : {"shrunk", "enlarged", "centre"}) {
            QVERIFY(figure(kind, "lines") >= 100);
            QCOMPARE(figure(kind, "tensor"), 0.0);
        }
        QVERIFY(figure("shrunk", "pillow") <= 1 && figure("centre", "pillow") <= 1);
        QVERIFY(figure("enlarged", "pillow") <= 2 && figure("enlarged", "share") < 1e-4);
        QVERIFY(figure("reduced", "pillow") <= 3 && figure("reduced", "share") < 1e-3);
    }

    void torchvisionJudgesACheckpointAsTheTrainerDid_data() {
        QTest::addColumn<int>("ranks");
        for (const int ranks : kWorlds)
            QTest::addRow("%d ranks", ranks) << ranks;
    }

    void torchvisionJudgesACheckpointAsTheTrainerDid() {
        QFETCH(int, ranks);
        const QJsonObject report = m_reports[QString::number(ranks)].toObject();
        QVERIFY(report["sameClasses"].toBool());
        const auto last = [&](MetricId id) {
            return m_runs.at(ranks).series(0, id).rbegin()->second;
        };
        const double loss = last(metric::kValidationLoss);
        QVERIFY2(std::abs(report["loss"].toDouble() - loss) < kTolerance * loss,
                 qPrintable(QString("%1 here").arg(loss, 0, 'g', 9)));
        QCOMPARE(report["top1"].toDouble(), double(last(metric::kValidationTop1)));
        QCOMPARE(report["top5"].toDouble(), double(last(metric::kValidationTop5)));
    }

private:
    QString at(const QString& name) const { return m_folder.filePath(name); }

    void dumpModels() {
        for (const char* type : kModels) {
            const QString dump = at(type) + "-dump";
            runPeer(builtProgram("resnet_dump"), {type, at(type), dump});
            m_jobs[type] = QJsonArray{"compare_resnet", type, at(type), dump};
        }
    }

    void train(int ranks) {
        const RunSpec spec = imageSpec(at("run").toStdString());
        TrainerRun& run = m_runs[ranks];
        QCOMPARE(run.run(spec, ranks), std::vector<int>(static_cast<size_t>(ranks), 0));
        const QString checkpoint = QString::fromStdString(run.checkpoint(spec.train.steps));
        m_jobs[QString::number(ranks)] = QJsonArray{"judge_run", at("run"), checkpoint};
    }

    const QTemporaryDir m_folder;
    std::map<int, TrainerRun> m_runs; ///< by ranks
    QJsonObject m_jobs;
    QJsonObject m_reports; ///< by the same names
};

QTEST_GUILESS_MAIN(TestImagePeer)
#include "tst_image_peer.moc"

// SPDX-License-Identifier: Apache-2.0
#include "tests/python/peer_process.h"
#include "tests/support/requirement.h"
#include "tests/unit/train/trainer_run.h"

#include <QTemporaryDir>
#include <QTest>

#include <cmath>

using namespace rm;
using namespace rm::test;

namespace {

constexpr double kTolerance = 1e-5;

} // namespace

/// Pictures and ResNets beside the wheels' own torchvision and Pillow.
class TestImagePeer : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() {
        RM_NEEDS("python", !peerPython().isEmpty(),
                 "no Python with packaging/requirements/python-peer.txt at RINGMASTER_PYTHON");
        QVERIFY(m_folder.isValid());
    }

    void numbersEqualTorchvision_data() {
        QTest::addColumn<QString>("type");
        QTest::newRow("resnet18") << "resnet18";
        QTest::newRow("resnet50") << "resnet50";
    }

    /// Its weights loaded here, our weights after some steps loaded there.
    void numbersEqualTorchvision() {
        QFETCH(QString, type);
        const QString input = m_folder.filePath(type + ".safetensors");
        const QString dump = m_folder.filePath(type + "-dump.safetensors");
        runPeer(peerPython(), {script("resnet_reference.py"), "make", type, input});
        runPeer(builtProgram("resnet_dump"), {type, input, dump});
        const QJsonObject report = runScript("resnet_reference.py", {"compare", type, input, dump});
        for (const char* one : {"evalLogits", "evalLoss", "trainLogits", "losses", "loaded"})
            QVERIFY2(report[QLatin1String(one)].toDouble(1) < kTolerance, one);
        for (const char* many : {"gradients", "statistics", "parameters"}) {
            const QJsonObject worst = report[QLatin1String(many)].toObject();
            QVERIFY2(worst["difference"].toDouble(1) < kTolerance,
                     qPrintable(worst["tensor"].toString()));
        }
        QCOMPARE(report["batches"].toInt(), 5);
    }

    void viewsEqualTorchvisionAndPillow() {
        const QString folder = m_folder.filePath("views");
        QVERIFY(QDir().mkdir(folder));
        const QString dump = m_folder.filePath("views.safetensors");
        runPeer(peerPython(), {script("picture_reference.py"), "make", folder});
        runPeer(builtProgram("picture_dump"), {folder + "/list", dump});
        const QJsonObject report = runScript("picture_reference.py", {"compare", folder, dump});
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
        QTest::newRow("alone") << 1;
        QTest::newRow("two ranks") << 2;
    }

    void torchvisionJudgesACheckpointAsTheTrainerDid() {
        QFETCH(int, ranks);
        const QString folder = m_folder.filePath("run-%1").arg(ranks);
        runPeer(peerPython(), {script("image_run.py"), "make", folder});
        TrainerRun run;
        const RunSpec spec = imageSpec(folder.toStdString());
        QCOMPARE(run.run(spec, ranks), std::vector<int>(static_cast<size_t>(ranks), 0));
        const QJsonObject report =
            runScript("image_run.py",
                      {"judge", folder, QString::fromStdString(run.checkpoint(spec.train.steps))});
        QVERIFY(report["sameClasses"].toBool());
        const auto last = [&](MetricId id) { return run.series(0, id).rbegin()->second; };
        const double loss = last(metric::kValidationLoss);
        QVERIFY2(std::abs(report["loss"].toDouble() - loss) < kTolerance * loss,
                 qPrintable(QString("%1 here").arg(loss, 0, 'g', 9)));
        QCOMPARE(report["top1"].toDouble(), double(last(metric::kValidationTop1)));
        QCOMPARE(report["top5"].toDouble(), double(last(metric::kValidationTop5)));
    }

private:
    static QString script(const char* name) {
        return QString::fromLocal8Bit(qgetenv("RINGMASTER_SOURCE")) + "/tests/python/" + name;
    }

    static RunSpec imageSpec(const std::string& folder) {
        RunSpec spec;
        spec.model.type = "resnet18";
        spec.model.imageSize = 32;
        spec.data.train = {folder + "/train"};
        spec.data.validation = {folder + "/val"};
        spec.train.steps = 4;
        spec.train.batchSize = 8;
        spec.train.threads = 1;
        spec.optimizer.lr = 1e-3;
        spec.validation.every = 2;
        spec.checkpoint.every = 0;
        spec.launch.device = "cpu";
        return spec;
    }

    const QTemporaryDir m_folder;
};

QTEST_GUILESS_MAIN(TestImagePeer)
#include "tst_image_peer.moc"

// SPDX-License-Identifier: Apache-2.0
#include "shared/spec/run_spec.h"
#include "tests/python/peer_process.h"
#include "tests/support/requirement.h"

#include <QFile>
#include <QJsonArray>
#include <QTemporaryDir>
#include <QTest>

using namespace rm;
using namespace rm::test;

namespace {

constexpr double kTolerance = 1e-5;
constexpr int kSteps = 20;

/// Folders that llama_reference.py makes.
constexpr const char* kForms[] = {"grouped", "tied",    "wide-heads", "linear",
                                  "llama3",  "sharded", "bfloat16"};

RunSpec spec() {
    RunSpec spec;
    spec.model.context = 32;
    spec.train.steps = kSteps;
    spec.train.batchSize = 4;
    spec.optimizer.lr = 0.001;
    // Or Adam would make whole steps of gradients that are little more than rounding noise.
    spec.optimizer.eps = 1e-6;
    spec.schedule.type = "constant";
    return spec;
}

} // namespace

/// The trainer's Llama beside LlamaForCausalLM of transformers.
class TestLlamaPeer : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() {
        RM_NEEDS("python", !peerPython().isEmpty(),
                 "no Python with packaging/requirements/python-peer.txt at RINGMASTER_PYTHON");
        const QJsonObject made =
            runJobs("llama_reference.py", {{"made", QJsonArray{"make", m_folder.path()}}});
        QCOMPARE(made["made"].toArray().size(), qsizetype(std::size(kForms)));
        QFile file(at("spec.toml"));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(QByteArray::fromStdString(toToml(spec())));
        file.close();
        QJsonObject jobs;
        for (const QString form : kForms) {
            const QString dump = at(form + ".safetensors"), saved = at(form + "-saved");
            runPeer(builtProgram("llama_dump"), {at("spec.toml"), at(form), dump, saved});
            jobs[form] = QJsonArray{"compare", at("spec.toml"), at(form), dump, saved};
        }
        m_reports = runJobs("llama_reference.py", jobs);
        QCOMPARE(m_reports.size(), jobs.size());
    }

    void numbersEqualTransformers_data() {
        QTest::addColumn<QString>("form");
        for (const char* form : kForms)
            QTest::newRow(form) << QString(form);
    }

    void numbersEqualTransformers() {
        QFETCH(QString, form);
        const QJsonObject report = m_reports[form].toObject();
        QCOMPARE(report["steps"].toInt(), kSteps);
        QCOMPARE(report["tensors"].toInt(), report["expectedTensors"].toInt(-1));
        for (const char* scalar : {"logits", "loss", "losses", "saved", "flops"})
            QVERIFY2(report[QLatin1String(scalar)].toDouble(1) < kTolerance, scalar);
        for (const char* tensors : {"gradients", "parameters"})
            checkWorst(report[QLatin1String(tensors)].toObject());
        QVERIFY(report["lastLoss"].toDouble() < report["firstLoss"].toDouble());
    }

    void greedyGenerationEqualsTransformers_data() { numbersEqualTransformers_data(); }

    void greedyGenerationEqualsTransformers() {
        QFETCH(QString, form);
        const QJsonObject report = m_reports[form].toObject();
        QVERIFY(report["greedyEqual"].toBool());
    }

private:
    QString at(const QString& name) const { return m_folder.filePath(name); }

    static void checkWorst(const QJsonObject& worst) {
        const double difference = worst["difference"].toDouble(1);
        QVERIFY2(difference < kTolerance,
                 qPrintable(worst["tensor"].toString() + QString(": %1").arg(difference)));
    }

    const QTemporaryDir m_folder;
    QJsonObject m_reports;
};

QTEST_GUILESS_MAIN(TestLlamaPeer)
#include "tst_llama_peer.moc"

// SPDX-License-Identifier: Apache-2.0
#include "tests/python/peer_process.h"
#include "tests/support/requirement.h"
#include "tests/unit/train/trainer_run.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QTemporaryDir>
#include <QTest>

using namespace rm;
using namespace rm::test;

/// Byte-level BPE beside the library `tokenizers`, on tokenizers that it learnt.
class TestTokenizers : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() {
        RM_NEEDS("python", !peerPython().isEmpty(),
                 "no Python with packaging/requirements/python-peer.txt at RINGMASTER_PYTHON");
        const QJsonObject jobs{{"ids", QJsonArray{"make", m_folder.path()}}};
        runJobs("tokenizers_reference.py", jobs);
        QFile ids(at("ids.json"));
        QVERIFY(ids.open(QIODevice::ReadOnly));
        m_expected = QJsonDocument::fromJson(ids.readAll()).object();
        QCOMPARE(m_expected.size(), 6);
    }

    void idsAreTheirs_data() {
        QTest::addColumn<bool>("comesBack");
        for (const char* kind : {"gpt2", "llama3", "smollm", "removing"})
            QTest::newRow(kind) << true;
        QTest::newRow("qwen2") << false; // the composed form does
        QTest::newRow("spaced") << false;
    }
    void idsAreTheirs() {
        QFETCH(bool, comesBack);
        const QString kind = QTest::currentDataTag();
        const QJsonObject expected = m_expected[kind].toObject();
        QVERIFY(expected.size() >= 12);
        QStringList arguments{at(kind + "/tokenizer.json")};
        for (const QString& text : expected.keys())
            arguments << at("texts/" + text);
        const QJsonArray ours =
            QJsonDocument::fromJson(runPeer(builtProgram("tokenizer_dump"), arguments)).array();
        QCOMPARE(ours.size(), expected.size());
        for (int i = 0; i < ours.size(); ++i) {
            const QString text = expected.keys().at(i);
            const QJsonArray theirs = expected[text].toArray();
            QVERIFY2(ours[i].toObject()["ids"].toArray() == theirs, qPrintable(text));
            QVERIFY2(!comesBack || ours[i].toObject()["again"].toBool(), qPrintable(text));
        }
    }

    void transformersLoadsThatOfAnExportedFolder() {
        RunSpec spec = tinySpec();
        spec.train.steps = 2;
        spec.schedule.warmupSteps = 0;
        spec.data.tokenizer = "tokenizer.json";
        spec.data.tokenizerFile = at("gpt2").toStdString();
        TrainerRun run;
        QCOMPARE(run.run(spec, 1), std::vector<int>{0});
        const Ended exported =
            runSubcommand({"export", QString::fromStdString(run.checkpoint(2)), at("exported")});
        QVERIFY2(exported.exitCode == 0, qPrintable(exported.err));
        const QJsonObject jobs{{"auto", QJsonArray{"load", at("exported"), at("texts/noise")}}};
        const QJsonObject loaded = runJobs("tokenizers_reference.py", jobs)["auto"].toObject();
        QVERIFY(loaded["ids"].toArray() == m_expected["gpt2"].toObject()["noise"].toArray());
        QVERIFY(loaded["again"].toBool());
    }

private:
    QString at(const QString& name) const { return m_folder.filePath(name); }

    QTemporaryDir m_folder;
    QJsonObject m_expected;
};

QTEST_GUILESS_MAIN(TestTokenizers)
#include "tst_tokenizers.moc"

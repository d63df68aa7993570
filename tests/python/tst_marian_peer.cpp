// SPDX-License-Identifier: Apache-2.0
#include "tests/python/peer_process.h"
#include "tests/support/requirement.h"
#include "tests/unit/train/trainer_run.h"
#include "tests/unit/train/translation_run.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QRandomGenerator>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>

using namespace rm;
using namespace rm::test;

namespace {

constexpr double kTolerance = 1e-5; // of float32, relative
constexpr double kScoreTolerance = 1e-9;

/// What tokenizers stumble over, and sentences like those learnt; all of other lengths.
constexpr const char* kTexts =
    "open the window number 7\tapri la finestra numero 7\n"
    "file\til file\n"
    "cannot read the key: line 3, please try again\tlettura impossibile: la chiave, riga 3\n"
    "the network is not there\tla rete non c'è\n"
    "never seen: E\xcc\x81t\xc3\xa9, \xef\xac\x81ne \xc2\xbd\tmai visto: è così, ☺\n"
    "two  spaces and ... dots\tdue  spazi e ... punti\n"
    "«quoted» “text” — 100 %\t«citato» “testo” — 100 %\n"
    "привет\t你好\n";

/// Sentences to be scored against worse ones.
constexpr const char* kReferences[] = {
    "La finestra non c'è più.",
    "Lettura impossibile: \"/etc/passwd\", riga 3 di 1.200,50!",
    "Perché il gatto è qui, e non là?",
    "3 - 4 = -1; 5-6 <tag> &amp; l'utente (d'oro) costa $5.00/kg...",
    "Impossibile aprire il file «%s»: permesso negato",
    "È ☺ e 你好 世界",
    "Sì",
};

/// A word is lost, doubled, moved or broken; or nothing changes.
QString worsened(const QString& sentence, QRandomGenerator& random) {
    QStringList words = sentence.split(' ');
    const auto at = static_cast<qsizetype>(random.bounded(words.size()));
    switch (random.bounded(6)) {
    case 0:
        words.removeAt(at);
        break;
    case 1:
        words.insert(at, words.at(at));
        break;
    case 2:
        words.move(at, static_cast<qsizetype>(random.bounded(words.size())));
        break;
    case 3:
        words[at] = words.at(at).toUpper() + ",";
        break;
    case 4:
        words[at].chop(1);
        break;
    default:
        break;
    }
    return words.join(' ');
}

QByteArray scoredLines() {
    QRandomGenerator random(5);
    QByteArray lines;
    for (int i = 0; i < 210; ++i) {
        const QString reference = QString::fromUtf8(kReferences[i % std::size(kReferences)]);
        QString translation = reference;
        for (int times = 0; times < i / 30; ++times)
            translation = worsened(translation, random);
        lines += (translation + "\t" + reference + "\n").toUtf8();
    }
    return lines;
}

} // namespace

/// Translations beside transformers, sacreBLEU and rapidfuzz.
class TestMarianPeer : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() {
        RM_NEEDS("python", !peerPython().isEmpty(),
                 "no Python with packaging/requirements/python-peer.txt at RINGMASTER_PYTHON");
        QVERIFY(m_folder.isValid());
        train("separate", false);
        train("shared", true);
        m_reports = runJobs("marian_reference.py", m_jobs);
        QCOMPARE(m_reports.size(), 2);
    }

    void numbersEqualTransformers_data() { eachModel(); }
    void numbersEqualTransformers() {
        const QJsonObject report = reportOfRow();
        for (const char* one : {"logits", "loss", "smoothed", "flops"})
            QVERIFY2(report[QLatin1String(one)].toDouble(1) < kTolerance, one);
        const QJsonObject worst = report["gradients"].toObject();
        QVERIFY2(worst["difference"].toDouble(1) < kTolerance,
                 qPrintable(worst["tensor"].toString()));
        const bool shared = QLatin1String(QTest::currentDataTag()) == QLatin1String("shared");
        QCOMPARE(worst["count"].toInt(), (shared ? 1 : 2) + 2 * 16 + 2 * 26);
    }

    void tokensAreThoseOfTransformers_data() { eachModel(); }
    void tokensAreThoseOfTransformers() {
        const QJsonObject report = reportOfRow();
        QVERIFY(report["sourceIds"].toBool());
        QVERIFY(report["targetIds"].toBool());
    }

    void searchFindsWhatTransformersFinds_data() { eachModel(); }
    void searchFindsWhatTransformersFinds() {
        const QJsonObject report = reportOfRow();
        QVERIFY(report["greedy"].toBool());
        QVERIFY(report["beams"].toBool());
        QVERIFY(report["texts"].toBool());
        QVERIFY2(report["distinctTexts"].toInt() > 2, qPrintable(QJsonDocument(report).toJson()));
    }

    void bleuAndChrfEqualSacreBleuAndEditsRapidfuzz() {
        const QString lines = write("scored.tsv", scoredLines());
        const QByteArray printed = runPeer(builtProgram("text_metrics_dump"), {lines});
        const QJsonObject ours = QJsonDocument::fromJson(printed).object();
        const QJsonObject theirs =
            QJsonDocument::fromJson(
                runPeer(peerPython(), {peerScript("text_metrics_reference.py"), lines}))
                .object();
        const QJsonArray mine = ours["sentences"].toArray() + ours["corpus"];
        const QJsonArray expected = theirs["sentences"].toArray() + theirs["corpus"];
        QCOMPARE(mine.size(), 211);
        QCOMPARE(expected.size(), mine.size());
        for (qsizetype line = 0; line < mine.size(); ++line)
            for (const int metric : {0, 1, 2, 3}) {
                const double score = mine[line].toArray()[metric].toDouble(-1);
                const double wanted = expected[line].toArray()[metric].toDouble(-2);
                QVERIFY2(
                    std::abs(score - wanted) < kScoreTolerance,
                    qPrintable(QString("line %1: %2 not %3").arg(line).arg(score).arg(wanted)));
            }
    }

private:
    static void eachModel() {
        QTest::addColumn<QString>("name");
        for (const char* name : {"separate", "shared"})
            QTest::newRow(name) << QString(name);
    }

    QJsonObject reportOfRow() const {
        QFETCH(QString, name);
        return m_reports[name].toObject();
    }

    QString write(const QString& name, const QByteArray& content) const {
        QFile file(m_folder.filePath(name));
        if (!file.open(QIODevice::WriteOnly) || file.write(content) != content.size())
            QTest::qFail(qPrintable("write " + name), __FILE__, __LINE__);
        return file.fileName();
    }

    /// Some steps; what marian_dump makes of their checkpoint is to be compared.
    void train(const QString& name, bool shared) {
        RunSpec spec = translationSpec(m_folder.filePath("pairs.tsv"));
        spec.model.shareEmbeddings = shared;
        spec.model.dropout = 0.1;
        spec.train.steps = 80;
        TrainerRun& run = m_runs[name];
        QCOMPARE(run.run(spec, 1), std::vector<int>{0});
        const QString checkpoint = QString::fromStdString(run.checkpoint(spec.train.steps));
        const QString texts = write("texts.tsv", kTexts);
        const QString dump = m_folder.filePath(name + ".safetensors");
        runPeer(builtProgram("marian_dump"), {checkpoint, texts, dump});
        m_jobs[name] = QJsonArray{"compare", texts, checkpoint, dump};
    }

    const QTemporaryDir m_folder;
    std::map<QString, TrainerRun> m_runs;
    QJsonObject m_jobs;
    QJsonObject m_reports; ///< by the same names
};

QTEST_GUILESS_MAIN(TestMarianPeer)
#include "tst_marian_peer.moc"

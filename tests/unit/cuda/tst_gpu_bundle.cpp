// SPDX-License-Identifier: Apache-2.0
#include "tests/python/peer_process.h"
#include "tests/support/elf.h"
#include "tests/support/requirement.h"

#include <QDir>
#include <QDirIterator>
#include <QFileInfo>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QRegularExpression>
#include <QTemporaryDir>

using namespace rm::test;

namespace {

constexpr qint64 kMostBytes = qint64{64} << 20;
constexpr int kRehearsalMs = 240000;
constexpr int kNoGpu = 2;

QString fromEnvironment(const char* name) {
    return QString::fromLocal8Bit(qgetenv(name));
}

QString torch() {
    return fromEnvironment("RINGMASTER_TORCH");
}

QStringList filesBelow(const QString& folder) {
    QStringList files;
    for (QDirIterator it(folder, QDir::Files, QDirIterator::Subdirectories); it.hasNext();)
        files += QDir(folder).relativeFilePath(it.next());
    return files;
}

bool isOfTorch(const QString& library) {
    const QDir nvidia(torch() + "/../nvidia");
    QStringList folders = {torch() + "/lib"};
    for (const QString& wheel : nvidia.entryList(QDir::Dirs | QDir::NoDotAndDotDot))
        folders += nvidia.filePath(wheel + "/lib");
    return std::any_of(folders.cbegin(), folders.cend(), [&](const QString& folder) {
        return QFile::exists(folder + "/" + library);
    });
}

bool hasKernels(const QString& plugin) {
    return linesOf("readelf", {"--sections", "--wide", plugin}).join("").contains(".nv_fatbin");
}

} // namespace

/// The folder that packaging/bundle makes, from what is built here.
class TestGpuBundle : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() {
        const QString build = fromEnvironment("RINGMASTER_BUILD");
        RM_NEEDS("nvcc", hasKernels(build + "/lib/libringmaster-cuda.so"),
                 "the plugin was built without nvcc of CUDA 13");
        QProcess packing;
        packing.setProcessChannelMode(QProcess::MergedChannels);
        packing.start(fromEnvironment("RINGMASTER_CMAKE"),
                      {"-DBUILD=" + build, "-DTORCH=" + torch(), "-DOUT=" + bundle(), "-P",
                       fromEnvironment("RINGMASTER_SOURCE") + "/packaging/cmake/gpu_bundle.cmake"});
        QVERIFY(packing.waitForFinished(60000));
        const QByteArray said = packing.readAll();
        QVERIFY2(packing.exitCode() == 0, said.constData());
        QVERIFY2(said.contains("MiB of 64"), said.constData());
        m_files = filesBelow(bundle());
    }

    void everythingThatRunNeedsIsInIt_data() {
        QTest::addColumn<QString>("file");
        for (const char* file :
             {"bin/ringmaster-trainer", "bin/ringmaster-agent", "bin/ringmaster-gpu-tests",
              "bin/ringmaster-gpu-bench", "lib/libringmaster-cuda.so", "gpu/run",
              "gpu/measure/duel.py", "gpu/measure/files.py", "gpu/peers/gpt.py",
              "gpu/peers/resnet.py", "gpu/peers/resnet_files.py", "gpu/peers/translation.py",
              "gpu/peers/checkpoint.py", "commit"})
            QTest::newRow(file) << QString(file);
    }
    void everythingThatRunNeedsIsInIt() {
        QFETCH(QString, file);
        QVERIFY(m_files.contains(file));
        if (file.startsWith("bin/") || file == "gpu/run")
            QVERIFY(QFileInfo(bundle() + "/" + file).isExecutable());
    }

    void itFitsIntoItsLimit() {
        qint64 bytes = 0;
        for (const QString& file : m_files)
            bytes += QFileInfo(bundle() + "/" + file).size();
        QVERIFY2(bytes < kMostBytes, qPrintable(QString::number(bytes)));
    }

    void everyLibraryIsInItOrInTorchsWheelsOrOnEveryNode() {
        QStringList missing;
        for (const QString& file : m_files.filter(QRegularExpression("^(bin|lib)/")))
            for (const QString& name : neededBy(bundle() + "/" + file))
                if (!m_files.contains("lib/" + name) && !isOfTorch(name) && !isOfTheNode(name))
                    missing += name + " of " + file;
        QCOMPARE(missing, QStringList());
    }

    void nothingOfTorchIsInIt() {
        for (const QString& file : m_files.filter(QRegularExpression("^lib/")))
            QVERIFY2(!isOfTorch(file.section('/', -1)), qPrintable(file));
    }

    void nothingPointsIntoTheMachineThatBuiltIt() {
        for (const QString& file : m_files.filter(QRegularExpression("^(bin|lib)/"))) {
            const QString dynamic = linesOf("readelf", {"-d", bundle() + "/" + file}).join("\n");
            QVERIFY2(!dynamic.contains("PATH)"), qPrintable(file));
        }
    }

    void somebodyElsesFolderIsLeftAlone() {
        const QString folder = m_folder.filePath("full");
        QVERIFY(QDir().mkdir(folder));
        QFile file(folder + "/thesis.txt");
        QVERIFY(file.open(QIODevice::WriteOnly));
        QVERIFY(QProcess::execute(fromEnvironment("RINGMASTER_CMAKE"),
                                  {"-DBUILD=" + fromEnvironment("RINGMASTER_BUILD"),
                                   "-DTORCH=" + torch(), "-DOUT=" + folder, "-P",
                                   fromEnvironment("RINGMASTER_SOURCE") +
                                       "/packaging/cmake/gpu_bundle.cmake"}) != 0);
        QVERIFY(file.exists());
    }

    void withoutAGpuItSaysSo() {
        RM_NEEDS("python", !peerPython().isEmpty(), "no RINGMASTER_PYTHON");
        RM_NEEDS("no-gpu", !QFile::exists("/dev/nvidiactl"), "a GPU is here");
        const auto [code, output, errors] = run({});
        QCOMPARE(code, kNoGpu);
        QVERIFY2(errors.startsWith("run: no GPU here"), errors.constData());
        QCOMPARE(errors.count('\n'), 1);
        QCOMPARE(output, QByteArray());
    }

    void aMissingProgramIsNamed() {
        RM_NEEDS("python", !peerPython().isEmpty(), "no RINGMASTER_PYTHON");
        const auto [code, output, errors] = run({m_folder.filePath("full"), "--rehearse"});
        QCOMPARE(code, 1);
        QVERIFY2(errors.contains("ringmaster-trainer is missing"), errors.constData());
    }

    /// The whole script on the CPU: the trainer's losses are those of its peers.
    void rehearsalPasses() {
        RM_NEEDS("python", !peerPython().isEmpty(), "no RINGMASTER_PYTHON");
        const auto [code, output, errors] = run({"--rehearse", "--rounds", "1"});
        QMap<QString, QJsonObject> rows;
        QByteArray failed;
        for (const QByteArray& line : output.trimmed().split('\n')) {
            const QJsonObject row = QJsonDocument::fromJson(line).object();
            if (!row["ok"].toBool())
                failed += line + '\n';
            rows[row.contains("row") ? row["row"].toString() : row["part"].toString()] = row;
        }
        QVERIFY2(code == 0, (failed + errors).constData());
        QCOMPARE(rows.keys(), (QStringList{"C2", "T1", "T2", "T2-files", "T3", "tests", "total"}));
        for (const char* name : {"T1", "T2", "T3"})
            QVERIFY2(rows[name]["lossesDiffer"].toDouble(1) < 1e-4, output.constData());
        QVERIFY2(!rows["T2-files"].contains("skipped"), output.constData());
        QVERIFY(rows["total"]["ok"].toBool() && rows["total"]["rehearsal"].toBool());
    }

private:
    struct Ending {
        int code = -1;
        QByteArray output, errors;
    };

    QString bundle() const { return m_folder.filePath("bundle"); }

    /// gpu/run with nothing in its environment but what this machine's Python needs to find torch.
    Ending run(const QStringList& arguments) const {
        QProcessEnvironment environment;
        environment.insert("PATH", "/usr/bin:/bin");
        environment.insert("HOME", m_folder.path());
        environment.insert("RINGMASTER_TORCH", torch());
        environment.insert("LD_LIBRARY_PATH", fromEnvironment("RINGMASTER_STAND_INS"));
        environment.insert("PYTHONPATH",
                           fromEnvironment("RINGMASTER_SOURCE") + "/tests/python/peer");
        QProcess process;
        process.setProcessEnvironment(environment);
        process.start(peerPython(), QStringList(bundle() + "/gpu/run") + arguments);
        if (!process.waitForFinished(kRehearsalMs))
            return {};
        return {process.exitCode(), process.readAllStandardOutput(),
                process.readAllStandardError()};
    }

    const QTemporaryDir m_folder;
    QStringList m_files; ///< of the bundle
};

QTEST_GUILESS_MAIN(TestGpuBundle)
#include "tst_gpu_bundle.moc"

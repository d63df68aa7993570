// SPDX-License-Identifier: Apache-2.0
#include "tests/support/elf.h"
#include "tests/support/requirement.h"

#include <QDir>
#include <QFileInfo>
#include <QMap>
#include <QProcess>
#include <QRegularExpression>
#include <QStandardPaths>
#include <QTemporaryDir>

using namespace rm::test;

namespace {

QString fromEnvironment(const char* name) {
    return QString::fromLocal8Bit(qgetenv(name));
}

/// The wheels of packaging/requirements/runtime-cuda*.txt: those of this build, else of the cache.
QString cudaTorch() {
    const QString cache = qEnvironmentVariable(
        "XDG_CACHE_HOME",
        QStandardPaths::writableLocation(QStandardPaths::HomeLocation) + "/.cache");
    for (const QString& torch :
         {fromEnvironment("RINGMASTER_TORCH"), cache + "/ringmaster/torch-2.11.0-cuda13/torch"})
        if (QFile::exists(torch + "/../nvidia/cudnn/lib/libcudnn.so.9"))
            return QDir(torch).canonicalPath();
    return {};
}

} // namespace

/// The list that trainerBundle() of app/core/deploy sends to a GPU node, made from real wheels.
class TestCudaBundle : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() {
        const QString torch = cudaTorch();
        RM_NEEDS("cuda-wheels", !torch.isEmpty(), "packaging/setup --cuda13 fetches them");
        const QString list = m_folder.filePath("bundle-cuda13.txt");
        const QString build = fromEnvironment("RINGMASTER_BUILD");
        QCOMPARE(QProcess::execute(
                     fromEnvironment("RINGMASTER_CMAKE"),
                     {"-DOUTPUT=" + list, "-DTORCH=" + torch,
                      "-DTRAINER=" + build + "/bin/ringmaster-trainer",
                      "-DPLUGIN=" + build + "/lib/libringmaster-cuda.so", "-P",
                      fromEnvironment("RINGMASTER_SOURCE") + "/packaging/cmake/bundle_list.cmake"}),
                 0);
        QFile file(list);
        QVERIFY(file.open(QIODevice::ReadOnly));
        for (const QString& line :
             QString::fromUtf8(file.readAll()).split('\n', Qt::SkipEmptyParts))
            m_files[line.section('\t', 0, 0)] = line.section('\t', 1);
        QVERIFY(m_files.size() > 20);
    }

    void everyFileIsThere() {
        for (auto it = m_files.cbegin(); it != m_files.cend(); ++it)
            QVERIFY2(QFileInfo(it.value()).isFile(), qPrintable(it.key() + " = " + it.value()));
    }

    void everyLibraryThatOneOfThemNeedsIsAmongThem() {
        QStringList missing;
        for (auto it = m_files.cbegin(); it != m_files.cend(); ++it)
            for (const QString& name : neededBy(it.value()))
                if (!isOfTheNode(name) && !m_files.contains("lib/" + name))
                    missing += name + " of " + it.key();
        QCOMPARE(missing, QStringList());
    }

    void whatIsLoadedByNameIsAmongThem_data() {
        QTest::addColumn<QString>("name");
        const bool isCuda12 = fromEnvironment("RINGMASTER_RUNTIME") == "cuda12";
        for (const char* name :
             {"libringmaster-cuda.so", "libcaffe2_nvrtc.so",
              isCuda12 ? "libnvrtc.so.12" : "libnvrtc.so.13",
              isCuda12 ? "libnvrtc-builtins.so.12.6" : "libnvrtc-builtins.so.13.0",
              "libcudnn_cnn.so.9", "libcudnn_engines_precompiled.so.9",
              "libcudnn_engines_runtime_compiled.so.9", "libcudnn_graph.so.9",
              "libcudnn_heuristic.so.9", "libcudnn_ops.so.9"})
            QTest::newRow(name) << QString(name);
    }
    void whatIsLoadedByNameIsAmongThem() {
        QFETCH(QString, name);
        QVERIFY(m_files.contains("lib/" + name));
    }

    void whatNothingOfOursCallsIsNotAmongThem_data() {
        QTest::addColumn<QString>("library");
        QTest::addColumn<QString>("calls"); // with which it would be looked for
        QTest::newRow("linear algebra")
            << "libtorch_cuda_linalg.so"
            << "at::(_ops::)?_?(linalg_(?!vector_norm)|cholesky|svd|qr|lu_|inverse|ormqr|geqrf|"
               "triangular_solve|pinverse)";
        QTest::newRow("recurrent layers and CTC")
            << "libcudnn_adv.so.9"
            << "at::(_ops::)?_?(cudnn_)?(rnn|lstm|gru(?!p)|ctc_loss)";
    }
    void whatNothingOfOursCallsIsNotAmongThem() {
        QFETCH(QString, library);
        QFETCH(QString, calls);
        QVERIFY(!m_files.contains("lib/" + library));
        for (const char* file : {"bin/ringmaster-trainer", "lib/libringmaster-cuda.so"}) {
            QProcess nm;
            nm.start("nm", {"-DC", "--undefined-only", m_files[file]});
            QVERIFY(nm.waitForFinished(60'000) && nm.exitCode() == 0);
            QStringList called;
            for (const QString& line : QString::fromUtf8(nm.readAllStandardOutput()).split('\n'))
                if (line.contains(QRegularExpression(calls)))
                    called += line.trimmed();
            QCOMPARE(called, QStringList());
        }
    }

    void nothingOfTheNodeOrOfPythonIsAmongThem() {
        for (auto it = m_files.cbegin(); it != m_files.cend(); ++it) {
            const QString name = it.key().section('/', -1);
            QVERIFY2(!isOfTheNode(name), qPrintable(name));
            QVERIFY2(!name.contains("python"), qPrintable(name));
        }
    }

private:
    QTemporaryDir m_folder;
    QMap<QString, QString> m_files; ///< path in the bundle -> file here
};

QTEST_GUILESS_MAIN(TestCudaBundle)
#include "tst_cuda_bundle.moc"

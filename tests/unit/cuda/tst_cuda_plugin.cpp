// SPDX-License-Identifier: Apache-2.0
#include "tests/support/elf.h"
#include "trainer/train/device/plugin.h"

#include <QDir>
#include <QSet>
#include <QTest>

#include <dlfcn.h>

using namespace rm::test;

namespace {

QString fromEnvironment(const char* name) {
    return QString::fromLocal8Bit(qgetenv(name));
}

QString pluginFile() {
    return fromEnvironment("RINGMASTER_BUILD") + "/lib/libringmaster-cuda.so";
}

QString torchLibrary(const char* name) {
    return fromEnvironment("RINGMASTER_TORCH") + "/lib/" + name;
}

/// Names in the dynamic symbol table, without their versions. `kinds`: letters of nm(1).
QSet<QString> symbols(const QString& library, const QString& which, const QString& kinds) {
    QSet<QString> names;
    for (const QString& line : linesOf("nm", {"-D", which, library})) {
        const QStringList words = line.split(' ', Qt::SkipEmptyParts);
        if (words.size() >= 2 && kinds.contains(words.at(words.size() - 2)))
            names += words.last().section('@', 0, 0);
    }
    return names;
}

/// Loads the plugin with lazy binding; what NVIDIA's wheels lack here, the stand-ins replace.
void* loadPlugin() {
    const int lazily = RTLD_LAZY | RTLD_GLOBAL;
    if (void* library = dlopen(qPrintable(pluginFile()), lazily))
        return library;
    const QDir standIns(fromEnvironment("RINGMASTER_STAND_INS"));
    for (const QString& name : standIns.entryList(QDir::Files))
        dlopen(qPrintable(standIns.filePath(name)), lazily);
    return dlopen(qPrintable(pluginFile()), lazily);
}

} // namespace

class TestCudaPlugin : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void exportsItsEntryPointsAlone() {
        const QSet<QString> functions = symbols(pluginFile(), "--defined-only", "T");
        QCOMPARE(functions, (QSet<QString>{rm::kPluginSymbol, rm::kPluginVersionSymbol}));
    }

    void everySymbolOfTorchIsInItsLibraries() {
        QSet<QString> open = symbols(pluginFile(), "--undefined-only", "U");
        QVERIFY(open.size() > 50);
        for (const char* name :
             {"libtorch_cuda.so", "libc10_cuda.so", "libtorch_cpu.so", "libc10.so"})
            open -= symbols(torchLibrary(name), "--defined-only", "TWVBDRiu");
        open -= symbols(fromEnvironment("RINGMASTER_CUDART"), "--defined-only", "TWV");
        // What is left belongs to the C and C++ runtime, which this process has as well.
        QStringList missing;
        for (const QString& name : qAsConst(open))
            if (!dlsym(RTLD_DEFAULT, qPrintable(name)))
                missing += name;
        QCOMPARE(missing, QStringList());
    }

    void loadsTorchCuda() {
        const QStringList needed = neededBy(pluginFile());
        QVERIFY(needed.contains("libtorch_cuda.so"));
        QVERIFY(needed.contains("libc10_cuda.so"));
    }

    void trainerDoesNotNeedTorchCuda() {
        const QStringList needed =
            neededBy(fromEnvironment("RINGMASTER_BIN") + "/ringmaster-trainer") +
            neededBy(torchLibrary("libtorch_cpu.so")) + neededBy(torchLibrary("libc10.so"));
        QVERIFY(needed.contains("libtorch_cpu.so"));
        for (const char* library : {"torch_cuda", "c10_cuda", "nccl", "cublas", "cudnn"})
            QVERIFY2(needed.filter(library).isEmpty(), library);
    }

    void probeAnswersWithoutADriver() {
        void* library = loadPlugin();
        QVERIFY2(library, library ? "" : dlerror());
        const auto version =
            reinterpret_cast<rm::PluginVersionFunction>(dlsym(library, rm::kPluginVersionSymbol));
        QCOMPARE(version(), rm::kDevicePluginVersion);
        const auto plugin = reinterpret_cast<rm::PluginFunction>(dlsym(library, rm::kPluginSymbol));
        const rm::DevicePlugin::Probe probe = plugin()->probe();
        QCOMPARE(probe.reason.empty(), probe.count > 0);
        if (!QFile::exists("/dev/nvidiactl"))
            QCOMPARE(probe.count, 0);
        qInfo("%d devices %s", probe.count, probe.reason.c_str());
    }
};

QTEST_GUILESS_MAIN(TestCudaPlugin)
#include "tst_cuda_plugin.moc"

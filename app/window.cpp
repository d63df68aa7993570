// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window.h"

#include "app/core/remote/credential_store.h"
#include "app/core/run/engine.h"
#include "app/core/settings/paths.h"
#include "app/ui/main_window.h"
#include "shared/exit_code.h"

#include <QApplication>
#include <QDir>
#include <QMessageBox>

namespace rm {

namespace {

int refuse(const Error& error) {
    QMessageBox::critical(nullptr, "Ringmaster", QString::fromStdString(error.message));
    return static_cast<int>(exitCodeFor(error.code));
}

} // namespace

int runWindow(int argc, char** argv) {
    QApplication application(argc, argv);
    QApplication::setApplicationName("Ringmaster");
    QApplication::setApplicationVersion(RINGMASTER_RELEASE);
    QApplication::setDesktopFileName("io.github.ringmaster.Ringmaster");
    const Paths paths = Paths::fromEnvironment();
    QDir().mkpath(paths.data);
    Fleet fleet(paths.config);
    if (const auto loaded = fleet.load(); !loaded)
        return refuse(loaded.error());
    auto writer = StoreWriter::open(paths.database());
    if (!writer)
        return refuse(writer.error());
    Engine engine(paths, fleet, std::move(*writer));
    engine.setCredentialSource(
        [&](const Node& node) { return fleet.credentials().lookUp(node.name); });
    MainWindow window(engine, fleet, paths);
    window.show();
    engine.attachAll();
    return QApplication::exec();
}

} // namespace rm

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window.h"

#include "app/core/await.h"
#include "app/core/engine/holder/shared_engine.h"
#include "app/core/settings/language.h"
#include "app/core/settings/paths.h"
#include "app/ui/look/plain_text.h"
#include "app/ui/look/theme.h"
#include "app/ui/main_window.h"
#include "shared/exit_code.h"

#include <QApplication>
#include <QMessageBox>

#include <algorithm>
#include <iostream>

namespace rm {

namespace {

int refuse(const Error& error) {
    std::cerr << "ringmaster: " << error.message << std::endl;
    Theme::instance().install(*qApp);
    QMessageBox::critical(nullptr, "Ringmaster", asPlain(QString::fromStdString(error.message)));
    return static_cast<int>(exitCodeFor(error.code));
}

/// Whether Qt would end this process, as nothing here shows a window.
bool lacksDisplay(int argc, char** argv) {
    for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"})
        if (!qEnvironmentVariableIsEmpty(name))
            return false;
    return std::none_of(argv, argv + argc, [](const char* argument) {
        return QByteArray(argument).endsWith("-platform");
    });
}

/// Shows the window until it is closed, and again when another start asks for it while this process
/// still starts ranks for a terminal.
int showUntilClosed(MainWindow& window, SharedEngine& engine) {
    QObject::connect(&engine, &SharedEngine::windowRequested, &window, &MainWindow::comeToFront);
    QObject::connect(&engine, &SharedEngine::idleForOthers, &window, [&window] {
        if (!window.isVisible())
            QApplication::quit();
    });
    window.show();
    engine.attachAll();
    int code = 0;
    do
        code = QApplication::exec();
    while (!window.isVisible() && engine.isBusyForOthers());
    return code;
}

} // namespace

int runWindow(int argc, char** argv) {
    if (lacksDisplay(argc, argv)) {
        std::cerr << "ringmaster: open the window: there is no display here, as in most SSH "
                     "sessions; ringmaster --help lists the commands for the terminal"
                  << std::endl;
        return static_cast<int>(ExitCode::kUnavailable);
    }
    QApplication application(argc, argv);
    speakPersonsLanguage();
    QApplication::setApplicationName("Ringmaster");
    QApplication::setApplicationVersion(RINGMASTER_RELEASE);
    QApplication::setDesktopFileName("io.github.ringmaster.Ringmaster");
    const Paths paths = Paths::fromEnvironment();
    if (const auto prepared = paths.prepare(); !prepared)
        return refuse(prepared.error());
    Fleet fleet(paths.config, paths.state);
    if (const auto loaded = fleet.load(); !loaded) // the page Nodes shows it
        std::cerr << "ringmaster: " << loaded.error().message << std::endl;
    SharedEngine engine(paths, fleet, face::Kind::kWindow);
    if (const auto opened = await(engine.open()); !opened)
        return refuse(opened.error());
    if (!engine.isHolder() && await(engine.showOtherWindow(qgetenv("XDG_ACTIVATION_TOKEN")))) {
        std::cerr << "Ringmaster's window is open already; it comes to the front" << std::endl;
        return 0;
    }
    MainWindow window(engine, fleet, paths);
    return showUntilClosed(window, engine);
}

} // namespace rm

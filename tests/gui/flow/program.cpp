// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/gui/flow/program.h"

#include "app/core/await.h"

#include <QDir>

namespace rm::test {

Program::Program()
    : m_paths(Paths::fromEnvironment())
    , m_fleet(m_paths.config) {}

Result<std::unique_ptr<Program>> Program::start() {
    std::unique_ptr<Program> program(new Program);
    if (auto opened = program->open(); !opened)
        return tl::unexpected<Error>(opened.error());
    return program;
}

Result<void> Program::open() {
    QDir().mkpath(m_paths.data);
    if (auto loaded = m_fleet.load(); !loaded)
        return loaded;
    m_engine = std::make_unique<SharedEngine>(m_paths, m_fleet, face::Kind::kWindow);
    if (auto opened = await(m_engine->open()); !opened)
        return opened;
    m_window = std::make_unique<MainWindow>(*m_engine, m_fleet, m_paths);
    QObject::connect(m_engine.get(), &SharedEngine::windowRequested, m_window.get(),
                     &MainWindow::comeToFront);
    m_window->show();
    m_window->activateWindow(); // there may be no window manager to do it
    m_engine->attachAll();
    return {};
}

} // namespace rm::test

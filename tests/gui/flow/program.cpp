// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/gui/flow/program.h"

#include "app/core/remote/credential_store.h"

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
    auto writer = StoreWriter::open(m_paths.database());
    if (!writer)
        return tl::unexpected<Error>(writer.error());
    m_engine = std::make_unique<Engine>(m_paths, m_fleet, std::move(*writer));
    m_engine->setCredentialSource(
        [this](const Node& node) { return m_fleet.credentials().lookUp(node.name); });
    m_window = std::make_unique<MainWindow>(*m_engine, m_fleet, m_paths);
    m_window->show();
    m_engine->attachAll();
    return {};
}

} // namespace rm::test

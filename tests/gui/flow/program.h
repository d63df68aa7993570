// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/engine/holder/shared_engine.h"
#include "app/core/fleet/fleet.h"
#include "app/core/settings/paths.h"
#include "app/ui/main_window.h"

#include <memory>

namespace rm::test {

/// The app from its start to its end, as app/window.cpp puts it together.
class Program {
public:
    static Result<std::unique_ptr<Program>> start();

    Fleet& fleet() { return m_fleet; }
    SharedEngine& engine() { return *m_engine; }
    MainWindow& window() { return *m_window; }

private:
    Program();
    Result<void> open();

    Paths m_paths;
    Fleet m_fleet;
    std::unique_ptr<SharedEngine> m_engine;
    std::unique_ptr<MainWindow> m_window;
};

} // namespace rm::test

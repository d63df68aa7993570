// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace rm {

class Engine;
class Fleet;
class NodeConnector;
class RunStyles;
class RunsFeed;
class StoreThread;
class Toast;
struct Paths;

/// What pages work with; all of it outlives them.
struct AppContext {
    Engine& engine;
    Fleet& fleet;
    const Paths& paths;
    StoreThread& store;
    RunsFeed& runs;
    NodeConnector& connector;
    Toast& toast;
    RunStyles& styles;
};

} // namespace rm

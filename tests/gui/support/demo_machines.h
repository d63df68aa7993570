// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/machines/machine_news.h"
#include "app/core/node/node.h"
#include "shared/io/clock.h"
#include "tests/unit/core/engine/fake_engine.h"

#include <utility>
#include <vector>

namespace rm::test {

/// What is told of these nodes in the five minutes before `nowNs`, invented: "node-a" trains on
/// four GPUs, of which the last is too hot; of "node-b" one is much slower; "node-c" has one GPU
/// that somebody else uses; "node-d" has no GPU, and is listed as "node-e", too; "node-f" cannot be
/// reached, "node-g" wants a password, and this computer is free. With as many points a second as
/// are asked for.
std::vector<MachineNews> demoMachines(int64_t nowNs, int points = 300);

/// These nodes, for a list.
std::vector<Node> demoMachineNodes();

/// Tells of demoMachines() until now beside a database.
struct DemoMachinesEngine : FakeEngine {
    explicit DemoMachinesEngine(QString path)
        : database(std::move(path)) {
        machines = demoMachines(wallNowNs());
    }
    QString databasePath() const override { return database; }

    QString database;
};

} // namespace rm::test

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/support/free_port.h"
#include "trainer/train/device/device.h"
#include "trainer/train/dist/world.h"

#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

namespace rm::test {

/// Runs `work` as so many ranks would, each on a thread of its own, over Gloo on loopback.
/// `boardOf`: where a rank's collectives are told.
inline void onRanks(int count, const std::function<void(const World&)>& work,
                    const std::function<Board*(int rank)>& boardOf = {}) {
    setenv("TORCH_FR_BUFFER_SIZE", "0", 1); // the flight recorder is not made for ranks on threads
    const int port = freePort();
    std::vector<std::thread> threads;
    for (int rank = 0; rank < count; ++rank)
        threads.emplace_back([&, rank] {
            TorchrunEnvironment environment;
            environment.rank = environment.localRank = rank;
            environment.worldSize = environment.localWorldSize = count;
            environment.masterAddr = "127.0.0.1";
            environment.masterPort = port;
            const World world =
                World::join(environment, useCpu(1), {}, boardOf ? boardOf(rank) : nullptr).value();
            work(world);
            world.barrier(); // nobody leaves while another still needs it
        });
    for (std::thread& thread : threads)
        thread.join();
}

} // namespace rm::test

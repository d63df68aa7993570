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
inline void onRanks(int count, const std::function<void(const World&)>& work) {
    setenv("TORCH_FR_BUFFER_SIZE", "0", 1); // the flight recorder is not made for ranks on threads
    const int port = freePort();
    std::vector<std::thread> threads;
    for (int rank = 0; rank < count; ++rank)
        threads.emplace_back([&, rank] {
            Placement placement;
            placement.rank = placement.localRank = rank;
            placement.worldSize = placement.localWorldSize = count;
            placement.masterAddr = "127.0.0.1";
            placement.masterPort = port;
            const World world = World::join(placement, useCpu(1));
            work(world);
            world.barrier(); // nobody leaves while another still needs it
        });
    for (std::thread& thread : threads)
        thread.join();
}

} // namespace rm::test

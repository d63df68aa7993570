// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/gui/support/demo_machines.h"

#include "app/core/node/node.h"

#include <cmath>

namespace rm::test {

namespace {

constexpr int64_t kGiB = 1LL << 30;

struct DemoGpu {
    double use, memoryGiB, heat, power;
};

/// A figure that moves a little, and the same at each call.
double wavering(double value, int point, int phase) {
    return value * (1 + 0.04 * std::sin(0.7 * point + phase) * std::cos(0.13 * point));
}

MachineFacts factsOf(const std::string& machine, int cpus, int64_t memoryGiB, size_t gpus,
                     const std::string& gpu, int64_t gpuGiB) {
    MachineFacts facts{machine, "0.1.0", "AMD EPYC 9354", cpus, memoryGiB * kGiB, "", {}};
    for (size_t i = 0; i < gpus; ++i)
        facts.gpus.push_back({gpu, "GPU-" + std::to_string(i), gpuGiB * kGiB, 300.0, 87.0});
    if (gpus > 0)
        facts.driver = "550.90.07";
    return facts;
}

MachineSample sampleOf(const MachineFacts& facts, const std::vector<DemoGpu>& gpus, double busy,
                       double usedGiB, double rate, int point) {
    MachineSample sample;
    sample.cpu = std::min<double>(wavering(busy, point, 1), facts.cpus);
    sample.busiestCpu = std::min(1.0, wavering(0.9, point, 2));
    sample.memoryBytes = static_cast<int64_t>(usedGiB * kGiB);
    sample.diskReadBytesPerS = 3e6;
    sample.diskWriteBytesPerS = 1e5;
    sample.interfaces = {{"ens5", wavering(rate, point, 3), wavering(0.98 * rate, point, 4)}};
    for (size_t i = 0; i < gpus.size(); ++i) {
        const int phase = static_cast<int>(i) + 5;
        GpuFigures gpu;
        gpu.utilization = std::min(1.0, wavering(gpus[i].use, point, phase));
        gpu.memoryBytes = gpus[i].memoryGiB * kGiB;
        gpu.temperatureC = gpus[i].heat;
        gpu.powerW = wavering(gpus[i].power, point, phase);
        gpu.smClockMhz = 1380;
        gpu.memoryClockMhz = 877;
        gpu.pcieRxBytesPerS = 2e9;
        gpu.pcieTxBytesPerS = 1e9;
        sample.gpus.push_back(gpu);
    }
    return sample;
}

MachineNews newsOf(const std::string& node, const MachineFacts& facts,
                   const std::vector<DemoGpu>& gpus, double busy, double usedGiB, double rate,
                   int64_t nowNs, int points) {
    MachineNews news{node, MachineState::kLive, {}, {}, facts, {}, {}};
    for (int point = 0; point < points; ++point)
        news.points.push_back({nowNs - (points - 1 - point) * int64_t{1'000'000'000},
                               sampleOf(facts, gpus, busy, usedGiB, rate, point)});
    return news;
}

void addRanks(MachineNews& news, int first, const char* run) {
    for (int i = 0; i < static_cast<int>(news.facts->gpus.size()); ++i)
        news.processes.push_back({4200 + i,
                                  "trainer",
                                  "ringmaster-trai",
                                  "ringmaster-trainer --spec plan.toml",
                                  1.05,
                                  4 * kGiB,
                                  {{i, 13 * kGiB}},
                                  "translation-7f3a",
                                  run,
                                  first + i});
}

} // namespace

std::vector<MachineNews> demoMachines(int64_t nowNs, int points) {
    const auto make = [&](const char* node, const MachineFacts& facts,
                          const std::vector<DemoGpu>& gpus, double busy, double used, double rate) {
        return newsOf(node, facts, gpus, busy, used, rate, nowNs, points);
    };
    MachineNews a = make(
        "node-a", factsOf("boot-a a", 64, 480, 4, "V100", 16),
        {{.95, 13.1, 71, 241}, {.94, 13.1, 73, 244}, {.96, 13.1, 70, 239}, {.95, 13.1, 88, 246}},
        14, 61, 612e6);
    addRanks(a, 0, "translation");
    a.points.back().sample.gpus[3].throttled = {"thermal"};
    MachineNews b = make(
        "node-b", factsOf("boot-b b", 64, 480, 4, "V100", 16),
        {{.93, 13.1, 69, 238}, {.57, 13.1, 58, 151}, {.93, 13.1, 70, 240}, {.94, 13.1, 72, 241}},
        61, 118, 601e6);
    addRanks(b, 4, "translation");
    MachineNews c = make(
        "node-c", factsOf("boot-c c", 32, 128, 4, "RTX 4090", 24),
        {{.88, 21, 66, 402}, {.02, .4, 38, 22}, {.02, .4, 37, 21}, {.03, .4, 36, 23}}, 3, 22, 1000);
    c.processes = {{991,
                    "alice",
                    "python",
                    "python train.py --lr 3e-4",
                    1.4,
                    9 * kGiB,
                    {{0, 20 * kGiB}},
                    "",
                    "",
                    -1}};
    const MachineFacts plain = factsOf("boot-d d", 16, 64, 0, "", 0);
    MachineNews d = make("node-d", plain, {}, 9, 21, 2e6),
                e = make("node-e", plain, {}, 9, 21, 2e6);
    d.processes = {{77,
                    "trainer",
                    "ringmaster-trai",
                    "ringmaster-trainer --spec plan.toml",
                    4.1,
                    3 * kGiB,
                    {},
                    "gpt-2b91",
                    "gpt",
                    0},
                   {12, "root", "sshd", "sshd: trainer", 0.02, kGiB / 64, {}, "", "", -1}};
    e.processes = d.processes;
    MachineNews here = make(kLocalNodeName, factsOf("boot-h h", 16, 64, 1, "RTX 4090", 24),
                            {{.02, 1.1, 41, 31}}, 2, 11, 0);
    return {here,
            a,
            b,
            c,
            d,
            e,
            {"node-f",
             MachineState::kLost,
             "connect to ssh trainer@10.0.0.9:22: nobody answered within 10 s",
             "look whether the machine is on",
             {},
             {},
             {}},
            {"node-g",
             MachineState::kRefused,
             "log in to ssh trainer@10.0.0.10:22: no key is taken",
             "check node-g on the page Nodes, or with ringmaster nodes check node-g, and answer "
             "there what it asks",
             {},
             {},
             {}}};
}

std::vector<Node> demoMachineNodes() {
    std::vector<Node> nodes;
    for (const char* name : {"node-a", "node-b", "node-c", "node-d", "node-e", "node-f", "node-g"})
        nodes.push_back({name, false, "10.0.0.1", "trainer", 0, {}});
    return nodes;
}

} // namespace rm::test

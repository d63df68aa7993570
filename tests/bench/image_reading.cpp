// SPDX-License-Identifier: Apache-2.0
// image_reading FOLDER SIZE BATCHES: random views of a folder's pictures, in normalized batches as
// a model takes them, through one reader thread. One line of JSON; the first batch is not timed.
#include "trainer/train/data/batch_feed.h"
#include "trainer/train/device/host_heap.h"
#include "trainer/train/workloads/resnet/image_batches.h"
#include "trainer/train/workloads/resnet/resnet.h"

#include <ATen/Parallel.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace {

constexpr int64_t kBatch = 32;
constexpr uint64_t kSeed = 7;

double cpuSeconds() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

double wallSeconds() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(now).count();
}

rm::Result<nlohmann::json> measure(const char* path, int64_t size, int64_t batches) {
    const auto folder = rm::ImageFolder::scan({path});
    if (!folder)
        return tl::unexpected(folder.error());
    rm::TrainingImages images(*folder, size, kSeed);
    rm::BatchFeed feed(images, rm::BatchPartition({kBatch}, 1), 0, 0, {.readers = 1});
    double cpu = 0, wall = 0, sum = 0;
    int64_t labels = 0;
    for (int64_t i = 0; i <= batches; ++i) {
        const auto batch = feed.next();
        if (!batch)
            return tl::unexpected(batch.error());
        const at::Tensor pictures = rm::normalizePictures(batch->tensors[0]);
        if (i == 0) {
            cpu = cpuSeconds();
            wall = wallSeconds();
            continue;
        }
        sum += pictures[0].mean().item<double>();
        labels += batch->tensors[1].sum().item<int64_t>();
    }
    return nlohmann::json{{"images", batches * kBatch},
                          {"wallS", wallSeconds() - wall},
                          {"cpuS", cpuSeconds() - cpu},
                          {"mean", sum / static_cast<double>(batches)},
                          {"labels", labels}};
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fputs("usage: image_reading FOLDER SIZE BATCHES\n", stderr);
        return 2;
    }
    rm::keepFreedMemory(); // as the trainer
    at::set_num_threads(1);
    const auto result = measure(argv[1], std::atoll(argv[2]), std::atoll(argv[3]));
    if (!result) {
        std::fprintf(stderr, "%s\n", result.error().message.c_str());
        return 1;
    }
    std::printf("%s\n", result->dump().c_str());
    return 0;
}

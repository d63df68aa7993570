// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/bench/picture_maker.h"

#include "tests/unit/train/picture_files.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

namespace rm {
namespace {

constexpr int kWidth = 500;
constexpr int kHeight = 375;
constexpr int kQuality = 95;

/// Detail of one size, and how strong it is.
struct Detail {
    int cell;
    float strength;
};
/// Each about 0.6 times as strong as the next larger, as in photographs.
constexpr Detail kDetails[] = {{128, 60}, {64, 40}, {32, 26}, {16, 17},
                               {8, 11},   {4, 8},   {2, 7},   {1, 8}};

/// Random values at the corners of cells, three a corner; colours differ less than brightness.
class Lattice {
public:
    Lattice(int cell, std::minstd_rand& engine)
        : m_cell(cell)
        , m_across(kWidth / cell + 2)
        , m_values(static_cast<size_t>(3 * m_across * (kHeight / cell + 2))) {
        std::uniform_real_distribution<float> grey(-1.2F, 1.2F);
        std::uniform_real_distribution<float> tint(-0.5F, 0.5F);
        for (size_t corner = 0; corner < m_values.size(); corner += 3) {
            const float common = grey(engine);
            for (size_t channel = 0; channel < 3; ++channel)
                m_values[corner + channel] = common + tint(engine);
        }
    }

    /// Adds a row of the picture's, linear between the corners.
    void addTo(std::vector<float>& row, int y, float strength) const {
        const float down = static_cast<float>(y % m_cell) / static_cast<float>(m_cell);
        const float* upper = &m_values[static_cast<size_t>(3 * m_across * (y / m_cell))];
        const float* lower = upper + 3 * m_across;
        for (int x = 0; x < kWidth; ++x) {
            const float right = static_cast<float>(x % m_cell) / static_cast<float>(m_cell);
            for (int channel = 0; channel < 3; ++channel) {
                const int left = 3 * (x / m_cell) + channel;
                const float above = upper[left] + right * (upper[left + 3] - upper[left]);
                const float below = lower[left] + right * (lower[left + 3] - lower[left]);
                row[static_cast<size_t>(3 * x + channel)] +=
                    strength * (above + down * (below - above));
            }
        }
    }

private:
    int m_cell, m_across;
    std::vector<float> m_values;
};

test::Picture photograph(uint32_t seed) {
    std::minstd_rand engine(seed + 1);
    std::vector<Lattice> lattices;
    for (const Detail& detail : kDetails)
        lattices.emplace_back(detail.cell, engine);
    test::Picture picture{kWidth, kHeight, {}};
    picture.rgb.reserve(3 * kWidth * kHeight);
    std::vector<float> row;
    for (int y = 0; y < kHeight; ++y) {
        row.assign(3 * kWidth, 128);
        for (size_t i = 0; i < lattices.size(); ++i)
            lattices[i].addTo(row, y, kDetails[i].strength);
        for (const float value : row)
            picture.rgb.push_back(static_cast<uint8_t>(std::clamp(value, 0.0F, 255.0F)));
    }
    return picture;
}

std::string pathOf(const std::string& root, int64_t classes, int64_t number) {
    return root + "/" + std::to_string(number % classes) + "/" + std::to_string(number) + ".jpg";
}

Result<void> writePicture(const std::string& path, uint32_t seed) {
    const std::string bytes = test::jpegOf(photograph(seed), {.quality = kQuality});
    std::ofstream file(path, std::ios::binary);
    file << bytes << std::flush;
    if (!file)
        return fail(ErrorCode::kInvalid, "write " + path + ": is there room?");
    return {};
}

} // namespace

Result<void> makePictures(const std::string& root, int64_t count, int64_t classes) {
    if (std::filesystem::exists(root))
        return fail(ErrorCode::kInvalid, "make pictures in " + root + ": it is there already");
    if (classes < 1 || classes > count)
        return fail(ErrorCode::kInvalid, "make " + std::to_string(count) + " pictures of " +
                                             std::to_string(classes) + " classes");
    for (int64_t number = 0; number < classes; ++number)
        std::filesystem::create_directories(
            std::filesystem::path(pathOf(root, classes, number)).parent_path());
    std::atomic<int64_t> next = 0;
    std::mutex mutex;
    Result<void> result;
    std::vector<std::jthread> workers(std::max(1U, std::thread::hardware_concurrency()));
    for (std::jthread& worker : workers)
        worker = std::jthread([&] {
            for (int64_t number = next++; number < count; number = next++)
                if (const auto done =
                        writePicture(pathOf(root, classes, number), static_cast<uint32_t>(number));
                    !done) {
                    const std::scoped_lock lock(mutex);
                    result = done;
                    next = count;
                }
        });
    workers.clear(); // waits
    return result;
}

} // namespace rm

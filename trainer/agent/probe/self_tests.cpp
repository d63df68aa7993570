// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/probe/self_tests.h"

#include "shared/io/file.h"

#include <algorithm>
#include <filesystem>

namespace rm {

std::vector<SelfTest> readSelfTests(const std::string& home) {
    constexpr size_t kMostFiles = 256; // a report is one message
    constexpr size_t kMostBytes = 64 << 10;
    std::vector<std::string> paths;
    std::error_code error;
    std::filesystem::directory_iterator entries(home + "/self-tests", error), end;
    for (; !error && entries != end; entries.increment(error))
        if (entries->path().extension() == ".json")
            paths.push_back(entries->path().string());
    std::ranges::sort(paths);
    paths.resize(std::min(paths.size(), kMostFiles));
    std::vector<SelfTest> tests;
    for (const std::string& path : paths)
        if (const auto text = readFile(path, kMostBytes))
            if (auto test = parseSelfTest(*text, path))
                tests.push_back(std::move(*test));
    return tests;
}

} // namespace rm

// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/probe/libstdcxx.h"

#include "shared/io/elf_versions.h"
#include "shared/io/file.h"

#include <vector>

namespace rm {

namespace {

constexpr const char* kName = "/libstdc++.so.6";

/// The cache holds its paths as texts that end with a zero byte; other kinds of processors have
/// theirs among them.
void addFromCache(const std::string& cache, std::vector<std::string>& paths) {
    const std::string end = std::string(kName) + '\0';
    for (size_t at = cache.find(end); at != std::string::npos; at = cache.find(end, at + 1)) {
        const size_t begin = cache.rfind('\0', at) + 1; // 0 where there is none
        if (cache[begin] == '/')
            paths.push_back(cache.substr(begin, at - begin) + kName);
    }
}

std::vector<std::string> placesOf(const SysRoot& root) {
    std::vector<std::string> paths;
    addFromCache(root.text("/etc/ld.so.cache"), paths);
    for (const char* folder :
         {"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu",
          "/usr/lib/aarch64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib"})
        paths.push_back(std::string(folder) + kName);
    return paths;
}

} // namespace

std::string newestGlibcxx(const SysRoot& root) {
    for (const std::string& path : placesOf(root)) {
        const auto library = readFile(root.path(path));
        if (!library)
            continue;
        if (const auto versions = elfVersions(std::as_bytes(std::span(*library))))
            if (std::string newest = newestVersion(versions->offered, "GLIBCXX_"); !newest.empty())
                return newest;
    }
    return {};
}

} // namespace rm

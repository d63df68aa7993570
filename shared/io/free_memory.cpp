// SPDX-License-Identifier: Apache-2.0
#include "shared/io/free_memory.h"

#include "shared/io/control_group.h"
#include "shared/io/file.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>

namespace rm {
namespace {

constexpr int64_t kKiB = 1024;
constexpr const char* kStatus = "/proc/self/status";

std::optional<int64_t> numberIn(const std::string& text) {
    const size_t begin = text.find_first_not_of(" \t");
    if (begin == std::string::npos)
        return std::nullopt;
    int64_t number = 0;
    const char* first = text.data() + begin;
    const auto read = std::from_chars(first, text.data() + text.size(), number);
    return read.ec == std::errc() ? std::optional(number) : std::nullopt;
}

/// The number behind `name` at the beginning of a line.
std::optional<int64_t> numberOf(const std::string& path, const std::string& name) {
    std::istringstream lines(readFile(path).value_or(""));
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with(name))
            return numberIn(line.substr(name.size()));
    return std::nullopt;
}

/// The bytes that the limits of the group and those above it leave; none: there is no limit.
std::optional<int64_t> leftByGroups(const std::string& root) {
    const ControlGroups groups = controlGroups("memory", root);
    std::optional<int64_t> least;
    for (const std::string& folder : groups.folders) {
        const auto bytesIn = [&](const char* name) {
            return numberIn(readFile(folder + name).value_or(""));
        };
        const auto limit = bytesIn(groups.isV2 ? "memory.max" : "memory.limit_in_bytes");
        const auto usage = bytesIn(groups.isV2 ? "memory.current" : "memory.usage_in_bytes");
        if (limit && usage) {
            // The kernel drops cached file pages when memory is short.
            const int64_t cached = numberOf(folder + "memory.stat", "inactive_file ").value_or(0);
            const int64_t left = std::max<int64_t>(0, *limit - (*usage - cached));
            least = std::min(least.value_or(left), left);
        }
    }
    return least;
}

} // namespace

int64_t freeHostBytes(const std::string& root) {
    const int64_t available = numberOf(root + "/proc/meminfo", "MemAvailable:").value_or(0) * kKiB;
    return std::min(available, leftByGroups(root).value_or(available));
}

int64_t programBytes() {
    return numberOf(kStatus, "RssFile:").value_or(0) * kKiB;
}

int64_t heapBytes() {
    return numberOf(kStatus, "RssAnon:").value_or(0) * kKiB;
}

int64_t dataBytes() {
    return numberOf(kStatus, "VmData:").value_or(0) * kKiB;
}

} // namespace rm

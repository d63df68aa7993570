// SPDX-License-Identifier: Apache-2.0
#include "shared/io/free_memory.h"

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

/// Where a control group's files are, and what they are called.
struct Group {
    std::string folder; ///< of all groups
    std::string path;   ///< "/a/b" below it
    const char* limit;
    const char* usage;
};

std::optional<Group> groupOf(const std::string& root) {
    std::istringstream lines(readFile(root + "/proc/self/cgroup").value_or(""));
    const std::string folder = root + "/sys/fs/cgroup";
    std::optional<Group> found;
    for (std::string line; std::getline(lines, line);) {
        const size_t path = line.find(':', line.find(':') + 1) + 1;
        if (line.find(":memory:") != std::string::npos) // version 1
            return Group{folder + "/memory", line.substr(path), "memory.limit_in_bytes",
                         "memory.usage_in_bytes"};
        if (line.starts_with("0::"))
            found = Group{folder, line.substr(path), "memory.max", "memory.current"};
    }
    return found;
}

/// The bytes that the limits of the group and those above it leave; none: there is no limit.
std::optional<int64_t> leftByGroups(const std::string& root) {
    auto group = groupOf(root);
    std::optional<int64_t> least;
    while (group) {
        const std::string folder = group->folder + group->path + "/";
        const auto limit = numberIn(readFile(folder + group->limit).value_or(""));
        const auto usage = numberIn(readFile(folder + group->usage).value_or(""));
        if (limit && usage) {
            // The kernel drops cached file pages when memory is short.
            const int64_t cached = numberOf(folder + "memory.stat", "inactive_file ").value_or(0);
            const int64_t left = std::max<int64_t>(0, *limit - (*usage - cached));
            least = std::min(least.value_or(left), left);
        }
        const size_t up = group->path.rfind('/');
        if (up == std::string::npos)
            break;
        group->path.resize(up);
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

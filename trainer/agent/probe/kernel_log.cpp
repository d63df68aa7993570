// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/probe/kernel_log.h"

#include "shared/io/descriptor.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <map>
#include <sstream>

namespace rm {

namespace {

constexpr size_t kMostText = 200; ///< bytes of what the driver said

/// "0000:3b:00" of "PCI:0000:3B:00", as GpuReport has it.
std::string pciIdOf(std::string name) {
    if (name.starts_with("PCI:"))
        name = name.substr(4);
    std::ranges::transform(name, name.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return name.substr(0, name.find('.'));
}

} // namespace

std::optional<std::string> readKernelLog(const SysRoot& root) {
    constexpr size_t kMost = 4 << 20;
    std::string all;
    // A read gives one record, and waits at the end without this flag.
    const Result<Descriptor> log = openFile(root.path("/dev/kmsg"), O_RDONLY | O_NONBLOCK);
    if (!log)
        return std::nullopt;
    std::array<char, 8192> record{};
    while (true) {
        const ssize_t size = ::read(log->get(), record.data(), record.size());
        if (size < 0 && (errno == EPIPE || errno == EINTR))
            continue; // EPIPE: what was to be read next has been overwritten
        if (size <= 0)
            break;
        all.append(record.data(), static_cast<size_t>(size));
        if (all.size() > 2 * kMost)
            all.erase(0, all.size() - kMost);
    }
    return all;
}

std::vector<XidReport> xidsIn(const std::string& kernelLog) {
    const std::string mark = "NVRM: Xid (";
    std::map<std::string, XidReport> last;
    std::istringstream lines(kernelLog);
    for (std::string line; std::getline(lines, line);) {
        const size_t at = line.find(mark);
        const size_t closed = at == std::string::npos ? at : line.find("): ", at);
        if (closed == std::string::npos)
            continue;
        XidReport xid;
        xid.pciId = pciIdOf(line.substr(at + mark.size(), closed - at - mark.size()));
        const char* const end = line.data() + line.size();
        const auto parsed = std::from_chars(line.data() + closed + 3, end, xid.code);
        if (parsed.ec != std::errc())
            continue;
        const std::string rest(parsed.ptr, end);
        const size_t words = rest.find_first_not_of(", ");
        xid.text = words == std::string::npos ? std::string() : rest.substr(words, kMostText);
        last[xid.pciId] = std::move(xid);
    }
    std::vector<XidReport> all;
    for (auto& [id, xid] : last)
        all.push_back(std::move(xid));
    return all;
}

} // namespace rm

// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/run_dir/log_times.h"

#include "shared/io/bytes.h"
#include "shared/io/clock.h"
#include "shared/io/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

namespace rm {

namespace {

constexpr std::string_view kMagic = "RMLOGTIMES-1\n";
static_assert(kMagic.size() == 13);
constexpr size_t kHeader = 16;
constexpr size_t kEntry = 16;

using EntryBytes = std::array<std::byte, kEntry>;

EntryBytes bytesOf(const LogStamp& entry) {
    EntryBytes bytes;
    std::memcpy(bytes.data(), &entry.end, sizeof entry.end);
    std::memcpy(bytes.data() + sizeof entry.end, &entry.wallNs, sizeof entry.wallNs);
    return bytes;
}

LogStamp entryOf(std::span<const std::byte> bytes) {
    return {loadInt<uint64_t>(bytes), loadInt<int64_t>(bytes.subspan(sizeof(uint64_t)))};
}

bool isHeader(std::span<const std::byte> bytes) {
    return bytes.size() >= kHeader && std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) == 0;
}

off_t placeOf(uint64_t entry) {
    return static_cast<off_t>(kHeader + entry * kEntry);
}

int64_t changedNs(const struct stat& info) {
    return int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec;
}

/// Reads a file of times entry by entry, without reading all of it.
class TimesFile {
public:
    explicit TimesFile(const std::string& path) {
        Result<Descriptor> opened = openFile(path, O_RDONLY | O_NOFOLLOW);
        EntryBytes header;
        struct stat info = {};
        if (!opened || ::fstat(opened->get(), &info) != 0 ||
            ::pread(opened->get(), header.data(), kHeader, 0) != ssize_t{kHeader} ||
            !isHeader(header))
            return;
        m_count = (static_cast<uint64_t>(info.st_size) - kHeader) / kEntry;
        m_fd = std::move(*opened);
    }

    bool isThere() const { return m_fd.get() >= 0; }
    uint64_t count() const { return m_count; }

    std::vector<LogStamp> read(uint64_t first, uint64_t count) const {
        std::vector<std::byte> bytes(std::min(count, m_count - std::min(first, m_count)) * kEntry);
        const ssize_t got = ::pread(m_fd.get(), bytes.data(), bytes.size(), placeOf(first));
        std::vector<LogStamp> entries;
        for (size_t at = 0; at + kEntry <= static_cast<size_t>(std::max<ssize_t>(got, 0));
             at += kEntry)
            entries.push_back(entryOf(std::span(bytes).subspan(at)));
        return entries;
    }

    /// The first entry that ends behind `offset`.
    uint64_t firstBehind(uint64_t offset) const {
        uint64_t low = 0, high = m_count;
        while (low < high) {
            const uint64_t middle = low + (high - low) / 2;
            const auto entry = read(middle, 1);
            if (entry.empty() || entry.front().end > offset)
                high = middle;
            else
                low = middle + 1;
        }
        return low;
    }

private:
    Descriptor m_fd;
    uint64_t m_count = 0;
};

/// At most kMaxStamps of them, the last one among them.
std::vector<LogStamp> fewer(std::vector<LogStamp> stamps) {
    while (stamps.size() > kMaxStamps) {
        std::vector<LogStamp> kept;
        for (size_t at = (stamps.size() - 1) % 2; at < stamps.size(); at += 2)
            kept.push_back(stamps[at]);
        stamps = std::move(kept);
    }
    return stamps;
}

} // namespace

std::string logTimesPath(const std::string& log) {
    constexpr std::string_view kSuffix = ".log";
    return log.substr(0, log.size() - (log.ends_with(kSuffix) ? kSuffix.size() : 0)) + ".times";
}

Result<std::vector<LogStamp>> parseLogTimes(std::span<const std::byte> bytes) {
    if (!isHeader(bytes))
        return fail(ErrorCode::kCorrupt, "read the times of a log: it is no such file");
    std::vector<LogStamp> entries;
    for (size_t at = kHeader; at + kEntry <= bytes.size(); at += kEntry) {
        const LogStamp entry = entryOf(bytes.subspan(at));
        if (entry.end <= (entries.empty() ? 0 : entries.back().end))
            break;
        entries.push_back(entry);
    }
    return entries;
}

std::vector<std::byte> encodeLogTimes(std::span<const LogStamp> entries) {
    std::vector<std::byte> bytes(kHeader);
    std::memcpy(bytes.data(), kMagic.data(), kMagic.size());
    for (const LogStamp& entry : entries) {
        const EntryBytes its = bytesOf(entry);
        bytes.insert(bytes.end(), its.begin(), its.end());
    }
    return bytes;
}

std::vector<LogStamp> thinned(std::span<const LogStamp> entries) {
    const size_t older = entries.size() / 4 * 3;
    std::vector<LogStamp> kept;
    for (size_t at = 0; at < entries.size(); ++at)
        if (at >= older || at % 2 == 1)
            kept.push_back(entries[at]);
    return kept;
}

LogTimesWriter::LogTimesWriter(const std::string& log, std::optional<uint64_t> begin)
    : m_log(log)
    , m_path(logTimesPath(log))
    , m_begin(begin) {}

void LogTimesWriter::look(int64_t wallNs) {
    struct stat info = {};
    if (::stat(m_log.c_str(), &info) != 0)
        return;
    if (!m_file) {
        open(wallNs);
        if (::stat(m_log.c_str(), &info) != 0) // which it measured later, and may have noted
            return;
    }
    const auto size = static_cast<uint64_t>(info.st_size);
    if (size < m_last.end) {
        rewrite({});
        m_last = {};
    }
    if (size > m_last.end)
        append({size, wallNs});
}

/// What the log has that nobody noted: before the first entry nobody knows its time; behind the
/// last one, as its supervisor was gone, it is that of the log's last change at the latest.
void LogTimesWriter::open(int64_t wallNs) {
    const auto text = readFile(m_path, kHeader + 2 * kMostLogTimes * kEntry);
    const auto known = text ? parseLogTimes(std::as_bytes(std::span(*text)))
                            : Result<std::vector<LogStamp>>(tl::unexpected(text.error()));
    rewrite(known.value_or(std::vector<LogStamp>()));
    struct stat info = {};
    if (::stat(m_log.c_str(), &info) != 0)
        return;
    const auto size = static_cast<uint64_t>(info.st_size);
    if (m_last.end == 0 && m_begin.value_or(0) > 0 && *m_begin <= size)
        append({*m_begin, 0});
    if (size > m_last.end)
        append({size, m_last.end == 0 && !m_begin ? 0 : std::min(wallNs, changedNs(info))});
}

void LogTimesWriter::append(LogStamp entry) {
    if (!m_file)
        return;
    if (m_entries >= kMostLogTimes)
        if (const auto bytes = readFile(m_path))
            if (const auto all = parseLogTimes(std::as_bytes(std::span(*bytes))))
                rewrite(thinned(*all));
    const EntryBytes bytes = bytesOf(entry);
    // At its place, so that a part of an entry, for which a disk had no more room, is overwritten.
    if (!m_file ||
        ::pwrite(m_file.get(), bytes.data(), bytes.size(), placeOf(m_entries)) != ssize_t{kEntry})
        return;
    ++m_entries;
    m_last = entry;
}

void LogTimesWriter::rewrite(const std::vector<LogStamp>& entries) {
    m_file = Descriptor();
    const auto bytes = encodeLogTimes(entries);
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (!writeFileAtomically(m_path, text))
        return;
    if (Result<Descriptor> opened = openFile(m_path, O_RDWR | O_NOFOLLOW))
        m_file = std::move(*opened);
    m_entries = entries.size();
    m_last = entries.empty() ? LogStamp() : entries.back();
}

std::vector<LogStamp> logStamps(const std::string& log, int fd, uint64_t begin, uint64_t end) {
    const TimesFile times(logTimesPath(log));
    if (!times.isThere() || begin >= end)
        return {};
    std::vector<LogStamp> stamps;
    uint64_t covered = begin;
    const auto add = [&](const LogStamp& entry) {
        if (covered < end && entry.end > covered) { // else it is damaged
            stamps.push_back({std::min(entry.end, end), entry.wallNs});
            covered = stamps.back().end;
        }
    };
    for (uint64_t at = times.firstBehind(begin); at < times.count() && covered < end;) {
        const auto entries = times.read(at, kMaxStamps);
        for (const LogStamp& entry : entries)
            add(entry);
        at += entries.size();
        if (entries.empty())
            break;
    }
    struct stat info = {};
    if (covered < end && ::fstat(fd, &info) == 0)
        add({end, std::min(wallNowNs(), changedNs(info))});
    return fewer(std::move(stamps));
}

} // namespace rm

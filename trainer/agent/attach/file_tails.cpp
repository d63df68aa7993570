// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/attach/file_tails.h"

#include "shared/wire/limits.h"
#include "trainer/agent/run_dir/log_cap.h"
#include "trainer/agent/run_dir/log_times.h"
#include "trainer/agent/run_dir/run_dir.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <utility>

namespace rm {
namespace {

bool beginsAnew(const std::string& log) {
    const Result<Descriptor> fd = openFile(log, O_RDONLY | O_NOFOLLOW);
    return fd && isCappedLog(fd->get());
}

} // namespace

FileTails::FileTails(std::string runDir)
    : m_runDir(std::move(runDir)) {}

std::string FileTails::Key::file() const {
    return segment.source.empty() ? source : segment.path();
}

FileTails::Key FileTails::keyOf(const std::string& file) {
    const auto segment = parseSegmentPath(file);
    return segment ? Key{"journal/" + segment->source, *segment} : Key{file, {}};
}

Result<void> FileTails::seek(const std::vector<FileCursor>& cursors) {
    for (const FileCursor& cursor : cursors) {
        if (!isReplicatedFile(cursor.file))
            return fail(ErrorCode::kInvalid,
                        "attach at '" + cursor.file + "': no journal or log of a run");
        const Key key = keyOf(cursor.file);
        m_tails[key].offset = cursor.offset;
        int& begin = m_begins[key.source][key.segment.attempt];
        begin = std::max(begin, key.segment.number);
    }
    std::erase_if(m_tails, [this](const auto& entry) { return isSent(entry.first); });
    refresh();
    return {};
}

void FileTails::refresh() {
    findFiles("journal");
    findFiles("log");
    for (auto& [key, tail] : m_tails)
        measure(key, tail);
}

std::optional<Slice> FileTails::next(size_t maxBytes) {
    std::optional<Slice> slice = nextOf("journal/", maxBytes);
    return slice ? slice : nextOf("log/", maxBytes);
}

/// Whether the other side has all of it, as it has a cursor in a later segment of that attempt. The
/// epoch does not count: a node that lost its disk has other files by the same numbers. Another
/// attempt may have been made on another machine, before all of this one was sent.
bool FileTails::isSent(const Key& key) const {
    const auto known = m_begins.find(key.source);
    if (known == m_begins.end())
        return false;
    const auto begin = known->second.find(key.segment.attempt);
    return begin == known->second.end() ? key.segment.attempt < known->second.begin()->first
                                        : key.segment.number < begin->second;
}

void FileTails::findFiles(const std::string& folder) {
    const std::string path = m_runDir + "/" + folder;
    std::vector<std::string> files;
    std::error_code error;
    std::filesystem::directory_iterator entries(path, error), end;
    for (; !error && entries != end; entries.increment(error))
        files.push_back(folder + "/" + entries->path().filename().string());
    if (error == std::errc::no_such_file_or_directory)
        return;
    // What was not listed may come before what was.
    if (error)
        return reportOnce(path, failErrno("list " + path, error.value()).value());
    for (const std::string& file : files) {
        // The agent's log belongs to no rank, and the app accepts only logs of ranks.
        if (!isReplicatedFile(file) || file == kAgentLog)
            continue;
        if (Key key = keyOf(file); !isSent(key))
            m_tails.try_emplace(std::move(key));
    }
}

void FileTails::measure(const Key& key, Tail& tail) {
    if (tail.isOver)
        return;
    const std::string path = m_runDir + "/" + key.file();
    struct stat info = {};
    if (tail.fd && ::fstat(tail.fd.get(), &info) != 0)
        tail.fd = Descriptor(); // on NFS the file may be another one by now
    if (!tail.fd && ::lstat(path.c_str(), &info) != 0) {
        tail.size = tail.offset;
        tail.isUnread = errno != ENOENT;
        if (tail.isUnread)
            reportOnce(path, failErrno("look at " + path, errno).value());
        return;
    }
    tail.isUnread = false;
    tail.size = S_ISREG(info.st_mode) ? static_cast<uint64_t>(info.st_size) : 0;
    const bool isCut = tail.size < tail.offset;
    // A journal's writer goes on behind what it wrote, whatever became of that. A log is appended
    // to.
    const bool isLog = key.segment.source.empty();
    if (isLog && isCut)
        tail.offset = beginsAnew(path) ? 0 : tail.size;
    else if (isLog && tail.size - tail.offset > kMostLog)
        tail.offset = tail.size - kMostLog / 2; // not all, or the next line would be one too many
    else if (!isLog)
        tail.mustReportCut = isCut && (tail.mustReportCut || !tail.isCut);
    tail.isCut = isCut;
}

/// The first file to send of a source behind that one; the end of the map: there is none.
FileTails::Tails::iterator FileTails::firstToSend(const std::string& folder,
                                                  const std::string& behind) {
    std::string waiting; ///< its source has an earlier file that could not be read
    return std::find_if(m_tails.begin(), m_tails.end(), [&](const auto& entry) {
        const auto& [key, tail] = entry;
        if (tail.isUnread)
            waiting = key.source;
        return key.source.starts_with(folder) && key.source > behind && key.source != waiting &&
               (tail.size > tail.offset || tail.mustReportCut);
    });
}

std::optional<Slice> FileTails::nextOf(const std::string& folder, size_t maxBytes) {
    std::string& last = m_lastServed[folder];
    auto found = firstToSend(folder, last);
    if (found == m_tails.end())
        found = firstToSend(folder, {});
    if (found == m_tails.end())
        return std::nullopt;
    auto& [key, tail] = *found;
    last = key.source;
    if (std::exchange(tail.mustReportCut, false))
        return Slice{key.file(), tail.size, {}};
    Slice slice{key.file(), tail.offset, {}};
    slice.bytes = read(key, tail, maxBytes);
    if (key.segment.source.empty() && !slice.bytes.empty())
        slice.stamps =
            logStamps(m_runDir + "/" + slice.file, tail.fd.get(), slice.offset, tail.offset);
    const auto after = std::next(found);
    const bool hasLater = after != m_tails.end() && after->first.source == key.source;
    if (hasLater && !tail.isUnread && tail.offset >= tail.size) {
        tail.isOver = true;
        tail.fd = Descriptor();
    }
    return slice.bytes.empty() ? nextOf(folder, maxBytes) : std::optional(std::move(slice));
}

/// Nothing when the file was cut off or removed since it was measured, or cannot be read.
std::vector<std::byte> FileTails::read(const Key& key, Tail& tail, size_t maxBytes) {
    const std::string path = m_runDir + "/" + key.file();
    std::vector<std::byte> bytes(std::min<uint64_t>(maxBytes, tail.size - tail.offset));
    Result<Descriptor> opened =
        tail.fd ? std::move(tail.fd) : openFile(path, O_RDONLY | O_NOFOLLOW);
    const ssize_t count =
        opened ? ::pread(opened->get(), bytes.data(), bytes.size(), static_cast<off_t>(tail.offset))
               : 0;
    const int error = errno;
    bytes.resize(static_cast<size_t>(std::max<ssize_t>(count, 0)));
    if (count <= 0)
        tail.size = tail.offset;
    const bool isGone = !opened && opened.error().code == ErrorCode::kNotFound;
    tail.isUnread = count < 0 || (!opened && !isGone);
    if (tail.isUnread)
        reportOnce(path, opened ? failErrno("read " + path, error).value() : opened.error());
    else if (opened)
        tail.fd = std::move(*opened);
    tail.offset += bytes.size();
    return bytes;
}

void FileTails::reportOnce(const std::string& path, const Error& why) {
    if (m_reported.insert(path).second)
        std::fprintf(stderr, "%s; tried again until it can be read\n", why.message.c_str());
}

} // namespace rm

// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/attach/file_tails.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

namespace rm {
namespace {

/// The supervisor's own log. It belongs to no rank, and the app accepts only logs of ranks.
constexpr const char* kOwnLog = "log/agent.log";

} // namespace

FileTails::FileTails(std::string runDir)
    : m_runDir(std::move(runDir)) {}

Result<void> FileTails::seek(const std::vector<FileCursor>& cursors) {
    for (const FileCursor& cursor : cursors) {
        if (!isReplicatedFile(cursor.file))
            return fail(ErrorCode::kInvalid,
                        "attach at '" + cursor.file + "': no journal or log of a run");
        m_tails[cursor.file].offset = cursor.offset;
    }
    return refresh();
}

Result<void> FileTails::refresh() {
    findFiles("journal");
    findFiles("log");
    for (auto& [file, tail] : m_tails)
        if (const Result<void> measured = measure(file, tail); !measured)
            return measured;
    return {};
}

Result<std::optional<Slice>> FileTails::next(size_t maxBytes) {
    Result<std::optional<Slice>> slice = nextOf("journal/", maxBytes);
    return slice && !*slice ? nextOf("log/", maxBytes) : slice;
}

void FileTails::findFiles(const std::string& folder) {
    std::error_code error;
    std::filesystem::directory_iterator entries(m_runDir + "/" + folder, error), end;
    for (; !error && entries != end; entries.increment(error)) {
        const std::string file = folder + "/" + entries->path().filename().string();
        if (isReplicatedFile(file) && file != kOwnLog)
            m_tails.try_emplace(file);
    }
}

Result<void> FileTails::measure(const std::string& file, Tail& tail) {
    const std::string path = m_runDir + "/" + file;
    if (!tail.fd) {
        Result<Descriptor> fd = openFile(path, O_RDONLY | O_NOFOLLOW);
        if (fd)
            tail.fd = std::move(*fd);
        else if (fd.error().code != ErrorCode::kNotFound)
            return tl::unexpected(fd.error());
    }
    struct stat info = {};
    if (tail.fd && ::fstat(tail.fd.get(), &info) != 0)
        return failErrno("look at " + path, errno);
    tail.size = static_cast<uint64_t>(info.st_size);
    if (tail.size < tail.offset)
        return fail(ErrorCode::kCorrupt, "attach at " + file + ": the cursor is " +
                                             std::to_string(tail.offset) + ", but the file has " +
                                             std::to_string(tail.size) + " bytes");
    return {};
}

Result<std::optional<Slice>> FileTails::nextOf(const std::string& folder, size_t maxBytes) {
    std::string& last = m_lastServed[folder];
    const auto hasBytes = [&folder](const auto& entry) {
        return entry.first.starts_with(folder) && entry.second.size > entry.second.offset;
    };
    auto found = std::find_if(m_tails.upper_bound(last), m_tails.end(), hasBytes);
    if (found == m_tails.end())
        found = std::find_if(m_tails.begin(), m_tails.end(), hasBytes);
    if (found == m_tails.end())
        return std::nullopt;
    auto& [file, tail] = *found;
    last = file;
    Slice slice{file, tail.offset, {}};
    slice.bytes.resize(std::min<uint64_t>(maxBytes, tail.size - tail.offset));
    const ssize_t count = ::pread(tail.fd.get(), slice.bytes.data(), slice.bytes.size(),
                                  static_cast<off_t>(tail.offset));
    if (count < 0)
        return failErrno("read " + m_runDir + "/" + file, errno);
    if (count == 0)
        return fail(ErrorCode::kCorrupt, "read " + m_runDir + "/" + file + ": it was cut off");
    slice.bytes.resize(static_cast<size_t>(count));
    tail.offset += static_cast<uint64_t>(count);
    return slice;
}

} // namespace rm

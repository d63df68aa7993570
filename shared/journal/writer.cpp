// SPDX-License-Identifier: Apache-2.0
#include "shared/io/bytes.h"
#include "shared/io/descriptor.h"
#include "shared/journal/header.h"
#include "shared/journal/journal.h"
#include "shared/return_if_error.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

namespace rm {

struct JournalWriter::Impl {
    std::string path;
    Descriptor file;
    std::vector<std::byte> pending;

    Result<void> continueBehindLastRecord();
    Result<void> cutAt(uint64_t offset);
};

namespace {

// A second writer would interleave two attempts in one file; file systems without locks go
// without this check.
Result<void> lockAgainstOthers(const Descriptor& file, const std::string& path) {
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return fail(ErrorCode::kUnavailable,
                    "open " + path +
                        ": another process is writing it; is an earlier attempt of "
                        "this run still running?");
    return {};
}

} // namespace

Result<void> JournalWriter::Impl::cutAt(uint64_t offset) {
    if (::ftruncate(file.get(), off_t(offset)) != 0)
        return failErrno("truncate " + path, errno);
    if (::lseek(file.get(), off_t(offset), SEEK_SET) < 0)
        return failErrno("seek " + path, errno);
    return {};
}

Result<void> JournalWriter::Impl::continueBehindLastRecord() {
    RM_ASSIGN_OR_RETURN(auto end, findJournalEnd(file.get(), path));
    if (end == 0)
        pending = journalHeader();
    return cutAt(end);
}

Result<JournalWriter> JournalWriter::open(const std::string& path) {
    RM_ASSIGN_OR_RETURN(auto file, openFile(path, O_RDWR | O_CREAT));
    RM_RETURN_IF_ERROR(lockAgainstOthers(file, path));
    JournalWriter writer;
    writer.m_impl->path = path;
    writer.m_impl->file = std::move(file);
    RM_RETURN_IF_ERROR(writer.m_impl->continueBehindLastRecord());
    return writer;
}

JournalWriter::JournalWriter()
    : m_impl(std::make_unique<Impl>()) {}
JournalWriter::JournalWriter(JournalWriter&&) noexcept = default;
JournalWriter& JournalWriter::operator=(JournalWriter&&) noexcept = default;
JournalWriter::~JournalWriter() {
    if (m_impl)
        (void)flush();
}

void JournalWriter::append(const Record& record) {
    appendFrame(m_impl->pending, encodeRecord(record));
}

Result<void> JournalWriter::flush() {
    size_t written = 0;
    auto done = writeAll(m_impl->file.get(), m_impl->pending, m_impl->path, &written);
    m_impl->pending.erase(m_impl->pending.begin(),
                          m_impl->pending.begin() + std::ptrdiff_t(written));
    return done;
}

Result<void> JournalWriter::sync() {
    if (auto done = flush(); !done)
        return done;
    if (::fdatasync(m_impl->file.get()) != 0)
        return failErrno("sync " + m_impl->path, errno);
    return {};
}

} // namespace rm

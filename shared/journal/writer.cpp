// SPDX-License-Identifier: Apache-2.0
#include "shared/io/bytes.h"
#include "shared/io/descriptor.h"
#include "shared/io/file.h"
#include "shared/journal/header.h"
#include "shared/journal/journal.h"
#include "shared/journal/segment.h"
#include "shared/return_if_error.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <thread>
#include <utility>

namespace rm {

namespace {

/// Syncs a file every now and then, on a thread of its own.
class Syncer {
public:
    Syncer()
        : m_thread([this](std::stop_token stop) { loop(stop); }) {}

    /// Something was written to `file`, which stays open until it is synced.
    void onWritten(const std::shared_ptr<Descriptor>& file) {
        const std::scoped_lock lock(m_mutex);
        if (m_written.empty() || m_written.back() != file)
            m_written.push_back(file);
    }

    /// A file was made in that folder.
    void onMade(const std::string& folder) {
        const std::scoped_lock lock(m_mutex);
        m_folder = folder;
    }

private:
    void loop(std::stop_token stop) {
        std::unique_lock lock(m_mutex);
        while (!m_wake.wait_for(lock, stop, std::chrono::milliseconds(JournalWriter::kSyncMs),
                                [&stop] { return stop.stop_requested(); })) {
            const auto files = std::exchange(m_written, {});
            const std::string folder = std::exchange(m_folder, {});
            lock.unlock();
            // Whoever needs to know whether it worked calls JournalWriter::sync().
            for (const auto& file : files)
                (void)!::fdatasync(file->get());
            if (!folder.empty())
                (void)syncFolder(folder);
            lock.lock();
        }
    }

    std::mutex m_mutex;
    std::condition_variable_any m_wake;
    std::vector<std::shared_ptr<Descriptor>> m_written;
    std::string m_folder;
    std::jthread m_thread; ///< last: starts when all the rest exists
};

} // namespace

struct JournalWriter::Impl {
    std::string path;
    std::shared_ptr<Descriptor> file;
    std::vector<std::byte> pending;
    std::unique_ptr<Syncer> syncer;
    // For a journal in segments:
    std::string folder;
    Segment segment;
    uint64_t segmentBytes = std::numeric_limits<uint64_t>::max();
    uint64_t written = 0; ///< to this segment

    Result<void> continueBehindLastRecord();
    Result<void> cutAt(uint64_t offset);
    Result<void> beginSegment(int number);
    void replaceIfRemoved();
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
    if (::ftruncate(file->get(), off_t(offset)) != 0)
        return failErrno("truncate " + path, errno);
    if (::lseek(file->get(), off_t(offset), SEEK_SET) < 0)
        return failErrno("seek " + path, errno);
    return {};
}

Result<void> JournalWriter::Impl::continueBehindLastRecord() {
    RM_ASSIGN_OR_RETURN(auto end, findJournalEnd(file->get(), path));
    if (end == 0)
        pending = journalHeader();
    return cutAt(end);
}

Result<JournalWriter> JournalWriter::open(const std::string& path) {
    RM_ASSIGN_OR_RETURN(auto file, openFile(path, O_RDWR | O_CREAT));
    RM_RETURN_IF_ERROR(lockAgainstOthers(file, path));
    JournalWriter writer;
    writer.m_impl->path = path;
    writer.m_impl->file = std::make_shared<Descriptor>(std::move(file));
    RM_RETURN_IF_ERROR(writer.m_impl->continueBehindLastRecord());
    return writer;
}

/// The journal then goes on there; until it succeeds, in the file before.
Result<void> JournalWriter::Impl::beginSegment(int number) {
    Segment next = segment;
    next.number = number;
    if (::getrandom(&next.epoch, sizeof next.epoch, 0) != sizeof next.epoch)
        return failErrno("name a segment of " + folder, errno);
    const std::string name = folder + "/" + next.fileName();
    RM_ASSIGN_OR_RETURN(auto fresh, openFile(name, O_RDWR | O_CREAT | O_EXCL));
    RM_RETURN_IF_ERROR(lockAgainstOthers(fresh, name));
    path = name;
    segment = next;
    file = std::make_shared<Descriptor>(std::move(fresh));
    pending = journalHeader();
    written = 0;
    return {};
}

Result<JournalWriter> JournalWriter::begin(const std::string& folder, const std::string& source,
                                           int attempt, uint64_t segmentBytes) {
    int number = 1;
    for (const Segment& earlier : listSegments(folder, source)) {
        const std::string path = folder + "/" + earlier.fileName();
        RM_ASSIGN_OR_RETURN(const auto file, openFile(path, O_RDWR)); // as NFS wants it
        RM_RETURN_IF_ERROR(lockAgainstOthers(file, path));
        if (earlier.attempt == attempt)
            number = earlier.number + 1;
    }
    JournalWriter writer;
    writer.m_impl->folder = folder;
    writer.m_impl->segment = {source, attempt, 0, 0};
    writer.m_impl->segmentBytes = segmentBytes;
    RM_RETURN_IF_ERROR(writer.m_impl->beginSegment(number));
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

/// Goes on in a new file, with all that waits, if someone deleted the file: nobody would see what
/// is written to it.
void JournalWriter::Impl::replaceIfRemoved() {
    struct stat info = {};
    if (pending.empty() || ::fstat(file->get(), &info) != 0 || info.st_nlink > 0)
        return;
    const std::vector<std::byte> waiting = pending;
    if (!folder.empty()) {
        if (!beginSegment(segment.number + 1))
            return;
    } else {
        auto fresh = openFile(path, O_RDWR | O_CREAT);
        if (!fresh)
            return;
        file = std::make_shared<Descriptor>(std::move(*fresh));
        pending = journalHeader();
    }
    // The header of the file before may be among it, if nothing was written to that.
    const auto header = journalHeader();
    const bool hasHeader = waiting.size() >= header.size() &&
                           std::equal(header.begin(), header.end(), waiting.begin());
    pending.insert(pending.end(), waiting.begin() + (hasHeader ? std::ptrdiff_t(header.size()) : 0),
                   waiting.end());
}

Result<void> JournalWriter::flush() {
    Impl& impl = *m_impl;
    impl.replaceIfRemoved();
    size_t written = 0;
    auto done = writeAll(impl.file->get(), impl.pending, impl.path, &written);
    impl.pending.erase(impl.pending.begin(), impl.pending.begin() + std::ptrdiff_t(written));
    impl.written += written;
    if (written > 0 && impl.syncer)
        impl.syncer->onWritten(impl.file);
    // Where there is no room for another file, this one grows.
    if (done && impl.written > impl.segmentBytes && impl.beginSegment(impl.segment.number + 1) &&
        impl.syncer)
        impl.syncer->onMade(impl.folder);
    return done;
}

Result<void> JournalWriter::sync() {
    if (auto done = flush(); !done)
        return done;
    if (::fdatasync(m_impl->file->get()) != 0)
        return failErrno("sync " + m_impl->path, errno);
    return {};
}

void JournalWriter::keepSynced() {
    if (m_impl->syncer)
        return;
    m_impl->syncer = std::make_unique<Syncer>();
    if (!m_impl->folder.empty())
        m_impl->syncer->onMade(m_impl->folder);
}

} // namespace rm

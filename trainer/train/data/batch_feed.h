// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/data/bad_samples.h"
#include "trainer/train/data/batch_partition.h"

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

namespace rm {

/// This rank's micro-batches in order, from a cursor on. Reading ahead does not change the order,
/// and batches that next() has not returned do not count as used: a run that resumes from the
/// cursor of its last step sees the same batches. Called by one thread.
class BatchFeed {
public:
    struct Settings {
        int64_t readers = 0;             ///< threads that read ahead; 0: next() reads
        at::Device device = at::kCPU;    ///< for which readers pin what they read
        std::optional<BadSamples> bad{}; ///< counts unreadable samples
        /// Applied by the readers to each batch before pinning, on any of their threads; may be
        /// null.
        std::function<Batch(const Batch&)> change{};
    };
    /// `source` must outlive it.
    BatchFeed(BatchSource& source, const BatchPartition& partition, int64_t rank, int64_t cursor,
              Settings settings);
    BatchFeed(BatchSource& source, const BatchPartition& partition, int64_t rank, int64_t cursor)
        : BatchFeed(source, partition, rank, cursor, Settings()) {}
    /// Waits for the batches that are being read just now.
    ~BatchFeed();
    BatchFeed(const BatchFeed&) = delete;
    BatchFeed& operator=(const BatchFeed&) = delete;

    /// Batches that this number of readers hold at once, including those being read.
    static int64_t heldBy(int64_t readers) { return readers == 0 ? 0 : readers + kReady; }

    /// An error or exception of a reader is reported with the batch that it belongs to.
    Result<Batch> next();

private:
    static constexpr int64_t kReady = 2; ///< beside those being read

    /// A batch that is read ahead: the result or the exception, once there is one.
    struct Slot {
        std::optional<Result<Batch>> batch;
        std::exception_ptr exception;
        bool isReady() const { return batch || exception; }
    };

    BatchPartition::Share shareOf(int64_t number) const;
    Slot read(int64_t number);
    Slot take(int64_t number);
    void readAhead();

    BatchSource& m_source;
    BatchPartition m_partition;
    int64_t m_rank;
    int64_t m_cursor;
    Settings m_settings;
    int64_t m_next = 0; ///< number of the batch that next() gives

    std::mutex m_mutex;
    std::condition_variable m_ready;
    std::condition_variable m_room;
    std::vector<Slot> m_slots; ///< batch n is in slot n modulo their number
    int64_t m_begun = 0;       ///< batches that readers took on
    int64_t m_taken = 0;       ///< batches that next() took out
    bool m_stop = false;
    std::vector<std::thread> m_readers;
};

} // namespace rm

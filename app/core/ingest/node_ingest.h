// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/store_writer.h"
#include "shared/journal/segment.h"
#include "shared/wire/messages.h"

#include <QString>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace rm {

/// What to name in an Attach: every log, and of each attempt's journals the newest segment that is
/// stored, as its node may have more of it. If these are too many, the oldest attempts are left
/// out, and taken for known.
std::vector<FileCursor> cursorsToSend(const std::vector<std::pair<std::string, uint64_t>>& stored);

/// Turns the replicated bytes of one node's files into batches for the store. A batch's cursors
/// point exactly behind what was decoded. One instance per connection; not thread-safe.
class NodeIngest {
public:
    /// `cursors` are those stored: where the node was asked to go on. `ranks`: whose files it may
    /// have beside its own. `node`: what people call it.
    NodeIngest(QString run, int nodeIndex, std::vector<RankRange> ranks,
               const std::vector<std::pair<std::string, uint64_t>>& cursors,
               std::string node = "a node");
    ~NodeIngest();
    NodeIngest(NodeIngest&&) noexcept;
    NodeIngest& operator=(NodeIngest&&) noexcept;

    /// Takes bytes that follow the last ones of their file. kCorrupt, with nothing taken: there is
    /// a gap or an overlap, or the file is unknown; attach again from the cursors. Damage in a
    /// journal is not an error: it becomes an event, and reading goes on behind it. A log that was
    /// cut off on its node goes on where it ends. A slice without bytes says where a journal ends
    /// that is shorter than what came of it; that is an event once its writer has gone.
    Result<void> onSlice(const Slice& slice);

    /// The node says that its attempt has ended, and that all bytes have come. What is incomplete
    /// in its journals will remain so; an end that they do not tell is taken from `end`.
    void finish(const RunState& end);

    /// What was decoded since the last call. nullopt: nothing new.
    std::optional<IngestBatch> take();

private:
    struct File;

    bool mayHave(const std::string& file) const;
    bool isLeftOut(const Segment& segment) const;
    void reportLeftOut(int attempt);
    Result<File*> fileOf(const std::string& name);
    void closeSegmentsBefore(const Segment& segment);
    void close(const std::string& name, File& file);
    void decodeJournal(const std::string& name, File& file);
    void reportDamage(const std::string& name, File& file, const std::string& what);
    void add(Record record, int attempt);
    void note(const Record& record);

    QString m_run;
    int m_nodeIndex;
    std::string m_node;
    std::vector<RankRange> m_ranks;
    std::map<std::string, uint64_t> m_committed; ///< cursors up to the last take()
    std::map<std::string, std::unique_ptr<File>> m_files;
    std::vector<Record> m_records;
    std::vector<int32_t> m_attempts; ///< as in IngestBatch
    std::set<int> m_leftOut;         ///< attempts that were told of
    bool m_ended = false;            ///< the newest attempt has ended here: no log goes on
};

} // namespace rm

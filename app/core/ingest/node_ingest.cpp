// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/ingest/node_ingest.h"

#include "app/core/findings/text.h"
#include "app/core/ingest/log_lines.h"
#include "app/core/store/store_writer.h"
#include "shared/amounts.h"
#include "shared/io/clock.h"
#include "shared/journal/event_codes.h"
#include "shared/journal/journal.h"
#include "shared/return_if_error.h"
#include "shared/wire/limits.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <tuple>

namespace rm {

namespace {

constexpr std::string_view kRankLog = "log/rank-";
constexpr std::string_view kRankSource = "rank-";
constexpr int kMostReports = 16;       ///< of damage in one file
constexpr size_t kMostFiles = 1 << 16; ///< of one node

/// The number in "log/rank-00003.log" or "rank-00003"; nullopt for others.
std::optional<int> rankIn(std::string_view name, std::string_view head) {
    if (!name.starts_with(head))
        return std::nullopt;
    int rank = 0;
    const char* end = name.data() + name.size();
    const auto [stop, error] = std::from_chars(name.data() + head.size(), end, rank);
    const bool isNumber = error == std::errc() && rank >= 0 && (stop == end || *stop == '.');
    return isNumber ? std::optional(rank) : std::nullopt;
}

} // namespace

std::vector<FileCursor> cursorsToSend(const std::vector<std::pair<std::string, uint64_t>>& stored) {
    std::vector<FileCursor> cursors;
    // By attempt, the newest first, and source. A node that lost its disk may have a segment by the
    // same numbers again, so that both are named.
    std::map<int, std::map<std::string, std::vector<std::pair<Segment, uint64_t>>>, std::greater<>>
        newest;
    for (const auto& [file, offset] : stored) {
        const auto segment = parseSegmentPath(file);
        if (!segment) {
            cursors.push_back({file, offset});
            continue;
        }
        auto& known = newest[segment->attempt][segment->source];
        if (!known.empty() && known.front().first.number < segment->number)
            known.clear();
        if (known.empty() || known.front().first.number == segment->number)
            known.emplace_back(*segment, offset);
        // That none is older says that an attempt without a name is not known.
        newest[0][segment->source];
    }
    for (const auto& [attempt, sources] : newest)
        for (const auto& [source, segments] : sources) {
            for (const auto& [segment, offset] : segments)
                cursors.push_back({segment.path(), offset});
            if (segments.empty())
                cursors.push_back({Segment{source, 0, 0, 0}.path(), 0});
        }
    // An older release stored files of any name; those beyond what a message holds are none of
    // ours.
    cursors.resize(std::min(cursors.size(), kMaxTables));
    return cursors;
}

struct NodeIngest::File {
    uint64_t received = 0; ///< offset behind the last byte taken
    std::optional<JournalScanner> journal;
    Segment segment; ///< of a journal
    std::optional<LogLines> log;
    int logRank = -1;
    bool isOver = false;           ///< nothing more will be read of it
    std::optional<uint64_t> cutAt; ///< its node says that it ends there, before what came
    int reports = 0;

    uint64_t cursor() const {
        return journal ? journal->cursor() : log ? log->cursor() : received; // else left out
    }
};

NodeIngest::NodeIngest(QString run, int nodeIndex, std::vector<RankRange> ranks,
                       const std::vector<std::pair<std::string, uint64_t>>& cursors,
                       std::string node)
    : m_run(std::move(run))
    , m_nodeIndex(nodeIndex)
    , m_node(std::move(node))
    , m_ranks(std::move(ranks))
    , m_committed(cursors.begin(), cursors.end()) {}

NodeIngest::~NodeIngest() = default;
NodeIngest::NodeIngest(NodeIngest&&) noexcept = default;
NodeIngest& NodeIngest::operator=(NodeIngest&&) noexcept = default;

bool NodeIngest::mayHave(const std::string& file) const {
    const auto segment = parseSegmentPath(file);
    if (segment && segment->source == nodeName(m_nodeIndex))
        return true;
    const auto rank = segment ? rankIn(segment->source, kRankSource) : rankIn(file, kRankLog);
    const int attempt = segment ? segment->attempt : 0;
    return isReplicatedFile(file) && rank &&
           std::ranges::any_of(m_ranks,
                               [&](const RankRange& range) { return range.has(*rank, attempt); });
}

/// Whether the segment is of an attempt that was asked for without this node: its agent, which
/// nobody could reach, went on alone under the same number.
bool NodeIngest::isLeftOut(const Segment& segment) const {
    return !m_ranks.empty() && std::ranges::none_of(m_ranks, [&](const RankRange& range) {
        return range.hasAttempt(segment.attempt);
    });
}

Result<NodeIngest::File*> NodeIngest::fileOf(const std::string& name) {
    if (const auto known = m_files.find(name); known != m_files.end())
        return known->second.get();
    const auto segment = parseSegmentPath(name);
    const bool leftOut = segment && isLeftOut(*segment);
    if ((!leftOut && !mayHave(name)) || m_files.size() >= kMostFiles)
        return failAs(
            say("run.receive-file-of", {{"run", m_run.toStdString()}}),
            {ErrorCode::kCorrupt, say("run.foreign-file", {{"file", name.substr(0, 100)}})});
    const auto logRank = rankIn(name, kRankLog);
    auto file = std::make_unique<File>();
    const auto stored = m_committed.try_emplace(name, 0).first;
    file->received = stored->second;
    if (leftOut) {
        reportLeftOut(segment->attempt);
    } else if (logRank) {
        file->log.emplace(stored->second);
        file->logRank = *logRank;
    } else {
        file->segment = *segment;
        file->journal.emplace(name, stored->second);
        closeSegmentsBefore(*segment);
    }
    return m_files.emplace(name, std::move(file)).first->second.get();
}

void NodeIngest::reportLeftOut(int attempt) {
    if (m_leftOut.insert(attempt).second)
        add(Event{-1, -1, wallNowNs(), Severity::kWarning, "attempt-left-out",
                  say("run.attempt-left-out",
                      {{"node", m_node}, {"attempt", std::to_string(attempt)}})},
            0);
}

/// Closes earlier segments: their writer has gone on, so what is incomplete in them remains so.
void NodeIngest::closeSegmentsBefore(const Segment& segment) {
    const auto isBefore = [&](const Segment& other) {
        return other.source == segment.source &&
               std::tie(other.attempt, other.number) <= std::tie(segment.attempt, segment.number);
    };
    for (auto& [name, file] : m_files)
        if (isBefore(file->segment))
            close(name, *file);
}

void NodeIngest::close(const std::string& name, File& file) {
    if (!file.journal || file.isOver)
        return;
    // While its writer lives it goes on behind what it wrote.
    if (file.cutAt && *file.cutAt < file.cursor())
        reportDamage(name, file,
                     say("run.journal-shorter", {{"end", std::to_string(*file.cutAt)},
                                                 {"stored", std::to_string(file.cursor())}}));
    file.journal->finish();
    decodeJournal(name, file);
    if (!file.isOver && file.journal->damage())
        reportDamage(name, file,
                     say("run.damaged-to-end", {{"what", file.journal->damage()->message}}));
    file.isOver = true;
}

void NodeIngest::finish(const RunState& end) {
    for (auto& [name, file] : m_files)
        close(name, *file);
    // Ignored by the store if it has the end.
    if (!m_ended)
        add(AttemptEnded{end.attempt, static_cast<Outcome>(end.outcome), -1, 0, wallNowNs(),
                         say("run.end-by-agent")},
            0);
    m_ended = true;
}

Result<void> NodeIngest::onSlice(const Slice& slice) {
    RM_ASSIGN_OR_RETURN(const auto file, fileOf(slice.file));
    File& target = *file;
    if (target.log && slice.offset < target.received) {
        target.log.emplace(slice.offset);
        target.received = slice.offset;
        reportDamage(slice.file, target,
                     say("run.log-cut-off", {{"byte", std::to_string(slice.offset)}}));
    }
    if (target.log && slice.offset > target.received) {
        target.log->skipTo(
            slice.offset,
            say("run.log-left-out",
                {{"bytes", bytesWords(static_cast<int64_t>(slice.offset - target.received))},
                 {"node", m_node},
                 {"file", slice.file}}));
        target.received = slice.offset;
    }
    if (slice.bytes.empty() && slice.offset < target.received) {
        target.cutAt = slice.offset;
        return {};
    }
    if (slice.offset != target.received)
        return failAs(say("run.receive", {{"file", slice.file}}),
                      {ErrorCode::kCorrupt,
                       say("run.bytes-missing", {{"came", std::to_string(slice.offset)},
                                                 {"due", std::to_string(target.received)}})});
    target.received += slice.bytes.size();
    target.cutAt.reset();
    if (target.log) {
        target.log->feed(slice.bytes);
        target.log->stamp(slice.stamps);
    }
    if (target.journal && !target.isOver) {
        target.journal->feed(slice.bytes);
        decodeJournal(slice.file, target);
    }
    return {};
}

void NodeIngest::decodeJournal(const std::string& name, File& file) {
    for (;;) {
        auto record = file.journal->next();
        for (const LostBytes& lost : file.journal->takeLost())
            reportDamage(name, file,
                         say("run.bytes-lost", {{"bytes", std::to_string(lost.bytes)},
                                                {"from", std::to_string(lost.offset)},
                                                {"why", lost.why}}));
        if (!record) {
            file.isOver = true;
            reportDamage(name, file, record.error().message);
            return;
        }
        if (!*record)
            return;
        note(**record);
        add(std::move(**record), file.segment.attempt);
    }
}

void NodeIngest::reportDamage(const std::string& name, File& file, const std::string& what) {
    if (file.reports++ >= kMostReports)
        return;
    const int rank =
        file.log ? file.logRank : rankIn(file.segment.source, kRankSource).value_or(-1);
    add(Event{rank, -1, wallNowNs(), Severity::kError, kJournalDamagedEvent,
              say("run.file-damaged", {{"file", name}, {"what", what}})},
        file.segment.attempt);
}

void NodeIngest::add(Record record, int attempt) {
    m_records.push_back(std::move(record));
    m_attempts.push_back(attempt);
}

void NodeIngest::note(const Record& record) {
    if (std::holds_alternative<AttemptEnded>(record))
        m_ended = true;
    else if (std::holds_alternative<RankStarted>(record))
        m_ended = false;
}

std::optional<IngestBatch> NodeIngest::take() {
    IngestBatch batch;
    batch.run = m_run;
    batch.nodeIndex = m_nodeIndex;
    batch.records.swap(m_records);
    batch.attempts.swap(m_attempts);
    for (const auto& [name, file] : m_files) {
        if (file->log)
            for (TimedLine& line : m_ended ? file->log->takeAll() : file->log->take())
                batch.logLines.push_back({file->logRank, std::move(line.text), line.wallNs});
        uint64_t& committed = m_committed[name];
        const uint64_t cursor = file->cursor();
        if (cursor == committed)
            continue;
        batch.previous.emplace_back(name, committed);
        batch.cursors.emplace_back(name, cursor);
        committed = cursor;
    }
    if (batch.records.empty() && batch.logLines.empty() && batch.cursors.empty())
        return std::nullopt;
    return batch;
}

} // namespace rm

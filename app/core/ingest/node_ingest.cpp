// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/ingest/node_ingest.h"

#include "app/core/ingest/log_lines.h"
#include "shared/io/clock.h"
#include "shared/journal/journal.h"
#include "shared/return_if_error.h"

#include <charconv>

namespace rm {

namespace {

constexpr std::string_view kRankLog = "log/rank-";
constexpr std::string_view kRankJournal = "journal/rank-";

/// The number in "log/rank-00003.log"; nullopt for other files.
std::optional<int> rankIn(std::string_view file, std::string_view head) {
    if (!file.starts_with(head))
        return std::nullopt;
    int rank = 0;
    const char* begin = file.data() + head.size();
    const auto [end, error] = std::from_chars(begin, file.data() + file.size(), rank);
    const bool isNumber = error == std::errc() && *end == '.' && rank >= 0;
    return isNumber ? std::optional(rank) : std::nullopt;
}

} // namespace

struct NodeIngest::File {
    uint64_t received = 0; ///< offset behind the last byte taken
    std::optional<JournalScanner> journal;
    std::optional<LogLines> log;
    int logRank = -1;
    bool damaged = false;

    uint64_t cursor() const { return journal ? journal->cursor() : log->cursor(); }
};

NodeIngest::NodeIngest(QString run, int nodeIndex,
                       const std::vector<std::pair<std::string, uint64_t>>& cursors)
    : m_run(std::move(run))
    , m_nodeIndex(nodeIndex)
    , m_committed(cursors.begin(), cursors.end()) {}

NodeIngest::~NodeIngest() = default;
NodeIngest::NodeIngest(NodeIngest&&) noexcept = default;
NodeIngest& NodeIngest::operator=(NodeIngest&&) noexcept = default;

Result<NodeIngest::File*> NodeIngest::fileOf(const std::string& name) {
    if (const auto known = m_files.find(name); known != m_files.end())
        return known->second.get();
    const auto logRank = rankIn(name, kRankLog);
    if (!isReplicatedFile(name) || (name.starts_with("log/") && !logRank))
        return fail(ErrorCode::kCorrupt, "receive a file of run " + m_run.toStdString() +
                                             ": its name is \"" + name.substr(0, 100) +
                                             "\", which no run has");
    auto file = std::make_unique<File>();
    const auto stored = m_committed.try_emplace(name, 0).first;
    file->received = stored->second;
    if (logRank) {
        file->log.emplace(stored->second);
        file->logRank = *logRank;
    } else {
        file->journal.emplace(name, stored->second);
    }
    return m_files.emplace(name, std::move(file)).first->second.get();
}

Result<void> NodeIngest::onSlice(const Slice& slice) {
    RM_ASSIGN_OR_RETURN(const auto file, fileOf(slice.file));
    File& target = *file;
    if (slice.offset != target.received)
        return fail(ErrorCode::kCorrupt, "receive " + slice.file + ": bytes from " +
                                             std::to_string(slice.offset) + " came, from " +
                                             std::to_string(target.received) + " were due");
    target.received += slice.bytes.size();
    if (target.log)
        target.log->feed(slice.bytes);
    if (target.journal && !target.damaged) {
        target.journal->feed(slice.bytes);
        decodeJournal(slice.file, target);
    }
    return {};
}

void NodeIngest::decodeJournal(const std::string& name, File& file) {
    for (;;) {
        auto record = file.journal->next();
        if (!record) {
            file.damaged = true;
            m_records.push_back(Event{rankIn(name, kRankJournal).value_or(-1), -1, wallNowNs(),
                                      Severity::kError, "journal-damaged", record.error().message});
            return;
        }
        if (!*record)
            return;
        note(**record);
        m_records.push_back(std::move(**record));
    }
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
    for (const auto& [name, file] : m_files) {
        if (file->log)
            for (std::string& line : m_ended ? file->log->takeAll() : file->log->take())
                batch.logLines.emplace_back(file->logRank, std::move(line));
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

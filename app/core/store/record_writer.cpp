// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/record_writer.h"

#include "app/core/store/attempt_outcome.h"
#include "app/core/store/attempts.h"
#include "app/core/store/requested_command.h"
#include "app/core/store/run_summary.h"
#include "shared/counted.h"
#include "shared/io/clock.h"
#include "shared/journal/event_codes.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <span>

namespace rm {

namespace {

constexpr int32_t kMaxAttempts = 1 << 20;
constexpr int32_t kMostAhead = 10'000;   ///< attempts after the last that is known
constexpr int64_t kMaxOwnMetrics = 2000; ///< of a run
constexpr int64_t kMostCopies = 1000;    ///< on one node
constexpr size_t kMaxSettings = 100;
constexpr int64_t kMostChanges = 10'000; ///< of the settings of a run
constexpr size_t kMaxWords = 64;         ///< bytes of a metric's unit, label and the like
constexpr size_t kMaxDescription = 1024;
constexpr int64_t kMaxStep = int64_t(1) << 53;

MetricDef definitionOf(MetricId id) {
    if (const MetricDef* builtin = findBuiltinMetric(id))
        return *builtin;
    MetricDef unknown;
    unknown.id = id;
    unknown.name = "user/metric_" + std::to_string(id);
    unknown.description = "A metric that the run did not describe.";
    if (id >= metric::kGpuUtilization && id < metric::kFirstUser)
        unknown.clock = MetricClock::kWall; // what a newer agent samples
    return unknown;
}

/// Texts that describe a metric are shown on one line.
MetricDef shortened(MetricDef def) {
    for (std::string* text : {&def.unit, &def.panel, &def.label, &def.brief})
        text->resize(std::min(text->size(), kMaxWords));
    def.description.resize(std::min(def.description.size(), kMaxDescription));
    for (std::string* text : {&def.unit, &def.panel, &def.label, &def.brief, &def.description})
        std::erase_if(*text, [](unsigned char c) { return c < ' ' || c == 0x7f; });
    return def;
}

/// Whether the text can be a setting's key, in this or another release.
bool isKey(const std::string& key) {
    return key.size() <= kMaxWords && std::ranges::all_of(key, [](unsigned char c) {
               return c == '.' || c == '_' || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
           });
}

} // namespace

RecordWriter::RecordWriter(Database& database, StreamWriter& streams, WriterMemory& memory,
                           int64_t run, int node, std::string nodeName)
    : m_database(database)
    , m_streams(streams)
    , m_memory(memory)
    , m_run(run)
    , m_node(node)
    , m_nodeName(std::move(nodeName)) {}

void RecordWriter::apply(const Record& record, int32_t attempt) {
    if (attempt > 0 && !isAttempt(attempt))
        return;
    m_fileAttempt = attempt;
    std::visit([this](const auto& one) { on(one); }, record);
    m_fileAttempt = 0;
}

void RecordWriter::on(const AttemptStarted& record) {
    if (!isAttempt(record.attempt) || !isRank(record.rank) || !isStep(record.startStep))
        return;
    noteAttempt(record.attempt, {});
    // Where an attempt begins decides which earlier steps are retired.
    if (record.attempt <= runAttempt())
        m_database
            .query("INSERT INTO attempt (run, attempt, start_step, start_from, started_ns) "
                   "VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (run, attempt) DO UPDATE SET "
                   "start_step = ?3, start_from = ?4, started_ns = ?5 WHERE started_ns IS NULL")
            .with(m_run, record.attempt, record.startStep, record.startFrom, record.wallNs)
            .run();
    m_database
        .query("INSERT INTO rank (run, attempt, rank, node, step) VALUES (?1, ?2, ?3, ?4, ?5) "
               "ON CONFLICT (run, attempt, rank) DO UPDATE SET step = coalesce(step, ?5)")
        .with(m_run, record.attempt, record.rank, m_node, record.startStep)
        .run();
    int32_t& newest = m_memory.rankAttempts[{m_run, record.rank}];
    newest = std::max(newest, record.attempt); // the rest of an earlier one may come later
    m_lifecycleChanged = true;
    m_rankZeroStarted = m_rankZeroStarted || record.rank == 0;
}

void RecordWriter::on(const MetricRegistered& record) {
    const MetricDef& def = record.def;
    if (def.id < metric::kFirstUser || !isValidMetricName(def.name) || findBuiltinMetric(def.name))
        return refuse("metric " + std::to_string(def.id) + " with the name \"" +
                      def.name.substr(0, 64) + "\"");
    if (!hasRoomFor(def.name))
        return refuse("more than " + std::to_string(kMaxOwnMetrics) + " metrics, \"" + def.name +
                      "\" and others");
    m_memory.metrics[{m_run, def.id}] = storeMetric(shortened(def));
}

/// A metric whose name is known needs no more room.
bool RecordWriter::hasRoomFor(const std::string& metric) {
    auto known = m_database.query("SELECT count(*), sum(name = ?2) FROM metric WHERE run = ?1");
    return known.with(m_run, metric).next() &&
           (known.integer(0) < kMaxOwnMetrics || known.integer(1) > 0);
}

void RecordWriter::on(const Samples& record) {
    if (!isRank(record.rank) || !isStep(record.step))
        return;
    if (record.metric.size() != record.value.size())
        return refuse("samples with " + std::to_string(record.metric.size()) + " metrics and " +
                      std::to_string(record.value.size()) + " values");
    addSamples(record);
}

/// The node of a rank that rank 0 tells of, as of slow ranks anywhere; nullopt: no node has it.
std::optional<int> RecordWriter::nodeOf(int32_t rank) {
    auto rows = m_database.query(
        "SELECT node FROM node WHERE run = ?1 AND first_rank <= ?2 AND ?2 < first_rank + ranks "
        "AND attempt <= ?3 ORDER BY attempt DESC LIMIT 1");
    rows.with(m_run, rank, attemptOfRank(0));
    return rows.next() ? std::optional(rows.number(0)) : std::nullopt;
}

void RecordWriter::on(const Event& record) {
    const bool isOfAnyRank = record.code == kRankSlowEvent || record.code == kRankKeepsUpEvent;
    const auto elsewhere =
        isOfAnyRank && owns(0, m_fileAttempt) ? nodeOf(record.rank) : std::nullopt;
    if (!elsewhere && record.rank >= 0 && !isRank(record.rank))
        return;
    const int attempt = elsewhere         ? attemptOfRank(0)
                        : record.rank < 0 ? attemptOfNode()
                                          : attemptOfRank(record.rank);
    // A damaged file is found again at each attach, but reported only once.
    m_database
        .query("INSERT INTO event (run, attempt, node, rank, step, wall_ns, severity, code, "
               "message) SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9 WHERE ?8 <> ?10 "
               "OR NOT EXISTS (SELECT 1 FROM event WHERE run = ?1 AND node = ?3 AND code = ?8 AND "
               "message = ?9)")
        .with(m_run, attempt, elsewhere.value_or(m_node), record.rank, record.step, record.wallNs,
              static_cast<int>(record.severity), record.code, record.message, kJournalDamagedEvent)
        .run();
}

void RecordWriter::on(const CommandApplied& record) {
    if (!isOfRankZero())
        return;
    m_database
        .query("INSERT OR IGNORE INTO command (run, uuid, attempt, kind, step, wall_ns, ok, "
               "message) VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
        .with(m_run, record.id, attemptOfRank(0), record.kind, record.step, record.wallNs,
              record.ok, record.message)
        .run();
    // What the rank says counts, whatever was thought before.
    m_database
        .query("UPDATE asked_command SET state = ?3, step = ?4, answered_ns = ?5, answer = ?6 "
               "WHERE run = ?1 AND uuid = ?2 AND state NOT IN (2, 3)")
        .with(m_run, record.id,
              static_cast<int>(record.ok ? RequestedState::kApplied : RequestedState::kRefused),
              record.step, record.wallNs, record.message)
        .run();
}

void RecordWriter::on(const CheckpointSaved& record) {
    if (!isOfRankZero())
        return;
    m_database
        .query("INSERT INTO checkpoint (run, path, attempt, step, wall_ns, bytes, duration_ms, "
               "reason, validation_loss, best) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
               "ON CONFLICT (run, path) DO UPDATE SET attempt = excluded.attempt, step = "
               "excluded.step, wall_ns = excluded.wall_ns, bytes = excluded.bytes, duration_ms = "
               "excluded.duration_ms, reason = excluded.reason, validation_loss = "
               "excluded.validation_loss, best = excluded.best, removed = 0, verified_ns = NULL")
        .with(m_run, record.path, attemptOfRank(0), record.step, record.wallNs, record.bytes,
              record.durationMs, record.reason, record.validationLoss, record.best)
        .run();
}

void RecordWriter::on(const CheckpointRemoved& record) {
    if (!isOfRankZero())
        return;
    m_database.query("UPDATE checkpoint SET removed = 1 WHERE run = ? AND path = ?")
        .with(m_run, record.path)
        .run();
    // The copies that rank 0's node had made before it became that node's are in the same folder.
    m_database
        .query("DELETE FROM checkpoint_copy WHERE run = ?1 AND folder = ?2 AND node = "
               "(SELECT name FROM node WHERE run = ?1 AND node = ?3 AND attempt <= ?4 "
               "ORDER BY attempt DESC LIMIT 1)")
        .with(m_run, record.path, m_node, attemptOfNode())
        .run();
}

void RecordWriter::on(const CheckpointCopied& record) {
    // The node need not have been part of the attempt that saved it.
    const bool isKnown = record.attempt >= 1 && record.attempt <= runAttempt();
    if ((!isKnown && !isAttempt(record.attempt)) || !isStep(record.step))
        return;
    auto name = m_database.query("SELECT name FROM node WHERE run = ? AND node = ? AND "
                                 "attempt <= ? ORDER BY attempt DESC LIMIT 1");
    if (!name.with(m_run, m_node, attemptOfNode()).next())
        return refuse("a copy on a node that the run does not have");
    const std::string node = name.text(0);
    auto known = m_database.query(
        "SELECT count(*), sum(path = ?3) FROM checkpoint_copy WHERE run = ?1 AND node = ?2");
    if (known.with(m_run, node, record.path).next() && known.integer(0) >= kMostCopies &&
        known.integer(1) == 0)
        return refuse("more than " + std::to_string(kMostCopies) + " copies");
    for (const std::string& folder : record.dropped)
        m_database.query("DELETE FROM checkpoint_copy WHERE run = ? AND node = ? AND folder = ?")
            .with(m_run, node, folder)
            .run();
    m_database
        .query("INSERT OR REPLACE INTO checkpoint_copy (run, path, node, folder, wall_ns) "
               "VALUES (?, ?, ?, ?, ?)")
        .with(m_run, record.path, node, record.folder, record.wallNs)
        .run();
    if (!tookPart(record.attempt))
        return;
    // The node that saved it may be gone before it was asked.
    m_database
        .query("INSERT OR IGNORE INTO checkpoint (run, path, attempt, step, wall_ns, bytes, "
               "reason, best) VALUES (?, ?, ?, ?, ?, ?, ?, 0)")
        .with(m_run, record.path, record.attempt, record.step, record.wallNs, record.bytes,
              record.reason)
        .run();
}

void RecordWriter::on(const SettingsChanged& record) {
    // Its attempt has begun, as rank 0 says that first.
    if (!isOfRankZero() || !isStep(record.step) || attemptOfRank(0) > runAttempt())
        return;
    auto known = m_database.query("SELECT count(*) FROM settings WHERE run = ?");
    if (record.settings.size() > kMaxSettings ||
        (known.with(m_run).next() && known.integer(0) >= kMostChanges))
        return refuse("more than " + std::to_string(kMaxSettings) + " settings, or " +
                      std::to_string(kMostChanges) + " changes of them");
    QJsonObject settings;
    for (const auto& [key, value] : record.settings)
        if (std::isfinite(value) && isKey(key))
            settings[QString::fromStdString(key)] = value;
    m_database
        .query("INSERT OR REPLACE INTO settings (run, attempt, step, value) VALUES (?, ?, ?, ?)")
        .with(m_run, attemptOfRank(0), record.step,
              QJsonDocument(settings).toJson(QJsonDocument::Compact).toStdString())
        .run();
}

void RecordWriter::on(const StepsPlanned& record) {
    if (!isOfRankZero() || record.lastStep < 1 || attemptOfRank(0) != runAttempt())
        return;
    m_database.query("UPDATE run SET total_steps = ?2 WHERE id = ?1")
        .with(m_run, record.lastStep)
        .run();
    m_lifecycleChanged = true;
}

void RecordWriter::on(const SampleText& record) {
    if (!isOfRankZero())
        return;
    m_database
        .query("INSERT INTO sample_text (run, attempt, step, wall_ns, prompt, text, kind, "
               "reference, score, picture) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, nullif(?, x''))")
        .with(m_run, attemptOfRank(0), record.step, record.wallNs, record.prompt, record.text,
              static_cast<int>(record.kind), record.reference, // a NaN is stored as NULL
              static_cast<double>(record.score), std::span<const std::byte>(record.picture))
        .run();
}

void RecordWriter::on(const ConfusionMatrix& record) {
    if (!isOfRankZero() || !isStep(record.step))
        return;
    QJsonArray names;
    for (const std::string& name : record.names)
        names.append(QString::fromStdString(name));
    static_assert(std::endian::native == std::endian::little);
    m_database
        .query("INSERT INTO confusion (run, attempt, step, wall_ns, classes, names, counts) "
               "VALUES (?, ?, ?, ?, ?, ?, ?)")
        .with(m_run, attemptOfRank(0), record.step, record.wallNs, record.classes,
              QJsonDocument(names).toJson(QJsonDocument::Compact).toStdString(),
              std::as_bytes(std::span(record.counts)))
        .run();
}

void RecordWriter::on(const TraceRecorded& record) {
    if (!isRank(record.rank) || !isStep(record.firstStep))
        return;
    const std::string why =
        m_traces.add(m_database, {m_run, attemptOfRank(record.rank), m_node}, record);
    if (!why.empty())
        refuse(why);
}

void RecordWriter::on(const RankStarted& record) {
    if (!isAttempt(record.attempt) || !isRank(record.rank))
        return;
    noteAttempt(record.attempt, {});
    m_database
        .query("INSERT INTO rank (run, attempt, rank, node, pid) VALUES (?1, ?2, ?3, ?4, ?5) "
               "ON CONFLICT (run, attempt, rank) DO UPDATE SET pid = ?5")
        .with(m_run, record.attempt, record.rank, m_node, record.pid)
        .run();
    int32_t& newest = m_memory.nodeAttempts[{m_run, m_node}];
    newest = std::max(newest, record.attempt);
    m_lifecycleChanged = true;
}

void RecordWriter::on(const RankExited& record) {
    if (!isAttempt(record.attempt) || !isRank(record.rank))
        return;
    m_database
        .query("INSERT INTO rank (run, attempt, rank, node, exited, exit_code, signal, exited_ns, "
               "message, log_tail) VALUES (?1, ?2, ?3, ?4, 1, ?5, ?6, ?7, ?8, ?9) "
               "ON CONFLICT (run, attempt, rank) DO UPDATE SET exited = 1, exit_code = ?5, "
               "signal = ?6, exited_ns = ?7, message = ?8, log_tail = ?9")
        .with(m_run, record.attempt, record.rank, m_node, record.exitCode, record.signal,
              record.wallNs, record.message, record.tail)
        .run();
    m_lifecycleChanged = true;
}

void RecordWriter::on(const AttemptEnded& record) {
    if (!isAttempt(record.attempt))
        return;
    if (!m_endBefore && record.attempt == runAttempt())
        m_endBefore = attemptEnd(m_database, m_run, record.attempt);
    m_database
        .query("INSERT INTO node_end (run, attempt, node, outcome, first_failed_rank, exit_code, "
               "wall_ns, message, goes_on) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) "
               "ON CONFLICT (run, attempt, node) DO UPDATE SET outcome = ?4, "
               "first_failed_rank = ?5, exit_code = ?6, wall_ns = ?7, message = ?8, goes_on = ?9 "
               "WHERE goes_on = 1")
        .with(m_run, record.attempt, m_node, static_cast<int>(record.outcome),
              record.firstFailedRank, record.exitCode, record.wallNs, record.message,
              record.resumes)
        .run();
    m_endedAttempts.push_back(record.attempt);
    m_lifecycleChanged = true;
}

/// The run's nodes keep their numbers and names. Those that do not take part have no ranks.
void RecordWriter::on(const AttemptPlanned& record) {
    // A node that was declared lost may have begun one of the same number.
    if (!tookPart(record.attempt) || !isAttempt(record.attempt) || !isOfRankZero())
        return;
    noteAttempt(record.attempt, kRestartsMessage);
    m_database
        .query("INSERT OR IGNORE INTO attempt (run, attempt, start_step, start_from) "
               "VALUES (?, ?, NULL, ?)")
        .with(m_run, record.attempt, record.startFrom)
        .run();
    const auto place = [&](int32_t node, int32_t firstRank, int32_t ranks) {
        m_database
            .query("INSERT OR IGNORE INTO node (run, attempt, node, name, first_rank, ranks) "
                   "SELECT run, ?2, node, name, ?4, ?5 FROM node WHERE run = ?1 AND attempt = "
                   "(SELECT max(attempt) FROM node WHERE run = ?1 AND attempt < ?2) "
                   "AND (node = ?3 OR ?3 < 0)")
            .with(m_run, record.attempt, node, firstRank, ranks)
            .run();
    };
    for (const AttemptPlanned::Node& node : record.nodes)
        place(node.node, node.firstRank, node.ranks);
    place(-1, 0, 0); // all others, which have none
    m_lifecycleChanged = true;
}

void RecordWriter::refuse(const std::string& why) {
    if (m_refused++ == 0)
        m_whyRefused = why;
}

bool RecordWriter::isAttempt(int32_t attempt) {
    // The agents may have made many while nobody looked, and their files come in any order; see
    // noteAttempt().
    const bool valid = attempt >= 1 && attempt <= kMaxAttempts &&
                       attempt <= runAttempt() + kMostAhead && tookPart(attempt);
    if (!valid)
        refuse("attempt " + std::to_string(attempt));
    return valid;
}

bool RecordWriter::isRank(int32_t rank) {
    const bool valid = owns(rank, m_fileAttempt);
    if (!valid)
        refuse("rank " + std::to_string(rank));
    return valid;
}

const std::vector<RankRange>& RecordWriter::ranks() {
    if (!m_ranks)
        m_ranks = ranksOfNode(m_database, m_run, m_node, m_nodeName);
    return *m_ranks;
}

bool RecordWriter::owns(int32_t rank, int32_t attempt) {
    return std::ranges::any_of(ranks(),
                               [=](const RankRange& range) { return range.has(rank, attempt); });
}

/// Not in one that was asked for without it, whatever its agent has done on its own.
bool RecordWriter::tookPart(int32_t attempt) {
    return std::ranges::any_of(
        ranks(), [attempt](const RankRange& range) { return range.hasAttempt(attempt); });
}

/// Whether this node may tell what rank 0 alone tells.
bool RecordWriter::isOfRankZero() {
    return isRank(0);
}

bool RecordWriter::isStep(int64_t step) {
    const bool valid = step >= 0 && step <= kMaxStep;
    if (!valid)
        refuse("step " + std::to_string(step));
    return valid;
}

WriterMemory::Metric RecordWriter::metric(MetricId id) {
    const auto [known, isNew] = m_memory.metrics.try_emplace({m_run, id});
    if (!isNew)
        return known->second;
    auto stored = m_database.query("SELECT id, clock FROM metric WHERE run = ? AND journal_id = ?");
    if (id >= metric::kFirstUser && stored.with(m_run, static_cast<int>(id)).next())
        known->second = {stored.integer(0), MetricClock(stored.number(1))};
    else
        known->second = storeMetric(definitionOf(id));
    return known->second;
}

WriterMemory::Metric RecordWriter::storeMetric(const MetricDef& def) {
    // The newest registration of an id counts: a resumed run may number its metrics differently.
    m_database
        .query("UPDATE metric SET journal_id = NULL WHERE run = ? AND journal_id = ? AND name <> ?")
        .with(m_run, static_cast<int>(def.id), def.name)
        .run();
    auto stored = m_database.query(
        "INSERT INTO metric (run, journal_id, name, unit, kind, scope, description, clock, "
        "direction, format, ranks, smooth, panel, place, label, brief) "
        "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16) "
        "ON CONFLICT (run, name) DO UPDATE SET journal_id = ?2, unit = ?4, kind = ?5, scope = ?6, "
        "description = ?7, clock = ?8, direction = ?9, format = ?10, ranks = ?11, smooth = ?12, "
        "panel = ?13, place = ?14, label = ?15, brief = ?16 RETURNING id");
    stored.with(m_run, static_cast<int>(def.id), def.name, def.unit, static_cast<int>(def.kind),
                static_cast<int>(def.scope), def.description, static_cast<int>(def.clock),
                static_cast<int>(def.direction), static_cast<int>(def.format),
                static_cast<int>(def.ranks), def.smooth, def.panel, static_cast<int>(def.place),
                def.label, def.brief);
    int64_t id = 0;
    while (stored.next())
        id = stored.integer(0);
    return {id, def.clock};
}

int64_t RecordWriter::streamOf(int32_t rank, MetricClock clock) {
    const bool timed = clock == MetricClock::kWall;
    const int32_t attempt = timed ? attemptOfNode() : attemptOfRank(rank);
    const auto [known, isNew] = m_memory.streams.try_emplace({m_run, rank, timed, attempt}, 0);
    if (!isNew)
        return known->second;
    m_database.query("INSERT OR IGNORE INTO stream (run, rank, timed, attempt) VALUES (?, ?, ?, ?)")
        .with(m_run, rank, timed, attempt)
        .run();
    auto stored = m_database.query(
        "SELECT id FROM stream WHERE run = ? AND rank = ? AND timed = ? AND attempt = ?");
    if (stored.with(m_run, rank, timed, attempt).next())
        known->second = stored.integer(0);
    return known->second;
}

/// Adds one row to the stream of each clock that the record has values of.
void RecordWriter::addSamples(const Samples& record) {
    StreamRows* streams[] = {nullptr, nullptr};
    for (size_t i = 0; i < record.metric.size(); ++i) {
        const WriterMemory::Metric known = metric(record.metric[i]);
        StreamRows*& rows = streams[static_cast<size_t>(known.clock)];
        if (!rows) {
            rows = &m_rows[streamOf(record.rank, known.clock)];
            addRow(*rows, record.step, record.wallNs);
        }
        set(*rows, known.id, record.value[i]);
    }
    if (streams[static_cast<size_t>(MetricClock::kStep)])
        m_rankSteps[{attemptOfRank(record.rank), record.rank}] = record.step;
}

void RecordWriter::storeRankSteps() {
    for (const auto& [key, step] : m_rankSteps)
        m_database
            .query("INSERT INTO rank (run, attempt, rank, node, step) VALUES (?1, ?2, ?3, ?4, ?5) "
                   "ON CONFLICT (run, attempt, rank) DO UPDATE SET step = ?5")
            .with(m_run, key.first, key.second, m_node, step)
            .run();
}

Result<void> RecordWriter::storeStreams() {
    for (auto& [stream, rows] : m_rows)
        if (const auto stored = m_streams.append(stream, std::move(rows)); !stored)
            return stored;
    return {};
}

Result<void> RecordWriter::closeStreams() {
    std::vector<int64_t> streams;
    for (const int32_t attempt : m_endedAttempts) {
        auto open = m_database.query(
            "SELECT stream.id FROM stream JOIN rank ON rank.run = stream.run AND rank.rank = "
            "stream.rank "
            "AND rank.attempt = stream.attempt WHERE stream.run = ? AND stream.attempt <= ? "
            "AND rank.node = ? AND EXISTS (SELECT 1 FROM tail WHERE tail.stream = stream.id)");
        open.with(m_run, attempt, m_node);
        while (open.next())
            streams.push_back(open.integer(0));
    }
    for (const int64_t stream : streams)
        if (const auto closed = m_streams.close(stream); !closed)
            return closed;
    return {};
}

int32_t RecordWriter::runAttempt() {
    const auto attempt =
        m_database.query("SELECT attempt FROM run WHERE id = ?").with(m_run).firstInteger();
    return static_cast<int32_t>(attempt.value_or(1));
}

/// An attempt is asked for here, or begun by the node of rank 0. What another node tells of a later
/// one is kept, and counts once that node has told of it. `message`: of the run meanwhile.
void RecordWriter::noteAttempt(int32_t attempt, const std::string& message) {
    if (!owns(0, attempt))
        return;
    const int changed =
        m_database.query("UPDATE run SET attempt = ?2 WHERE id = ?1 AND attempt < ?2")
            .with(m_run, attempt)
            .run();
    if (changed > 0)
        setState(RunStateKind::kPreparing, message);
}

int32_t RecordWriter::attemptOfRank(int32_t rank) {
    if (m_fileAttempt > 0)
        return m_fileAttempt;
    const auto [known, isNew] = m_memory.rankAttempts.try_emplace({m_run, rank}, 0);
    if (isNew) {
        const auto attempt =
            m_database
                .query("SELECT max(attempt) FROM rank WHERE run = ? AND rank = ? AND step NOT NULL")
                .with(m_run, rank)
                .firstInteger();
        known->second = static_cast<int32_t>(attempt.value_or(0));
    }
    return known->second > 0 ? known->second : runAttempt();
}

int32_t RecordWriter::attemptOfNode() {
    if (m_fileAttempt > 0)
        return m_fileAttempt;
    const auto [known, isNew] = m_memory.nodeAttempts.try_emplace({m_run, m_node}, 0);
    if (isNew) {
        const auto attempt =
            m_database.query("SELECT max(attempt) FROM rank WHERE run = ? AND node = ? AND pid > 0")
                .with(m_run, m_node)
                .firstInteger();
        known->second = static_cast<int32_t>(attempt.value_or(0));
    }
    return known->second > 0 ? known->second : runAttempt();
}

void RecordWriter::setState(RunStateKind state, const std::string& message) {
    m_database.query("UPDATE run SET state = ?, message = ?, presumed = 0 WHERE id = ?")
        .with(static_cast<int>(state), message, m_run)
        .run();
}

/// A node has told what the app had concluded without it.
void RecordWriter::correct(RunStateKind presumed, RunStateKind state) {
    if (presumed != state)
        on(Event{-1, -1, wallNowNs(), Severity::kInfo, "end-corrected",
                 (m_nodeName.empty() ? "a node" : m_nodeName) +
                     " has told its end, so the run is " + runStateName(state) +
                     "; it was taken for " + runStateName(presumed)});
}

void RecordWriter::followAttempt() {
    const int32_t attempt = runAttempt();
    auto stored = m_database.query("SELECT state, presumed, message FROM run WHERE id = ?");
    const bool isThere = stored.with(m_run).next();
    const auto state = static_cast<RunStateKind>(isThere ? stored.number(0) : 0);
    const bool isPresumed = isThere && stored.number(1) != 0;
    // By what the nodes had told, of which one only waited for the others: what it says now counts.
    const bool isOfNodes = isThere && m_endBefore && m_endBefore->attempt == attempt &&
                           state == stateOf(m_endBefore->outcome) &&
                           stored.text(2) == m_endBefore->message;
    if (const auto end = attemptEnd(m_database, m_run, attempt)) {
        if (end->resumes)
            setState(RunStateKind::kPreparing, kRestartsMessage + (": " + end->message));
        else if (!hasEnded(state) || isPresumed || isOfNodes)
            setState(stateOf(end->outcome), end->message);
        if (isPresumed && !end->resumes)
            correct(state, stateOf(end->outcome));
        return;
    }
    if (m_rankZeroStarted && attemptOfRank(0) == attempt)
        setState(RunStateKind::kRunning, {});
}

Result<void> RecordWriter::finish() {
    if (m_refused > 0)
        on(Event{-1, -1, wallNowNs(), Severity::kWarning, "record-refused",
                 counted(static_cast<size_t>(m_refused), "record") + " of " +
                     (m_nodeName.empty() ? "a node" : m_nodeName) +
                     (m_refused == 1 ? " makes no sense: " : " make no sense, first: ") +
                     m_whyRefused});
    m_traces.store(m_database);
    storeRankSteps();
    if (const auto stored = storeStreams(); !stored)
        return stored;
    if (const auto closed = closeStreams(); !closed)
        return closed;
    if (m_lifecycleChanged)
        followAttempt();
    return {};
}

} // namespace rm

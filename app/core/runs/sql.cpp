// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/runs/sql.h"

#include "app/core/runs/run_tags.h"
#include "app/core/runs/run_trace.h"
#include "app/core/runs/run_values.h"
#include "app/core/store/database.h"
#include "app/core/store/store_reader.h"
#include "shared/spec/schema.h"

#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

namespace rm {

namespace {

constexpr int kLinesAtOnce = 10'000;
constexpr int64_t kStepsAtOnce = 100'000;

/// What is read one after another for a table: a run, or one series of it.
struct Part {
    RunSummary run;
    SeriesKey series = {};
    int64_t next = -1; ///< where the rest of it begins: a step, or behind the id of a line
};

/// What a statement asks for; parts that it rules out are not read.
struct Wanted {
    std::optional<std::string> run, metric;
    std::optional<int64_t> rank;
};

/// A table and how it is read.
struct Source {
    SqlTable table;
    int run, metric, rank; ///< columns by which parts are ruled out; -1: it has none
    std::vector<Part> (*parts)(StoreReader&, const Wanted&);
    /// Adds some rows, and moves `next` on; false: that was all of the part.
    bool (*read)(StoreReader&, Part&, std::vector<SqlRow>& rows);
};

SqlValue timeOf(int64_t ns) {
    return ns > 0 ? SqlValue(static_cast<double>(ns) / 1e9) : SqlValue();
}

/// SQLite knows no NaN.
SqlValue numberOf(double value) {
    return std::isnan(value) ? SqlValue() : SqlValue(value);
}

SqlValue numberOf(const std::optional<double>& value) {
    return value ? numberOf(*value) : SqlValue();
}

SqlValue textOf(const QString& text) {
    return text.toStdString();
}

SqlValue flag(bool value) {
    return int64_t{value ? 1 : 0};
}

std::vector<Part> partsByRun(StoreReader& reader, const Wanted& wanted) {
    std::vector<Part> parts;
    for (RunSummary& run : reader.runs())
        if (!wanted.run || *wanted.run == run.id.toStdString())
            parts.push_back({std::move(run)});
    return parts;
}

std::vector<Part> partsBySeries(StoreReader& reader, const Wanted& wanted) {
    std::vector<Part> parts;
    for (const Part& part : partsByRun(reader, wanted))
        for (const SeriesKey& key : reader.series(part.run.id))
            if ((!wanted.metric || *wanted.metric == key.metric) &&
                (!wanted.rank || *wanted.rank == key.rank))
                parts.push_back({part.run, key});
    return parts;
}

bool runRows(StoreReader&, Part& part, std::vector<SqlRow>& rows) {
    const RunSummary& run = part.run;
    rows.push_back({textOf(run.id),
                    textOf(run.name),
                    std::string(runStateName(run)),
                    run.step,
                    run.totalSteps,
                    numberOf(run.loss),
                    numberOf(run.validationLoss),
                    timeOf(run.createdNs),
                    timeOf(run.updatedNs),
                    int64_t{run.attempt},
                    int64_t{run.ranks},
                    nodesText(run),
                    run.tags.join(", ").toStdString(),
                    textOf(run.notes),
                    textOf(run.message),
                    textOf(run.parentRun),
                    run.parentStep,
                    textOf(run.sweep),
                    flag(run.isStarred),
                    flag(run.isArchived)});
    return false;
}

bool specRows(StoreReader& reader, Part& part, std::vector<SqlRow>& rows) {
    const auto spec = parseRunSpec(reader.specToml(part.run.id), part.run.id.toStdString());
    if (!spec) // of a later release
        return false;
    for (const SchemaRow& row : schemaRows())
        if (usesField(*spec, row))
            rows.push_back({textOf(part.run.id), std::string(row.key), valueText(row, *spec)});
    return false;
}

bool metricRows(StoreReader& reader, Part& part, std::vector<SqlRow>& rows) {
    for (const MetricDef& metric : reader.metrics(part.run.id))
        rows.push_back({textOf(part.run.id), metric.name, metric.unit, metric.description});
    return false;
}

/// By steps, as a series can be long.
bool sampleRows(StoreReader& reader, Part& part, std::vector<SqlRow>& rows) {
    const int64_t first = part.next < 0 ? INT64_MIN : part.next;
    part.next = std::max<int64_t>(0, part.next) + kStepsAtOnce;
    for (const Point& point : reader.points(part.run.id, part.series, first, part.next - 1))
        rows.push_back({textOf(part.run.id), part.series.metric, int64_t{part.series.rank},
                        point.step, timeOf(point.wallNs), numberOf(point.value)});
    const auto last = reader.lastPoint(part.run.id, part.series);
    return last && last->step >= part.next;
}

bool eventRows(StoreReader& reader, Part& part, std::vector<SqlRow>& rows) {
    for (const StoredEvent& stored : reader.events(part.run.id, INT_MAX)) {
        const Event& event = stored.event;
        rows.push_back({textOf(part.run.id), int64_t{stored.attempt}, int64_t{stored.nodeIndex},
                        int64_t{event.rank}, event.step, timeOf(event.wallNs),
                        std::string(severityName(event.severity)), event.code, event.message});
    }
    return false;
}

bool attemptRows(StoreReader& reader, Part& part, std::vector<SqlRow>& rows) {
    for (const StoredAttempt& attempt : reader.attempts(part.run.id))
        if (attempt.hasStarted)
            rows.push_back({textOf(part.run.id), int64_t{attempt.attempt}, attempt.startStep,
                            timeOf(attempt.startedNs), attempt.runtime});
    return false;
}

bool commandRows(StoreReader& reader, Part& part, std::vector<SqlRow>& rows) {
    for (const auto& [applied, attempt] : reader.commands(part.run.id))
        rows.push_back({textOf(part.run.id), int64_t{attempt}, applied.kind, applied.step,
                        timeOf(applied.wallNs), flag(applied.ok)});
    return false;
}

bool checkpointRows(StoreReader& reader, Part& part, std::vector<SqlRow>& rows) {
    for (const StoredCheckpoint& stored : reader.checkpoints(part.run.id))
        if (stored.retiredBy == 0 && !stored.removed)
            rows.push_back({textOf(part.run.id), stored.saved.step, stored.node, stored.saved.path,
                            timeOf(stored.saved.wallNs), flag(stored.isBest),
                            flag(stored.isPinned)});
    return false;
}

bool traceRows(StoreReader& reader, Part& part, std::vector<SqlRow>& rows) {
    const std::vector<StoredTrace> traces = reader.traces(part.run.id);
    const auto at = static_cast<size_t>(++part.next);
    if (at >= traces.size())
        return false;
    const TraceId& id = traces[at].id;
    const AlignedTrace trace = alignTrace(id, reader.trace(part.run.id, id));
    const auto seconds = [](int64_t ns) { return static_cast<double>(ns) / 1e9; };
    for (const AlignedRank& rank : trace.ranks)
        for (const TraceSlice& slice : rank.slices)
            rows.push_back({textOf(part.run.id), int64_t{id.attempt}, id.firstStep,
                            int64_t{rank.rank}, rank.node, slice.step,
                            std::string(traceKindName(slice.kind)), seconds(slice.beginNs),
                            seconds(slice.durationNs),
                            isCollective(slice.kind) ? SqlValue(slice.bytes) : SqlValue(),
                            isCollective(slice.kind) ? SqlValue(slice.number) : SqlValue()});
    return at + 1 < traces.size();
}

bool logRows(StoreReader& reader, Part& part, std::vector<SqlRow>& rows) {
    const auto lines = reader.log(part.run.id, -1, part.next, kLinesAtOnce);
    for (const LogLine& line : lines)
        rows.push_back({textOf(part.run.id), int64_t{line.rank}, timeOf(line.wallNs), line.text,
                        line.node, std::string(severityName(line.severity)), flag(line.isStamped)});
    if (!lines.empty())
        part.next = lines.back().id;
    return !lines.empty();
}

const std::vector<Source>& sources() {
    static const std::vector<Source> all = {
        {{"runs", "id TEXT, name TEXT, state TEXT, step INTEGER, total_steps INTEGER, loss REAL, "
                  "best_validation_loss REAL, created REAL, updated REAL, attempt INTEGER, "
                  "ranks INTEGER, nodes TEXT, tags TEXT, notes TEXT, message TEXT, parent TEXT, "
                  "parent_step INTEGER, sweep TEXT, starred INTEGER, archived INTEGER"},
         0,
         -1,
         -1,
         &partsByRun,
         &runRows},
        {{"spec", "run TEXT, key TEXT, value TEXT"}, 0, -1, -1, &partsByRun, &specRows},
        {{"metrics", "run TEXT, name TEXT, unit TEXT, description TEXT"},
         0,
         -1,
         -1,
         &partsByRun,
         &metricRows},
        {{"samples", "run TEXT, metric TEXT, rank INTEGER, step INTEGER, time REAL, value REAL"},
         0,
         1,
         2,
         &partsBySeries,
         &sampleRows},
        {{"events",
          "run TEXT, attempt INTEGER, node INTEGER, rank INTEGER, step INTEGER, time REAL, "
          "severity TEXT, code TEXT, message TEXT"},
         0,
         -1,
         -1,
         &partsByRun,
         &eventRows},
        {{"attempts", "run TEXT, attempt INTEGER, start_step INTEGER, started REAL, runtime TEXT"},
         0,
         -1,
         -1,
         &partsByRun,
         &attemptRows},
        {{"commands",
          "run TEXT, attempt INTEGER, kind TEXT, step INTEGER, time REAL, done INTEGER"},
         0,
         -1,
         -1,
         &partsByRun,
         &commandRows},
        {{"checkpoints", "run TEXT, step INTEGER, node TEXT, folder TEXT, time REAL, best INTEGER, "
                         "pinned INTEGER"},
         0,
         -1,
         -1,
         &partsByRun,
         &checkpointRows},
        {{"logs", "run TEXT, rank INTEGER, time REAL, text TEXT, node TEXT, severity TEXT, stamped "
                  "INTEGER"},
         0,
         -1,
         -1,
         &partsByRun,
         &logRows},
        {{"trace_slices", "run TEXT, attempt INTEGER, first_step INTEGER, rank INTEGER, node TEXT, "
                          "step INTEGER, kind TEXT, begin REAL, duration REAL, bytes INTEGER, "
                          "number INTEGER"},
         0,
         -1,
         -1,
         &partsByRun,
         &traceRows}};
    return all;
}

// SQLite's virtual tables (sqlite.org/vtab.html): eponymous ones, that are there without a CREATE.

/// Behind all tables of a connection.
struct Shared {
    StoreReader* reader;
    const Source* source;
};

struct Table : sqlite3_vtab {
    const Shared* shared;
};

struct Cursor : sqlite3_vtab_cursor {
    const Shared* shared = nullptr;
    std::vector<Part> parts;
    size_t part = 0; ///< which is read
    std::vector<SqlRow> rows;
    size_t at = 0;
    int64_t id = 0;

    void next() {
        ++at;
        ++id;
        while (at >= rows.size() && part < parts.size()) {
            rows.clear();
            at = 0;
            if (!shared->source->read(*shared->reader, parts[part], rows))
                ++part;
        }
    }
    bool isAtEnd() const { return at >= rows.size(); }
};

enum Constraint { kRun = 1, kMetric = 2, kRank = 4 };

int connectTable(sqlite3* connection, void* shared, int, const char* const*, sqlite3_vtab** table,
                 char**) {
    const auto* all = static_cast<const Shared*>(shared);
    const std::string declaration =
        std::string("CREATE TABLE x(") + all->source->table.columns + ")";
    if (const int code = sqlite3_declare_vtab(connection, declaration.c_str()); code != SQLITE_OK)
        return code;
    auto* made = new Table{};
    made->shared = all;
    *table = made;
    return SQLITE_OK;
}

int disconnectTable(sqlite3_vtab* table) {
    delete static_cast<Table*>(table);
    return SQLITE_OK;
}

/// Equalities of the columns that rule parts out are taken, in the order of their bits; SQLite
/// checks the rows all the same. Texts are compared byte by byte here.
int bestIndex(sqlite3_vtab* table, sqlite3_index_info* info) {
    const Source& source = *static_cast<Table*>(table)->shared->source;
    info->estimatedCost = 1e9;
    int argument = 0;
    for (const auto& [column, bit] :
         {std::pair(source.run, kRun), std::pair(source.metric, kMetric),
          std::pair(source.rank, kRank)})
        for (int at = 0; at < info->nConstraint; ++at) {
            const auto& constraint = info->aConstraint[at];
            const bool isTaken = constraint.usable && constraint.iColumn == column && column >= 0 &&
                                 constraint.op == SQLITE_INDEX_CONSTRAINT_EQ &&
                                 std::string_view(sqlite3_vtab_collation(info, at)) == "BINARY";
            if (!isTaken || (info->idxNum & bit) != 0)
                continue;
            info->idxNum |= bit;
            info->aConstraintUsage[at].argvIndex = ++argument;
            info->estimatedCost /= 100;
        }
    return SQLITE_OK;
}

int openCursor(sqlite3_vtab* table, sqlite3_vtab_cursor** cursor) {
    auto* made = new Cursor{};
    made->shared = static_cast<Table*>(table)->shared;
    *cursor = made;
    return SQLITE_OK;
}

int closeCursor(sqlite3_vtab_cursor* cursor) {
    delete static_cast<Cursor*>(cursor);
    return SQLITE_OK;
}

std::string textOf(sqlite3_value* value) {
    const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
    return text ? text : "";
}

int filterRows(sqlite3_vtab_cursor* base, int number, const char*, int, sqlite3_value** values) {
    auto& cursor = *static_cast<Cursor*>(base);
    Wanted wanted;
    if (number & kRun)
        wanted.run = textOf(*values++);
    if (number & kMetric)
        wanted.metric = textOf(*values++);
    if (number & kRank)
        wanted.rank = sqlite3_value_int64(*values++);
    cursor.parts = cursor.shared->source->parts(*cursor.shared->reader, wanted);
    cursor.part = 0;
    cursor.rows.clear();
    cursor.next();
    cursor.id = 0;
    return SQLITE_OK;
}

int nextRow(sqlite3_vtab_cursor* cursor) {
    static_cast<Cursor*>(cursor)->next();
    return SQLITE_OK;
}

int isAtEnd(sqlite3_vtab_cursor* cursor) {
    return static_cast<Cursor*>(cursor)->isAtEnd() ? 1 : 0;
}

void giveText(sqlite3_context* context, const std::string& text) {
    sqlite3_result_text64(context, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

int giveColumn(sqlite3_vtab_cursor* base, sqlite3_context* context, int column) {
    const auto& cursor = *static_cast<Cursor*>(base);
    const SqlValue& value = cursor.rows[cursor.at][static_cast<size_t>(column)];
    if (const auto* whole = std::get_if<int64_t>(&value))
        sqlite3_result_int64(context, *whole);
    else if (const auto* number = std::get_if<double>(&value))
        sqlite3_result_double(context, *number);
    else if (const auto* text = std::get_if<std::string>(&value))
        giveText(context, *text);
    else
        sqlite3_result_null(context);
    return SQLITE_OK;
}

int giveId(sqlite3_vtab_cursor* cursor, sqlite3_int64* id) {
    *id = static_cast<Cursor*>(cursor)->id;
    return SQLITE_OK;
}

const sqlite3_module& module() {
    static const sqlite3_module all = [] {
        sqlite3_module made{};
        made.xConnect = &connectTable;
        made.xBestIndex = &bestIndex;
        made.xDisconnect = &disconnectTable;
        made.xOpen = &openCursor;
        made.xClose = &closeCursor;
        made.xFilter = &filterRows;
        made.xNext = &nextRow;
        made.xEof = &isAtEnd;
        made.xColumn = &giveColumn;
        made.xRowid = &giveId;
        return made;
    }();
    return all;
}

/// value(run, key).
struct ValueCalls {
    StoreReader& reader;
    RunValues known = {};
    std::map<QString, std::optional<RunSummary>> runs = {};
};

void giveValue(sqlite3_context* context, int, sqlite3_value** arguments) {
    auto& values = *static_cast<ValueCalls*>(sqlite3_user_data(context));
    const QString id = QString::fromStdString(textOf(arguments[0]));
    const auto key = parseValueKey(textOf(arguments[1]));
    if (!key)
        return sqlite3_result_error(context, key.error().message.c_str(), -1);
    auto run = values.runs.find(id);
    if (run == values.runs.end())
        run = values.runs.emplace(id, values.reader.run(id)).first;
    const auto text = run->second ? values.known.valueOf(values.reader, *run->second, *key)
                                  : std::optional<std::string>();
    const QString words = QString::fromStdString(text.value_or(""));
    bool isWhole = false, isNumber = false;
    const qlonglong whole = words.toLongLong(&isWhole);
    const double number = words.toDouble(&isNumber);
    if (!text)
        sqlite3_result_null(context);
    else if (isWhole)
        sqlite3_result_int64(context, whole);
    else if (isNumber && std::isfinite(number))
        sqlite3_result_double(context, number);
    else
        giveText(context, *text);
}

SqlValue valueOf(const SQLite::Column& column) {
    switch (column.getType()) {
    case SQLITE_INTEGER:
        return column.getInt64();
    case SQLITE_FLOAT:
        return column.getDouble();
    case SQLITE_TEXT:
        return column.getString();
    case SQLITE_BLOB: {
        const QByteArray bytes(static_cast<const char*>(column.getBlob()), column.getBytes());
        return bytes.toHex().toStdString();
    }
    default:
        return {};
    }
}

Result<void> answer(SQLite::Database& connection, const std::string& statement,
                    const SqlSink& sink) {
    SQLite::Statement prepared(connection, statement);
    std::vector<std::string> columns;
    for (int at = 0; at < prepared.getColumnCount(); ++at)
        columns.emplace_back(prepared.getColumnName(at));
    sink.begin(columns);
    while (true) {
        const int code = prepared.tryExecuteStep();
        if (code == SQLITE_ERROR) // of a function of the statement, such as value()
            return fail(ErrorCode::kInvalid, std::string("run SQL: ") + connection.getErrorMsg());
        if (code != SQLITE_ROW && code != SQLITE_DONE)
            throw SQLite::Exception(connection.getHandle(), code);
        if (code == SQLITE_DONE)
            break;
        SqlRow row;
        for (int at = 0; at < prepared.getColumnCount(); ++at)
            row.push_back(valueOf(prepared.getColumn(at)));
        if (!sink.add(row))
            break;
    }
    return {};
}

/// A statement may read, and list the columns of a table; no more. SQLite asks while it compiles
/// it.
int mayDo(void*, int action, const char* first, const char*, const char*, const char*) {
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_FUNCTION:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    case SQLITE_PRAGMA:
        return std::string_view(first) == "table_info" || std::string_view(first) == "table_list"
                   ? SQLITE_OK
                   : SQLITE_DENY;
    default:
        return SQLITE_DENY;
    }
}

/// What SQLite says of a statement that it does not take.
std::optional<std::string> mistakeIn(SQLite::Database& connection, const std::string& statement) {
    sqlite3_stmt* prepared = nullptr;
    const char* rest = nullptr;
    const int code =
        sqlite3_prepare_v2(connection.getHandle(), statement.c_str(), -1, &prepared, &rest);
    const std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)> owned(prepared,
                                                                           &sqlite3_finalize);
    if (code == SQLITE_AUTH)
        return "it would do more than read, which is all that is run";
    if (code != SQLITE_OK)
        return connection.getErrorMsg();
    if (!prepared)
        return "there is no statement in it";
    sqlite3_stmt* second = nullptr; // of what is behind the first: blanks and comments are none
    const int after = sqlite3_prepare_v2(connection.getHandle(), rest, -1, &second, nullptr);
    sqlite3_finalize(second);
    if (after != SQLITE_OK || second)
        return "it has several statements, and one is run at a time";
    return std::nullopt;
}

} // namespace

const std::vector<SqlTable>& sqlTables() {
    static const std::vector<SqlTable> all = [] {
        std::vector<SqlTable> tables;
        for (const Source& source : sources())
            tables.push_back(source.table);
        return tables;
    }();
    return all;
}

Result<void> runSql(const QString& database, const std::string& statement, const SqlSink& sink) {
    auto reader = StoreReader::open(database);
    if (!reader)
        return tl::unexpected(reader.error());
    ValueCalls values{**reader};
    std::vector<Shared> shared;
    for (const Source& source : sources())
        shared.push_back({reader->get(), &source});
    return guarded("run SQL", database.toStdString(), [&]() -> Result<void> {
        // The tables read through `reader`; this connection has the stored ones.
        ReadConnection stored(database.toStdString());
        SQLite::Database& connection = stored.connection();
        for (Shared& each : shared)
            sqlite3_create_module(connection.getHandle(), each.source->table.name, &module(),
                                  &each);
        sqlite3_create_function(connection.getHandle(), "value", 2,
                                SQLITE_UTF8 | SQLITE_DETERMINISTIC, &values, &giveValue, nullptr,
                                nullptr);
        for (const Shared& each : shared) // SQLite declares them now, which no statement may
            static_cast<void>(SQLite::Statement(connection, std::string("SELECT 1 FROM ") +
                                                                each.source->table.name));
        sqlite3_set_authorizer(connection.getHandle(), &mayDo, nullptr);
        if (const auto mistake = mistakeIn(connection, statement))
            return fail(ErrorCode::kInvalid, "run SQL: " + *mistake);
        if (auto answered = answer(connection, statement, sink); !answered)
            return answered;
        if (const auto failure = (*reader)->failure())
            return tl::unexpected(*failure);
        return {};
    });
}

} // namespace rm

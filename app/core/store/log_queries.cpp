// SPDX-License-Identifier: GPL-3.0-or-later
// StoreReader's queries about the logs of a run.
#include "app/core/store/log_search.h"
#include "app/core/store/log_severity.h"
#include "app/core/store/reader_impl.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>

namespace rm {

namespace {

constexpr int kAllLines = std::numeric_limits<int>::max();
constexpr int64_t kFarPast = std::numeric_limits<int64_t>::min();

std::string likePattern(const std::string& contains) {
    std::string pattern = "%";
    for (const char c : contains) {
        if (c == '%' || c == '_' || c == '\\')
            pattern += '\\';
        pattern += c;
    }
    return pattern + "%";
}

bool isEarlier(const LogLine& a, const LogLine& b) {
    return std::tie(a.wallNs, a.id) < std::tie(b.wallNs, b.id);
}

/// Where a page begins or ends.
struct LogBounds {
    int64_t fromNs = kFarPast;
    int64_t fromNsAfterId = 0; ///< of fromNs itself only later ids
    int64_t beforeNs = std::numeric_limits<int64_t>::max();
    int64_t beforeId = 0; ///< of beforeNs itself only earlier ids
    int64_t afterId = 0;
};

/// A question about the lines of one run.
class LogQuestion {
public:
    LogQuestion(Database& database, int64_t run, const LogChoice& choice)
        : m_database(database)
        , m_run(run)
        , m_choice(choice)
        , m_search(choice.search)
        , m_expression(m_search.expression()) {
        if (auto row = database.query("SELECT filled, unrated FROM log_search"); row.next()) {
            m_filled = row.integer(0);
            m_unrated = row.integer(1);
        }
        m_first = database.query("SELECT min(id) FROM log_line WHERE run = ?")
                      .with(run)
                      .firstInteger()
                      .value_or(0);
        m_last = database.query("SELECT max(id) FROM log_line WHERE run = ?")
                     .with(run)
                     .firstInteger()
                     .value_or(0);
    }

    int64_t lastId() const { return m_last; }
    bool isByWords() const { return !m_expression.empty(); }

    /// Calls `visitor` until it returns false. By words: as the lines were stored, otherwise by
    /// time or, for those behind an id, as they were stored.
    template <class Visitor>
    void visit(const LogBounds& bounds, bool isAscending, const Visitor& visitor) {
        if (!isByWords())
            visitLines(bounds, isAscending, 0, visitor);
        else if (isAscending)
            static_cast<void>(visitWords(bounds, true, visitor) &&
                              visitLines(bounds, true, m_filled, visitor));
        else
            static_cast<void>(visitLines(bounds, false, m_filled, visitor) &&
                              visitWords(bounds, false, visitor));
    }

    /// Up to `limit` lines, by time.
    std::vector<LogLine> read(const LogBounds& bounds, bool isAscending, int limit, bool& isAll) {
        std::vector<LogLine> lines;
        isAll = true;
        visit(bounds, isAscending, [&](LogLine&& line) {
            isAll = std::ssize(lines) < limit;
            if (isAll)
                lines.push_back(std::move(line));
            return isAll;
        });
        std::ranges::sort(lines, isEarlier);
        return lines;
    }

private:
    struct Bound {
        std::optional<int64_t> number;
        std::string text = {};
    };

    /// Those that the index of words has.
    template <class Visitor>
    bool visitWords(const LogBounds& bounds, bool isAscending, const Visitor& visitor) {
        if (m_last == 0 || m_first > m_filled)
            return true;
        std::vector<Bound> bound{{std::nullopt, m_expression},
                                 {std::max(m_first, bounds.afterId + 1)},
                                 {std::min(m_last, m_filled)}};
        std::string sql = std::string(kColumns) +
                          "FROM log_text CROSS JOIN log_line l ON l.id = log_text.rowid "
                          "WHERE log_text MATCH ? AND log_text.rowid BETWEEN ? AND ?";
        addConditions(sql, bound, bounds);
        sql += std::string(" ORDER BY log_text.rowid") + (isAscending ? "" : " DESC");
        return step(sql, bound, visitor);
    }

    /// Those behind an id by reading each.
    template <class Visitor>
    bool visitLines(const LogBounds& bounds, bool isAscending, int64_t behind,
                    const Visitor& visitor) {
        if (m_last == 0 || m_last <= behind)
            return true;
        std::vector<Bound> bound;
        std::string sql = std::string(kColumns) + "FROM log_line l WHERE 1";
        addConditions(sql, bound, bounds);
        for (const std::string& part : m_search.parts()) {
            sql += " AND l.text LIKE ? ESCAPE '\\'";
            bound.push_back({std::nullopt, likePattern(part)});
        }
        const bool isById = bounds.afterId != 0 || isByWords();
        if (isById) {
            sql += " AND l.id > ?";
            bound.push_back({std::max(bounds.afterId, behind)});
        }
        const std::string order = isAscending ? "" : " DESC";
        sql += isById ? " ORDER BY l.id" + order : " ORDER BY l.wall_ns" + order + ", l.id" + order;
        return step(sql, bound, visitor);
    }

    void addConditions(std::string& sql, std::vector<Bound>& bound, const LogBounds& bounds) const {
        const auto add = [&](const char* condition, std::initializer_list<int64_t> values) {
            sql += std::string(" AND ") + condition;
            for (const int64_t value : values)
                bound.push_back({value});
        };
        add("l.run = ?", {m_run});
        if (m_choice.rank >= 0)
            add("l.rank = ?", {m_choice.rank});
        const auto least = static_cast<int64_t>(m_choice.least);
        if (least > 0 && m_filled < m_unrated)
            add("(l.severity >= ? OR l.id <= ?)", {least, m_unrated});
        else if (least > 0) // the first for SQLite, which has an index of these
            add("l.severity > 0 AND l.severity >= ?", {least});
        if (const int64_t from = std::max(bounds.fromNs, m_choice.sinceNs); from > 0)
            add("l.wall_ns >= ?", {from});
        if (m_choice.untilNs != std::numeric_limits<int64_t>::max())
            add("l.wall_ns <= ?", {m_choice.untilNs});
        if (bounds.fromNsAfterId != 0)
            add("(l.wall_ns > ? OR l.id > ?)", {bounds.fromNs, bounds.fromNsAfterId});
        if (bounds.beforeNs != std::numeric_limits<int64_t>::max())
            add("l.wall_ns <= ? AND (l.wall_ns < ? OR l.id < ?)",
                {bounds.beforeNs, bounds.beforeNs, bounds.beforeId});
        if (!m_choice.contains.isEmpty()) {
            sql += " AND l.text LIKE ? ESCAPE '\\'";
            bound.push_back({std::nullopt, likePattern(m_choice.contains.toStdString())});
        }
    }

    /// False: the visitor wants no more.
    template <class Visitor>
    bool step(const std::string& sql, const std::vector<Bound>& bound, const Visitor& visitor) {
        SQLite::Statement rows(m_database.connection(), sql);
        for (size_t at = 0; at < bound.size(); ++at)
            if (bound[at].number)
                rows.bind(static_cast<int>(at) + 1, *bound[at].number);
            else
                rows.bind(static_cast<int>(at) + 1, bound[at].text);
        while (rows.executeStep()) {
            LogLine line{
                rows.getColumn(0).getInt64(),    rows.getColumn(1).getInt(),
                rows.getColumn(2).getInt64(),    rows.getColumn(3).getString(),
                rows.getColumn(4).getInt() != 0, static_cast<Severity>(rows.getColumn(5).getInt()),
                rows.getColumn(6).getString()};
            if (line.id > m_filled && line.id <= m_unrated)
                line.severity = severityOf(line.text);
            const bool fits = line.severity >= m_choice.least &&
                              (m_search.isEmpty() || m_search.matches(line.text));
            if (fits && !visitor(std::move(line)))
                return false;
        }
        return true;
    }

    static constexpr const char* kColumns =
        "SELECT l.id, l.rank, l.wall_ns, l.text, l.stamped, l.severity, l.node ";

    Database& m_database;
    int64_t m_run;
    const LogChoice& m_choice;
    LogSearch m_search;
    std::string m_expression;
    int64_t m_filled = 0;  ///< ids up to it are in the index of words
    int64_t m_unrated = 0; ///< those behind that have no severity up to this one
    int64_t m_first = 0, m_last = 0;
};

} // namespace

std::vector<LogLine> StoreReader::log(const QString& run, int rank, int64_t afterId, int limit,
                                      const QString& contains) {
    return m_impl->read("read the log of a run", [&] {
        std::vector<LogLine> lines;
        const LogChoice choice{rank, contains};
        LogQuestion question(m_impl->database, m_impl->runId(run).value_or(-1), choice);
        const bool isTail = afterId == 0;
        LogBounds bounds;
        bounds.afterId = isTail ? -1 : afterId;
        question.visit(bounds, !isTail, [&](LogLine&& line) {
            if (std::ssize(lines) < limit)
                lines.push_back(std::move(line));
            return std::ssize(lines) < limit;
        });
        if (isTail)
            std::ranges::reverse(lines);
        return lines;
    });
}

LogPage StoreReader::logTail(const QString& run, const LogChoice& choice, int limit) {
    return m_impl->read("read the log of a run", [&] {
        LogQuestion question(m_impl->database, m_impl->runId(run).value_or(-1), choice);
        LogPage page{{}, true, question.lastId()};
        page.lines = question.read({}, false, limit, page.isAll);
        return page;
    });
}

LogPage StoreReader::logFrom(const QString& run, const LogChoice& choice, int64_t wallNs,
                             int64_t afterId, int limit) {
    return m_impl->read("read the log of a run", [&] {
        LogQuestion question(m_impl->database, m_impl->runId(run).value_or(-1), choice);
        LogPage page{{}, true, question.lastId()};
        LogBounds bounds;
        bounds.fromNs = wallNs;
        bounds.fromNsAfterId = afterId;
        page.lines = question.read(bounds, true, limit, page.isAll);
        return page;
    });
}

LogPage StoreReader::logBefore(const QString& run, const LogChoice& choice, int64_t wallNs,
                               int64_t beforeId, int limit) {
    return m_impl->read("read the log of a run", [&] {
        LogQuestion question(m_impl->database, m_impl->runId(run).value_or(-1), choice);
        LogPage page{{}, true, question.lastId()};
        LogBounds bounds;
        bounds.beforeNs = wallNs;
        bounds.beforeId = beforeId;
        page.lines = question.read(bounds, false, limit, page.isAll);
        return page;
    });
}

LogPage StoreReader::logAfter(const QString& run, const LogChoice& choice, int64_t afterId,
                              int limit) {
    return m_impl->read("read the log of a run", [&] {
        LogQuestion question(m_impl->database, m_impl->runId(run).value_or(-1), choice);
        LogPage page{{}, true, question.lastId()};
        LogBounds bounds;
        bounds.afterId = afterId == 0 ? -1 : afterId;
        page.lines = question.read(bounds, true, limit, page.isAll);
        if (!page.isAll) // go on behind these
            page.lastId = std::ranges::max_element(page.lines, {}, &LogLine::id)->id;
        return page;
    });
}

bool StoreReader::visitLog(const QString& run, const LogChoice& choice,
                           const std::function<bool(const LogLine&)>& visitor) {
    return m_impl->read("read the log of a run", [&] {
        LogQuestion question(m_impl->database, m_impl->runId(run).value_or(-1), choice);
        if (!question.isByWords()) {
            bool goesOn = true;
            question.visit({}, true, [&](LogLine&& line) { return goesOn = visitor(line); });
            return goesOn;
        }
        bool isAll = true;
        const auto lines = question.read({}, true, kAllLines, isAll);
        return std::ranges::all_of(lines, visitor);
    });
}

} // namespace rm

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/schema_rescue.h"

#include <QFile>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <set>

// The layout of pages, cells and records: https://www.sqlite.org/fileformat2.html

namespace rm {

namespace {

constexpr int kHeader = 100; ///< bytes of the file before the content of its first page
constexpr int64_t kMostColumns = 2000;

enum PageKind : uint8_t {
    kIndexInner = 0x02,
    kTableInner = 0x05,
    kIndexLeaf = 0x0a,
    kTableLeaf = 0x0d,
};

struct Pages {
    QByteArray bytes;
    int64_t size = 4096;

    int64_t count() const { return bytes.size() / size; }
    uint32_t number(int64_t at, int length) const {
        uint32_t value = 0;
        for (int i = 0; i < length; ++i)
            value = value << 8 | static_cast<uint8_t>(bytes.at(at + i));
        return value;
    }
    int64_t begin(int64_t page) const { return (page - 1) * size; }
    int64_t content(int64_t page) const { return begin(page) + (page == 1 ? kHeader : 0); }
    uint8_t kind(int64_t page) const { return static_cast<uint8_t>(bytes.at(content(page))); }
    bool isInner(int64_t page) const {
        return kind(page) == kIndexInner || kind(page) == kTableInner;
    }
    bool isOfTable(int64_t page) const {
        return kind(page) == kTableInner || kind(page) == kTableLeaf;
    }

    /// Where the cells of a page begin; those that are not within it are left out.
    std::vector<int64_t> cells(int64_t page) const {
        const int64_t first = content(page) + (isInner(page) ? 12 : 8);
        const int64_t end = begin(page) + size;
        std::vector<int64_t> all;
        const uint32_t count = number(content(page) + 3, 2);
        for (int64_t at = first; at + 2 <= end && at < first + 2 * int64_t{count}; at += 2)
            if (const int64_t cell = begin(page) + number(at, 2); cell >= first && cell + 4 <= end)
                all.push_back(cell);
        return all;
    }
};

/// Reads numbers of varying length up to the end of a page; 0 behind it.
class Cursor {
public:
    Cursor(const Pages& pages, int64_t page, int64_t at)
        : m_pages(pages)
        , m_end(pages.begin(page) + pages.size)
        , m_at(at) {}

    int64_t varint() {
        uint64_t value = 0;
        for (int i = 0; i < 9 && m_at < m_end; ++i) {
            const auto byte = static_cast<uint8_t>(m_pages.bytes.at(m_at++));
            value = i == 8 ? value << 8 | byte : value << 7 | (byte & 0x7f);
            if (i < 8 && byte < 0x80)
                break;
        }
        return static_cast<int64_t>(value);
    }
    std::string text(int64_t length) {
        if (length < 0 || length > m_end - m_at)
            return {};
        const std::string text(m_pages.bytes.constData() + m_at, static_cast<size_t>(length));
        m_at += length;
        return text;
    }
    int64_t integer(int64_t length) {
        int64_t value = 0;
        for (; length > 0 && m_at < m_end; --length)
            value = value << 8 | static_cast<uint8_t>(m_pages.bytes.at(m_at++));
        return value;
    }
    int64_t at() const { return m_at; }

private:
    const Pages& m_pages;
    int64_t m_end;
    int64_t m_at;
};

/// The types of the columns of a record, as far as they are in its page.
std::vector<int64_t> typesOf(Cursor& cursor) {
    const int64_t begin = cursor.at();
    const int64_t length = cursor.varint();
    std::vector<int64_t> types;
    while (cursor.at() < begin + length && std::ssize(types) < kMostColumns) {
        const int64_t before = cursor.at();
        types.push_back(cursor.varint());
        if (cursor.at() == before)
            return {};
    }
    return types;
}

bool isText(int64_t type) {
    return type >= 13 && type % 2 == 1;
}

/// The first page of a table, by a row of the table of tables: type, name, name of its table, page.
std::optional<std::pair<std::string, int64_t>> tableIn(const Pages& pages, int64_t page,
                                                       int64_t cell) {
    static constexpr std::array<int64_t, 5> kLengths = {0, 1, 2, 3, 4}; ///< by types 0 to 4
    Cursor cursor(pages, page, cell);
    cursor.varint(); // bytes
    cursor.varint(); // rowid
    const auto types = typesOf(cursor);
    if (types.size() != 5 || !isText(types[0]) || !isText(types[1]) || !isText(types[2]) ||
        types[3] < 1 || types[3] > 4)
        return std::nullopt;
    const auto textOf = [&](int64_t type) { return cursor.text((type - 13) / 2); };
    const std::string kind = textOf(types[0]), name = textOf(types[1]), of = textOf(types[2]);
    const int64_t root = cursor.integer(kLengths[static_cast<size_t>(types[3])]);
    if (kind != "table" || name != of || root < 2 || root > pages.count())
        return std::nullopt;
    return std::pair(name, root);
}

/// What a look at all pages tells.
struct Found {
    std::map<std::string, std::set<int64_t>> roots; ///< more than one: a page is of an older time
    std::set<int64_t> children;                     ///< pages that others lead to
};

Found lookAtAll(const Pages& pages) {
    Found found;
    for (int64_t page = 1; page <= pages.count(); ++page) {
        if (pages.isInner(page)) {
            found.children.insert(pages.number(pages.content(page) + 8, 4));
            for (const int64_t cell : pages.cells(page))
                found.children.insert(pages.number(cell, 4));
        } else if (pages.kind(page) == kTableLeaf) {
            for (const int64_t cell : pages.cells(page))
                if (const auto table = tableIn(pages, page, cell))
                    found.roots[table->first].insert(table->second);
        }
    }
    return found;
}

/// A table as it should be.
struct Table {
    std::string name, sql;
    int64_t root = 0; ///< in a whole database
    bool hasRowids = true;
};

std::vector<Table> tablesOf(SQLite::Database& whole) {
    SQLite::Statement rows(whole,
                           "SELECT s.name, s.sql, s.rootpage, l.wr FROM sqlite_schema s "
                           "JOIN pragma_table_list l ON l.name = s.name "
                           "WHERE s.type = 'table' AND l.schema = 'main' AND l.type = 'table' "
                           "AND s.name NOT LIKE 'sqlite_%'");
    std::vector<Table> tables;
    while (rows.executeStep())
        tables.push_back({rows.getColumn(0).getString(), rows.getColumn(1).getString(),
                          rows.getColumn(2).getInt64(), rows.getColumn(3).getInt() == 0});
    return tables;
}

/// Whether a tree of the table's kind may begin there.
bool mayBegin(const Pages& pages, const Found& found, const Table& table, int64_t page) {
    const bool isTree =
        page >= 2 && page <= pages.count() &&
        (pages.isInner(page) || pages.kind(page) == kTableLeaf || pages.kind(page) == kIndexLeaf);
    return isTree && pages.isOfTable(page) == table.hasRowids && !found.children.contains(page);
}

/// By the table's name. See rescueSchema().
std::map<std::string, int64_t> rootsOf(const Pages& pages, const std::vector<Table>& tables) {
    const Found found = lookAtAll(pages);
    std::map<std::string, int64_t> roots;
    std::set<int64_t> taken;
    bool areAlike = true;
    for (const Table& table : tables) {
        const auto told = found.roots.find(table.name);
        if (told == found.roots.end())
            continue;
        std::vector<int64_t> fit;
        for (const int64_t root : told->second)
            if (mayBegin(pages, found, table, root))
                fit.push_back(root);
        if (fit.size() != 1)
            continue;
        roots[table.name] = fit.front();
        taken.insert(fit.front());
        areAlike = areAlike && fit.front() == table.root;
    }
    for (const Table& table : tables)
        if (areAlike && !roots.contains(table.name) && !taken.contains(table.root) &&
            mayBegin(pages, found, table, table.root))
            roots[table.name] = table.root;
    return roots;
}

void put(QByteArray& bytes, int64_t at, int length, uint32_t value) {
    for (int i = 0; i < length; ++i)
        bytes.data()[at + i] = static_cast<char>(value >> 8 * (length - 1 - i) & 0xff);
}

/// The first page of such a file with a table of tables without rows, in the mode without a -wal.
QByteArray emptyFirstPage(const Pages& pages) {
    QByteArray page(pages.size, '\0');
    std::memcpy(page.data(), pages.bytes.constData(), kHeader);
    put(page, 18, 2, 0x0101);
    put(page, 24, 4, 1);
    put(page, 28, 4, static_cast<uint32_t>(pages.count()));
    put(page, 32, 8, 0); // no free pages
    put(page, 92, 4, 1); // as at 24: the number of pages counts
    put(page, kHeader, 1, kTableLeaf);
    put(page, kHeader + 5, 2, static_cast<uint32_t>(pages.size) & 0xffff);
    return page;
}

Result<Pages> readPages(const QString& path) {
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return fail(ErrorCode::kUnavailable,
                    "read " + path.toStdString() + ": " + file.errorString().toStdString());
    Pages pages{file.readAll()};
    if (pages.bytes.size() >= kHeader)
        pages.size = pages.number(16, 2) == 1 ? 65536 : pages.number(16, 2);
    const bool isSound = pages.size >= 512 && (pages.size & (pages.size - 1)) == 0 &&
                         pages.bytes.startsWith(QByteArray("SQLite format 3", 16));
    if (!isSound || pages.count() < 2)
        return fail(ErrorCode::kCorrupt, "read " + path.toStdString() + ": it has no header");
    return pages;
}

} // namespace

Result<std::vector<std::string>> rescueSchema(const QString& path, SQLite::Database& whole) {
    const auto pages = readPages(path);
    if (!pages)
        return tl::unexpected(pages.error());
    const auto tables = tablesOf(whole);
    const auto roots = rootsOf(*pages, tables);
    QFile file(path);
    const QByteArray first = emptyFirstPage(*pages);
    if (!file.open(QIODevice::ReadWrite) || file.write(first) != first.size() || !file.flush())
        return fail(ErrorCode::kUnavailable,
                    "write " + path.toStdString() + ": " + file.errorString().toStdString());
    file.close();
    std::vector<std::string> missing;
    SQLite::Database database(path.toStdString(), SQLite::OPEN_READWRITE);
    database.exec("PRAGMA writable_schema = ON");
    SQLite::Transaction transaction(database);
    for (const Table& table : tables) {
        const auto root = roots.find(table.name);
        if (root == roots.end()) {
            missing.push_back(table.name);
            continue;
        }
        SQLite::Statement row(database, "INSERT INTO sqlite_schema (type, name, tbl_name, "
                                        "rootpage, sql) VALUES ('table', ?1, ?1, ?2, ?3)");
        row.bind(1, table.name);
        row.bind(2, root->second);
        row.bind(3, table.sql);
        row.exec();
    }
    transaction.commit();
    return missing;
}

} // namespace rm

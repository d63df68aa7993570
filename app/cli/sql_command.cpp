// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command_context.h"
#include "app/cli/commands.h"
#include "app/cli/json_view.h"
#include "app/cli/terminal.h"
#include "app/core/runs/sql.h"
#include "shared/io/json.h"

#include <QLocale>
#include <QtConcurrent>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <iterator>

namespace rm::cli {

namespace {

struct SqlOptions {
    std::string statement; ///< "-": of standard input
    bool isCsv = false;
};

/// In CSV a text is quoted where it has to be, by RFC 4180.
std::string csvCell(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos)
        return text;
    std::string quoted = "\"";
    for (const char c : text)
        quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + '"';
}

/// Numbers in full.
std::string numberText(double number) {
    return QString::number(number, 'g', QLocale::FloatingPointShortest).toStdString();
}

std::string cellText(const SqlValue& value, const char* absent) {
    if (const auto* whole = std::get_if<int64_t>(&value))
        return std::to_string(*whole);
    if (const auto* number = std::get_if<double>(&value))
        return numberText(*number);
    if (const auto* text = std::get_if<std::string>(&value))
        return *text;
    return absent;
}

nlohmann::ordered_json jsonOf(const SqlValue& value) {
    if (const auto* whole = std::get_if<int64_t>(&value))
        return *whole;
    if (const auto* number = std::get_if<double>(&value); number && std::isfinite(*number))
        return *number;
    if (std::holds_alternative<std::monostate>(value))
        return nullptr;
    return cellText(value, "");
}

void printLine(const std::vector<std::string>& cells) {
    for (size_t at = 0; at < cells.size(); ++at)
        std::cout << (at > 0 ? "," : "") << csvCell(cells[at]);
    std::cout << '\n';
}

/// As rows come.
SqlSink csvSink() {
    return {&printLine, [](const SqlRow& row) {
                std::vector<std::string> cells;
                for (const SqlValue& value : row)
                    cells.push_back(cellText(value, ""));
                printLine(cells);
                return std::cout.good();
            }};
}

/// With a number behind a name that is there already, or an object would have one value for both.
std::vector<std::string> unique(std::vector<std::string> names) {
    for (size_t at = 1; at < names.size(); ++at) {
        const std::string name = names[at];
        for (int number = 2; std::find(names.begin(), names.begin() + static_cast<long>(at),
                                       names[at]) != names.begin() + static_cast<long>(at);
             ++number)
            names[at] = name + '_' + std::to_string(number);
    }
    return names;
}

/// A list of objects, one a line, as rows come.
SqlSink jsonSink(std::vector<std::string>& columns, int64_t& count) {
    return {[&columns](const std::vector<std::string>& names) { columns = unique(names); },
            [&columns, &count](const SqlRow& row) {
                nlohmann::ordered_json json = nlohmann::ordered_json::object();
                for (size_t at = 0; at < row.size(); ++at)
                    json[columns[at]] = jsonOf(row[at]);
                std::cout << (count++ > 0 ? ",\n " : "[\n ")
                          << json.dump(-1, ' ', false,
                                       nlohmann::ordered_json::error_handler_t::replace);
                return std::cout.good();
            }};
}

SqlSink tableSink(std::vector<std::vector<std::string>>& rows) {
    return {[&rows](const std::vector<std::string>& names) { rows.push_back(names); },
            [&rows](const SqlRow& row) {
                std::vector<std::string> cells;
                for (const SqlValue& value : row)
                    cells.push_back(oneLine(cellText(value, "-")));
                rows.push_back(std::move(cells));
                return true;
            }};
}

int listTables(const CommandContext& context) {
    std::vector<std::vector<std::string>> rows{{"TABLE", "COLUMNS"}};
    Json json = Json::array();
    for (const SqlTable& table : sqlTables()) {
        rows.push_back({table.name, table.columns});
        json.push_back({{"table", table.name}, {"columns", table.columns}});
    }
    if (context.json())
        printJson(json);
    else
        std::cout << formatTable(rows)
                  << "\nvalue(run, key) is what `runs --columns` shows: lr, train/loss, "
                     "best:validation/loss. A run is named by its id, a time is in seconds since "
                     "1970. More: ringmaster help watch\n";
    return 0;
}

std::string statementOf(const SqlOptions& options) {
    return options.statement == "-" ? std::string(std::istreambuf_iterator<char>(std::cin), {})
                                    : options.statement;
}

int runStatement(CommandContext& context, const SqlOptions& options) {
    if (options.statement.empty())
        return listTables(context);
    const std::string statement = statementOf(options);
    context.catchUp();
    std::vector<std::string> columns;
    std::vector<std::vector<std::string>> rows;
    int64_t count = 0;
    const SqlSink sink = context.json()  ? jsonSink(columns, count)
                         : options.isCsv ? csvSink()
                                         : tableSink(rows);
    // Not in this thread, which may be serving other terminals.
    const auto answered = await(
        QtConcurrent::run([&] { return runSql(context.paths().database(), statement, sink); }));
    if (context.json() && (answered || count > 0))
        std::cout << (count > 0 ? "\n]\n" : "[]\n");
    if (!answered) // behind rows that are out, it stands on standard error alone
        return printError(context.json() && count == 0, answered.error());
    else if (!rows.empty())
        std::cout << formatTable(rows);
    return 0;
}

} // namespace

void addSql(CommandLine& line) {
    auto& o = line.keep<SqlOptions>();
    auto* sql = line.add("sql", "Ask the database of runs; without SQL: list its tables",
                         [&o](CommandContext& context) { return runStatement(context, o); });
    line.mayOnlyRead(*sql);
    sql->add_option("SQL", o.statement, "A statement that reads, or - for standard input");
    sql->add_flag("--csv", o.isCsv, "Print CSV");
}

} // namespace rm::cli

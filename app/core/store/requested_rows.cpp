// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/requested_rows.h"

#include "app/core/store/requested_command.h"

#include <QJsonArray>
#include <QJsonDocument>

namespace rm {

namespace {

std::vector<std::pair<std::string, std::string>> argumentsOf(const std::string& json) {
    std::vector<std::pair<std::string, std::string>> args;
    const auto array = QJsonDocument::fromJson(QByteArray::fromStdString(json)).array();
    for (const auto& each : array)
        args.emplace_back(each[0].toString().toStdString(), each[1].toString().toStdString());
    return args;
}

RequestedFrom requestedFrom(int stored) {
    const bool isKnown = stored >= 0 && stored <= static_cast<int>(RequestedFrom::kRun);
    return isKnown ? static_cast<RequestedFrom>(stored) : RequestedFrom::kElsewhere;
}

RequestedCommand read(const Query& row) {
    return {.id = row.text(0),
            .kind = row.text(1),
            .args = argumentsOf(row.text(2)),
            .by = {row.text(3), requestedFrom(row.number(4))},
            .requestedNs = row.integer(5),
            .state = static_cast<RequestedState>(row.number(6)),
            .acceptedNs = row.integer(7),
            .answeredNs = row.integer(8),
            .step = row.integer(9),
            .answer = row.text(10)};
}

} // namespace

const char* requestedStateName(RequestedState state) {
    switch (state) {
    case RequestedState::kWaiting:
        return "waiting";
    case RequestedState::kAccepted:
        return "accepted";
    case RequestedState::kApplied:
        return "applied";
    case RequestedState::kRefused:
        return "refused";
    case RequestedState::kWithdrawn:
        return "withdrawn";
    case RequestedState::kLapsed:
        return "lapsed";
    }
    return "lapsed";
}

bool isOpen(RequestedState state) {
    return state == RequestedState::kWaiting || state == RequestedState::kAccepted;
}

std::string argumentsToJson(const std::vector<std::pair<std::string, std::string>>& args) {
    QJsonArray array;
    for (const auto& [name, value] : args)
        array.append(QJsonArray{QString::fromStdString(name), QString::fromStdString(value)});
    return QJsonDocument(array).toJson(QJsonDocument::Compact).toStdString();
}

std::optional<RequestedCommand> requestedCommand(Database& database, int64_t run,
                                                 const std::string& id) {
    auto row = database.query("SELECT uuid, kind, arguments, who, asked_from, asked_ns, state, "
                              "accepted_ns, answered_ns, step, answer FROM asked_command "
                              "WHERE run = ? AND uuid = ?");
    return row.with(run, id).next() ? std::optional(read(row)) : std::nullopt;
}

std::vector<RequestedCommand> requestedCommands(Database& database, int64_t run, bool openOnly,
                                                int limit) {
    // What a journal alone knows of was asked for elsewhere, or by a rule of the spec. 3:
    // RequestedFrom::kElsewhere, 2: kRule, 4: kRun.
    auto rows = database.query(
        openOnly
            ? "SELECT uuid, kind, arguments, who, asked_from, asked_ns, state, accepted_ns, "
              "answered_ns, step, answer FROM asked_command WHERE run = ? AND "
              "state IN (0, 1) ORDER BY asked_ns DESC LIMIT ?"
            : "SELECT uuid, kind, arguments, who, asked_from, asked_ns, state, accepted_ns, "
              "answered_ns, step, answer FROM asked_command WHERE run = ?1 UNION ALL "
              "SELECT uuid, kind, '[]', '', CASE WHEN uuid LIKE 'rule-%' THEN 2 WHEN uuid LIKE "
              "'again-%' THEN 4 ELSE 3 END, "
              "wall_ns, CASE WHEN ok THEN 2 ELSE 3 END, NULL, "
              "wall_ns, step, message FROM command WHERE run = ?1 AND uuid NOT IN "
              "(SELECT uuid FROM asked_command WHERE run = ?1) "
              "ORDER BY asked_ns DESC LIMIT ?2");
    rows.with(run, limit);
    std::vector<RequestedCommand> commands;
    while (rows.next())
        commands.push_back(read(rows));
    return commands;
}

} // namespace rm

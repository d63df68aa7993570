// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/schema.h"

#include "app/core/settings/private_files.h"
#include "shared/io/file.h"
#include "shared/return_if_error.h"

#include <cstdio>

namespace rm {

namespace {

int pragma(Database& database, const char* name) {
    return database.connection().execAndGet(std::string("PRAGMA ") + name).getInt();
}

std::string writtenBy(Database& database) {
    auto query = database.query("SELECT value FROM about WHERE key = 'release'");
    return query.next() ? query.text(0) : "a later release";
}

Result<int> versionOf(Database& database, const std::string& path, int newest) {
    const int version = pragma(database, "user_version");
    const bool empty = pragma(database, "schema_version") == 0;
    const bool ours = pragma(database, "application_id") == kApplicationId;
    if (!empty && !ours)
        return fail(ErrorCode::kInvalid, "open " + path + ": not a database of Ringmaster's");
    if (version > newest)
        return fail(ErrorCode::kTooNew,
                    "open " + path + ": written by Ringmaster " + writtenBy(database) +
                        " (schema " + std::to_string(version) + "), this is " + RINGMASTER_RELEASE +
                        " (schema " + std::to_string(newest) + "): install that release");
    return version;
}

Result<void> backUp(Database& database, const std::string& path, int version) {
    const std::string backup = path + ".v" + std::to_string(version) + ".backup";
    const std::string partial = backup + ".partial";
    std::remove(partial.c_str());
    database.query("VACUUM INTO ?").with(partial).run();
    protectFile(partial);
    if (const auto synced = syncFile(partial); !synced)
        return synced;
    if (std::rename(partial.c_str(), backup.c_str()) != 0)
        return failErrno("rename " + partial, errno);
    return {};
}

void apply(Database& database, const SchemaStep& step) {
    SQLite::Database& connection = database.connection();
    SQLite::Transaction transaction(connection);
    connection.exec(step.sql);
    connection.exec("PRAGMA user_version = " + std::to_string(step.version));
    connection.exec("PRAGMA application_id = " + std::to_string(kApplicationId));
    database
        .query("INSERT INTO about (key, value) VALUES ('release', ?1) "
               "ON CONFLICT (key) DO UPDATE SET value = ?1")
        .with(RINGMASTER_RELEASE)
        .run();
    transaction.commit();
}

} // namespace

Result<void> upgradeSchema(Database& database, const std::string& path,
                           std::span<const SchemaStep> steps) {
    const int newest = steps.back().version;
    return guarded("upgrade " + path, path, [&]() -> Result<void> {
        RM_ASSIGN_OR_RETURN(const int version, versionOf(database, path, newest));
        if (version > 0 && version < newest)
            if (const auto copied = backUp(database, path, version); !copied)
                return copied;
        for (const SchemaStep& step : steps)
            if (step.version > version)
                apply(database, step);
        return {};
    });
}

Result<void> checkSchema(Database& database, const std::string& path, int newest) {
    RM_ASSIGN_OR_RETURN(const int version, versionOf(database, path, newest));
    if (version == 0)
        return fail(ErrorCode::kNotFound, "open " + path + ": nothing is stored yet");
    if (version < newest)
        return fail(ErrorCode::kUnavailable, "open " + path +
                                                 ": made by an older release; start Ringmaster "
                                                 "once to upgrade it");
    return {};
}

} // namespace rm

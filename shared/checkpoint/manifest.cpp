// SPDX-License-Identifier: Apache-2.0
#include "shared/checkpoint/manifest.h"

#include "shared/checkpoint/file_name.h"
#include "shared/io/file.h"
#include "shared/io/json.h"
#include "shared/return_if_error.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

namespace rm {

namespace {

constexpr int64_t kManifestVersion = 1;
constexpr size_t kMaxManifest = 16 << 20;
constexpr int64_t kMaxAttempt = 1 << 20;

tl::unexpected<Error> corrupt(const std::string& source, const std::string& cause) {
    return fail(ErrorCode::kCorrupt, "read " + source + ": " + cause);
}

// A hash of the sorted compact text without the member itself: a changed step or name shows.
std::string digestOf(Json json) {
    json.erase("digest");
    const std::string text = dumpJson(json);
    return sha256Hex(std::as_bytes(std::span(text)));
}

Result<Manifest::File> readEntry(const Json& entry, const std::string& source) {
    const auto name = textAt(entry, "name");
    const auto size = intAt(entry, "size");
    const auto sha256 = textAt(entry, "sha256");
    if (!name || !isCheckpointFileName(*name))
        return corrupt(source, "a file without a usable name");
    if (!size || *size < 0 || !sha256 || !isSha256(*sha256))
        return corrupt(source, "size or SHA-256 of " + *name + " is missing or impossible");
    return Manifest::File{*name, *size, *sha256};
}

Result<std::vector<Manifest::File>> readEntries(const Json* entries, const std::string& source) {
    if (!entries)
        return corrupt(source, "no list of files");
    std::vector<Manifest::File> files;
    std::set<std::string> names;
    int64_t total = 0;
    for (const Json& entry : *entries) {
        RM_ASSIGN_OR_RETURN(auto file, readEntry(entry, source));
        if (!names.insert(file.name).second)
            return corrupt(source, file.name + " is listed twice");
        if (__builtin_add_overflow(total, file.size, &total))
            return corrupt(source, "impossible sizes");
        files.push_back(std::move(file));
    }
    return files;
}

std::optional<double> lossAt(const Json& json) {
    const auto loss = json.find("validation_loss");
    if (loss == json.end() || loss->is_null())
        return std::numeric_limits<double>::quiet_NaN();
    return loss->is_number() ? std::optional(loss->get<double>()) : std::nullopt;
}

Result<Manifest::Ancestor> readAncestor(const Json& entry, const std::string& source) {
    const auto attempt = intAt(entry, "attempt"), step = intAt(entry, "step");
    if (!attempt || !step || *attempt < 1 || *step < 0)
        return corrupt(source, "impossible attempt or step in the line");
    return Manifest::Ancestor{*attempt, *step};
}

Result<std::optional<std::vector<Manifest::Ancestor>>> readLine(const Json& json,
                                                                const std::string& source) {
    if (!json.contains("line"))
        return std::nullopt;
    const Json* entries = arrayAt(json, "line");
    if (!entries)
        return corrupt(source, "the line is no list");
    std::vector<Manifest::Ancestor> line;
    for (const Json& entry : *entries) {
        RM_ASSIGN_OR_RETURN(const auto ancestor, readAncestor(entry, source));
        line.push_back(ancestor);
    }
    return line;
}

std::optional<bool> bestAt(const Json& json) {
    const auto best = json.find("best");
    if (best == json.end())
        return false;
    return best->is_boolean() ? std::optional(best->get<bool>()) : std::nullopt;
}

Result<std::optional<Manifest::Watched>> readWatched(const Json& json, const std::string& source) {
    const auto watched = json.find("watched");
    if (watched == json.end())
        return std::nullopt;
    const auto metric = textAt(*watched, "metric");
    const auto value = watched->is_object() ? watched->find("value") : watched->end();
    if (!metric || value == watched->end() || !value->is_number())
        return corrupt(source, "the watched figure has no metric or no value");
    return Manifest::Watched{*metric, value->get<double>()};
}

Result<Manifest> readMembers(const Json& json, const std::string& source) {
    const auto runId = textAt(json, "run_id");
    const auto reason = textAt(json, "reason");
    const auto attempt = intAt(json, "attempt"), step = intAt(json, "step");
    const auto worldSize = intAt(json, "world_size"), createdNs = intAt(json, "created_ns");
    const auto loss = lossAt(json);
    const auto best = bestAt(json);
    if (!runId || !reason || !attempt || !step || !worldSize || !createdNs || !loss || !best)
        return corrupt(source, "a member is missing or of a wrong type");
    if (*step < 0 || *attempt < 1 || *attempt > kMaxAttempt || *worldSize < 1)
        return corrupt(source, "impossible step, attempt or world size");
    RM_ASSIGN_OR_RETURN(auto files, readEntries(arrayAt(json, "files"), source));
    RM_ASSIGN_OR_RETURN(auto line, readLine(json, source));
    RM_ASSIGN_OR_RETURN(auto watched, readWatched(json, source));
    return Manifest{kManifestVersion,
                    *runId,
                    *attempt,
                    *step,
                    *worldSize,
                    *createdNs,
                    *reason,
                    *loss,
                    std::move(files),
                    std::move(line),
                    *best,
                    std::move(watched),
                    textAt(json, "nonce").value_or(std::string())};
}

Json membersOf(const Manifest& manifest) {
    Json files = Json::array();
    for (const Manifest::File& file : manifest.files)
        files.push_back({{"name", file.name}, {"size", file.size}, {"sha256", file.sha256}});
    const Json loss =
        std::isfinite(manifest.validationLoss) ? Json(manifest.validationLoss) : Json();
    Json members = {{"version", manifest.version},      {"run_id", manifest.runId},
                    {"attempt", manifest.attempt},      {"step", manifest.step},
                    {"world_size", manifest.worldSize}, {"created_ns", manifest.createdNs},
                    {"reason", manifest.reason},        {"validation_loss", loss},
                    {"files", std::move(files)}};
    if (!manifest.nonce.empty())
        members["nonce"] = manifest.nonce;
    if (!manifest.line)
        return members;
    Json& line = members["line"] = Json::array();
    for (const Manifest::Ancestor& ancestor : *manifest.line)
        line.push_back({{"attempt", ancestor.attempt}, {"step", ancestor.step}});
    members["best"] = manifest.best;
    if (manifest.watched)
        members["watched"] = {{"metric", manifest.watched->metric},
                              {"value", manifest.watched->value}};
    return members;
}

} // namespace

bool isCheckpointFileName(const std::string& name) {
    constexpr size_t kMaxName = 255;
    return !name.empty() && name.size() <= kMaxName && name != "." && name != ".." &&
           name != kManifestName && isUtf8(name) &&
           std::ranges::none_of(name, [](unsigned char c) { return c == '/' || c < 0x20; });
}

int64_t Manifest::bytes() const {
    int64_t total = 0;
    for (const File& file : files)
        total += file.size;
    return total;
}

std::string toJson(const Manifest& manifest) {
    Json json = membersOf(manifest);
    json["digest"] = digestOf(json);
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<Manifest> parseManifest(const std::string& text, const std::string& source) {
    RM_ASSIGN_OR_RETURN(auto json, parseJson(text, source));
    const auto version = intAt(json, "version");
    if (!version || *version < 1)
        return corrupt(source, "no version");
    if (*version > kManifestVersion)
        return fail(ErrorCode::kTooNew, "read " + source + ": checkpoint version " +
                                            std::to_string(*version) +
                                            " is of a newer release; this one reads up to " +
                                            std::to_string(kManifestVersion));
    if (textAt(json, "digest") != digestOf(json))
        return corrupt(source, "its digest does not match; it was changed");
    return readMembers(json, source);
}

Result<Manifest> readManifest(const std::string& dir) {
    const std::string path = dir + "/" + kManifestName;
    RM_ASSIGN_OR_RETURN(auto text, readFile(path, kMaxManifest));
    return parseManifest(text, path);
}

std::string checkpointName(int64_t step) {
    char name[32];
    std::snprintf(name, sizeof name, "step-%09lld", static_cast<long long>(step));
    return name;
}

std::string checkpointName(int64_t step, int64_t attempt) {
    return checkpointName(step) + "-attempt-" + std::to_string(attempt);
}

} // namespace rm

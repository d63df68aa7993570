// SPDX-License-Identifier: Apache-2.0
#include "shared/checkpoint/manifest.h"

#include "shared/checkpoint/ancestor_fields.h"
#include "shared/checkpoint/file_name.h"
#include "shared/io/file.h"
#include "shared/io/json_fields.h"

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

bool isSomeFileName(std::string_view name) {
    return isCheckpointFileName(std::string(name));
}

/// An empty text, or a fault.
std::string faultIn(const std::vector<Manifest::File>& files) {
    std::set<std::string> names;
    int64_t total = 0;
    for (const Manifest::File& file : files) {
        if (!names.insert(file.name).second)
            return file.name + " is listed twice";
        if (__builtin_add_overflow(total, file.size, &total))
            return "impossible sizes";
    }
    return {};
}

} // namespace

template <Either<Manifest::File> T, class Visit>
void fields(T& file, Visit&& visit) {
    visit("name", file.name, fitting(isSomeFileName));
    visit("size", file.size, atLeast(0));
    visit("sha256", file.sha256, fitting(isSha256));
}

template <Either<Manifest::Watched> T, class Visit>
void fields(T& watched, Visit&& visit) {
    visit("metric", watched.metric);
    visit("value", watched.value);
}

template <Either<Manifest> T, class Visit>
void fields(T& manifest, Visit&& visit) {
    visit("version", manifest.version);
    visit("run_id", manifest.runId);
    visit("attempt", manifest.attempt, within(1, kMaxAttempt));
    visit("step", manifest.step, atLeast(0));
    visit("world_size", manifest.worldSize, atLeast(1));
    visit("created_ns", manifest.createdNs);
    visit("reason", manifest.reason);
    visit("validation_loss", manifest.validationLoss, kMaybeUnknown.optional());
    visit("files", manifest.files);
    visit("line", manifest.line);
    visit("watched", manifest.watched);
    visit("nonce", manifest.nonce, FieldRule().unlessEmpty());
    if (!std::is_const_v<T> || manifest.line) // as release 0.1.0 wrote it, without a line
        visit("best", manifest.best, kOptional);
}

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
    Json json = writeFields(manifest);
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
    RM_ASSIGN_OR_RETURN(auto manifest, fromJson<Manifest>(json, source));
    if (const std::string fault = faultIn(manifest.files); !fault.empty())
        return corrupt(source, fault);
    return manifest;
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

// SPDX-License-Identifier: Apache-2.0
#include "shared/checkpoint/owner.h"

#include "shared/checkpoint/ancestor_fields.h"
#include "shared/io/file.h"
#include "shared/return_if_error.h"

#include <filesystem>

namespace rm {

namespace {

constexpr int64_t kOwnerVersion = 1;
constexpr size_t kMaxOwner = 16 << 20;

std::string ownerPath(const std::string& parent) {
    return parent + "/" + kOwnerName;
}

} // namespace

template <Either<CheckpointOwner> T, class Visit>
void fields(T& owner, Visit&& visit) {
    visit("run_id", owner.runId);
    visit("run_name", owner.runName);
    visit("attempt", owner.line.attempt, atLeast(1));
    visit("line", owner.line.behind);
    visit("started_from", owner.line.startedFrom);
    visit("nonce", owner.nonce, kOptional);
}

namespace {

std::string ownerJson(const CheckpointOwner& owner) {
    Json json = writeFields(owner);
    json["version"] = kOwnerVersion;
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string numberOf(int64_t attempt) {
    return "attempt " + std::to_string(attempt) + " of this run";
}

/// kInvalid: `owner` is of a later attempt than that one.
Result<void> refuseLater(const std::string& parent, const CheckpointOwner& owner, int64_t attempt) {
    if (owner.line.attempt <= attempt)
        return {};
    return fail(ErrorCode::kInvalid,
                "save checkpoints in " + parent + ": " + numberOf(owner.line.attempt) +
                    " has begun, and this is attempt " + std::to_string(attempt) +
                    "; if that one is over, delete " + ownerPath(parent));
}

std::string runText(const CheckpointOwner& owner) {
    if (owner.runId.empty())
        return "the run \"" + owner.runName + "\"";
    return "the run \"" + owner.runName + "\" (" + owner.runId + ")";
}

} // namespace

Result<CheckpointOwner> readOwner(const std::string& parent) {
    const std::string path = ownerPath(parent);
    RM_ASSIGN_OR_RETURN(const auto text, readFile(path, kMaxOwner));
    RM_ASSIGN_OR_RETURN(const auto json, parseJson(text, path));
    const auto version = intAt(json, "version");
    if (version && *version > kOwnerVersion)
        return fail(ErrorCode::kTooNew, "read " + path + ": version " + std::to_string(*version) +
                                            " is of a newer release; this one reads up to " +
                                            std::to_string(kOwnerVersion));
    return fromJson<CheckpointOwner>(json, path);
}

CheckpointFolder checkpointFolderAt(const std::string& parent) {
    namespace fs = std::filesystem;
    std::error_code error;
    if (!fs::is_directory(parent, error))
        return CheckpointFolder::kMissing;
    if (fs::exists(ownerPath(parent), error))
        return CheckpointFolder::kKnown;
    for (fs::directory_iterator it(parent, error), end; !error && it != end; it.increment(error))
        if (it->path().filename().string().starts_with("step-"))
            return CheckpointFolder::kKnown;
    return CheckpointFolder::kForeign;
}

const char* nameOf(CheckpointFolder folder) {
    return folder == CheckpointFolder::kMissing   ? "missing"
           : folder == CheckpointFolder::kForeign ? "foreign"
                                                  : "known";
}

CheckpointFolder checkpointFolderNamed(const std::string& name) {
    return name == "missing"   ? CheckpointFolder::kMissing
           : name == "foreign" ? CheckpointFolder::kForeign
                               : CheckpointFolder::kKnown;
}

Result<void> claimCheckpoints(const std::string& parent, const CheckpointOwner& claim) {
    const std::string attempt = "save checkpoints in " + parent;
    const auto owner = readOwner(parent);
    if (!owner && owner.error().code != ErrorCode::kNotFound &&
        owner.error().code != ErrorCode::kCorrupt)
        return failAs(attempt, owner.error());
    const bool isOther = owner && owner->runId != claim.runId;
    if (isOther && claim.line.startedFrom.empty())
        return fail(ErrorCode::kInvalid,
                    attempt + ": the folder belongs to " + runText(*owner) +
                        "; choose another checkpoint.directory, go on from a checkpoint of that "
                        "run, or delete " +
                        ownerPath(parent) + " if that run is over");
    if (owner && !isOther)
        RM_RETURN_IF_ERROR(refuseLater(parent, *owner, claim.line.attempt));
    if (const auto made = makeFolders(parent); !made)
        return failAs(attempt, made.error());
    return writeFileAtomically(ownerPath(parent), ownerJson(claim));
}

Result<void> checkOwner(const std::string& parent, const Manifest& manifest) {
    const auto owner = readOwner(parent);
    const bool isFree = !owner && (owner.error().code == ErrorCode::kNotFound ||
                                   owner.error().code == ErrorCode::kCorrupt);
    if (isFree)
        return {}; // nobody has claimed it, or its attempt will write the file anew
    if (!owner)
        return tl::unexpected(owner.error());
    const std::string what = "save checkpoints in " + parent + ": ";
    if (owner->runId != manifest.runId)
        return fail(ErrorCode::kInvalid, what + runText(*owner) + " has taken the folder over");
    RM_RETURN_IF_ERROR(refuseLater(parent, *owner, manifest.attempt));
    const bool isOtherStart = owner->line.attempt == manifest.attempt && !owner->nonce.empty() &&
                              !manifest.nonce.empty() && owner->nonce != manifest.nonce;
    if (isOtherStart)
        return fail(ErrorCode::kInvalid, what + numberOf(manifest.attempt) +
                                             " was started once more, elsewhere; this start of it "
                                             "saves nothing any more");
    return {};
}

} // namespace rm

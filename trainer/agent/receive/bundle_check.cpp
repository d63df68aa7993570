// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/receive/bundle_check.h"

#include "shared/io/clock.h"
#include "shared/io/file.h"
#include "shared/io/json.h"
#include "shared/return_if_error.h"
#include "shared/spec/toml_fields.h"

#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

namespace rm {

namespace {

namespace fs = std::filesystem;

constexpr int64_t kUnchangedNs = 2'000'000'000; ///< above the granularity of file times
const char* const kAdvice = "launch or resume from Ringmaster, which sends it again";

// Inode, bytes, nanoseconds of the last change. That is the inode's (ctime): the time of
// modification can be set, as rsync and cp -p do, and a failing disk changes neither. Not the
// device: nodes that share the folder number it differently.
using FileState = std::array<int64_t, 3>;
using FileStates = std::map<std::string, FileState>; ///< by path in the bundle

std::string notePath(const std::string& folder, const char* name) {
    return folder + "/" + std::string(kNotePrefix) + name;
}

std::optional<FileState> stateOf(const std::string& path) {
    struct stat info = {};
    if (::lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode))
        return std::nullopt;
    return FileState{static_cast<int64_t>(info.st_ino), info.st_size,
                     info.st_ctim.tv_sec * INT64_C(1'000'000'000) + info.st_ctim.tv_nsec};
}

// Another change within the same tick of the clock would not show.
bool mayChangeUnseen(const FileState& state) {
    return state.back() + kUnchangedNs > wallNowNs();
}

FileStates loadVerified(const std::string& folder) {
    FileStates states;
    const auto text = readFile(notePath(folder, "verified"));
    if (!text)
        return states;
    try {
        states = Json::parse(*text).get<FileStates>();
    } catch (const std::exception&) { // nlohmann reports by exception; it only costs time
        states.clear();
    }
    return states;
}

// Best effort: without it the next start reads the files again.
void saveVerified(const std::string& folder, const FileStates& states) {
    static_cast<void>(writeFileAtomically(notePath(folder, "verified"), dumpJson(Json(states))));
}

Result<std::vector<TreeEntry>> contentsOf(const std::string& folder, const std::string& id) {
    const std::string path = notePath(folder, "contents");
    RM_ASSIGN_OR_RETURN(const std::string text, readFile(path));
    const std::string found = sha256Hex(std::as_bytes(std::span(text)));
    if (found != id)
        return fail(ErrorCode::kCorrupt,
                    "read " + path + ": it has SHA-256 " + found + " instead of " + id);
    return parseTreeList(text, path);
}

// Files that nobody sent may be loaded in place of others.
Result<void> findAdded(const std::string& folder, const std::vector<TreeEntry>& entries,
                       std::vector<ChangedFile>& changed) {
    std::set<std::string> sent;
    for (const TreeEntry& entry : entries)
        sent.insert(entry.path);
    std::error_code error;
    for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end;
         at.increment(error)) {
        const std::string path = at->path().string().substr(folder.size() + 1);
        if (at->symlink_status().type() == fs::file_type::directory || sent.contains(path) ||
            path.starts_with(kNotePrefix) || path.starts_with("." + std::string(kNotePrefix)))
            continue;
        changed.push_back({path, "", sha256HexOfFile(at->path().string()).value_or("unknown")});
    }
    return error ? Result<void>(failErrno("list " + folder, error.value())) : Result<void>();
}

} // namespace

Result<void> noteContents(const std::string& folder, const std::vector<TreeEntry>& entries) {
    const std::string path = notePath(folder, "contents"), list = treeList(entries);
    return readFile(path).value_or("") == list ? Result<void>() : writeFileAtomically(path, list);
}

void noteLabel(const std::string& folder, const std::string& label) {
    if (!label.empty() && labelOf(folder) != label)
        static_cast<void>(writeFileAtomically(notePath(folder, "label"), label));
}

std::string labelOf(const std::string& folder) {
    constexpr size_t kMostBytes = 64;
    const std::string text = readFile(notePath(folder, "label"), kMostBytes).value_or("");
    return plainLine(text.substr(0, text.find('\n')));
}

Result<std::vector<ChangedFile>> changedFiles(const std::string& folder, const std::string& id) {
    RM_ASSIGN_OR_RETURN(const auto entries, contentsOf(folder, id));
    const FileStates before = loadVerified(folder);
    FileStates verified;
    std::vector<ChangedFile> changed;
    for (const TreeEntry& entry : entries) {
        const std::string path = folder + "/" + entry.path;
        const auto state = stateOf(path);
        const auto known = before.find(entry.path);
        if (state && known != before.end() && known->second == *state) {
            verified.insert(*known);
            continue;
        }
        std::string found;
        if (state) {
            RM_ASSIGN_OR_RETURN(found, sha256HexOfFile(path));
        }
        if (found != entry.sha256)
            changed.push_back({entry.path, entry.sha256, found});
        else if (!mayChangeUnseen(*state))
            verified[entry.path] = *state;
    }
    RM_RETURN_IF_ERROR(findAdded(folder, entries, changed));
    if (verified != before)
        saveVerified(folder, verified);
    return changed;
}

std::string wordsFor(const std::vector<ChangedFile>& changed, const std::string& folder) {
    const ChangedFile& first = changed.front();
    std::string text = first.path + " in the bundle " + folder;
    if (first.found.empty())
        text += " is gone, it had SHA-256 " + first.expected;
    else if (first.expected.empty())
        text += " was not sent with it and has SHA-256 " + first.found;
    else
        text += " has SHA-256 " + first.found + " instead of " + first.expected;
    if (changed.size() > 1)
        text += " (and " + std::to_string(changed.size() - 1) + " more of its files differ)";
    return text;
}

Result<void> verifyBundle(const std::string& home, const std::string& bundle) {
    const fs::path folder = fs::path(bundle).lexically_normal();
    if (folder.parent_path() != fs::path(home + "/bundles").lexically_normal())
        return {};
    const auto changed = changedFiles(bundle, folder.filename().string());
    if (!changed)
        return fail(ErrorCode::kCorrupt,
                    "verify the trainer: " + changed.error().message + "; " + kAdvice);
    if (!changed->empty())
        return fail(ErrorCode::kCorrupt,
                    "verify the trainer: " + wordsFor(*changed, bundle) + "; " + kAdvice);
    return {};
}

} // namespace rm

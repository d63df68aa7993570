// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/deploy/hash_cache.h"

#include "app/core/findings/text.h"
#include "app/core/settings/paths.h"
#include "shared/io/clock.h"
#include "shared/io/file.h"
#include "shared/io/json_fields.h"

#include <sys/stat.h>

#include <cerrno>
#include <filesystem>

namespace rm {

namespace {

/// An entry as it is kept.
struct KeptHash {
    std::string path, sha256;
    int64_t size = 0, changedNs = 0, inode = 0;
};

template <Either<KeptHash> T, class Visit>
void fields(T& kept, Visit&& visit) {
    visit("path", kept.path);
    visit("sha256", kept.sha256, fitting(isSha256));
    visit("size", kept.size);
    visit("changed_ns", kept.changedNs);
    visit("inode", kept.inode);
}

} // namespace

HashCache::HashCache(std::string file)
    : m_file(std::move(file)) {
    load();
}

HashCache& HashCache::instance() {
    static HashCache cache(Paths::fromEnvironment().cache.toStdString() + "/hashes.json");
    return cache;
}

Result<HashCache::State> HashCache::stateOf(const std::string& path) {
    const std::string attempt = say("deploy.open", {{"file", path}});
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0)
        return failErrno(attempt, errno);
    if (!S_ISREG(info.st_mode))
        return failAs(attempt, {ErrorCode::kInvalid, say("deploy.no-file")});
    return State{info.st_size, info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec,
                 static_cast<int64_t>(info.st_ino)};
}

Result<FileHash> HashCache::hashOf(const std::string& path) {
    const std::lock_guard lock(m_mutex);
    const auto state = stateOf(path);
    if (!state)
        return tl::unexpected(state.error());
    if (const auto known = m_entries.find(path);
        known != m_entries.end() && known->second.state == *state)
        return FileHash{known->second.sha256, state->size};
    RM_ASSIGN_OR_RETURN(auto sha256, sha256HexOfFile(path));
    ++m_computed;
    // A file that changed a moment ago may change again within the same tick of its clock.
    constexpr int64_t kSettledNs = 2'000'000'000;
    if (stateOf(path) == state && wallNowNs() - state->changedNs > kSettledNs) {
        m_entries[path] = {*state, sha256};
        m_changed = true;
    }
    return FileHash{sha256, state->size};
}

int64_t HashCache::computed() const {
    const std::lock_guard lock(m_mutex);
    return m_computed;
}

void HashCache::load() {
    const auto text = readFile(m_file);
    const auto json = text ? parseJson(*text, m_file) : tl::unexpected(text.error());
    const Json* files = json ? arrayAt(*json, "files") : nullptr;
    if (files == nullptr)
        return;
    for (const Json& file : *files)
        if (auto kept = fromJson<KeptHash>(file, m_file))
            m_entries[kept->path] = {{kept->size, kept->changedNs, kept->inode}, kept->sha256};
}

void HashCache::save() {
    const std::lock_guard lock(m_mutex);
    if (!std::exchange(m_changed, false))
        return;
    Json files = Json::array();
    for (const auto& [path, entry] : m_entries)
        files.push_back(writeFields(KeptHash{path, entry.sha256, entry.state.size,
                                             entry.state.changedNs, entry.state.inode}));
    if (makeFolders(std::filesystem::path(m_file).parent_path()))
        static_cast<void>(writeFileAtomically(m_file, dumpJson({{"files", std::move(files)}})));
}

} // namespace rm

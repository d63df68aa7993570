// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/deploy/hash_cache.h"

#include "app/core/findings/text.h"
#include "app/core/settings/paths.h"
#include "shared/io/clock.h"
#include "shared/io/file.h"
#include "shared/io/json.h"
#include "shared/return_if_error.h"

#include <sys/stat.h>

#include <cerrno>
#include <filesystem>

namespace rm {

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
    for (const Json& file : *files) {
        const auto path = textAt(file, "path");
        const auto sha256 = textAt(file, "sha256");
        const auto size = intAt(file, "size");
        const auto changed = intAt(file, "changed_ns");
        const auto inode = intAt(file, "inode");
        if (path && size && changed && inode && sha256 && isSha256(*sha256))
            m_entries[*path] = {{*size, *changed, *inode}, *sha256};
    }
}

void HashCache::save() {
    const std::lock_guard lock(m_mutex);
    if (!std::exchange(m_changed, false))
        return;
    Json files = Json::array();
    for (const auto& [path, entry] : m_entries)
        files.push_back({{"path", path},
                         {"sha256", entry.sha256},
                         {"size", entry.state.size},
                         {"changed_ns", entry.state.changedNs},
                         {"inode", entry.state.inode}});
    if (makeFolders(std::filesystem::path(m_file).parent_path()))
        static_cast<void>(writeFileAtomically(m_file, dumpJson({{"files", std::move(files)}})));
}

} // namespace rm

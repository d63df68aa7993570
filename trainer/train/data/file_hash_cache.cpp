// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/data/file_hash_cache.h"

#include "shared/io/clock.h"
#include "shared/io/file.h"
#include "shared/io/json.h"
#include "shared/return_if_error.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

namespace rm {
namespace {

constexpr int kVersion = 1;
constexpr int64_t kSettledNs = 2'000'000'000; ///< above the granularity of file times

int64_t nanoseconds(const timespec& time) {
    return static_cast<int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

} // namespace

FileHashCache::FileHashCache(std::string path)
    : m_path(std::move(path)) {
    load();
}

void FileHashCache::load() {
    const auto text = readFile(m_path);
    if (!text)
        return;
    try {
        const Json json = Json::parse(*text);
        if (json.at("version").get<int>() != kVersion)
            return;
        for (const auto& [file, from] : json.at("files").items()) {
            Entry& entry = m_before[file];
            const auto numbers = from.at("identity").get<std::vector<int64_t>>();
            entry.identity = {static_cast<uint64_t>(numbers.at(0)),
                              static_cast<uint64_t>(numbers.at(1)), numbers.at(2), numbers.at(3),
                              numbers.at(4)};
            entry.sha256 = from.at("sha256").get<std::string>();
            entry.passed = from.at("passed").get<std::set<std::string>>();
        }
    } catch (const std::exception&) { // nlohmann reports by exception
        m_before.clear();
    }
}

void FileHashCache::save() const {
    Json files = Json::object();
    for (const auto& [file, entry] : m_now) {
        if (!isUtf8(file) || !isSettled(entry.identity))
            continue;
        const Identity& id = entry.identity;
        files[file] = {{"identity",
                        {static_cast<int64_t>(id.device), static_cast<int64_t>(id.inode), id.size,
                         id.modifiedNs, id.changedNs}},
                       {"sha256", entry.sha256},
                       {"passed", entry.passed}};
    }
    const std::string folder = std::filesystem::path(m_path).parent_path().string();
    if (makeFolders(folder))
        static_cast<void>(
            writeFileAtomically(m_path, dumpJson({{"version", kVersion}, {"files", files}})));
}

Result<FileHashCache::Identity> FileHashCache::identityOf(const std::string& file) {
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0)
        return failErrno("read " + file, errno);
    return Identity{status.st_dev, status.st_ino, status.st_size, nanoseconds(status.st_mtim),
                    nanoseconds(status.st_ctim)};
}

/// Whether a file that was just read was last changed long enough ago for its times to show a later
/// change.
bool FileHashCache::isSettled(const Identity& identity) {
    return std::max(identity.modifiedNs, identity.changedNs) + kSettledNs < wallNowNs();
}

/// The entry for the current state of the file.
Result<FileHashCache::Entry*> FileHashCache::entryOf(const std::string& file) {
    RM_ASSIGN_OR_RETURN(const auto identity, identityOf(file));
    auto now = m_now.find(file);
    if (now == m_now.end()) {
        const auto before = m_before.find(file);
        const bool same = before != m_before.end() && before->second.identity == identity;
        now = m_now.emplace(file, same ? before->second : Entry{identity, {}, {}}).first;
    } else if (now->second.identity != identity) {
        now->second = {identity, {}, {}};
    }
    return &now->second;
}

Result<std::string> FileHashCache::sha256(const std::string& file) {
    RM_ASSIGN_OR_RETURN(const auto entry, entryOf(file));
    if (!entry->sha256.empty())
        return entry->sha256;
    ++m_filesRead;
    auto hash = sha256HexOfFile(file);
    if (hash)
        entry->sha256 = *hash;
    return hash;
}

Result<void> FileHashCache::once(const std::string& file, const std::string& what,
                                 const std::function<Result<void>()>& check) {
    RM_ASSIGN_OR_RETURN(const auto entry, entryOf(file));
    if (entry->passed.contains(what))
        return {};
    ++m_filesRead;
    const auto passed = check();
    if (passed)
        entry->passed.insert(what);
    return passed;
}

} // namespace rm

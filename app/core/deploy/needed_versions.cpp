// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/deploy/needed_versions.h"

#include "app/core/deploy/deploy.h"
#include "shared/io/elf_versions.h"

#include <QFile>

#include <map>
#include <mutex>

namespace rm {

namespace {

/// The versions that the file needs. Of larger files only the pages that name versions are read.
std::vector<std::string> versionsNeededBy(const std::string& path) {
    QFile file(QString::fromStdString(path));
    if (!file.open(QIODevice::ReadOnly) || file.size() == 0)
        return {};
    const uchar* bytes = file.map(0, file.size());
    if (bytes == nullptr)
        return {};
    const auto versions = elfVersions(std::as_bytes(std::span(bytes, size_t(file.size()))));
    return versions ? versions->needed : std::vector<std::string>();
}

NeededVersions lookThrough(const std::string& runtime) {
    std::vector<std::string> all;
    if (const auto bundle = trainerBundle(runtime))
        for (const LocalTree::File& file : bundle->files)
            for (std::string& version : versionsNeededBy(file.local))
                all.push_back(std::move(version));
    return {newestVersion(all, "GLIBC_"), newestVersion(all, "GLIBCXX_")};
}

} // namespace

NeededVersions neededByTrainer(const std::string& runtime) {
    static std::mutex mutex;
    static std::map<std::string, NeededVersions> known;
    const std::lock_guard lock(mutex);
    const auto found = known.find(runtime);
    return found != known.end() ? found->second
                                : known.emplace(runtime, lookThrough(runtime)).first->second;
}

} // namespace rm

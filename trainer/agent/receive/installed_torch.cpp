// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/receive/installed_torch.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

namespace rm {

namespace {

namespace fs = std::filesystem;

constexpr size_t kMostFolders = 256; ///< looked into in one folder, and found in all
constexpr size_t kMostFiles = 4096;

/// At most kMostFolders folders in `folder`, sorted by name.
std::vector<fs::path> foldersIn(const fs::path& folder) {
    std::vector<fs::path> found;
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end;
         !error && at != end && found.size() < kMostFolders; at.increment(error)) {
        std::error_code ignored;
        if (at->is_directory(ignored))
            found.push_back(at->path());
    }
    std::ranges::sort(found);
    return found;
}

void appendIfThere(std::vector<std::string>& found, const fs::path& folder) {
    std::error_code error;
    if (found.size() < kMostFolders && fs::is_directory(folder / "torch" / "lib", error))
        found.push_back(folder);
}

/// Appends those of an installation of Python: PREFIX/lib/python3.11/site-packages.
void appendOfPrefix(std::vector<std::string>& found, const fs::path& prefix) {
    for (const fs::path& python : foldersIn(prefix / "lib")) {
        if (!python.filename().string().starts_with("python3"))
            continue;
        appendIfThere(found, python / "site-packages");
        appendIfThere(found, python / "dist-packages");
    }
}

void appendOfConda(std::vector<std::string>& found, const fs::path& conda) {
    appendOfPrefix(found, conda);
    for (const fs::path& environment : foldersIn(conda / "envs"))
        appendOfPrefix(found, environment);
}

/// Appends those of a folder in which a person works, with an environment in it.
void appendOfProject(std::vector<std::string>& found, const fs::path& folder) {
    for (const char* name : {"venv", ".venv", "env"})
        appendOfPrefix(found, folder / name);
}

} // namespace

std::vector<std::string> usualSitePackages() {
    std::vector<std::string> found;
    for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"})
        if (const char* prefix = std::getenv(name); prefix && *prefix == '/')
            appendOfPrefix(found, prefix);
    for (const char* prefix : {"/usr/local", "/usr"})
        appendOfPrefix(found, prefix);
    for (const char* name : {"conda", "miniconda3", "anaconda3", "miniforge3"})
        appendOfConda(found, fs::path("/opt") / name);
    const char* home = std::getenv("HOME");
    if (!home || *home != '/')
        return found;
    const fs::path own(home);
    appendOfPrefix(found, own / ".local");
    for (const char* name :
         {"conda", "miniconda3", "anaconda3", "miniforge3", "mambaforge", "micromamba", ".conda"})
        appendOfConda(found, own / name);
    for (const fs::path& torch : foldersIn(own / ".cache" / "ringmaster"))
        appendIfThere(found, torch);
    for (const fs::path& environment : foldersIn(own / ".virtualenvs"))
        appendOfPrefix(found, environment);
    appendOfProject(found, own);
    for (const fs::path& project : foldersIn(own))
        if (!project.filename().string().starts_with('.'))
            appendOfProject(found, project);
    return found;
}

InstalledTorch::InstalledTorch(std::vector<std::string> sitePackages)
    : m_sitePackages(std::move(sitePackages)) {}

std::vector<std::string> InstalledTorch::filesOf(int64_t size) {
    look();
    std::vector<std::string> files;
    const auto [begin, end] = m_files.equal_range(size);
    for (auto at = begin; at != end; ++at)
        files.push_back(at->second);
    return files;
}

void InstalledTorch::look() {
    if (std::exchange(m_hasLooked, true))
        return;
    const auto lookIn = [this](const fs::path& folder) {
        std::error_code error;
        for (fs::directory_iterator at(folder, error), end; !error && at != end;
             at.increment(error)) {
            std::error_code ignored;
            const auto size = at->is_regular_file(ignored) ? at->file_size(ignored) : 0;
            if (size > 0 && !ignored && m_files.size() < kMostFiles)
                m_files.emplace(static_cast<int64_t>(size), at->path());
        }
    };
    for (const fs::path site : m_sitePackages) {
        lookIn(site / "torch" / "lib");
        lookIn(site / "torch.libs");
        for (const fs::path& library : foldersIn(site / "nvidia"))
            lookIn(library / "lib");
    }
}

} // namespace rm

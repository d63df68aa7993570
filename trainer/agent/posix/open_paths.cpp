// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/posix/open_paths.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>

namespace rm {

namespace {

namespace fs = std::filesystem;

bool isPid(const std::string& name) {
    return !name.empty() && std::all_of(name.begin(), name.end(),
                                        [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// Collects what lies below a folder.
struct PathsBelow {
    std::string prefix; ///< with its '/'
    std::set<std::string> found;

    void note(const std::string& path) {
        if (path.starts_with(prefix))
            found.insert(path);
    }
    void noteTarget(const fs::path& link) {
        std::error_code error;
        note(fs::read_symlink(link, error));
    }
    // Lines of proc_pid_maps(5): five fields, then the path.
    void noteMapped(const fs::path& maps) {
        std::ifstream file(maps);
        for (std::string line; std::getline(file, line);)
            if (const size_t at = line.find('/'); at != std::string::npos)
                note(line.substr(at));
    }
    void noteProcess(const fs::path& process) {
        noteTarget(process / "exe");
        noteTarget(process / "cwd");
        noteMapped(process / "maps");
        std::error_code error;
        for (fs::directory_iterator at(process / "fd", error), end; !error && at != end;
             at.increment(error))
            noteTarget(at->path());
    }
};

} // namespace

std::set<std::string> openPathsBelow(const std::string& folder) {
    PathsBelow paths{folder + "/", {}};
    std::error_code error;
    for (fs::directory_iterator at("/proc", error), end; !error && at != end; at.increment(error))
        if (isPid(at->path().filename()))
            paths.noteProcess(at->path());
    return std::move(paths.found);
}

} // namespace rm

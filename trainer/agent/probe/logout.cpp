// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/probe/logout.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <sstream>
#include <vector>

namespace rm {

namespace {

/// The rules of logind.conf(5) for processes that a login leaves behind.
struct LogindRules {
    bool killsProcesses = false;
    std::vector<std::string> only;
    std::vector<std::string> except; ///< empty: root

    bool killsThoseOf(const std::string& user) const {
        if (except.empty() ? user == "root" : std::ranges::count(except, user) > 0)
            return false;
        return only.empty() ? killsProcesses : std::ranges::count(only, user) > 0;
    }
};

std::string trimmed(const std::string& text) {
    const size_t begin = text.find_first_not_of(" \t\r");
    const size_t end = text.find_last_not_of(" \t\r");
    return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

bool isYes(const std::string& value) {
    constexpr std::array kYes = {"1", "yes", "y", "true", "t", "on"};
    return std::ranges::count(kYes, value) > 0;
}

/// A later line adds to a list, an empty one clears it.
void addTo(std::vector<std::string>& list, const std::string& value) {
    std::istringstream words(value);
    std::string word;
    if (value.empty())
        list.clear();
    while (words >> word)
        list.push_back(word);
}

void readInto(LogindRules& rules, const std::string& text) {
    std::istringstream lines(text);
    std::string line, section;
    while (std::getline(lines, line)) {
        line = trimmed(line);
        const size_t equals = line.find('=');
        if (line.starts_with('['))
            section = line;
        if (section != "[Login]" || line.starts_with('#') || line.starts_with(';') ||
            equals == std::string::npos)
            continue;
        const std::string key = trimmed(line.substr(0, equals));
        const std::string value = trimmed(line.substr(equals + 1));
        if (key == "KillUserProcesses")
            rules.killsProcesses = isYes(value);
        else if (key == "KillOnlyUsers")
            addTo(rules.only, value);
        else if (key == "KillExcludeUsers")
            addTo(rules.except, value);
    }
}

/// The one main file, then the drop-ins by name; /etc hides files of the same name elsewhere.
LogindRules readRules(const SysRoot& root) {
    constexpr std::array kFolders = {"/etc/systemd", "/run/systemd", "/usr/local/lib/systemd",
                                     "/usr/lib/systemd"};
    LogindRules rules;
    std::map<std::string, std::string> dropIns; // by name
    std::error_code error;
    bool hasMain = false;
    for (const std::string folder : kFolders) {
        const std::string main = folder + "/logind.conf";
        if (!hasMain && std::filesystem::exists(root.path(main), error)) {
            readInto(rules, root.text(main));
            hasMain = true;
        }
        const std::string extra = folder + "/logind.conf.d";
        for (std::filesystem::directory_iterator at(root.path(extra), error), end;
             !error && at != end; at.increment(error))
            if (const std::string name = at->path().filename(); name.ends_with(".conf"))
                dropIns.try_emplace(name, extra + '/' + name);
    }
    for (const auto& [name, path] : dropIns)
        readInto(rules, root.text(path));
    return rules;
}

bool lingers(const SysRoot& root, const std::string& user) {
    std::error_code error;
    return std::filesystem::exists(root.path("/var/lib/systemd/linger/" + user), error);
}

} // namespace

AtLogout readAtLogout(const SysRoot& root, const std::string& user) {
    const std::string groups = root.text("/proc/self/cgroup");
    if (groups.empty())
        return AtLogout::kUnknown;
    if (groups.find("/user@") != std::string::npos)
        return lingers(root, user) ? AtLogout::kGoOn : AtLogout::kEndWithUserManager;
    if (groups.find("/session-") != std::string::npos)
        return readRules(root).killsThoseOf(user) ? AtLogout::kEndWithSession : AtLogout::kGoOn;
    return AtLogout::kGoOn;
}

} // namespace rm

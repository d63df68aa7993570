// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/remote/ssh_config.h"

#include "app/core/findings/text.h"
#include "app/core/remote/helper_program.h"
#include "shared/return_if_error.h"

#include <QDir>
#include <QFile>

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>

namespace rm {

namespace {

constexpr const char* kNoFile = "/dev/null";

struct Account {
    std::string name;
    std::string home;
};

/// By the passwd entry. Not getpwuid(), as several threads connect.
Account account() {
    constexpr size_t kMost = 64 * 1024; // for an entry of a directory service
    std::vector<char> room(kMost);
    passwd entry{};
    passwd* found = nullptr;
    if (::getpwuid_r(::getuid(), &entry, room.data(), room.size(), &found) != 0 || !found)
        return {};
    return {entry.pw_name, entry.pw_dir};
}

/// ssh looks into the home that the passwd entry names. We go by $HOME, so that two instances with
/// different ones never meet. nullopt: there is no file.
std::optional<QStringList> fileArguments() {
    const QString file = QDir::homePath() + "/.ssh/config";
    if (QDir::homePath() != QFile::decodeName(account().home.c_str()))
        return QFile::exists(file) ? std::optional(QStringList{"-F", file}) : std::nullopt;
    const bool isThere = QFile::exists(file) || QFile::exists("/etc/ssh/ssh_config");
    return isThere ? std::optional(QStringList()) : std::nullopt;
}

Result<std::string> ask(const QStringList& arguments, const std::string& attempt,
                        const std::stop_token& stop) {
    using End = HelperAnswer::End;
    const HelperAnswer answer = runHelper("ssh", QStringList{"-G", "-T"} + arguments, stop);
    if (answer.end == End::kNotStarted)
        return failAs(attempt,
                      {ErrorCode::kUnavailable, say("ssh.not-installed", {{"why", answer.said}})});
    if (answer.end == End::kCancelled)
        return failCancelled(attempt);
    if (answer.end == End::kTooLate)
        return failAs(attempt, {ErrorCode::kUnavailable, say("ssh.config-not-in-time")});
    if (answer.succeeded)
        return answer.output;
    // The first line names the mistake, the last one only counts them.
    const std::string mistake = answer.said.substr(0, answer.said.find('\n'));
    return failAs(attempt, {ErrorCode::kInvalid, say("ssh.config-wrong", {{"mistake", mistake}})});
}

using ConfigValues = std::map<std::string, std::vector<std::string>>; ///< by keyword

ConfigValues valuesIn(const std::string& printed) {
    ConfigValues values;
    std::istringstream lines(printed);
    for (std::string line; std::getline(lines, line);)
        if (const size_t space = line.find(' '); space != std::string::npos)
            values[line.substr(0, space)].push_back(line.substr(space + 1));
    return values;
}

/// A path, in which ssh has put the home of the passwd entry for "~".
std::string underOurHome(const std::string& path) {
    const std::string home = account().home + '/';
    return home.size() > 1 && path.starts_with(home) ? "~/" + path.substr(home.size()) : path;
}

/// ssh prints the paths of a list with a blank between them, also where one has a blank itself.
std::vector<std::string> pathsIn(const std::string& value) {
    std::vector<std::string> paths;
    std::istringstream words(value);
    for (std::string word; std::getline(words, word, ' ');)
        if (paths.empty() || word.starts_with('/') || word == "none")
            paths.push_back(word);
        else
            paths.back() += ' ' + word;
    std::ranges::transform(paths, paths.begin(), underOurHome);
    return paths;
}

/// The ones that decide how a host is reached or who logs in, so that a connection may fail for
/// want of them.
constexpr std::array kNotFollowed{"bindinterface",       "certificatefile", "checkhostip",
                                  "controlpath",         "pkcs11provider",  "proxyusefdpass",
                                  "securitykeyprovider", "verifyhostkeydns"};

/// ssh prints some switches as true and false, which only it reads.
std::string readable(const std::string& value) {
    return value == "true" ? "yes" : value == "false" ? "no" : value;
}

/// Asked for once.
Result<std::string> usualAnswer(const std::string& attempt) {
    static std::mutex mutex;
    static std::string answer;
    const std::lock_guard lock(mutex);
    if (answer.empty()) {
        RM_ASSIGN_OR_RETURN(answer, ask({"-F", kNoFile, "--", "host"}, attempt, {}));
    }
    return answer;
}

} // namespace

std::string loginName() {
    return account().name;
}

SshConfig parseSshConfig(const std::string& printed, const std::string& usual) {
    const auto usualValues = valuesIn(usual);
    SshConfig config;
    for (const auto& [key, values] : valuesIn(printed)) {
        const auto same = usualValues.find(key);
        const bool isUsual = same != usualValues.end() && same->second == values;
        if (key == "hostname")
            config.hostName = values.front();
        else if (key == "host" || (isUsual && key != "user" && key != "port"))
            continue;
        else if (key == "proxyjump") // of several, libssh 0.10 passes the last one first
            config.jumpHosts = values.front();
        else if (key == "identityfile")
            config.identityFiles = values;
        else if (key == "identityagent")
            config.identityAgent = values.front();
        else if (key == "identitiesonly")
            config.identitiesOnly = values.front() == "yes";
        else if (key == "addressfamily")
            config.addressFamily = values.front();
        else if (key == "bindaddress")
            config.bindAddress = values.front();
        else if (key == "hostkeyalias")
            config.hostKeys.alias = values.front();
        else if (key == "knownhostscommand")
            config.hostKeys.command = values.front();
        else if (key == "hashknownhosts")
            config.hostKeys.areHashed = readable(values.front()) == "yes";
        else if (key == "pubkeyauthentication")
            config.offersKeys &= readable(values.front()) != "no";
        else if (key == "preferredauthentications")
            config.offersKeys &= values.front().find("publickey") != std::string::npos;
        else if (key == "kexalgorithms")
            config.kexAlgorithms = values.front();
        else if (key == "ciphers")
            config.ciphers = values.front();
        else if (key == "hostkeyalgorithms")
            config.hostKeyAlgorithms = values.front();
        else if (key == "loglevel") // libssh would print
            continue;
        else if (key == "revokedhostkeys")
            config.hostKeys.revoked = underOurHome(values.front());
        else if (key == "connecttimeout") // "none" is 0
            config.connectTimeout = std::chrono::seconds(std::atoi(values.front().c_str()));
        else if (key == "controlpath" && values.front() == "none")
            continue;
        else if (key == "requiredrsasize")
            config.leastRsaBits = std::atoi(values.front().c_str());
        else if (key == "userknownhostsfile")
            config.hostKeys.userFiles = pathsIn(values.front());
        else if (key == "globalknownhostsfile")
            config.hostKeys.globalFiles = pathsIn(values.front());
        else if (key == "stricthostkeychecking")
            config.hostKeys.unasked =
                readable(values.front()) == "yes" ? "" : readable(values.front());
        else if (std::ranges::find(kNotFollowed, key) != kNotFollowed.end())
            for (const std::string& value : values)
                config.notFollowed.push_back(key + ' ' + readable(value));
        else
            for (const std::string& value : values)
                config.settings += key + ' ' + readable(value) + '\n';
    }
    return config;
}

Result<SshConfig> sshConfigOf(const Node& node, std::stop_token stop) {
    const std::string attempt = say("ssh.read-config", {{"host", node.sshHost}});
    const auto files = fileArguments();
    if (!files) {
        SshConfig nothing;
        nothing.hostName = node.sshHost;
        return nothing;
    }
    RM_ASSIGN_OR_RETURN(const auto usual, usualAnswer(attempt));
    QStringList arguments = *files;
    if (!node.user.empty())
        arguments << "-l" << QString::fromStdString(node.user);
    if (node.port != 0)
        arguments << "-p" << QString::number(node.port);
    arguments << "--" << QString::fromStdString(node.sshHost);
    RM_ASSIGN_OR_RETURN(const auto printed, ask(arguments, attempt, stop));
    return parseSshConfig(printed, usual);
}

} // namespace rm

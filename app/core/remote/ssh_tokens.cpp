// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/remote/ssh_tokens.h"

#include <QDir>
#include <QSysInfo>

#include <unistd.h>

namespace rm {

SshTokens tokensOf(const SshLink& link, const SshConfig& config, const Node& node) {
    const std::string here = QSysInfo::machineHostName().toStdString();
    const std::string& alias = config.hostKeys.alias;
    return {{'%', "%"},
            {'L', here.substr(0, here.find('.'))},
            {'d', QDir::homePath().toStdString()},
            {'h', link.host()},
            {'i', std::to_string(::getuid())},
            {'k', alias.empty() ? node.sshHost : alias},
            {'l', here},
            {'n', node.sshHost},
            {'p', std::to_string(link.port())},
            {'r', link.option(SSH_OPTIONS_USER)},
            {'u', loginName()}};
}

std::string expandTokens(const std::string& text, const SshTokens& tokens) {
    std::string out;
    for (size_t at = 0; at < text.size(); ++at) {
        const auto token =
            text[at] == '%' && at + 1 < text.size() ? tokens.find(text[at + 1]) : tokens.end();
        if (token == tokens.end()) {
            out += text[at];
            continue;
        }
        out += token->second;
        ++at;
    }
    return out;
}

std::string underHome(const std::string& path) {
    if (path != "~" && path.substr(0, 2) != "~/")
        return path;
    return QDir::homePath().toStdString() + path.substr(1);
}

} // namespace rm

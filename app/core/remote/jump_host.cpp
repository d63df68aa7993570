// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/remote/jump_host.h"

#include <QStringList>

#include <span>
#include <string_view>

namespace rm {

namespace {

constexpr std::string_view kProgram = "ssh ";
constexpr std::string_view kForward = " -W '[%h]:%p' ";

bool isJumpCommand(const std::string& command) {
    return command.starts_with(kProgram) && command.find(kForward) != std::string::npos;
}

/// In quotes, as the brackets of an IPv6 address mean files to a shell.
std::string listOf(std::span<const SshAddress> hosts) {
    std::string list;
    for (const SshAddress& host : hosts)
        list += (list.empty() ? "" : ",") + toText(host);
    return '\'' + list + '\'';
}

} // namespace

std::string jumpCommand(const std::vector<SshAddress>& jumps) {
    const SshAddress& last = jumps.back();
    const std::span before(jumps.data(), jumps.size() - 1);
    return "ssh" + (before.empty() ? "" : " -J " + listOf(before)) +
           (last.user.empty() ? "" : " -l " + last.user) +
           (last.port == 0 ? "" : " -p " + std::to_string(last.port)) + std::string(kForward) +
           last.host;
}

std::string jumpHostsIn(const std::string& proxyCommand) {
    if (!isJumpCommand(proxyCommand))
        return {};
    const QStringList words = QString::fromStdString(proxyCommand).split(' ');
    const auto after = [&words](const QString& option) {
        const auto at = words.indexOf(option);
        return at < 0 ? QString() : words.value(at + 1);
    };
    const QString host = words.back(), before = after("-J").remove('\'');
    return (before.isEmpty() ? "" : before.toStdString() + ',') +
           toText({after("-l").toStdString(), host.toStdString(), after("-p").toInt()});
}

} // namespace rm

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/remote/jump_host.h"

#include "app/core/findings/text.h"
#include "app/core/remote/error_tail.h"

#include <QDir>
#include <QRegularExpression>

#include <algorithm>
#include <span>

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

JumpHost::JumpHost(SshLink& link)
    : m_log(QDir::tempPath() + "/ringmaster-jump-XXXXXX") {
    const std::string command = link.option(SSH_OPTIONS_PROXYCOMMAND);
    if (!isJumpCommand(command))
        return;
    if (!m_log.open() || m_log.fileName().contains(QRegularExpression("[^A-Za-z0-9._/+-]")))
        return;
    // exec, so that closing the link ends ssh itself and not only the shell that started it.
    // Without a terminal, as BatchMode does not bind the ssh that it starts for each host before.
    const std::string quiet = "exec setsid ssh -o BatchMode=yes -E " +
                              m_log.fileName().toStdString() + ' ' +
                              command.substr(kProgram.size());
    ssh_options_set(link.get(), SSH_OPTIONS_PROXYCOMMAND, quiet.c_str());
}

std::string JumpHost::complaint() {
    if (!m_log.isOpen())
        return {};
    constexpr qint64 kMost = 64 * 1024; // the host decides how much there is
    m_log.seek(std::max<qint64>(0, m_log.size() - kMost));
    std::string said = lastLine(withoutEscapes(m_log.read(kMost).toStdString()));
    if (said.ends_with('.'))
        said.pop_back(); // the sentence goes on
    return said.empty() ? said : say("ssh.jump-host-not-passed", {{"said", said}});
}

} // namespace rm

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/remote/proxy.h"

#include "app/core/findings/text.h"
#include "app/core/remote/command_line.h"
#include "app/core/remote/error_tail.h"
#include "app/core/remote/jump_host.h"

#include <sstream>
#include <string_view>

namespace rm {

namespace {

using Cause = ConnectFailure::Cause;

/// libssh would expand tokens in it.
std::string withoutTokens(const std::string& command) {
    std::string out;
    for (const char c : command)
        out += c == '%' ? "%%" : std::string(1, c);
    return out;
}

/// exec, so that closing the link ends ssh itself and not only the shell that started it. Without a
/// terminal, as BatchMode does not bind the ssh that it starts for each host before.
std::string quietJump(const std::string& command, const std::string& log) {
    constexpr std::string_view kSsh = "ssh ";
    return "exec setsid ssh -o BatchMode=yes -E " + log + ' ' + command.substr(kSsh.size());
}

/// By the person's own shell, as OpenSSH runs it, with its stderr in a file.
std::string loggedCommand(const std::string& command, const std::string& log) {
    return "exec /bin/sh -c 'exec \"${SHELL:-/bin/sh}\" -c \"$0\" 2>>" + log + "' " +
           quotedForShell("exec " + command);
}

/// The first line with one of these words; empty: there is none.
std::string lineWith(const std::string& text, std::initializer_list<const char*> words) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        for (const char* word : words)
            if (line.find(word) != std::string::npos)
                return line;
    return {};
}

/// As part of a sentence that goes on.
std::string quoted(std::string said) {
    while (said.ends_with('.') || said.ends_with('\r'))
        said.pop_back();
    return said;
}

struct Complaint {
    std::string words;
    Cause cause = Cause::kOther;
};

/// What OpenSSH's client said of the way.
Complaint ofJump(const std::string& said, bool isSilent) {
    if (const std::string line = lineWith(said, {"open failed: "}); !line.empty())
        return {say(line.find("prohibited") != std::string::npos ? "ssh.jump-host-forwards-nothing"
                                                                 : "ssh.jump-host-reached-nothing",
                    {{"said", quoted(line)}})};
    if (const std::string line = lineWith(said, {"connect to host ", "Could not resolve hostname"});
        !line.empty())
        return {say("ssh.jump-host-not-reached", {{"said", quoted(line)}})};
    const std::string last = lastLine(said); // with -E also a banner of the jump host
    return last.empty() || isSilent
               ? Complaint{}
               : Complaint{say("ssh.jump-host-not-passed", {{"said", quoted(last)}}),
                           Cause::kJumpHost};
}

} // namespace

Proxy::Proxy(SshLink& link, const SshTokens& tokens)
    : m_command(link.option(SSH_OPTIONS_PROXYCOMMAND))
    , m_log("ringmaster-proxy") {
    if (m_command.empty())
        return;
    m_isJump = !jumpHostsIn(m_command).empty();
    m_command = expandTokens(m_command, tokens);
    const std::string logged =
        m_isJump ? quietJump(m_command, m_log.path()) : loggedCommand(m_command, m_log.path());
    ssh_options_set(link.get(), SSH_OPTIONS_PROXYCOMMAND, withoutTokens(logged).c_str());
}

std::optional<ConnectFailure> Proxy::failure(const SshLink& link, const std::string& attempt,
                                             bool isSilent) const {
    constexpr size_t kMost = 64 * 1024; // the host decides how much there is
    const bool hasReached = ssh_get_serverbanner(link.get()) != nullptr;
    if (m_command.empty() || (!m_isJump && hasReached))
        return std::nullopt;
    const std::string said = withoutEscapes(m_log.tail(kMost));
    Complaint complaint = ofJump(said, isSilent || hasReached);
    if (!m_isJump) {
        const std::string last = lastLine(said);
        const Value command{"command", m_command};
        complaint = {last.empty() ? say("ssh.proxy-said-nothing", {command})
                                  : say("ssh.proxy-failed", {command, {"said", quoted(last)}})};
    }
    if (complaint.words.empty())
        return std::nullopt;
    return ConnectFailure{failAs(attempt, {ErrorCode::kUnavailable, complaint.words}).value(),
                          {},
                          {},
                          complaint.cause};
}

} // namespace rm

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/deploy/bootstrap.h"
#include "app/core/deploy/deploy.h"
#include "app/core/deploy/hash_cache.h"
#include "app/core/remote/process_reader.h"
#include "app/core/settings/paths.h"
#include "shared/io/file.h"
#include "shared/return_if_error.h"

#include <algorithm>

namespace rm {

namespace {

using std::chrono::seconds;

constexpr size_t kLargestAgent = 256u << 20;

/// The rest of a line that begins with `word` and a space.
Result<std::string> afterWord(const std::string& line, const std::string& word,
                              const std::string& attempt) {
    if (!line.starts_with(word + ' '))
        return fail(ErrorCode::kCorrupt, attempt + ": the host answered '" + line + '\'');
    return line.substr(word.size() + 1);
}

Result<std::string> answer(ProcessReader& reader, const std::string& word,
                           const std::string& attempt) {
    RM_ASSIGN_OR_RETURN(const auto line, reader.line(seconds(20)));
    return afterWord(line, word, attempt);
}

Result<std::string> installed(ProcessReader& reader, const std::string& attempt) {
    return answer(reader, "have", attempt);
}

Result<std::string> sendAgent(HostProcess& process, ProcessReader& reader, const std::string& agent,
                              const std::string& attempt) {
    const auto bytes = readFile(agent, kLargestAgent);
    if (!bytes)
        return failAs(attempt, bytes.error());
    const std::string input = "go\n" + *bytes;
    auto sent = process.write(std::as_bytes(std::span(input)));
    if (sent)
        sent = process.closeWrite();
    auto path = installed(reader, attempt);
    // The script's own error says more than a failed write to it.
    if (!path && !sent && path.error().code == ErrorCode::kUnavailable)
        return failAs(attempt, sent.error());
    return path;
}

Result<std::string> bootstrap(HostSession& session, const Node& node, const std::string& agent,
                              const std::string& sha256, std::stop_token stop) {
    const std::string attempt = "send the agent to " + node.name;
    auto process = session.startScript(kBootstrapScript, stop);
    if (!process)
        return failAs(attempt, process.error());
    ProcessReader reader(**process, attempt, std::move(stop));
    const std::string line = sha256 + '\n';
    if (auto sent = (*process)->write(std::as_bytes(std::span(line))); !sent)
        return failAs(attempt, sent.error());
    RM_ASSIGN_OR_RETURN(const auto first, reader.line(seconds(20)));
    if (first.starts_with("have "))
        return afterWord(first, "have", attempt);
    const auto platform = afterWord(first, "platform", attempt);
    if (!platform)
        return platform;
    const auto libc = answer(reader, "libc", attempt);
    if (!libc)
        return libc;
    RM_RETURN_IF_ERROR(checkPlatform(node.name, *platform));
    RM_RETURN_IF_ERROR(checkLibc(node.name, *libc));
    auto verdict = reader.line(seconds(20));
    if (!verdict || *verdict == "need")
        return verdict ? sendAgent(**process, reader, agent, attempt) : verdict;
    return afterWord(*verdict, "have", attempt);
}

} // namespace

Result<std::string> deployAgent(HostSession& session, const Node& node, std::stop_token stop) {
    const std::string agent = installPrefix().toStdString() + "/bin/ringmaster-agent";
    const auto hash = HashCache::instance().hashOf(agent);
    if (!hash)
        return failAs("find the agent of this installation", hash.error());
    if (session.isLocal())
        return agent;
    return bootstrap(session, node, agent, hash->sha256, std::move(stop));
}

Result<NodeSession> openNode(const Node& node, const Credentials& credentials, std::stop_token stop,
                             const OnConnectPause& onPause) {
    auto opened = openSessionPatiently(node, credentials, stop, onPause);
    if (!opened)
        return tl::unexpected(opened.error().error);
    RM_ASSIGN_OR_RETURN(auto agent, deployAgent(**opened, node, std::move(stop)));
    return NodeSession{std::move(*opened), std::move(agent)};
}

} // namespace rm

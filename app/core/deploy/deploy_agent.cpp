// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/deploy/bootstrap.h"
#include "app/core/deploy/deploy.h"
#include "app/core/deploy/hash_cache.h"
#include "app/core/findings/text.h"
#include "app/core/remote/error_tail.h"
#include "app/core/remote/process_reader.h"
#include "app/core/settings/paths.h"
#include "shared/enforce.h"
#include "shared/io/file.h"
#include "shared/return_if_error.h"

#include <QSysInfo>

#include <zlib.h>

#include <memory>
#include <mutex>

namespace rm {

namespace {

using std::chrono::seconds;

constexpr size_t kLargestAgent = 256u << 20;
using Bytes = std::shared_ptr<const std::string>;

/// The rest of a line that begins with `word` and a space.
Result<std::string> afterWord(const std::string& line, const std::string& word,
                              const std::string& attempt) {
    if (!line.starts_with(word + ' '))
        return failAs(attempt, {ErrorCode::kCorrupt, say("deploy.odd-line", {{"line", line}})});
    return line.substr(word.size() + 1);
}

Result<std::string> answer(ProcessReader& reader, const std::string& word,
                           const std::string& attempt, seconds patience = seconds(20)) {
    RM_ASSIGN_OR_RETURN(const auto line, reader.line(patience));
    return afterWord(line, word, attempt);
}

/// As gzip packs it (RFC 1952).
std::string packed(const std::string& plain) {
    constexpr int kGzip = 16 + MAX_WBITS;
    z_stream stream = {};
    RM_ENFORCE(::deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, MAX_MEM_LEVEL,
                              Z_DEFAULT_STRATEGY) == Z_OK);
    std::string bytes(::deflateBound(&stream, plain.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
    stream.avail_in = static_cast<uInt>(plain.size());
    stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
    stream.avail_out = static_cast<uInt>(bytes.size());
    RM_ENFORCE(::deflate(&stream, Z_FINISH) == Z_STREAM_END);
    bytes.resize(stream.total_out);
    ::deflateEnd(&stream);
    return bytes;
}

/// Packed once for all nodes that lack it.
Result<Bytes> packedAgent(const std::string& agent, const std::string& sha256) {
    static std::mutex mutex;
    static std::string packedSha256;
    static Bytes bytes;
    const std::lock_guard lock(mutex);
    if (packedSha256 == sha256)
        return bytes;
    RM_ASSIGN_OR_RETURN(const auto plain, readFile(agent, kLargestAgent));
    bytes = std::make_shared<const std::string>(packed(plain));
    packedSha256 = sha256;
    return bytes;
}

Result<Bytes> plainAgent(const std::string& agent) {
    RM_ASSIGN_OR_RETURN(auto plain, readFile(agent, kLargestAgent));
    return std::make_shared<const std::string>(std::move(plain));
}

/// For the answer to `bytes` that were written: the last of them may still wait here, as for a
/// minute and more where many nodes share a slow uplink.
seconds patienceFor(size_t bytes) {
    constexpr size_t kLeastBytesPerSecond = 8'000;
    return seconds(20 + static_cast<int64_t>(bytes / kLeastBytesPerSecond));
}

Result<std::string> sendAgent(HostProcess& process, ProcessReader& reader,
                              const Result<Bytes>& bytes, const char* packing,
                              const std::string& attempt) {
    if (!bytes)
        return failAs(attempt, bytes.error());
    const std::string how = packing + std::string("\n");
    auto sent = process.write(std::as_bytes(std::span(how)));
    if (sent)
        sent = process.write(std::as_bytes(std::span(**bytes)));
    if (sent)
        sent = process.closeWrite();
    auto path = answer(reader, "have", attempt, patienceFor((*bytes)->size()));
    // The script's own error says more than a failed write to it.
    if (!path && !sent && path.error().code == ErrorCode::kUnavailable)
        return failAs(attempt, sent.error());
    return path;
}

/// The reason why a script ended that could start nothing any more, else `error`.
tl::unexpected<Error> orNoPrograms(HostProcess& process, const Node& node, const Error& error) {
    const std::string said = lastLine(process.errorText());
    if (said.find("fork") == std::string::npos)
        return tl::unexpected(error);
    return failAs(say("deploy.send-agent", {{"node", node.name}}),
                  {ErrorCode::kUnavailable,
                   say("deploy.starts-no-programs", {{"node", node.name}, {"said", said}})});
}

Result<std::string> bootstrap(HostSession& session, const Node& node, const std::string& agent,
                              const std::string& sha256, std::stop_token stop) {
    const std::string attempt = say("deploy.send-agent", {{"node", node.name}});
    auto process = session.startScript(kBootstrapScript, stop);
    if (!process)
        return failAs(attempt, process.error());
    ProcessReader reader(**process, attempt, std::move(stop));
    const std::string line = sha256 + " " RINGMASTER_RELEASE "\n";
    if (auto sent = (*process)->write(std::as_bytes(std::span(line))); !sent)
        return failAs(attempt, sent.error());
    const auto first = reader.line(seconds(20));
    if (!first)
        return orNoPrograms(**process, node, first.error());
    if (first->starts_with("have "))
        return afterWord(*first, "have", attempt);
    const auto platform = afterWord(*first, "platform", attempt);
    if (!platform)
        return platform;
    RM_RETURN_IF_ERROR(checkPlatform(node.name, *platform));
    const auto libc = answer(reader, "libc", attempt);
    if (!libc || libc->empty())
        return orNoPrograms(**process, node,
                            libc ? checkLibc(node.name, *libc).error() : libc.error());
    RM_RETURN_IF_ERROR(checkLibc(node.name, *libc));
    RM_ASSIGN_OR_RETURN(const auto verdict, reader.line(seconds(20)));
    if (verdict == "need gzip")
        return sendAgent(**process, reader, packedAgent(agent, sha256), "gzip", attempt);
    if (verdict == "need")
        return sendAgent(**process, reader, plainAgent(agent), "plain", attempt);
    return afterWord(verdict, "have", attempt);
}

} // namespace

Result<std::string> deployAgent(HostSession& session, const Node& node, std::stop_token stop) {
    const std::string agent = installPrefix().toStdString() + "/bin/ringmaster-agent";
    const auto hash = HashCache::instance().hashOf(agent);
    if (!hash)
        return failAs(say("deploy.find-agent"), hash.error());
    if (session.isLocal())
        return agent;
    return bootstrap(session, node, agent, hash->sha256, std::move(stop));
}

std::string adviceFor(ErrorCode code, AgentFault fault) {
    switch (code) {
    case ErrorCode::kExhausted:
        return say("deploy.fix-full");
    case ErrorCode::kDenied:
        return say(fault == AgentFault::kNotSent ? "deploy.fix-closed" : "deploy.fix-noexec");
    case ErrorCode::kInvalid:
        return say("deploy.fix-system",
                   {{"machine", QSysInfo::buildCpuArchitecture().toStdString()}});
    case ErrorCode::kUnavailable:
        return say("deploy.fix-unanswered");
    default:
        return say("ssh.fix-other");
    }
}

tl::expected<NodeSession, ConnectFailure> openNode(const Node& node, const Credentials& credentials,
                                                   std::stop_token stop,
                                                   const OnConnectPause& onPause,
                                                   ConnectPatience patience) {
    RM_ASSIGN_OR_RETURN(auto session,
                        openSessionPatiently(node, credentials, stop, onPause, patience));
    auto agent = deployAgent(*session, node, std::move(stop));
    if (!agent) {
        Error error = std::move(agent.error());
        if (error.code == ErrorCode::kDenied || error.code == ErrorCode::kExhausted)
            append(error.message, adviceFor(error.code, AgentFault::kNotSent));
        return tl::unexpected(ConnectFailure{std::move(error)});
    }
    return NodeSession{std::move(session), std::move(*agent)};
}

} // namespace rm

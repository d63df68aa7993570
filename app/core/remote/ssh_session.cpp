// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/remote/ssh_session.h"

#include "app/core/findings/text.h"
#include "app/core/remote/command_line.h"
#include "app/core/remote/handshake_gate.h"
#include "app/core/remote/host_key.h"
#include "app/core/remote/jump_host.h"
#include "app/core/remote/key_file.h"
#include "app/core/remote/memory_file.h"
#include "app/core/remote/proxy.h"
#include "app/core/remote/resolver.h"
#include "app/core/remote/ssh_auth.h"
#include "app/core/remote/ssh_config.h"
#include "app/core/remote/ssh_error.h"
#include "app/core/remote/ssh_process.h"
#include "app/core/remote/ssh_tokens.h"
#include "app/core/remote/tcp_connection.h"
#include "shared/return_if_error.h"

#include <QDir>
#include <QRegularExpression>

#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <sstream>
#include <thread>

namespace rm {

namespace {

using Cause = ConnectFailure::Cause;

using std::chrono::seconds;
using std::chrono::steady_clock;

// AES-GCM only: the Terrapin attack does not affect it, so it is safe with and without strict key
// exchange. libssh 0.10 negotiates strict key exchange if the server offers it, but cannot tell us
// before the ciphers are chosen; hence no other cipher is offered.
constexpr const char* kCiphers = "aes256-gcm@openssh.com,aes128-gcm@openssh.com";

bool set(SshLink& link, ssh_options_e option, const void* value) {
    return ssh_options_set(link.get(), option, value) == SSH_OK;
}

/// libssh reads the settings, of which Host and Match were decided before.
bool apply(SshLink& link, const std::string& settings) {
    MemoryFile file("ringmaster-ssh");
    return file.write(settings) &&
           ssh_options_parse_config(link.get(), file.path().c_str()) == SSH_OK;
}

/// A name that may be looked up, or an IPv6 address with its interface.
bool isHostName(const std::string& name) {
    static const QRegularExpression form(
        "^([A-Za-z0-9_-]{1,63}\\.)*[A-Za-z0-9_-]{1,63}\\.?$|^[0-9A-Fa-f:.]+%[A-Za-z0-9_.-]+$");
    return name.size() <= 255 && form.match(QString::fromStdString(name)).hasMatch();
}

/// Those of `wanted` that are among `ours`, in the order of `wanted`.
std::string common(const std::string& wanted, const std::string& ours) {
    std::string both;
    std::istringstream names(wanted);
    for (std::string name; std::getline(names, name, ',');)
        if ((',' + ours + ',').find(',' + name + ',') != std::string::npos)
            both += (both.empty() ? "" : ",") + name;
    return both;
}

/// Sets the algorithms that ssh_config demands. libssh would go by its own where it knows none of
/// them, so that somebody's demand would be dropped without a word: kInvalid.
Result<void> setAlgorithms(SshLink& link, const SshConfig& config, const std::string& attempt) {
    const auto none = [&](const char* key, const std::string& wanted, const std::string& ours) {
        return failAs(attempt, {ErrorCode::kInvalid,
                                say("ssh.no-such-algorithms",
                                    {{"key", key}, {"wanted", wanted}, {"ours", ours}})});
    };
    const std::string ciphers =
        config.ciphers.empty() ? kCiphers : common(config.ciphers, kCiphers);
    if (ciphers.empty())
        return none("Ciphers", config.ciphers, kCiphers);
    const bool isSet = set(link, SSH_OPTIONS_CIPHERS_C_S, ciphers.c_str()) &&
                       set(link, SSH_OPTIONS_CIPHERS_S_C, ciphers.c_str());
    if (!isSet)
        return tl::unexpected(sshError(link, attempt));
    if (!config.kexAlgorithms.empty() &&
        !set(link, SSH_OPTIONS_KEY_EXCHANGE, config.kexAlgorithms.c_str()))
        return none("KexAlgorithms", config.kexAlgorithms,
                    "curve25519-sha256, ecdh-sha2-nistp256, diffie-hellman-group16-sha512");
    constexpr const char* kKeys = "ssh-ed25519,ecdsa-sha2-nistp256,ecdsa-sha2-nistp384,"
                                  "ecdsa-sha2-nistp521,rsa-sha2-512,rsa-sha2-256";
    const std::string keys = common(config.hostKeyAlgorithms, kKeys);
    if (!config.hostKeyAlgorithms.empty() &&
        (keys.empty() || !set(link, SSH_OPTIONS_HOSTKEYS, keys.c_str())))
        return none("HostKeyAlgorithms", config.hostKeyAlgorithms, kKeys);
    return {};
}

Result<SshConfig> configure(SshLink& link, const Node& node, std::stop_token stop = {}) {
    RM_ASSIGN_OR_RETURN(const auto config, sshConfigOf(node, std::move(stop)));
    const std::string attempt = say("ssh.prepare", {{"node", node.name}});
    // $HOME rather than the passwd entry, so that two instances with different ones never meet.
    const std::string folder = QDir::homePath().toStdString() + "/.ssh";
    const int yes = 1;
    const int leastRsaBits = std::max(config.leastRsaBits, 768); // libssh takes no smaller one
    // First ssh_config, then the node's own settings, which override it.
    bool good = set(link, SSH_OPTIONS_SSH_DIR, folder.c_str());
    if (!link.setHost(config.hostName) && !isHostName(config.hostName))
        return failAs(attempt,
                      {ErrorCode::kInvalid, say("ssh.no-host-name", {{"name", config.hostName}})});
    good = good && apply(link, config.settings) &&
           (config.leastRsaBits == 0 || set(link, SSH_OPTIONS_RSA_MIN_SIZE, &leastRsaBits));
    if (const std::string path = agentSocket(config); !path.empty())
        good = good && set(link, SSH_OPTIONS_IDENTITY_AGENT, path.c_str());
    if (!node.user.empty())
        good = good && set(link, SSH_OPTIONS_USER, node.user.c_str());
    if (node.port != 0)
        good = good && set(link, SSH_OPTIONS_PORT, &node.port);
    const std::string& jumpHosts = node.jumpHost.empty() ? config.jumpHosts : node.jumpHost;
    if (!jumpHosts.empty()) {
        RM_ASSIGN_OR_RETURN(const auto jumps,
                            parseJumpHosts(jumpHosts, say("ssh.reach", {{"node", node.name}})));
        good = good && set(link, SSH_OPTIONS_PROXYCOMMAND, jumpCommand(jumps).c_str());
    }
    good = good && set(link, SSH_OPTIONS_STRICTHOSTKEYCHECK, &yes);
    if (!good)
        return tl::unexpected(sshError(link, attempt));
    RM_RETURN_IF_ERROR(setAlgorithms(link, config, attempt));
    return config;
}

int familyOf(const std::string& addressFamily) {
    return addressFamily == "inet" ? AF_INET : addressFamily == "inet6" ? AF_INET6 : AF_UNSPEC;
}

using Connected = tl::expected<void, ConnectFailure>;

tl::unexpected<ConnectFailure> failed(const Error& error,
                                      ConnectFailure::Cause cause = ConnectFailure::Cause::kOther) {
    return tl::unexpected(ConnectFailure{error, ConnectFailure::Need::kNothing, {}, cause});
}

SshRoute routeOf(const SshLink& link) {
    return {link.option(SSH_OPTIONS_USER),         link.host(), static_cast<int>(link.port()),
            link.option(SSH_OPTIONS_PROXYCOMMAND), {},          {}};
}

/// The key by which HandshakeGate counts logins: the first server on the way, which with a jump
/// host is that, for all nodes behind it and itself alike.
std::string firstServer(const SshRoute& route) {
    if (route.proxy.empty())
        return route.host + ':' + std::to_string(route.port);
    const auto jumps = parseJumpHosts(jumpHostsIn(route.proxy), "");
    if (!jumps || jumps->front().host.empty())
        return route.proxy;
    Node gate;
    gate.sshHost = jumps->front().host;
    gate.port = jumps->front().port;
    const auto way = findRoute(gate);
    return way && way->proxy.empty() ? firstServer(*way) : route.proxy;
}

/// Connects a socket for libssh, which would wait for the resolver without a limit and then try the
/// first address alone.
tl::expected<Descriptor, ConnectFailure> connectSocket(const SshLink& link, const SshConfig& config,
                                                       const std::string& attempt,
                                                       const Patience& patience) {
    const auto found =
        awaitResolved(link.host(), familyOf(config.addressFamily), attempt, patience);
    if (!found)
        return failed(found.error(), patience.stop.stop_requested() ? Cause::kOther : Cause::kName);
    std::vector<std::string> from;
    if (!config.bindAddress.empty()) {
        auto bound = awaitResolved(config.bindAddress, AF_UNSPEC, attempt, patience);
        if (!bound)
            return failed(bound.error());
        from = std::move(*bound);
    }
    auto connected = connectToAny(*found, link.port(), from, patience);
    if (patience.stop.stop_requested())
        return failed(failCancelled(attempt).value());
    if (!connected)
        return tl::unexpected(socketFailure(attempt, connected.error().message));
    return std::move(*connected);
}

/// A proxy may take a while to get there, as one that starts a machine.
seconds connectTime(const SshLink& link, const SshConfig& config) {
    const bool hasProxy = !link.option(SSH_OPTIONS_PROXYCOMMAND).empty();
    return config.connectTimeout > seconds(0) ? config.connectTimeout : seconds(hasProxy ? 30 : 10);
}

Connected connect(SshLink& link, const SshConfig& config, const SshTokens& tokens,
                  const Patience& patience) {
    const std::string attempt = say("ssh.connect", {{"where", link.where()}});
    const Proxy proxy(link, tokens);
    Descriptor socket;
    if (!proxy.isThere()) {
        RM_ASSIGN_OR_RETURN(socket, connectSocket(link, config, attempt, patience));
    }
    const auto step = [&] {
        if (socket)
            link.setSocket(std::move(socket));
        return ssh_connect(link.get());
    };
    const auto answer = link.drive(step, SSH_AGAIN, attempt, patience);
    if (!answer && patience.stop.stop_requested())
        return failed(answer.error());
    if (answer && *answer == SSH_OK)
        return {};
    if (const auto failure = proxy.failure(link, attempt, !answer))
        return tl::unexpected(*failure);
    if (!answer)
        return failed(silenceOf(link, attempt, answer.error()), Cause::kNoAnswer);
    return tl::unexpected(connectFailure(link, attempt));
}

} // namespace

Result<SshRoute> findRoute(const Node& node) {
    SshLink link;
    RM_ASSIGN_OR_RETURN(const auto config, configure(link, node));
    SshRoute route = routeOf(link);
    route.text = link.where() + (route.proxy.empty() ? "" : " through " + route.proxy);
    if (route.user == loginName())
        route.user.clear();
    if (!node.identityFile.empty())
        route.keyFile = node.identityFile;
    else if (!config.identityFiles.empty())
        route.keyFile = config.identityFiles.front();
    return route;
}

std::string routeTo(const Node& node) {
    if (node.isLocal)
        return {};
    const auto route = findRoute(node);
    return route ? route->text : node.user + '@' + node.sshHost + ':' + std::to_string(node.port);
}

namespace {

tl::expected<SshLogin, ConnectFailure> logIn(std::shared_ptr<SshLink> link, const SshConfig& config,
                                             const Node& node, const Credentials& credentials,
                                             const std::stop_token& stop) {
    constexpr seconds kTurn{60}; // for logins before this one
    const auto turn = HandshakeGate::enter(firstServer(routeOf(*link)),
                                           say("ssh.connect", {{"where", link->where()}}),
                                           {steady_clock::now() + kTurn, stop});
    if (!turn)
        return failed(turn.error());
    const SshTokens tokens = tokensOf(*link, config, node);
    KnownHosts known(*link, config, tokens);
    if (const auto prepared = known.prepare(*link, stop); !prepared)
        return failed(prepared.error(), Cause::kHostKey);
    const auto now = steady_clock::now();
    RM_RETURN_IF_ERROR(connect(*link, config, tokens, {now + connectTime(*link, config), stop}));
    RM_RETURN_IF_ERROR(checkHostKey(
        *link, known, {credentials.trustedFingerprint, config.hostKeys.unasked}, stop));
    const auto keys = loadKeyFiles(config, node, tokens, credentials);
    // A server may look the key up elsewhere, as in a directory (AuthorizedKeysCommand).
    const Patience patience{steady_clock::now() + std::max(seconds(30), config.connectTimeout),
                            stop};
    RM_RETURN_IF_ERROR(authenticate(*link, keys, credentials, patience));
    // sshd counts a login among its MaxStartups until a moment after it says that it has succeeded;
    // its next answer comes behind that. So long nobody else takes this turn.
    link->awaitFirstAnswer(patience);
    return SshLogin{std::move(link), problemsAtLogin(keys)};
}

tl::expected<SshLogin, ConnectFailure> logIn(const Node& node, const Credentials& credentials,
                                             std::stop_token stop) {
    const auto link = std::make_shared<SshLink>();
    const SshLink::Turn own(*link);
    const auto config = configure(*link, node, stop);
    if (!config)
        return failed(config.error());
    auto login = logIn(link, *config, node, credentials, stop);
    if (!login && !config->notFollowed.empty())
        append(login.error().error.message,
               say("ssh.not-followed", {{"lines", joined(config->notFollowed, ", ")}}));
    return login;
}

} // namespace

tl::expected<std::unique_ptr<HostSession>, ConnectFailure>
SshSession::open(const Node& node, const Credentials& credentials, std::stop_token stop) {
    RM_ASSIGN_OR_RETURN(auto login, logIn(node, credentials, std::move(stop)));
    return std::make_unique<SshSession>(std::move(login),
                                        [node, credentials](std::stop_token stopAgain) {
                                            return logIn(node, credentials, std::move(stopAgain));
                                        });
}

/// In the order in which they are to be tried.
std::vector<std::shared_ptr<SshLink>> SshSession::links() {
    const std::lock_guard lock(m_mutex);
    std::erase_if(m_further, [](const auto& link) { return !link->seemsOpen(); });
    std::vector<std::shared_ptr<SshLink>> all{m_login.link};
    all.insert(all.end(), m_further.begin(), m_further.end());
    return all;
}

Result<std::unique_ptr<HostProcess>>
SshSession::exec(const std::string& name, const std::string& line, std::stop_token stop) {
    // OpenSSH's sshd frees the place of a program a moment after it has told its end, and a login
    // takes longer than that moment.
    constexpr std::chrono::milliseconds kMoment{30};
    for (int round = 0; round < 2; ++round) {
        if (round > 0)
            std::this_thread::sleep_for(kMoment);
        for (const auto& link : links()) {
            auto process = std::make_unique<SshProcess>(link, name, stop);
            const auto begun = process->begin(line);
            if (begun)
                return process;
            if (!process->wasRefused())
                return tl::unexpected(begun.error());
        }
    }
    auto another = m_logInAgain(stop);
    if (!another)
        return tl::unexpected(std::move(another.error().error));
    auto process = std::make_unique<SshProcess>(another->link, name, std::move(stop));
    const auto begun = process->begin(line);
    if (!begun && process->wasRefused()) // the only one of its link
        return failAs(say("ssh.start", {{"program", name}, {"where", m_where}}),
                      {ErrorCode::kDenied, say("ssh.starts-nothing")});
    RM_RETURN_IF_ERROR(begun);
    const std::lock_guard lock(m_mutex);
    m_further.push_back(std::move(another->link));
    return process;
}

Result<std::unique_ptr<HostProcess>> SshSession::start(const std::string& program,
                                                       const std::vector<std::string>& arguments,
                                                       std::stop_token stop) {
    RM_ASSIGN_OR_RETURN(const auto line, commandLine(program, arguments));
    return exec(program, line, std::move(stop));
}

Result<std::unique_ptr<HostProcess>> SshSession::startScript(const std::string& fixedScript,
                                                             std::stop_token stop) {
    return exec(say("ssh.script"), scriptLine(fixedScript), std::move(stop));
}

} // namespace rm

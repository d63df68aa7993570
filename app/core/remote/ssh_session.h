// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/remote/host.h"
#include "app/core/remote/ssh_link.h"

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace rm {

/// The way to a node by its settings and ssh_config as they are now.
struct SshRoute {
    std::string user; ///< empty: the login name
    std::string host;
    int port = 22;
    std::string proxy;   ///< jumpCommand() or another proxy command; empty: none
    std::string keyFile; ///< that a setting names; empty: the usual ones
    /// "ssh user@host:port", and through which proxy or jump host. Equal where a password for the
    /// one is one for the other.
    std::string text;
};
Result<SshRoute> findRoute(const Node& node);

/// SshRoute::text; of a node whose way cannot be told, what its own settings say. Empty: it is this
/// computer.
std::string routeTo(const Node& node);

struct SshLogin {
    std::shared_ptr<SshLink> link;        ///< its processes may outlive the session
    std::vector<std::string> keyProblems; ///< see HostSession
};

/// Programs on a host, each on an exec channel of one authenticated link. Where the server takes no
/// further one on it, a program gets another link, which is kept for the next one while it
/// seemsOpen().
class SshSession : public HostSession {
public:
    using LogIn = std::function<tl::expected<SshLogin, ConnectFailure>(std::stop_token stop)>;
    SshSession(SshLogin login, LogIn logInAgain)
        : m_login(std::move(login))
        , m_where(m_login.link->where())
        , m_logInAgain(std::move(logInAgain)) {}

    Result<std::unique_ptr<HostProcess>> start(const std::string& program,
                                               const std::vector<std::string>& arguments,
                                               std::stop_token stop) override;
    Result<std::unique_ptr<HostProcess>> startScript(const std::string& fixedScript,
                                                     std::stop_token stop) override;
    std::string where() const override { return m_where; }
    std::vector<std::string> keyProblems() const override { return m_login.keyProblems; }
    bool seemsOpen() override { return m_login.link->seemsOpen(); }

    /// Connects, checks the host key, logs in.
    static tl::expected<std::unique_ptr<HostSession>, ConnectFailure>
    open(const Node& node, const Credentials& credentials, std::stop_token stop);

private:
    std::vector<std::shared_ptr<SshLink>> links();
    Result<std::unique_ptr<HostProcess>> exec(const std::string& name, const std::string& line,
                                              std::stop_token stop);

    SshLogin m_login;
    std::string m_where;
    LogIn m_logInAgain;
    std::mutex m_mutex;
    std::vector<std::shared_ptr<SshLink>> m_further; ///< beside that of m_login
};

} // namespace rm

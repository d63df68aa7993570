// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/remote/host.h"
#include "app/core/remote/ssh_link.h"

namespace rm {

/// The way to a node by its settings and ssh_config as they are now.
struct SshRoute {
    std::string user; ///< empty: the login name
    std::string host;
    int port = 22;
    std::string proxy;   ///< jumpCommand() or another proxy command; empty: none
    std::string keyFile; ///< that a setting names; empty: the usual ones
};
Result<SshRoute> findRoute(const Node& node);

/// findRoute() in words: "user@host:port", and through which proxy or jump host. Equal where a
/// password for the one is one for the other.
std::string routeTo(const Node& node);

/// Programs on a host, each on an exec channel of one authenticated link.
class SshSession : public HostSession {
public:
    SshSession(std::shared_ptr<SshLink> link, std::vector<std::string> keyProblems)
        : m_link(std::move(link))
        , m_keyProblems(std::move(keyProblems)) {}

    Result<std::unique_ptr<HostProcess>> start(const std::string& program,
                                               const std::vector<std::string>& arguments,
                                               std::stop_token stop) override;
    Result<std::unique_ptr<HostProcess>> startScript(const std::string& fixedScript,
                                                     std::stop_token stop) override;
    std::string where() const override { return m_link->where(); }
    std::vector<std::string> keyProblems() const override { return m_keyProblems; }

    /// Connects, checks the host key, logs in.
    static tl::expected<std::unique_ptr<HostSession>, ConnectFailure>
    open(const Node& node, const Credentials& credentials, std::stop_token stop);

private:
    Result<std::unique_ptr<HostProcess>> exec(const std::string& name, const std::string& line,
                                              std::stop_token stop);

    std::shared_ptr<SshLink> m_link; ///< its processes may outlive the session object
    std::vector<std::string> m_keyProblems;
};

} // namespace rm

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/wire/messages.h"

#include <asio/io_context.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/steady_timer.hpp>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace rm {

/// `agent.sock`: takes framed Commands from attach processes of the same user and answers with
/// CommandStates, and a Heartbeat with one. An invalid frame or message ends only its connection.
class CommandServer {
public:
    using Handler = std::function<std::vector<CommandState>(const Command&)>;

    CommandServer(asio::io_context& io, Handler handler);
    ~CommandServer();

    /// Binds to `path`, relative to the working directory because a socket's path is limited to 107
    /// bytes.
    Result<void> listen(const std::string& path);
    /// Sends a state to every connection.
    void broadcast(const std::vector<CommandState>& states);
    /// Whether anything still has to be written.
    bool isFlushed() const;

private:
    class Connection;
    void accept();
    void acceptLater();

    asio::local::stream_protocol::acceptor m_acceptor;
    asio::steady_timer m_pause;
    Handler m_handler;
    std::set<std::shared_ptr<Connection>> m_connections;
};

} // namespace rm

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/wire/messages.h"

#include <asio/io_context.hpp>
#include <asio/local/stream_protocol.hpp>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace rm {

/// `agent.sock`: takes framed Commands from attach processes of the same user and answers with
/// CommandStates. What is no frame, or no Command, ends that connection alone.
class CommandServer {
public:
    using Handler = std::function<std::vector<CommandState>(const Command&)>;

    CommandServer(asio::io_context& io, Handler handler);
    ~CommandServer();

    /// Binds; `path` is relative to this process's folder, for a socket's path is short.
    Result<void> listen(const std::string& path);
    /// To every connection.
    void broadcast(const std::vector<CommandState>& states);
    /// Whether anything still has to be written.
    bool isFlushed() const;

private:
    class Connection;
    void accept();

    asio::local::stream_protocol::acceptor m_acceptor;
    Handler m_handler;
    std::set<std::shared_ptr<Connection>> m_connections;
};

} // namespace rm

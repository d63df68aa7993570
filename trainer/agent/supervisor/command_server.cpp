// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/supervisor/command_server.h"

#include "shared/io/frame.h"

#include <asio/buffer.hpp>
#include <asio/write.hpp>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>

namespace rm {

using Local = asio::local::stream_protocol;

namespace {

constexpr std::chrono::milliseconds kAcceptPause(200);

} // namespace

class CommandServer::Connection : public std::enable_shared_from_this<Connection> {
public:
    Connection(CommandServer& server, Local::socket socket)
        : m_server(server)
        , m_socket(std::move(socket)) {}

    void read() {
        m_socket.async_read_some(asio::buffer(m_input),
                                 [self = shared_from_this()](asio::error_code error, size_t count) {
                                     if (error || !self->onBytes(count))
                                         return self->close();
                                     self->read();
                                 });
    }

    void send(const std::vector<CommandState>& states) {
        for (const CommandState& state : states)
            sendMessage(state);
    }

    bool isFlushed() const { return m_waiting.empty() && m_writing.empty(); }

    void close() {
        asio::error_code ignored;
        m_socket.close(ignored);
        m_server.m_connections.erase(shared_from_this());
    }

private:
    void sendMessage(const Message& message) {
        const std::vector<std::byte> frame = frameMessage(message);
        m_waiting.insert(m_waiting.end(), frame.begin(), frame.end());
        write();
    }

    bool onBytes(size_t count) {
        m_frames.feed(std::as_bytes(std::span(m_input).first(count)));
        while (true) {
            const auto payload = m_frames.next();
            if (!payload)
                return false;
            if (!*payload)
                return true;
            const Result<Message> message = decodeMessage(**payload);
            if (!message)
                return false;
            if (const auto* beat = std::get_if<Heartbeat>(&*message))
                sendMessage(Heartbeat{beat->sentNs, beat->sentNs});
            else if (const auto* command = std::get_if<Command>(&*message))
                send(m_server.m_handler(*command));
            else
                return false;
        }
    }

    void write() {
        if (!m_writing.empty() || m_waiting.empty())
            return;
        m_writing.swap(m_waiting);
        asio::async_write(m_socket, asio::buffer(m_writing),
                          [self = shared_from_this()](asio::error_code error, size_t) {
                              self->m_writing.clear();
                              if (error)
                                  return self->close();
                              self->write();
                          });
    }

    CommandServer& m_server;
    Local::socket m_socket;
    FrameScanner m_frames;
    std::array<char, 4096> m_input;
    std::vector<std::byte> m_waiting, m_writing;
};

CommandServer::CommandServer(asio::io_context& io, Handler handler)
    : m_acceptor(io)
    , m_pause(io)
    , m_handler(std::move(handler)) {}

CommandServer::~CommandServer() = default;

Result<void> CommandServer::listen(const std::string& path) {
    ::unlink(path.c_str());
    asio::error_code error;
    m_acceptor.open(Local(), error);
    // Else the ranks would keep it open when this process is gone, and a peer would wait.
    if (!error && ::fcntl(m_acceptor.native_handle(), F_SETFD, FD_CLOEXEC) != 0)
        error = asio::error_code(errno, asio::error::get_system_category());
    if (!error)
        m_acceptor.bind(Local::endpoint(path), error);
    if (!error && ::chmod(path.c_str(), 0600) != 0)
        error = asio::error_code(errno, asio::error::get_system_category());
    if (!error)
        m_acceptor.listen(asio::socket_base::max_listen_connections, error);
    if (error)
        return failErrno("listen on " + path, error.value());
    accept();
    return {};
}

void CommandServer::broadcast(const std::vector<CommandState>& states) {
    for (const std::shared_ptr<Connection>& connection : m_connections)
        connection->send(states);
}

bool CommandServer::isFlushed() const {
    return std::all_of(m_connections.begin(), m_connections.end(),
                       [](const auto& connection) { return connection->isFlushed(); });
}

void CommandServer::accept() {
    m_acceptor.async_accept([this](asio::error_code error, Local::socket socket) {
        if (error == asio::error::operation_aborted)
            return;
        if (error)
            return acceptLater();
        const auto connection = std::make_shared<Connection>(*this, std::move(socket));
        m_connections.insert(connection);
        connection->read();
        accept();
    });
}

/// A peer that waits stays in the queue of the socket while there is no descriptor for it, and each
/// try would fail at once.
void CommandServer::acceptLater() {
    m_pause.expires_after(kAcceptPause);
    m_pause.async_wait([this](asio::error_code error) {
        if (!error)
            accept();
    });
}

} // namespace rm

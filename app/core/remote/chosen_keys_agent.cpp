// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/remote/chosen_keys_agent.h"

#include <QtEndian>

#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cstring>
#include <optional>

namespace rm {

namespace {

constexpr char kIdentitiesAnswer = 12;
constexpr quint32 kLongest = 256 * 1024; ///< as OpenSSH's

Descriptor connectTo(const std::string& socket) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (socket.size() >= sizeof address.sun_path)
        return {};
    std::memcpy(address.sun_path, socket.c_str(), socket.size() + 1);
    Descriptor agent(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::connect(agent.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        return {};
    return agent;
}

std::span<std::byte> bytesOf(QByteArray& bytes) {
    return std::as_writable_bytes(std::span(bytes.data(), static_cast<size_t>(bytes.size())));
}

/// A message without its length; nullopt: the other end is gone, or sends no such message.
std::optional<QByteArray> readMessage(int fd) {
    QByteArray length(sizeof(quint32), '\0');
    if (readSome(fd, bytesOf(length), "SSH agent").value_or(0) < sizeof(quint32))
        return std::nullopt;
    const auto size = qFromBigEndian<quint32>(length.constData());
    if (size == 0 || size > kLongest)
        return std::nullopt;
    QByteArray message(static_cast<qsizetype>(size), '\0');
    if (readSome(fd, bytesOf(message), "SSH agent").value_or(0) < size)
        return std::nullopt;
    return message;
}

QByteArray lengthOf(qsizetype size) {
    QByteArray length(sizeof(quint32), '\0');
    qToBigEndian(static_cast<quint32>(size), length.data());
    return length;
}

bool writeMessage(int fd, const QByteArray& message) {
    QByteArray whole = lengthOf(message.size()) + message;
    return writeAll(fd, bytesOf(whole), "SSH agent").has_value();
}

/// The string of SSH at `at`, which moves behind it; nullopt: it is not whole.
std::optional<QByteArray> stringAt(const QByteArray& message, qsizetype& at) {
    if (message.size() - at < qsizetype(sizeof(quint32)))
        return std::nullopt;
    const qsizetype size = qFromBigEndian<quint32>(message.constData() + at);
    at += qsizetype(sizeof(quint32));
    if (message.size() - at < size)
        return std::nullopt;
    at += size;
    return message.mid(at - size, size);
}

} // namespace

QByteArray withOnly(const QByteArrayList& keys, const QByteArray& message) {
    if (message.isEmpty() || message[0] != kIdentitiesAnswer)
        return message;
    QByteArray chosen;
    int count = 0;
    for (qsizetype at = 1 + qsizetype(sizeof(quint32)); at < message.size();) {
        const qsizetype begin = at;
        const auto key = stringAt(message, at);
        const auto comment = key ? stringAt(message, at) : std::nullopt;
        if (!comment)
            return QByteArray(1, kIdentitiesAnswer) + lengthOf(0);
        if (!keys.contains(*key))
            continue;
        chosen += message.mid(begin, at - begin);
        ++count;
    }
    return QByteArray(1, kIdentitiesAnswer) + lengthOf(count) + chosen;
}

std::unique_ptr<ChosenKeysAgent> ChosenKeysAgent::start(const std::string& socket,
                                                        QByteArrayList keys) {
    Descriptor agent = connectTo(socket);
    std::array<int, 2> ends{-1, -1};
    if (!agent || ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
        return nullptr;
    return std::unique_ptr<ChosenKeysAgent>(new ChosenKeysAgent(
        std::move(agent), Descriptor(ends[0]), Descriptor(ends[1]), std::move(keys)));
}

ChosenKeysAgent::ChosenKeysAgent(Descriptor agent, Descriptor client, Descriptor server,
                                 QByteArrayList keys)
    : m_agent(std::move(agent))
    , m_client(std::move(client))
    , m_server(std::move(server))
    , m_keys(std::move(keys))
    , m_thread([this] { serve(); }) {}

ChosenKeysAgent::~ChosenKeysAgent() {
    ::shutdown(m_server.get(), SHUT_RDWR);
    ::shutdown(m_agent.get(), SHUT_RDWR);
}

void ChosenKeysAgent::serve() {
    for (;;) {
        const auto question = readMessage(m_server.get());
        if (!question || !writeMessage(m_agent.get(), *question))
            break;
        const auto answer = readMessage(m_agent.get());
        if (!answer || !writeMessage(m_server.get(), withOnly(m_keys, *answer)))
            break;
    }
    ::shutdown(m_server.get(), SHUT_RDWR); // libssh waits for an answer without a limit
}

} // namespace rm

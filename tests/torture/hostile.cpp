// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/torture/hostile.h"

#include "shared/io/descriptor.h"
#include "shared/io/frame.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace rm::torture {
namespace {

constexpr int kPatienceMs = 20000;

QByteArray contentOf(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

qsizetype below(std::mt19937_64& random, qsizetype end) {
    return std::uniform_int_distribution<qsizetype>(0, end - 1)(random);
}

QByteArray noise(std::mt19937_64& random, qsizetype most) {
    QByteArray bytes(below(random, most), Qt::Uninitialized);
    for (char& byte : bytes)
        byte = static_cast<char>(random());
    return bytes;
}

} // namespace

DamagedCopy::DamagedCopy(const std::string& original, const std::string& other,
                         const std::string& place)
    : m_folder(place.empty() ? m_own.filePath(QFileInfo(original.c_str()).fileName())
                             : QString::fromStdString(place))
    , m_other(QString::fromStdString(other)) {
    QDir().mkpath(m_folder);
    if (place.empty())
        for (const QFileInfo& file : QDir(original.c_str()).entryInfoList(QDir::Files))
            QFile::copy(file.filePath(), m_folder + "/" + file.fileName());
}

void DamagedCopy::write(const QByteArray& bytes) const {
    QFile file(m_file);
    if (file.open(QIODevice::WriteOnly))
        file.write(bytes);
}

QByteArray DamagedCopy::damage(std::mt19937_64& random) {
    const QFileInfoList files = QDir(m_folder).entryInfoList(QDir::Files, QDir::Name);
    const QFileInfo chosen = files[below(random, files.size())];
    m_file = chosen.filePath();
    m_whole = contentOf(m_file);
    QByteArray bytes = m_whole;
    const qsizetype at = below(random, bytes.size());
    const QByteArray where = chosen.fileName().toUtf8() + " at " + QByteArray::number(at);
    const QByteArray others = contentOf(m_other + "/" + chosen.fileName());
    switch (below(random, 20)) {
    case 0:
        QFile::remove(m_file);
        return chosen.fileName().toUtf8() + " removed";
    case 1:
        if (others != m_whole && chosen.fileName() != "MANIFEST.json") {
            write(others);
            return chosen.fileName().toUtf8() + " of another step";
        }
        [[fallthrough]];
    case 2:
    case 3:
    case 4:
        write(bytes.left(at));
        return where + " cut";
    default:
        bytes[at] = static_cast<char>(bytes[at] ^ 1 << below(random, 8));
        write(bytes);
        return where + " flipped";
    }
}

void DamagedCopy::repair() const {
    write(m_whole);
}

QByteArray hostileBytes(std::mt19937_64& random) {
    const QByteArray bytes = noise(random, 4096);
    std::vector<std::byte> frame;
    switch (below(random, 3)) {
    case 0:
        return bytes;
    case 1:
        if (bytes.isEmpty()) // which no frame may be
            return bytes;
        appendFrame(frame, std::as_bytes(std::span(bytes.constData(), size_t(bytes.size()))));
        return {reinterpret_cast<const char*>(frame.data()), qsizetype(frame.size())};
    default:
        return QByteArray(4, '\xff') + bytes;
    }
}

QByteArray answerTo(const QString& socket, const QByteArray& bytes) {
    const QFileInfo place(socket);
    const Descriptor folder(::open(qPrintable(place.path()), O_PATH | O_CLOEXEC));
    // A path of a socket has at most 107 bytes.
    const QByteArray path =
        "/proc/self/fd/" + QByteArray::number(folder.get()) + "/" + place.fileName().toUtf8();
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.constData(),
                std::min(sizeof address.sun_path - 1, size_t(path.size())));
    const Descriptor peer(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::connect(peer.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
        return "connect " + socket.toUtf8() + ": " + std::strerror(errno);
    static_cast<void>(::send(peer.get(), bytes.constData(), size_t(bytes.size()), MSG_NOSIGNAL));
    ::shutdown(peer.get(), SHUT_WR);
    char buffer[4096];
    pollfd waiting{peer.get(), POLLIN, 0};
    while (::poll(&waiting, 1, kPatienceMs) > 0)
        if (::recv(peer.get(), buffer, sizeof buffer, 0) <= 0)
            return {};
    return socket.toUtf8() + ": it neither answers nor hangs up";
}

} // namespace rm::torture
